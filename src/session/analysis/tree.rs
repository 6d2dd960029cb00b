//! Slices merged into a tree, for flame graphs and hierarchies.

use serde::{Deserialize, Serialize};

use super::listing::Sources;
use crate::base::{Interval, TraceNs};
use crate::profile::TrackId as ProfileTrack;
use crate::profile::call_tree::{TreeShape, call_tree};
use crate::session::timeline::link;
use crate::view::timeline::{SliceLink, TrackId};

/// Which slices become which tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeOf {
    /// How they become nodes.
    pub shape: TreeShape,
    /// Only slices of this track of the timeline.
    pub track: Option<TrackId>,
    /// Only slices that touch this span.
    pub range: Option<Interval<TraceNs>>,
}

/// A tree as columns of equal length; a node comes after its parent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// Names.
    pub name: Vec<String>,
    /// Position of each parent; absent for roots.
    pub parent: Vec<Option<u32>>,
    /// Where each begins, in order of time; 0 otherwise.
    pub start_ns: Vec<i64>,
    /// Durations.
    pub total_ns: Vec<i64>,
    /// Durations without children.
    pub self_ns: Vec<i64>,
    /// Numbers of slices.
    pub count: Vec<u64>,
    /// The longest slice of each.
    pub slice: Vec<Option<SliceLink>>,
    /// Nodes too small for any screen.
    pub left_out: u64,
}

/// The tree.
pub(in crate::session) fn tree(sources: &Sources<'_>, of: &TreeOf) -> Tree {
    let track: Option<Vec<ProfileTrack>> = of.track.map(|t| sources.tracks.threads_of(&[t]));
    let (nodes, left_out) = call_tree(sources.profile, &of.shape, track.as_deref(), of.range);
    let mut tree = Tree { left_out, ..Tree::default() };
    for node in nodes {
        tree.name.push(node.name);
        tree.parent.push(node.parent);
        tree.start_ns.push(node.start_ns);
        tree.total_ns.push(node.total_ns);
        tree.self_ns.push(node.self_ns);
        tree.count.push(node.count);
        tree.slice.push(node.longest.map(|id| link(sources.profile, sources.tracks, id)));
    }
    tree
}
