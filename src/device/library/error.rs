//! Why a model that a text names cannot be used.

use thiserror::Error;

use super::model_ref::ModelRefError;
use ns_import::ImportError;

/// Why the model in a text cannot be used. The messages say what to do.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum LibraryError {
    /// The bytes of a file cannot be read.
    #[error("{name}: cannot be read: {reason}")]
    Unreadable {
        name: String,
        /// The message of the medium.
        reason: String,
    },
    /// The file is not a model file, is damaged, or contains no program.
    #[error("{name}: {error}")]
    NotAModel {
        name: String,
        /// What is wrong with it.
        error: Box<ImportError>,
    },
    /// The text names a file that is not open.
    #[error("model {label} is a file{} that is not open; {}", content_of(.digest), what_to_open(.digest, .nearest))]
    NotOpen {
        /// The model's name for display.
        label: String,
        /// The content that the text names, if any.
        digest: Option<String>,
        /// The nearest names of open files; `None` when no file is open.
        nearest: Option<String>,
    },
    /// The text names several open files.
    #[error("{name}: several open files have this name; say which, as in file:{name}@{first} or file:{name}@{second}")]
    SeveralOpen {
        name: String,
        /// The content of one of them.
        first: String,
        /// The content of another one.
        second: String,
    },
    /// The file has one batch size, and a different one is requested.
    #[error("{name}: was exported for a batch size of {size}, not {asked}; use batch size {size}, or {how_to_open}")]
    FixedBatch {
        name: String,
        size: u64,
        /// The requested batch size.
        asked: u64,
        /// How to export it with an open batch size.
        how_to_open: &'static str,
    },
    /// The user set the size of the batch dimension, and a different batch size is requested.
    #[error(
        "{name}: dimension {dimension} is set to {size}, so that a batch size of {asked} is not possible; leave {dimension} out to sweep batch sizes"
    )]
    SetBatch {
        name: String,
        dimension: String,
        /// The size that was set.
        size: u64,
        /// The requested batch size.
        asked: u64,
    },
    /// Neither the zoo nor the open files have a model of this name.
    #[error("unknown model {name:?}: the nearest are {nearest}; neuronscope models lists those of the zoo")]
    Unknown {
        name: String,
        /// The nearest names in the zoo and among the open files.
        nearest: String,
    },
    /// The text names no model.
    #[error(transparent)]
    Ref(#[from] ModelRefError),
    /// A program is asked of a model that is given by its times.
    #[error("model fixed is given by its times and has no program; name another model, such as nn")]
    NoProgram,
}

fn content_of(digest: &Option<String>) -> String {
    digest.as_ref().map_or_else(String::new, |digest| format!(" (content {digest})"))
}

fn what_to_open(digest: &Option<String>, nearest: &Option<String>) -> String {
    let open = if digest.is_some() { "open the file again" } else { "open it first" };
    match nearest {
        None => format!("{open}, on the command line with --model FILE"),
        Some(nearest) => format!("{open}; the nearest that are open: {nearest}"),
    }
}
