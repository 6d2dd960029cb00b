//! Recognises model files by their names: the page uses this to decide where a dropped file goes.

/// Whether a name says that a file is a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelName {
    /// It is a model, in a supported format or in a format whose error message names a supported one.
    Yes,
    /// It may be a model or another file.
    Perhaps,
    /// It is not a model.
    No,
}

/// Extensions that only models have. Unsupported formats are listed too: the reader of models says what to do instead.
const MODELS: [&str; 21] = [
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

/// Extensions that models and other files have.
const PERHAPS: [&str; 3] = [".txt", ".pb", ".pbtxt"];

/// Profiles of XProf are protocol buffers too.
const PROFILES: [&str; 1] = [".xplane.pb"];

impl ModelName {
    /// Classifies a name, ignoring case and `.gz`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let lower = name.to_ascii_lowercase();
        let name = lower.strip_suffix(".gz").unwrap_or(&lower);
        let ends = |list: &[&str]| list.iter().any(|end| name.ends_with(end));
        if ends(&PROFILES) {
            Self::No
        } else if ends(&MODELS) {
            Self::Yes
        } else if ends(&PERHAPS) {
            Self::Perhaps
        } else {
            Self::No
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_where_a_file_goes() {
        for name in
            ["a.pt2", "B.ONNX.gz", "nn.hlo.txt", "m.hlo_module.pb.gz", "x.mlir", "old.pth", "traced.pt", "model.ts"]
        {
            assert_eq!(ModelName::of(name), ModelName::Yes, "{name}");
        }
        assert_eq!(ModelName::of("module_0001.pb"), ModelName::Perhaps);
        for name in ["host.xplane.pb", "trace.json", "results.jsonl", "prof.pb.json.gz"] {
            assert_eq!(ModelName::of(name), ModelName::No, "{name}");
        }
    }
}
