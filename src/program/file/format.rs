//! The format of a model file, from its first bytes: file names are not reliable.

use ns_base::{Refusal, refuse};
use ns_container::gzip::is_gzip;
use ns_container::neuron::{is_neff, is_ntff};
use ns_container::zip::{Archive, is_zip, local_names};
use ns_container::{ByteSource, unreadable};

use super::jax_export::module_in;
use super::source::gunzip;

/// The format of a model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFormat {
    /// `torch.export.save`: a zip archive with the graph as JSON.
    Pt2,
    /// ONNX `ModelProto`.
    Onnx,
    /// `HloModuleProto` or `HloProto`.
    HloProto,
    /// HLO text of any dialect.
    HloText,
    /// StableHLO text.
    StableHlo,
    /// MLIR bytecode, by itself or in a file of `jax.export`.
    MlirBytecode,
    /// `torch.jit.save`: a zip archive with the modules as a pickle and their methods as source.
    TorchScript,
}

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

/// Bytes at the front that are examined.
const HEAD_BYTES: usize = 4096;

/// Most bytes of comments and blank lines that are skipped in front of a text.
const MAX_PREAMBLE: usize = 1 << 20;

const EXPORT: &str =
    "save the model with: torch.export.save(torch.export.export(model.eval(), example_inputs), \"model.pt2\")";
const STABLEHLO_TEXT: &str = "save text with: open(\"model.mlir\", \"w\").write(jax.jit(f).lower(*args).as_text())";
const HLO_PROTO: &str = "save the module with: open(\"model.hlo_module.pb\", \"wb\").write(context.hlo())";
const ONNX_FILE: &str = "save it with: onnx.save(onnx_model, \"model.onnx\")";
const NEFF_GRAPH: &str = "take the graph it was compiled from: model.hlo_module.pb beside it in the compile cache";
const SOME_MODEL: &str =
    "choose a .pt2, .onnx, TorchScript, HLO or StableHLO file; PyTorch writes one with torch.export.save";

/// Why a file is not read as a model.
struct NotRead {
    refusal: Refusal,
    /// It is a model all the same, in a form that another one replaces.
    is_model: bool,
}

impl NotRead {
    /// A model in a form that is not read.
    fn model(instead: &'static str, what: &str) -> Self {
        Self { refusal: Refusal::new(what).advise(instead), is_model: true }
    }
}

impl From<Refusal> for NotRead {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, is_model: false }
    }
}

/// The format of a file; for a gzip file, the format of the file inside. Fails when the file has another format: the error names it
/// and says which command gives a file that can be read.
pub fn sniff(bytes: &dyn ByteSource) -> Result<ModelFormat, Refusal> {
    let head = head(bytes)?;
    if is_gzip(&head) {
        let inner = gunzip(bytes)?;
        return kind_of(&inner, &inner.slice(0, HEAD_BYTES).unwrap_or_default()).map_err(|not| not.refusal);
    }
    kind_of(bytes, &head).map_err(|not| not.refusal)
}

/// Whether the first bytes of a file are those of a model, in a format that is read or in a form whose refusal says how to save it. A zip
/// archive is a model by the names in its head, where PyTorch's and Keras's files have those that only they have.
pub fn is_model_head(head: &[u8]) -> bool {
    const TORCH: [&str; 6] = [
        "data.pkl",
        "/archive_format",
        "/byteorder",
        "constants.pkl",
        "serialized_exported_program.json",
        "models/model.json",
    ];
    if is_bundle(head) {
        return true;
    }
    if is_zip(head) {
        let is_of_model = |name: String| {
            // torch.export writes weights in front of the graph.
            name.ends_with("model.weights.h5")
                || name.contains("/data/weights/weight_")
                || TORCH.iter().any(|end| name.ends_with(end))
        };
        return local_names(head).any(is_of_model);
    }
    kind_of(&head.to_vec(), &head[..head.len().min(HEAD_BYTES)]).map_or_else(|not| not.is_model, |_| true)
}

