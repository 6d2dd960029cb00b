//! The JSON of an exported program, as torch 2.4 and later write it (schema 5 to 8). Fields that are not needed here are left out.

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::argument::{Argument, Text};

/// Major and minor version of the schema.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct SchemaVersion {
    /// Raised when old readers cannot read the new files.
    pub major: i64,
    /// Raised when fields are added.
    #[serde(default)]
    pub minor: i64,
}

/// The version alone, which says whether the rest can be read.
#[derive(Debug, Deserialize)]
pub struct VersionHeader {
    pub schema_version: SchemaVersion,
}

#[derive(Debug, Deserialize)]
pub struct ExportedProgram<'a> {
    /// The graph and the kinds of its inputs and outputs.
    #[serde(borrow)]
    pub graph_module: GraphModule<'a>,
    /// Ranges of symbols.
    #[serde(borrow, default)]
    pub range_constraints: FxHashMap<Text<'a>, Range>,
    pub schema_version: SchemaVersion,
    /// The torch version that wrote the file, since 2.7.
    #[serde(borrow, default)]
    pub torch_version: Option<Text<'a>>,
}

/// Range of a symbol; an end beyond 64 bits is `None`.
#[derive(Debug, Deserialize)]
pub struct Range {
    /// Smallest value.
    #[serde(default)]
    pub min_val: serde_json::Value,
    /// Largest value.
    #[serde(default)]
    pub max_val: serde_json::Value,
}

/// A graph with its signature.
#[derive(Debug, Deserialize)]
pub struct GraphModule<'a> {
    #[serde(borrow)]
    pub graph: Graph<'a>,
    /// Kinds of the inputs and outputs.
    #[serde(borrow)]
    pub signature: Signature<'a>,
}

/// The kinds of a graph's inputs and outputs, in their order.
#[derive(Debug, Deserialize)]
pub struct Signature<'a> {
    /// Inputs: a map of one field, named by the kind.
    #[serde(borrow)]
    pub input_specs: Vec<FxHashMap<Text<'a>, Spec<'a>>>,
    /// Outputs, likewise.
    #[serde(borrow)]
    pub output_specs: Vec<FxHashMap<Text<'a>, Spec<'a>>>,
}

/// The kind of an input or output. The kind decides which fields are present.
#[derive(Debug, Deserialize)]
pub struct Spec<'a> {
    /// The value of the graph.
    #[serde(borrow, default)]
    pub arg: Option<Argument<'a>>,
    /// Dotted path of a parameter.
    #[serde(borrow, default)]
    pub parameter_name: Option<Text<'a>>,
    /// Dotted path of a buffer.
    #[serde(borrow, default)]
    pub buffer_name: Option<Text<'a>>,
    /// Dotted path of a constant.
    #[serde(borrow, default)]
    pub tensor_constant_name: Option<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Graph<'a> {
    #[serde(borrow)]
    pub inputs: Vec<Argument<'a>>,
    #[serde(borrow)]
    pub outputs: Vec<Argument<'a>>,
    /// Operations, in the order they run.
    #[serde(borrow)]
    pub nodes: Vec<Node<'a>>,
    /// Type of each tensor.
    #[serde(borrow)]
    pub tensor_values: FxHashMap<Text<'a>, TensorMeta<'a>>,
    /// Integers that it computes.
    #[serde(borrow)]
    pub sym_int_values: FxHashMap<Text<'a>, SymInt<'a>>,
}

#[derive(Debug, Deserialize)]
pub struct Node<'a> {
    /// Its name: `torch.ops.aten.linear.default`.
    #[serde(borrow)]
    pub target: Text<'a>,
    /// Arguments that differ from their defaults.
    #[serde(borrow)]
    pub inputs: Vec<NamedArgument<'a>>,
    /// Results.
    #[serde(borrow)]
    pub outputs: Vec<Argument<'a>>,
    /// Where it came from.
    #[serde(borrow, default)]
    pub metadata: Metadata<'a>,
}

/// An argument by its name in the operator's schema.
#[derive(Debug, Deserialize)]
pub struct NamedArgument<'a> {
    /// The name, empty for operators of higher order.
    #[serde(borrow, default)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub arg: Argument<'a>,
}

/// Origin of a node.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Metadata<'a> {
    /// `key,path,type` of each module it was called in, outermost first.
    #[serde(borrow)]
    pub nn_module_stack: Option<Text<'a>>,
}

/// A tensor by name.
#[derive(Debug, Deserialize)]
pub struct NamedTensor<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
}

/// Type of a tensor.
#[derive(Debug, Deserialize)]
pub struct TensorMeta<'a> {
    /// torch's number of the element type.
    pub dtype: i64,
    #[serde(borrow)]
    pub sizes: Vec<SymInt<'a>>,
    /// Distances between neighbours, in elements.
    #[serde(borrow, default)]
    pub strides: Vec<SymInt<'a>>,
    #[serde(borrow, default)]
    pub storage_offset: Option<SymInt<'a>>,
}

/// An integer or an expression of symbols.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct SymInt<'a> {
    pub as_int: Option<i64>,
    #[serde(borrow)]
    pub as_expr: Option<SymbolExpression<'a>>,
}

/// An expression of symbols, with its value at export.
#[derive(Debug, Deserialize)]
pub struct SymbolExpression<'a> {
    #[serde(borrow)]
    pub expr_str: Text<'a>,
    /// Its value at export.
    #[serde(default)]
    pub hint: Option<Hint>,
}

/// A value at export.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Hint {
    pub as_int: Option<i64>,
}

/// Weights or constants beside a graph, by their dotted paths.
#[derive(Debug, Deserialize)]
pub struct PayloadConfig<'a> {
    /// The weights or constants, by path.
    #[serde(borrow)]
    pub config: FxHashMap<Text<'a>, Payload<'a>>,
}

/// One weight or constant.
#[derive(Debug, Deserialize)]
pub struct Payload<'a> {
    /// Name of its entry.
    #[serde(borrow)]
    pub path_name: Text<'a>,
    /// Whether it is a pickle instead of plain numbers.
    #[serde(default)]
    pub use_pickle: bool,
    #[serde(borrow, default)]
    pub tensor_meta: Option<TensorMeta<'a>>,
}
