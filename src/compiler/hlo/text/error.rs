//! Why a text is not HLO.

use thiserror::Error;

use super::window::WindowError;
use crate::UnknownWorkflow;
use crate::hlo::VerifyError;

/// Text that is not HLO, and its position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong and what would be right.
    pub problem: ParseProblem,
}

/// What is wrong with a text of HLO.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseProblem {
    /// A character that no token has.
    #[error("{0:?} has no meaning here")]
    Character(char),
    /// One slash.
    #[error("a single / means nothing: comments start with //")]
    Slash,
    /// A sign of a value that no name follows.
    #[error("expected a name after %")]
    NoName,
    /// A text up to the end of the file.
    #[error("this text has no closing quote")]
    EndlessText,
    /// Another token than the one that has to follow.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What has to follow.
        expected: Expected,
        /// The token, described.
        found: String,
    },
    /// A name of an element type that is not known.
    #[error("unknown element type {0:?}")]
    Element(String),
    /// A name of an opcode that is not known.
    #[error("unknown opcode {0:?}")]
    Opcode(String),
    /// A name of a workflow that is not known.
    #[error(transparent)]
    Workflow(#[from] UnknownWorkflow),
    /// A name that two values have.
    #[error("%{0} is defined twice")]
    DefinedTwice(String),
    /// A value that is read before it is defined.
    #[error("%{0} is not defined before this line")]
    Undefined(String),
    /// A second result.
    #[error("a second ROOT")]
    SecondRoot,
    /// A module without a result.
    #[error("no instruction is marked ROOT")]
    NoRoot,
    /// A fusion in a fusion.
    #[error("a fusion cannot be a member of a fusion")]
    NestedFusion,
    /// A fusion with a member behind its result.
    #[error("the ROOT of a fusion is its last member")]
    FusionRootFirst,
    /// A fusion without a result.
    #[error("no member of the fusion is marked ROOT")]
    NoFusionRoot,
    /// Metadata of another name.
    #[error("metadata has op_type and op_name, not {0:?}")]
    Metadata(String),
    /// An attribute that is given before.
    #[error("{0} is given twice")]
    GivenTwice(String),
    /// An attribute that the opcode does not have.
    #[error("{opcode} has no attribute {attribute}")]
    NoAttribute {
        /// The opcode.
        opcode: String,
        /// The attribute.
        attribute: String,
    },
    /// An attribute that the opcode needs.
    #[error("{opcode} needs the attribute {attribute}")]
    NeedsAttribute {
        /// The opcode.
        opcode: String,
        /// The attribute.
        attribute: &'static str,
    },
    /// An attribute of several dimensions, or of none, where one is meant.
    #[error("{0} must name one dimension")]
    OneDimension(&'static str),
    /// An attribute of another kind than a number.
    #[error("{0}= takes a whole number")]
    WholeNumber(&'static str),
    /// Values in the place of a number.
    #[error("{0} takes a number, not values")]
    TakesNumber(String),
    /// A parameter whose number is none.
    #[error("a parameter's index is a whole number")]
    ParameterIndex,
    /// A constant whose number is none.
    #[error("{0:?} is not a number")]
    Constant(String),
    /// A window that is not understood.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// A window of a convolution over more or fewer dimensions.
    #[error("the window of a convolution has two dimensions")]
    ConvolutionWindow,
    /// A window of a reduction over more or fewer dimensions, or over batch or channels.
    #[error("the window must have four dimensions, the first two of one element")]
    ReductionWindow,
    /// A module that does not hold together.
    #[error(transparent)]
    Module(#[from] VerifyError),
}

/// What has to follow in a text of HLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Expected {
    /// A part of the language.
    #[error("{0}")]
    Part(&'static str),
    /// A sign.
    #[error("{0:?}")]
    Mark(char),
}