/// Whether a file has the name of a model whose weights may lie in other files.
pub fn may_have_files_beside(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".onnx")
}

/// Whether the first bytes are those of an archive that begins with such a model: a shell makes it of the model and the files beside it.
pub fn is_bundle(head: &[u8]) -> bool {
    is_zip(head) && local_names(head).next().is_some_and(|name| may_have_files_beside(&name))
}

/// A name without the ending of a model file; `None` if it has no such ending. Only the bytes decide the format.
pub fn without_model_ending(name: &str) -> Option<&str> {
    MODEL_ENDINGS.iter().chain(&SHARED_ENDINGS).find_map(|end| name.strip_suffix(end))
}

/// The first bytes of a file. Fails when they cannot be read.
pub fn head(bytes: &dyn ByteSource) -> Result<Vec<u8>, Refusal> {
    bytes.slice(0, HEAD_BYTES).map_err(unreadable)
}

fn kind_of(bytes: &dyn ByteSource, head: &[u8]) -> Result<ModelFormat, NotRead> {
    if bytes.size() == 0 {
        return Err(refuse!(instead = "copy or download it again", "the file is empty").into());
    }
    if is_zip(head) {
        return Ok(archive_kind(bytes)?);
    }
    if module_in(bytes).map_err(unreadable)?.is_some() {
        return Ok(ModelFormat::MlirBytecode);
    }
    binary_of_another_kind(head).map_or(Ok(()), Err)?;
    // A text may begin with the bytes of a field, but it does not contain other control characters.
    match protobuf_kind(head).filter(|_| !is_text(head)) {
        Some(kind) => Ok(kind),
        None => text_kind(bytes, head),
    }
}

/// The format of a zip archive, from the names in it.
fn archive_kind(bytes: &dyn ByteSource) -> Result<ModelFormat, Refusal> {
    let archive = Archive::open(bytes)?;
    let has = |part: &str| archive.entries.iter().any(|e| e.name.contains(part));
    let ends = |end: &str| archive.ending(end).is_some();
    let is_graph = |name: &str| name.ends_with(".json") && (name.contains("/models/") || name.starts_with("models/"));
    if archive.entries.iter().any(|e| is_graph(&e.name)) || ends("serialized_exported_program.json") {
        return Ok(ModelFormat::Pt2);
    }
    if has("data/aotinductor/") {
        return Err(refuse!(instead = EXPORT, "it is an AOTInductor package: compiled code without a graph"));
    }
    if has("code/__torch__") || (ends("constants.pkl") && has("/code/")) {
        return Ok(ModelFormat::TorchScript);
    }
    if ends("model.weights.h5") {
        return Err(refuse!(
            instead = "convert it with: python -m tf2onnx.convert --keras FILE --output model.onnx",
            "it is a Keras model"
        ));
    }
    if ends("data.pkl") {
        return pickled_archive(&archive);
    }
    Err(refuse!(
        instead = EXPORT,
        "it is a zip archive without a model: no models/model.json and no serialized_exported_program.json"
    ))
}

/// The kind of object that `torch.save` wrote, from the classes that its pickle names. The pickle is never executed.
fn pickled_archive(archive: &Archive<'_>) -> Result<ModelFormat, Refusal> {
    /// Most bytes of a pickle that are searched.
    const SEARCHED: u64 = 64 << 20;
    let pickle = archive.ending("data.pkl").map(|e| archive.content(e, SEARCHED).unwrap_or_default());
    let pickle = pickle.unwrap_or_default();
    let asks = |name: &[u8]| memchr::memmem::find(&pickle, name).is_some();
    Err(if asks(b"torch.fx") || asks(b"reduce_graph_module") {
        refuse!(instead = EXPORT, "it is a pickled torch.fx.GraphModule, which only Python can load")
    } else if asks(b"torch.nn.modules") || asks(b"_modules") {
        refuse!(instead = EXPORT, "it is a pickled module (torch.save of a model), which only Python can load")
    } else {
        refuse!(instead = EXPORT, "it holds weights without a graph (torch.save of a state_dict)")
    })
}

