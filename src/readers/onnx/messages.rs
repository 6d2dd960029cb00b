//! The messages of ONNX that the reader needs (<https://github.com/onnx/onnx/blob/main/onnx/onnx.proto>), without deprecated fields.

use std::collections::BTreeMap;
use std::rc::Rc;

use ns_program::{ArrayType, DataBeside, Value};

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Model {
    /// Version of the intermediate representation; 0 if it is missing.
    pub ir_version: u64,
    /// Name and version of the producer.
    pub producer: String,
    /// Version of each operator domain; ONNX's own domain has the empty name.
    pub opsets: BTreeMap<String, u64>,
    pub graph: OnnxGraph,
    /// Functions that nodes call.
    pub functions: Vec<Rc<OnnxFunction>>,
}

/// A graph: the main one, or a subgraph in an attribute.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OnnxGraph {
    pub name: String,
    pub nodes: Vec<OnnxNode>,
    pub initializers: Vec<Rc<Tensor>>,
    /// Whether it has small initialisers.
    pub has_sparse: bool,
    pub inputs: Vec<ValueInfo>,
    /// Results.
    pub outputs: Vec<ValueInfo>,
    /// Types of intermediate values.
    pub value_info: Vec<ValueInfo>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OnnxNode {
    /// Names of its operands; an empty name is an operand that is left out.
    pub inputs: Vec<Rc<str>>,
    /// Names of its results; an empty name is a result that is not wanted.
    pub outputs: Vec<Rc<str>>,
    /// Its name; may be empty.
    pub name: String,
    pub op: String,
    /// Domain of the operator; empty for ONNX's own.
    pub domain: String,
    /// Which overload of a function.
    pub overload: String,
    pub attributes: Vec<OnnxAttribute>,
    /// Notes of the exporter, such as `pkg.torch.onnx.name_scopes`, that say where the node came from.
    pub notes: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct OnnxAttribute {
    pub name: String,
    pub value: AttributeValue,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum AttributeValue {
    Float(f64),
    Int(i64),
    Text(String),
    Tensor(Rc<Tensor>),
    Graph(Rc<OnnxGraph>),
    /// Numbers.
    Floats(Vec<f64>),
    /// Whole numbers.
    Ints(Vec<i64>),
    Texts(Vec<String>),
    /// Several graphs.
    Graphs(Vec<Rc<OnnxGraph>>),
    /// A reference to an attribute of the function that holds the node, by name.
    Reference(String),
    /// A kind that no known operator uses.
    Other,
}

/// Where the numbers of a tensor are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TensorData {
    /// The file does not have them.
    Absent,
    /// In another file.
    Beside(DataBeside),
    /// In this file, little-endian in row-major order.
    InFile {
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
    /// In memory.
    Inline(Rc<Value>),
}

/// An array of numbers with a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor {
    /// Its name; may be empty.
    pub name: Rc<str>,
    /// Element type and sizes.
    pub ty: ArrayType,
    pub data: TensorData,
}

/// A size of a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dim {
    Size(i64),
    /// Open, with a name.
    Named(String),
    /// Open, without a name.
    Unknown,
}

/// Name and type of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ValueInfo {
    pub name: Rc<str>,
    /// ONNX's number of its element type; 0 if it is not an array or not known.
    pub element: u64,
    /// Sizes; `None` if not even their number is known.
    pub dims: Option<Vec<Dim>>,
    /// Whether it is something other than an array: a sequence, a map, an optional value.
    pub is_other: bool,
}

/// A function that nodes call by its domain, name and overload.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OnnxFunction {
    pub name: String,
    pub domain: String,
    pub overload: String,
    /// Names of its inputs.
    pub inputs: Vec<Rc<str>>,
    /// Names of its results.
    pub outputs: Vec<Rc<str>>,
    /// Attributes with default values.
    pub defaults: Vec<OnnxAttribute>,
    pub nodes: Vec<OnnxNode>,
    /// Versions of the operator domains in it.
    pub opsets: BTreeMap<String, u64>,
}
