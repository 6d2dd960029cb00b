//! Why an ONNX model is not read.

use ns_base::Refusal;
use std::borrow::Cow;

use thiserror::Error;

use super::super::program::{ArrayType, ElementType};
use super::elements::element_name;
use super::error::OpError;

/// Why an ONNX model is not read.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum OnnxError {
    /// A field of the file.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A message with something else behind its last field.
    #[error("a field of the model is cut off or damaged")]
    Message,
    /// A file without a graph.
    #[error("the file holds no graph of ONNX")]
    NoGraph,
    /// A graph without results.
    #[error("the graph has no outputs")]
    NoOutputs,
    /// Operators that are older or newer than those that are known.
    #[error("the model uses operators of version {version}; versions {oldest} to {newest} are known")]
    Opset {
        /// Their version.
        version: u64,
        /// The oldest that is known.
        oldest: u64,
        /// The newest that is known.
        newest: u64,
    },
    /// Weights in a form of few elements.
    #[error("the graph has sparse initialisers")]
    Sparse,
    /// More bytes than a graph may have.
    #[error("the graph without its weights has more than {0} bytes")]
    TooLong(u64),
    /// More nodes than a graph may have.
    #[error("the model has {nodes} nodes and at most {most} are read")]
    TooManyNodes {
        /// How many it has.
        nodes: usize,
        /// How many it may have.
        most: usize,
    },
    /// More nodes than a program may have.
    #[error("the model calls more than {0} nodes when its functions and loops are written out")]
    TooManyCalls(u64),
    /// Graphs within graphs, beyond a limit.
    #[error("graphs are nested more than {0} deep")]
    NestedGraphs(u32),
    /// Functions and graphs that call one another, beyond a limit.
    #[error("functions and graphs call each other more than {0} deep")]
    NestedCalls(usize),
    /// An input of the model.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An array of the file.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// An array of the file that the program cannot hold.
    #[error(transparent)]
    Constant(Refusal),
    /// A result that is not an array.
    #[error(transparent)]
    Result(Refusal),
    /// A program that is too large.
    #[error(transparent)]
    Program(Refusal),
    /// A name that two nodes give to a value.
    #[error("two nodes give a value of the name {0}")]
    Twice(String),
    /// A node that reads what follows from its own result.
    #[error("this node needs its own result: the graph has a cycle")]
    Cycle,
    /// A name that no value has.
    #[error("{user} needs the value {value}, which no node, input or initialiser gives")]
    NoValue {
        /// What reads it.
        user: String,
        /// The name.
        value: String,
    },
    /// A node that names more results than its operator has.
    #[error("{op} gives {given} results and the node wants {wanted}")]
    Results {
        /// The operator.
        op: String,
        /// How many it gives.
        given: usize,
        /// How many the node names.
        wanted: usize,
    },
    /// A node whose operator cannot be read.
    #[error(transparent)]
    Op(#[from] OpError),
}

impl OnnxError {
    /// What to do instead.
    #[must_use]
    pub fn instead(&self) -> Cow<'_, str> {
        let instead = match self {
            Self::Op(error) => return error.instead(),
            Self::Field(_) => "the file is cut off or is not an ONNX model: copy it or export it again",
            Self::Message | Self::NoOutputs | Self::Constant(_) => AGAIN,
            Self::NoGraph => "export it with torch.onnx.export",
            Self::Opset { .. } => "convert it with onnx.version_converter or export it with opset_version=20",
            Self::Sparse => "store the weights densely",
            Self::TooLong(_) | Self::Program(_) => "export a smaller part of the model",
            Self::TooManyNodes { .. } | Self::TooManyCalls(_) => "export a smaller part of it",
            Self::NestedGraphs(_) => "export the model without nested control flow",
            Self::NestedCalls(_) => "a function must not call itself: export the model again",
            Self::Input(error) => error.instead(),
            Self::Array(error) => error.instead(),
            Self::Result(_) => "export the model with arrays as results",
            Self::Twice(_) | Self::Cycle | Self::NoValue { .. } | Self::Results { .. } => {
                "check the model with onnx.checker and export it again"
            }
        };
        instead.into()
    }
}