/// An error for known binary formats that cannot be read.
fn binary_of_another_kind(head: &[u8]) -> Option<NotRead> {
    if head.get(4..8) == Some(b"TFL3") {
        return Some(
            refuse!(
                instead = "convert it with: python -m tf2onnx.convert --tflite FILE --output model.onnx",
                "it is a TensorFlow Lite model"
            )
            .into(),
        );
    }
    if head.starts_with(b"\x89HDF") {
        return Some(
            refuse!(
                instead = "convert the model with: python -m tf2onnx.convert --keras FILE --output model.onnx",
                "it is an HDF5 file (Keras weights)"
            )
            .into(),
        );
    }
    let pictures: [(&[u8], &'static str); 6] = [
        (b"\x89PNG", "a PNG picture"),
        (b"\xff\xd8\xff", "a JPEG picture"),
        (b"GIF8", "a GIF picture"),
        (b"%PDF", "a PDF document"),
        (b"\x7fELF", "an ELF program or library"),
        (b"RIFF", "a sound or a picture"),
    ];
    if let Some((_, what)) = pictures.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(refuse!(instead = SOME_MODEL, "it is {what}, not a model").into());
    }
    if is_neff(head) || memchr::memmem::find(head, b"neff.json").is_some() {
        return Some(NotRead::model(NEFF_GRAPH, "it is a NEFF: compiled code without a graph"));
    }
    if is_ntff(head) {
        let instead = "view it with: neuron-profile view --output-format json, and open that as a profile";
        return Some(refuse!(instead = instead, "it is a Neuron device profile (NTFF), not a model").into());
    }
    if head.len() > 8 && head[..8][6..] == [0, 0] && head[8] == b'{' {
        return Some(refuse!(instead = EXPORT, "it is a safetensors file: weights without a graph").into());
    }
    if head.first() == Some(&0x80) && head.get(1).is_some_and(|v| (2..=5).contains(v)) {
        return Some(refuse!(instead = EXPORT, "it is a Python pickle, which is never executed here").into());
    }
    None
}

/// Whether the first bytes are text: a protobuf file has a control character in front of each of its names.
fn is_text(head: &[u8]) -> bool {
    head.iter().take(512).all(|&byte| byte >= 0x20 || matches!(byte, b'\t' | b'\n' | b'\r'))
}

/// The format of a protobuf file, from its first fields.
fn protobuf_kind(head: &[u8]) -> Option<ModelFormat> {
    match head.first()? {
        // Field 1 of an ONNX model is a number: the version of its format. Another known field follows.
        0x08 => {
            let (_, len) = ns_base::wire::varint(head.get(1..)?)?;
            let next = *head.get(1 + len)?;
            matches!(next, 0x12 | 0x1a | 0x22 | 0x28 | 0x32 | 0x3a | 0x42 | 0x72 | 0xa2 | 0xca)
                .then_some(ModelFormat::Onnx)
        }
        // A model that stores its version later: producer, graph or operator sets come first.
        0x3a | 0x42 => Some(ModelFormat::Onnx),
        // Field 1 of an HLO module is its name; field 1 of an enclosing message is the module.
        0x0a => {
            let (len, used) = ns_base::wire::varint(head.get(1..)?)?;
            let first = *head.get(1 + used)?;
            let after = usize::try_from(len).ok().and_then(|len| head.get(1 + used + len));
            let is_inside = first == 0x0a;
            // A text may begin with a line feed and a letter: as a field, its length would exceed the file.
            let is_name = after.is_some_and(|&tag| matches!(tag, 0x12 | 0x1a | 0x22 | 0x28)) && first >= 0x20;
            (is_inside || is_name).then_some(ModelFormat::HloProto)
        }
        _ => None,
    }
}

