//! Edges between visible nodes: the edges of a frame join its children, and its border if a value comes from outside.

use std::collections::{BTreeMap, BTreeSet};

use super::ModuleGraph;

/// An end of an edge within a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    /// The upper border: the value comes from outside.
    Above,
    /// A child of the module, closed or itself a frame.
    Child(u32),
    /// The lower border: the value is read outside.
    Below,
}

/// Edges of each frame, in order and without repetition.
pub(super) type FrameEdges = BTreeMap<u32, BTreeSet<(End, End)>>;

/// The edges of every visible frame. `open` modules count only if all modules around them are open.
pub(super) fn contract(graph: &ModuleGraph, open: &BTreeSet<u32>) -> FrameEdges {
    let mut frames = FrameEdges::new();
    for &(from, to) in graph.edges() {
        let (from, to) = (graph.path(from), graph.path(to));
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let is_seen = from[..shared].iter().all(|m| open.contains(m));
        let (Some(&module), Some(&a), Some(&b)) = (from.get(shared.wrapping_sub(1)), from.get(shared), to.get(shared))
        else {
            continue;
        };
        if !is_seen {
            continue;
        }
        frames.entry(module).or_default().insert((End::Child(a), End::Child(b)));
        for step in within(&from[shared..], open) {
            frames.entry(step[0]).or_default().insert((End::Child(step[1]), End::Below));
        }
        for step in within(&to[shared..], open) {
            frames.entry(step[0]).or_default().insert((End::Above, End::Child(step[1])));
        }
    }
    frames
}

/// Each open module of a path with the child that follows it.
fn within<'a>(path: &'a [u32], open: &BTreeSet<u32>) -> impl Iterator<Item = &'a [u32]> {
    let depth = path.iter().take_while(|m| open.contains(m)).count();
    path.windows(2).take(depth)
}
