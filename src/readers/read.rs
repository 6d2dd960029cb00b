//! The entry point: a file of any kind becomes a program.

use ns_base::refuse;

use super::bundle::read_bundle;
use super::{pt2, read_hlo_proto, read_hlo_text, read_mlir_bytecode, read_onnx, read_stablehlo, read_torchscript};
use ns_container::ByteSource;
use ns_container::gzip::is_gzip;
use ns_program::file::{ModelFormat, gunzip, head, is_bundle, read_all, sniff, without_model_ending};
use ns_program::{ImportError, ImportOptions, ImportedModel, Place, WeightData, load_parameter};

/// Most bytes of weights of a packed file that are kept.
const MAX_HELD: u64 = 64 << 20;

/// Most bytes of a graph without its weights.
const MAX_GRAPH: u64 = 1 << 30;

/// Reads the model in a file. `name` is the name of the file, for the program's name; only the bytes decide the format. Fails when
/// the file's format is not supported, when it is damaged, or when it does not hold a program: the error says where, what, and what
/// to do instead.
pub fn read_model(name: &str, bytes: &dyn ByteSource, options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    if is_gzip(&head(bytes)?) {
        let inner = gunzip(bytes)?;
        let mut imported = read_plain(name, &inner, options)?;
        hold_weights(&mut imported, &inner);
        return Ok(imported);
    }
    read_plain(name, bytes, options)
}

/// Reads a file that is not packed.
fn read_plain(name: &str, bytes: &dyn ByteSource, options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    let head = head(bytes)?;
    if is_bundle(&head) {
        let mut imported = read_bundle(bytes, options)?;
        imported.program.name = stem(name);
        return Ok(imported);
    }
    let mut imported = match sniff(bytes)? {
        ModelFormat::Pt2 => pt2::read_pt2(bytes, options),
        ModelFormat::Onnx => read_onnx(bytes, options),
        ModelFormat::HloProto => read_hlo_proto(&read_all(bytes, MAX_GRAPH)?, options),
        ModelFormat::HloText => read_hlo_text(&text_of(bytes)?, options),
        ModelFormat::MlirBytecode => read_mlir_bytecode(&read_all(bytes, MAX_GRAPH)?, options),
        ModelFormat::StableHlo => read_stablehlo(&text_of(bytes)?, options),
        ModelFormat::TorchScript => read_torchscript(bytes, options),
    }?;
    imported.program.name = stem(name);
    Ok(imported)
}

/// Reads a text file.
fn text_of(bytes: &dyn ByteSource) -> Result<String, ImportError> {
    let bytes = read_all(bytes, MAX_GRAPH)?;
    String::from_utf8(bytes).map_err(|e| {
        let place = Place::Byte(e.utf8_error().valid_up_to() as u64);
        ImportError::at(place, refuse!(instead = "export the graph again", "the text is not UTF-8"))
    })
}

/// Numbers in an unpacked file are kept in memory, because the packed file has no offsets for them; those of large models are left out.
fn hold_weights(imported: &mut ImportedModel, unpacked: &dyn ByteSource) {
    let mut left = MAX_HELD;
    for parameter in &mut imported.program.parameters {
        let WeightData::InFile { len, .. } = parameter.data else { continue };
        let value = if len <= left { load_parameter(unpacked, parameter).ok().flatten() } else { None };
        left = left.saturating_sub(len);
        parameter.data = value.map_or(WeightData::Absent, |v| WeightData::Inline(Box::new(v)));
    }
}

/// The name of a file without folders and extensions.
fn stem(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let mut stem = file;
    while let Some(shorter) = without_model_ending(stem) {
        stem = shorter;
    }
    if stem.is_empty() { file.to_owned() } else { stem.to_owned() }
}
