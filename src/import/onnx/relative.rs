//! Biases of relative positions in pictures, which exporters look up in their tables themselves.
//!
//! Attention in a window of `w` x `w` pixels adds a bias for each head and pair of pixels: `[1, heads, w*w, w*w]`, looked up in a table
//! of `(2w - 1)^2` rows, one for each distance of two pixels (Swin). The places are constants, so that the file holds the result, or the
//! rows before they are arranged: `[w^4, heads]`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::count::each_node;
use super::messages::{Model, Node, Tensor};

/// The arrays that were looked up, and the elements of the tables that they come from.
pub(super) fn relative_tables(model: &Model, arrays: &FxHashMap<&str, &Tensor>) -> (FxHashSet<String>, u64) {
    let (mut found, mut elements) = (FxHashSet::default(), 0u64);
    let mut is_of_pictures = false;
    each_node(&model.graph, &mut |node| is_of_pictures |= node.op == "Conv");
    if !is_of_pictures {
        // Models of text add biases of this form too, from tables of distances in one dimension.
        return (found, 0);
    }
    let equal: FxHashMap<&str, &str> = model
        .graph
        .nodes
        .iter()
        .filter(|n| n.op == "Identity")
        .filter_map(|n| Some((&**n.outputs.first()?, &**n.inputs.first()?)))
        .collect();
    let mut look = |node: &Node| {
        for name in &node.inputs {
            let name = equal.get(&**name).copied().unwrap_or(name);
            let Some(tensor) = arrays.get(name).filter(|tensor| tensor.ty.element.is_float()) else { continue };
            let table = match (node.op.as_str(), &*tensor.ty.dims) {
                ("Add", &[1, heads, from, to]) if from == to => table_of_window(heads, from),
                // PyTorch names a value after the operation that gave it.
                ("Reshape", &[pairs, heads]) if name.starts_with("index") => {
                    root(pairs).and_then(|pixels| table_of_window(heads, pixels))
                }
                _ => None,
            };
            let Some(table) = table else { continue };
            found.insert(name.to_owned());
            // Equal tables are stored once: each attention has its own.
            elements = elements.saturating_add(table);
        }
    };
    each_node(&model.graph, &mut look);
    (found, elements)
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