/// The format of a text, from its first word.
fn text_kind(bytes: &dyn ByteSource, head: &[u8]) -> Result<ModelFormat, NotRead> {
    if head.starts_with(b"version https://git-lfs") {
        return Err(refuse!(
            instead = "run: git lfs pull",
            "it is a Git LFS pointer: the model itself was not downloaded"
        )
        .into());
    }
    // A packet of Perfetto with 35 bytes begins as a line of MLIR does.
    let text = if is_text(head) { first_words(bytes)? } else { String::new() };
    let starts = |word: &str| text.starts_with(word);
    if starts("HloModule") {
        return Ok(ModelFormat::HloText);
    }
    if ["module", "builtin.module", "\"builtin.module\"", "func.func"].iter().any(|w| starts(w)) || is_alias(&text) {
        return Ok(ModelFormat::StableHlo);
    }
    let lower = text.get(..64.min(text.len())).unwrap_or_default().to_ascii_lowercase();
    if lower.starts_with("<!doctype") || lower.starts_with("<html") || lower.starts_with("<?xml") {
        return Err(refuse!(
            instead = "download the file itself",
            "it is a web page, not a model: the download gave a page"
        )
        .into());
    }
    if starts("{") || starts("[") {
        return json_kind(&text);
    }
    if text.contains("entry_computation_name:") || (starts("name:") && text.contains("computations")) {
        return Err(NotRead::model(HLO_PROTO, "it is the text form of the protobuf HloModuleProto, not HLO text"));
    }
    if starts("ir_version:") || starts("producer_name:") || (starts("<") && text.contains("ir_version")) {
        return Err(NotRead::model(ONNX_FILE, "it is a text form of an ONNX model"));
    }
    if starts("import ") || starts("from ") || starts("def ") || starts("#!") {
        return Err(refuse!(instead = EXPORT, "it is a program, not a model").into());
    }
    if starts("%") || starts("ENTRY") || starts("func ") {
        return Err(NotRead::model(STABLEHLO_TEXT, "it is a part of an HLO or MLIR text"));
    }
    Err(refuse!(instead = SOME_MODEL, "its format is not read here").into())
}

/// Whether a text begins with a name of MLIR for an attribute: `#map = affine_map<...>`.
fn is_alias(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix('#')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()) && rest.contains(" = "))
}

/// The format of a JSON text, from the names in it.
fn json_kind(text: &str) -> Result<ModelFormat, NotRead> {
    if text.contains("entryComputationName") || text.contains("entry_computation_name") {
        return Err(NotRead::model(HLO_PROTO, "it is the JSON form of the protobuf HloModuleProto"));
    }
    if text.contains("irVersion") || text.contains("ir_version") || text.contains("opsetImport") {
        return Err(NotRead::model(ONNX_FILE, "it is the JSON form of an ONNX model"));
    }
    if text.contains("graph_module") {
        return Err(refuse!(instead = "choose the .pt2 file itself", "it is the graph of a .pt2 file alone").into());
    }
    if text.contains("\"traceEvents\"") || text.contains("\"ph\"") {
        return Err(refuse!(instead = "open it with: neuronscope open FILE", "it is a trace, not a model").into());
    }
    Err(refuse!(instead = SOME_MODEL, "it is a JSON file, not a model").into())
}

/// The text from its first word on, without a byte order mark, blank lines and comments.
fn first_words(bytes: &dyn ByteSource) -> Result<String, Refusal> {
    let raw = bytes.slice(0, MAX_PREAMBLE).map_err(unreadable)?;
    let text = String::from_utf8_lossy(&raw);
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while let Some(comment) = rest.strip_prefix("//") {
        rest = comment.split_once('\n').map_or("", |(_, after)| after).trim_start();
    }
    Ok(rest.chars().take(HEAD_BYTES * 4).collect())
}
