//! The messages of ONNX that a reader needs (<https://github.com/onnx/onnx/blob/main/onnx/onnx.proto>), without their dead fields.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::program::{ArrayType, Value};

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Model {
    /// Version of the intermediate representation; 0 when it is not written.
    pub ir_version: u64,
    /// What wrote it, name and version.
    pub producer: String,
    /// Version of each operator domain; the default one is the empty name.
    pub opsets: BTreeMap<String, u64>,
    /// The graph.
    pub graph: Graph,
    /// Functions that nodes call.
    pub functions: Vec<Rc<Function>>,
}

/// A graph: the main one, or one that an attribute holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Graph {
    /// Its name.
    pub name: String,
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// Numbers that come with it.
    pub initializers: Vec<Rc<Tensor>>,
    /// Whether it has initialisers of few elements.
    pub has_sparse: bool,
    /// Inputs.
    pub inputs: Vec<ValueInfo>,
    /// Results.
    pub outputs: Vec<ValueInfo>,
    /// Types of values between.
    pub value_info: Vec<ValueInfo>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    /// Names of the values it reads; an empty one is left out.
    pub inputs: Vec<Rc<str>>,
    /// Names of the values it makes; an empty one is not wanted.
    pub outputs: Vec<Rc<str>>,
    /// Its name; may be empty.
    pub name: String,
    /// Its operator.
    pub op: String,
    /// Domain of the operator; empty for ONNX's own.
    pub domain: String,
    /// Which of several functions of one name.
    pub overload: String,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Notes of the exporter: `pkg.torch.onnx.name_scopes` and others that say where the node came from.
    pub notes: BTreeMap<String, String>,
}

/// A named attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attribute {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: AttributeValue,
}

/// Value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AttributeValue {
    /// A number.
    Float(f64),
    /// A whole number.
    Int(i64),
    /// Text.
    Text(String),
    /// Numbers of an array.
    Tensor(Rc<Tensor>),
    /// A graph.
    Graph(Rc<Graph>),
    /// Numbers.
    Floats(Vec<f64>),
    /// Whole numbers.
    Ints(Vec<i64>),
    /// Texts.
    Texts(Vec<String>),
    /// Several graphs.
    Graphs(Vec<Rc<Graph>>),
    /// The attribute of this name of the function that the node is in.
    Reference(String),
    /// Of a kind that no operator here has.
    Other,
}

/// Where the numbers of a tensor are.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TensorData {
    /// In another file, which is never opened.
    External,
    /// In this file, little-endian in row-major order.
    InFile {
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
    /// Here.
    Held(Rc<Value>),
}

/// An array of numbers with a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor {
    /// Its name; may be empty.
    pub name: Rc<str>,
    /// Element type and sizes.
    pub ty: ArrayType,
    /// Its numbers.
    pub data: TensorData,
}

/// A size of a dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Dim {
    /// Known.
    Size(i64),
    /// Open, under a name.
    Named(String),
    /// Open.
    Unknown,
}

/// Name and type of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ValueInfo {
    /// Its name.
    pub name: Rc<str>,
    /// Number of its element type in ONNX; 0 when it is not an array or not known.
    pub element: u64,
    /// Sizes; none when not even their number is known.
    pub dims: Option<Vec<Dim>>,
    /// Whether it is something other than an array: a sequence, a map, an optional value.
    pub is_other: bool,
}

/// A function that nodes call by its domain, name and overload.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Function {
    /// Its name.
    pub name: String,
    /// Its domain.
    pub domain: String,
    /// Which of several of one name.
    pub overload: String,
    /// Names of its inputs.
    pub inputs: Vec<Rc<str>>,
    /// Names of its results.
    pub outputs: Vec<Rc<str>>,
    /// Attributes with default values.
    pub defaults: Vec<Attribute>,
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// Versions of the operators in it.
    pub opsets: BTreeMap<String, u64>,
}
