//! Why a file of `torch.jit.save` is not read.

use ns_base::Refusal;
use std::borrow::Cow;

use thiserror::Error;

use super::interpret::RunError;
use super::source::SyntaxError;
use crate::pt2::PickleError;

/// Why a file of `torch.jit.save` is not read.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TorchScriptError {
    /// An archive without its objects.
    #[error("there is no data.pkl in the archive")]
    NoObjects,
    /// Objects that are damaged.
    #[error(transparent)]
    Pickle(#[from] PickleError),
    /// Weights of a processor of another kind.
    #[error("its weights are big-endian: it was saved on another kind of processor")]
    BigEndian,
    /// A source of other bytes.
    #[error("the source is not UTF-8")]
    NotUtf8,
    /// A source that is damaged.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// Objects of which none is a module.
    #[error("data.pkl holds no module")]
    NoModule,
    /// A model without the source of its class.
    #[error("the source of the class {0} is missing")]
    NoClass(String),
    /// A model that cannot be called.
    #[error("{0} has no method forward")]
    NoForward(String),
    /// A line that cannot be run.
    #[error("{}", clipped(.0))]
    Run(#[from] RunError),
    /// Inputs that ask for one another's sizes again and again.
    #[error("the sizes of its inputs are not known")]
    UnknownSizes,
    /// An input without an example whose sizes nothing says.
    #[error("the file does not say the sizes of its input {0}")]
    NoSizes(String),
    /// A dimension that is asked for and is not there.
    #[error("the file has no dimension {name}; it has {}", there.join(", "))]
    NoDimension {
        /// The dimension.
        name: String,
        /// The dimensions that are there, or the first of them.
        there: Vec<String>,
    },
    /// An input of lists in lists, beyond a limit.
    #[error("the input {name} has more than {most} levels")]
    NestedInput {
        /// The input.
        name: String,
        /// How many it may have.
        most: usize,
    },
    /// An input that a program cannot hold.
    #[error(transparent)]
    Input(Refusal),
    /// Results that are not tensors.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// A program that cannot be made.
    #[error(transparent)]
    Program(Refusal),
}

impl TorchScriptError {
    /// What to do instead.
    #[must_use]
    pub fn instead(&self) -> Cow<'static, str> {
        let instead = match self {
            Self::NoObjects
            | Self::Pickle(_)
            | Self::NotUtf8
            | Self::Syntax(_)
            | Self::NoModule
            | Self::NoClass(_)
            | Self::NoForward(_) => "save the model again with torch.jit.save",
            Self::BigEndian => "save it again on a processor that is little-endian",
            Self::Run(error) => error.instead(),
            Self::UnknownSizes => "save a trace with PyTorch 2.4 or later",
            Self::NoSizes(input) => {
                return format!(
                    "ask for all of them (--dim {input}.0=1 --dim {input}.1=128 ..), or save a trace with PyTorch 2.4 or later, which keeps them"
                )
                .into();
            }
            Self::NoDimension { .. } => "leave it out or name one that is there",
            Self::NestedInput { .. } => "call the model with tensors",
            Self::Input(_) => "ask for smaller sizes",
            Self::Result(_) | Self::Program(_) => "give tensors as results",
        };
        instead.into()
    }
}

/// Why results of a model are not tensors.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ResultError {
    /// Nested lists, or too many parts.
    #[error("its result has too many levels or parts")]
    TooMany,
    /// An input of unknown sizes is itself a result.
    #[error("the input {0} is its result, and its sizes are not known")]
    Unsized(String),
    /// A result without a tensor in it.
    #[error("the model gives {0} and no tensor")]
    NoTensor(String),
}

/// The beginning of a message: names and operands in it come from the file, and may be long.
fn clipped(error: &RunError) -> String {
    error.to_string().chars().take(600).collect()
}
