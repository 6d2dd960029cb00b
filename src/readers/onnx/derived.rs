//! Parameters behind arrays that exporters computed from them.
//!
//! * Attention in a window of `w` x `w` pixels adds a bias for each head and pair of pixels: `[1, heads, w*w, w*w]`, looked up in a
//!   table of `(2w - 1)^2` rows, one for each distance of two pixels (Swin). The places are constants, so that the file holds the result,
//!   or the rows before they are arranged: `[w^4, heads]`.
//! * A class token is repeated for each sample of the batch before it is put in front of the patches (ViT).
//! * The scale of a layer is a row that is viewed as `[1, channels, 1, 1]` (ConvNeXt). Equal scales are stored once.

use rustc_hash::{FxHashMap, FxHashSet};

use super::count::each_node;
use super::messages::{Model, OnnxNode, Tensor};

/// Arrays that were computed from parameters, and the elements of these.
#[derive(Default)]
pub(super) struct DerivedArrays {
    /// Names of the arrays.
    pub arrays: FxHashSet<String>,
    /// Elements of the parameters.
    pub elements: u64,
}

impl DerivedArrays {
    /// Looks through a model; `is_new` if PyTorch's newer exporter wrote it, which names a value after the operation that gave it.
    pub fn of(model: &Model, arrays: &FxHashMap<&str, &Tensor>, is_new: bool) -> Self {
        let mut is_of_pictures = false;
        each_node(&model.graph, &mut |node| is_of_pictures |= node.op == "Conv");
        if !is_of_pictures {
            // Models of text add biases of this form too, from tables of distances in one dimension.
            return Self::default();
        }
        let equal = equal_arrays(model);
        let mut found = Self::default();
        each_node(&model.graph, &mut |node: &OnnxNode| {
            for name in &node.inputs {
                let name = equal.get(&**name).copied().unwrap_or(name);
                let Some(tensor) = arrays.get(name).filter(|tensor| tensor.ty.element.is_float()) else { continue };
                let (op, dims) = (node.op.as_str(), &*tensor.ty.dims);
                let elements = table(op, name, dims).or_else(|| part(op, name, dims).filter(|_| is_new));
                if let Some(elements) = elements {
                    found.arrays.insert(name.to_owned());
                    // Equal arrays are stored once: each reader has a parameter of its own.
                    found.elements = found.elements.saturating_add(elements);
                }
            }
        });
        found
    }
}

/// The array that each `Identity` of the main graph stands for: equal arrays are stored once.
pub(super) fn equal_arrays(model: &Model) -> FxHashMap<&str, &str> {
    let identities = model.graph.nodes.iter().filter(|n| n.op == "Identity");
    identities.filter_map(|n| Some((&**n.outputs.first()?, &**n.inputs.first()?))).collect()
}

/// Elements of the table behind a bias of relative positions that the operation `op` reads.
fn table(op: &str, name: &str, dims: &[u64]) -> Option<u64> {
    match (op, dims) {
        ("Add", &[1, heads, from, to]) if from == to => table_of_window(heads, from),
        ("Reshape", &[pairs, heads]) if is_result_of(name, "index") => table_of_window(heads, root(pairs)?),
        _ => None,
    }
}

/// Elements of the parameter behind a class token or a scale that the operation `op` reads.
fn part(op: &str, name: &str, dims: &[u64]) -> Option<u64> {
    match (op, dims) {
        ("Concat", &[_, 1, width]) if is_result_of(name, "expand") => Some(width),
        ("Mul", &[1, channels, 1, 1]) if is_result_of(name, "view") || is_result_of(name, "reshape") => Some(channels),
        _ => None,
    }
}

/// Whether a value was named after an operation: `view`, `view_3`.
fn is_result_of(name: &str, op: &str) -> bool {
    name.strip_prefix(op).is_some_and(|rest| rest.trim_start_matches('_').bytes().all(|b| b.is_ascii_digit()))
}

/// Elements of the table for a window with a square number of pixels.
fn table_of_window(heads: u64, pixels: u64) -> Option<u64> {
    let side = root(pixels).filter(|&side| side >= 2)?;
    (heads >= 2).then(|| heads.saturating_mul((2 * side - 1).saturating_mul(2 * side - 1)))
}

/// The root of a square number.
fn root(n: u64) -> Option<u64> {
    let side = n.isqrt();
    (side * side == n).then_some(side)
}
