//! Names of model files. They decide only where the bytes do not.

/// Endings of names that only models have. What they hold may be damaged, or of a format that is not read: the reader of models says what to
/// do instead.
pub const MODEL_ENDINGS: [&str; 21] = [
    ".pt2",
    ".onnx",
    ".mlir",
    ".hlo",
    ".hlo.txt",
    ".hlo.pb",
    ".hlo.pbtxt",
    ".hlo_module.pb",
    ".hlo_module",
    ".pt",
    ".pth",
    ".ts",
    ".mlirbc",
    ".safetensors",
    ".h5",
    ".keras",
    ".tflite",
    ".neff",
    ".jax_export",
    ".ckpt",
    ".before_optimizations.txt",
];

/// Endings of names that models share with other files.
const SHARED_ENDINGS: [&str; 4] = [".gz", ".txt", ".pb", ".pbtxt"];

/// A name without the ending of a model file; `None` if it has no such ending. Only the bytes decide the format.
#[must_use]
pub fn without_model_ending(name: &str) -> Option<&str> {
    MODEL_ENDINGS.iter().chain(&SHARED_ENDINGS).find_map(|end| name.strip_suffix(end))
}
