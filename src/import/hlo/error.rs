//! Why a module of HLO is not read.

use std::borrow::Cow;

use thiserror::Error;

use crate::attribute::AttributeError;
use crate::program::{ArrayType, TooManyElements, Type};

/// What to do about instructions that contradict each other.
const EXPORT_AGAIN: &str = "export the module again; the file was changed or is damaged";

/// Why the instructions of a module make no program, in words that follow the name of an instruction or a computation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HloError {
    /// No computation that the module begins with.
    #[error("the module has no entry computation")]
    NoEntry,
    /// A computation that calls one that calls it.
    #[error("the computation calls itself")]
    CallsItself,
    /// A computation without instructions.
    #[error("a computation has no result")]
    NoResult,
    /// A parameter out of order.
    #[error("it is parameter {number} where parameter {expected} should be")]
    Parameter {
        /// Its number.
        number: i64,
        /// The number that comes next.
        expected: usize,
    },
    /// A constant without numbers.
    #[error("it has no literal")]
    NoLiteral,
    /// An operand behind its user.
    #[error("it reads what comes after it")]
    ReadsLater,
    /// A call of a computation that the instruction is in.
    #[error("it calls a computation around it")]
    CallsAround,
    /// Settings that its operation cannot have.
    #[error(transparent)]
    Settings(#[from] AttributeError),
}

impl HloError {
    /// What to do instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        EXPORT_AGAIN
    }
}

/// Why an `HloModuleProto` is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HloProtoError {
    /// A field that is longer than its message.
    #[error("field {number} of {of} runs past its end")]
    Field {
        /// Which field of the message it is, from 1.
        number: usize,
        /// The message.
        of: &'static str,
    },
    /// Another message.
    #[error("the file holds no computation of an HloModuleProto")]
    NoComputation,
    /// An id that two parts have.
    #[error("two {parts} have id {id}")]
    Twice {
        /// What they are.
        parts: &'static str,
        /// Their id.
        id: u64,
    },
    /// An id of the entry that no computation has.
    #[error("the entry computation {0} does not exist")]
    NoEntry(u64),
    /// An id of a callee that no computation has.
    #[error("it calls computation {0}, which does not exist")]
    NoCallee(u64),
    /// An id of an operand that no instruction in front of it has.
    #[error("it reads instruction {0}, which does not come before it")]
    NoOperand(u64),
    /// An id of a result that no instruction has.
    #[error("its result is instruction {0}, which does not exist")]
    NoResult(u64),
    /// An instruction without a type.
    #[error("it has no shape")]
    NoShape,
    /// Tuples in tuples, beyond a limit.
    #[error("tuples nest too deep")]
    TooDeep,
    /// A number of an element type that is not known.
    #[error("element type {0} of xla_data.proto is not known")]
    Element(u64),
    /// A negative size.
    #[error("a dimension has {0} elements")]
    Dimension(i64),
    /// An array that is too large.
    #[error(transparent)]
    Size(#[from] TooManyElements),
    /// Bytes that are no whole number of numbers.
    #[error("its literal ends inside a number")]
    LiteralCut,
    /// Another number of numbers than the type has elements.
    #[error("a literal of {ty} holds {numbers} numbers")]
    LiteralNumbers {
        /// The type.
        ty: ArrayType,
        /// The numbers.
        numbers: usize,
    },
    /// Another number of values than the tuple has parts.
    #[error("a literal of {ty} holds {values} values")]
    LiteralValues {
        /// The tuple.
        ty: Type,
        /// The values.
        values: usize,
    },
}

impl HloProtoError {
    /// What to do instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::Field { .. } => "the file is cut off or is not an HloModuleProto: copy the whole file",
            Self::NoComputation => "give the HloModuleProto itself, model.hlo_module.pb of the compile cache",
            Self::Element(_) => "export the model with a type that XLA had in 2024 or before",
            _ => EXPORT_AGAIN,
        }
    }
}

/// Why HLO text is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HloTextError {
    /// The protocol buffer as a text, by the name of its form.
    #[error("the file is the {0} form of the protocol buffer, not HLO text")]
    OtherForm(&'static str),
    /// No computation that the module begins with.
    #[error("the module has no ENTRY computation")]
    NoEntry,
    /// A name that two parts have.
    #[error("there are two {parts} {name:?}")]
    Twice {
        /// What they are.
        parts: &'static str,
        /// Their name.
        name: String,
    },
    /// A computation without instructions.
    #[error("the computation {0:?} is empty")]
    Empty(String),
    /// A name of a callee that no computation has.
    #[error("a computation {0:?} is called and not defined")]
    NoCallee(String),
    /// A name of an operand that no instruction in front of it has.
    #[error("the operand {0:?} is not defined before it is read")]
    NoOperand(String),
    /// A value that a setting does not have.
    #[error("{setting} of {opcode} is not {value:?}")]
    Setting {
        /// The setting.
        setting: String,
        /// The operation.
        opcode: String,
        /// How the value begins.
        value: String,
    },
    /// Tuples in tuples, beyond a limit.
    #[error("tuples nest too deep")]
    TooDeep,
    /// An array that is too large.
    #[error(transparent)]
    Size(#[from] TooManyElements),
    /// A name of an element type that is not known.
    #[error("{name:?} is not a known element type")]
    Element {
        /// How the name begins.
        name: String,
        /// Names that are known and like it.
        nearest: String,
    },
    /// Another number of numbers than the type has elements.
    #[error("a constant of {ty} holds {numbers} numbers")]
    Constant {
        /// The type.
        ty: ArrayType,
        /// The numbers.
        numbers: usize,
    },
}

impl HloTextError {
    /// What to do instead.
    #[must_use]
    pub fn instead(&self) -> Cow<'static, str> {
        let instead = match self {
            Self::Element { nearest, .. } => return format!("known ones like it are {nearest}").into(),
            Self::OtherForm(_) => "give the HloModuleProto itself (LoweringContext.hlo()), or HLO text",
            Self::NoEntry => "copy the whole text",
            Self::TooDeep => "export the model again",
            Self::Size(_) => "export a model of sizes that exist",
            _ => "export the text again; it must not be edited by hand",
        };
        instead.into()
    }
}
