//! Why a module of StableHLO is not read.

use ns_base::Refusal;
use std::borrow::Cow;

use thiserror::Error;

use super::types::TensorError;
use crate::attribute::{AttributeError, ConstantError};
use crate::program::Type;

/// Why a module of StableHLO is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StableHloError {
    /// No function that the program begins with.
    #[error("the module has no function")]
    NoFunction,
    /// A module of several devices.
    #[error("sdy.manual_computation: the module is divided over several devices")]
    Divided,
    /// Regions in the regions of a text, beyond a limit.
    #[error("regions nest too deep")]
    RegionsTooDeep,
    /// Other parts within their like, beyond a limit.
    #[error("{0} nest too deep")]
    TooDeep(&'static str),
    /// A type of a tensor.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// An argument of the program that is not an array.
    #[error("an argument of main is {0}, not an array")]
    Argument(Type),
    /// A function that calls one that calls it.
    #[error("the function {0:?} calls itself")]
    CallsItself(String),
    /// A name of a callee that no function has.
    #[error("a function {0:?} is called and not defined")]
    NoCallee(String),
    /// A body that does not end with its results.
    #[error("a function or a region does not return")]
    NoReturn,
    /// A value that is read before it is defined.
    #[error("the value {0} is not defined before it is read")]
    Undefined(String),
    /// A result that a value does not have.
    #[error("the value {value} has {results} results")]
    NoResult {
        /// The value.
        value: String,
        /// How many it has.
        results: usize,
    },
    /// Attributes that an operation cannot have.
    #[error("{operation}: {fault}")]
    Attribute {
        /// The operation.
        operation: String,
        /// What is wrong with them.
        fault: AttributeError,
    },
    /// An operation where it can have no meaning.
    #[error("{0}: it has no meaning here")]
    NoMeaning(String),
    /// An operation whose operands do not give the sizes of its result.
    #[error("{0} has an open size: it does not follow from its operands")]
    OpenSize(String),
    /// An operation whose operands give no result.
    #[error("{operation} has an open size: {fault}")]
    OpenResult {
        /// The operation.
        operation: String,
        /// Why they give none.
        fault: Refusal,
    },
    /// A constant that is not an array.
    #[error("a constant of {0}")]
    ConstantType(Type),
    /// A constant whose numbers are not those of its type.
    #[error("stablehlo.constant: {0}")]
    Constant(ConstantError),
    /// A reduction of something else than an array.
    #[error("it reduces no array")]
    NoArray,
    /// A region that reads a value around it where only constants can be read.
    #[error("the region reads {0} around it")]
    ReadsAround(String),
    /// A loop with other regions.
    #[error("a loop has a condition and a body")]
    LoopRegions,
    /// A loop whose region takes another number of values.
    #[error("a loop carries {carried} values and its region takes {taken}")]
    Carried {
        /// Values that the loop carries.
        carried: usize,
        /// Values that the region takes.
        taken: usize,
    },
    /// A size that no array can have.
    #[error("the size {term} is {} with {with}", .found.map_or_else(|| "not a number".to_owned(), |n| n.to_string()))]
    NoSize {
        /// The size, as the file writes it.
        term: String,
        /// Its value.
        found: Option<i64>,
        /// The sizes of the symbols in it.
        with: String,
    },
    /// Several symbols, and no word which size is which.
    #[error("the text does not say which open size is which of its symbols ({0})")]
    WhichSymbol(String),
    /// Sizes that the model itself refuses.
    #[error("the model refuses these sizes: {0}")]
    Refused(String),
    /// Sizes with which the operations of the model contradict each other, although the model leaves them open.
    #[error("{}", contradiction(.name, *.asked, .works, .what))]
    Contradicts {
        /// The open size.
        name: String,
        /// The number that was asked for.
        asked: u64,
        /// Numbers that were tried and work; two at most.
        works: Vec<u64>,
        /// What does not fit.
        what: String,
    },
    /// A choice between no regions.
    #[error("a choice has no branches")]
    NoBranches,
}

impl StableHloError {
    /// What to do instead.
    #[must_use]
    pub fn instead(&self) -> Cow<'static, str> {
        let advice = match self {
            Self::NoSize { .. } | Self::Refused(_) => "give other sizes with --dim",
            Self::WhichSymbol(_) => {
                "save the file that says it: open(\"model.jax_export\", \"wb\").write(jax.export.export(jax.jit(f))(*args).serialize())"
            }
            Self::Contradicts { name, works, .. } => {
                let one = works.first().map_or(1, |n| *n);
                return format!(
                    "give --dim {name}={one}, or export the model again with this size taken from its input, as in x.shape[0]"
                )
                .into();
            }
            Self::NoFunction => "export the text again",
            Self::Divided => "export the model for one device, without a mesh",
            Self::RegionsTooDeep => "export a model with fewer loops inside loops",
            Self::OpenSize(_) | Self::OpenResult { .. } => "export the model with fixed sizes",
            _ => "export the text again; it must not be edited by hand",
        };
        advice.into()
    }
}

/// Which numbers work and which does not.
fn contradiction(name: &str, asked: u64, works: &[u64], what: &str) -> String {
    let [one, other, ..] = works else {
        let only = works.first().map_or(1, |n| *n);
        return format!(
            "the model works only with {name}={only}, not with {name}={asked}: its operations are written for a size of {only} ({what})"
        );
    };
    format!("the model does not work with {name}={asked}; it does with {name}={one} and {name}={other} ({what})")
}
