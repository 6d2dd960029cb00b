//! Errors of a line.

use thiserror::Error;

/// Why a line cannot be used.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum LineError {
    /// The line is blank.
    #[error("the line is blank; each line must be a JSON object")]
    Blank,
    /// It begins with the mark that some editors put before UTF-8.
    #[error("the line begins with a byte order mark; save the file as UTF-8 without one")]
    ByteOrderMark,
    /// The line is JSON but not an object.
    #[error("the line is JSON but not an object; each line must be a JSON object")]
    NotAnObject,
    /// The line is not UTF-8.
    #[error("the line is not UTF-8 from byte {byte} on")]
    NotUtf8 {
        /// Where the first bad byte is, from the start of the line.
        byte: usize,
    },
    /// The line is not JSON, or lacks a key.
    #[error("{reason}")]
    NotARecord {
        /// The parser's message, with the column.
        reason: String,
    },
    /// A value has the wrong type.
    #[error("{field} must be {expected}; found {found}")]
    NotNumeric {
        field: &'static str,
        expected: &'static str,
        /// The value found, shortened.
        found: String,
    },
    /// The accelerator's model is not known.
    #[error(
        "accelerator_model '{model}' is not one of the known ones (One of Tesla V100, NVIDIA A100-SXM4-40GB, One of Quadro P1000, NVIDIA RTX A6000); --lenient takes any"
    )]
    UnknownAccelerator { model: String },
    /// Runtime and backend cannot be combined.
    #[error("dynamo={dynamo} with xla={xla} is not a known backend")]
    UnknownBackend {
        /// Backend of torch.compile.
        dynamo: String,
        /// Runtime under XLA.
        xla: String,
    },
}

/// The first characters of a text.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST { text.to_owned() } else { text.chars().take(MOST).collect::<String>() + " ..." }
}