const AGAIN: &str = "export the model again";

/// Why a field of the file is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FieldError {
    /// A tag that the file ends in.
    #[error("a field begins here and its number does not end")]
    TagCut,
    /// A number that is not a tag.
    #[error("{0} is not the tag of a field")]
    Tag(u64),
    /// A number or a length that does not end.
    #[error("the {part} of field {field} does not end")]
    Cut {
        /// Which of them.
        part: &'static str,
        /// Number of the field.
        field: u32,
    },
    /// A form that no field of a model has.
    #[error("field {field} has wire type {form}, which no model has")]
    Form {
        /// Number of the field.
        field: u32,
        /// The form.
        form: u64,
    },
    /// A field that is longer than its message.
    #[error("field {field} has {len} bytes and only {left} follow")]
    TooLong {
        /// Number of the field.
        field: u32,
        /// Its bytes.
        len: u64,
        /// The bytes that follow.
        left: u64,
    },
    /// Fewer bytes than the file says.
    #[error("{wanted} bytes belong here and {found} are there")]
    Short {
        /// How many it says.
        wanted: usize,
        /// How many there are.
        found: usize,
    },
}

/// Why an input of a model is not read.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum InputError {
    /// Text, a list or a map.
    #[error("this input is not an array of numbers")]
    NoArray,
    /// A type without dimensions.
    #[error("the file does not say how many dimensions this input has")]
    NoSizes,
    /// A negative size.
    #[error("dimension {dimension} of this input has the negative size {size}")]
    NegativeSize {
        /// The dimension.
        dimension: usize,
        /// Its size.
        size: i64,
    },
    /// Sizes whose product overflows.
    #[error("the number of elements of {0} is beyond 64 bits")]
    TooLarge(ArrayType),
    /// More than a program can hold.
    #[error(transparent)]
    Parameter(Refusal),
}

impl InputError {
    /// What to do instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::NoArray => "export the model with arrays as inputs",
            Self::NoSizes => "export it with sizes",
            Self::NegativeSize { .. } => "export it again",
            Self::TooLarge(_) => "choose smaller sizes",
            Self::Parameter(_) => "export the model with smaller inputs",
        }
    }
}

/// Why an array of the file is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// An element type that a NeuronCore does not compute with.
    #[error("an array has elements {} ({code}), which no NeuronCore computes with", element_name(*.code))]
    Element {
        /// ONNX's number for it.
        code: u64,
    },
    /// Sizes below zero.
    #[error("an array has negative sizes {0:?}")]
    NegativeSizes(Vec<i64>),
    /// Sizes whose product overflows.
    #[error("the number of elements of {0} is beyond 64 bits")]
    TooLarge(ArrayType),
    /// A number outside the range of the elements.
    #[error("{number} is not a number of {element}")]
    Number {
        /// The number.
        number: i64,
        /// The elements.
        element: ElementType,
    },
    /// Fewer bytes than its elements have.
    #[error("{ty} needs {} bytes and {found} are there", ty.bytes())]
    Bytes {
        /// Its type.
        ty: ArrayType,
        /// How many there are.
        found: u64,
    },
    /// Bytes that end inside an element.
    #[error("the bytes of {0} are cut off")]
    CutOff(ArrayType),
    /// Another number of numbers than it has elements.
    #[error("{ty} needs {wanted} numbers and {found} are there")]
    Numbers {
        /// Its type.
        ty: ArrayType,
        /// Its elements.
        wanted: u64,
        /// How many there are.
        found: usize,
    },
    /// Many numbers in a form in which each has its own length.
    #[error("numbers of {0} bytes are spelled in a variable-length form")]
    VariableLength(u64),
}

impl ArrayError {
    /// What to do instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::VariableLength(_) => "save the weights as raw data or beside the model",
            _ => AGAIN,
        }
    }
}
