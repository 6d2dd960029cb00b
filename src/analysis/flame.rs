//! The most expensive part of a call tree, as plain rows.

use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use super::calltree::{CallTree, Sandwich};
use ns_base::convert::usize_to_u32;
use ns_profile::Profile;

/// A call tree cut to the nodes with the most time, parents before children, siblings with the most time first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameGraph {
    /// Names of the nodes above the first one, outermost first; empty when the first stands for everything.
    pub around: Vec<String>,
    /// The nodes.
    pub nodes: Vec<FlameNode>,
    /// Number of nodes that are left out.
    pub omitted: u64,
}

/// Slices of one stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlameNode {
    /// Their name; empty for the root.
    pub name: String,
    /// Position of the parent node; 0 for the first.
    pub parent: u32,
    /// Depth below the first node, which has 0.
    pub depth: u16,
    /// Number of slices.
    pub count: u64,
    /// Sum of their durations, in ns.
    pub total_ns: i64,
    /// Sum of their self times, in ns.
    pub self_ns: i64,
    /// Time of children that are left out, in ns.
    pub omitted_ns: i64,
}

/// A name with its callers and its callees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandwichGraph {
    /// The name.
    pub name: String,
    /// Number of slices of the name.
    pub count: u64,
    /// Sum of their durations, without slices inside another slice of the name, in ns.
    pub total_ns: i64,
    /// Sum of their self times, in ns.
    pub self_ns: i64,
    /// From the name outwards.
    pub callers: FlameGraph,
    /// From the name inwards.
    pub callees: FlameGraph,
}

impl FlameGraph {
    /// The part of a tree below node `root` with the most time: at most `limit` nodes, each with all its ancestors.
    #[must_use]
    pub fn of(profile: &Profile, tree: &CallTree, root: u32, limit: usize) -> Self {
        let children = tree.children();
        let kept = most_time(tree, &children, root, limit.max(1));
        let mut graph = Self { around: path_to(profile, tree, root), ..Self::default() };
        // Depth first, so that a reader of the rows alone sees each node below its parent.
        let mut stack = vec![(root, 0u32, 0u16)];
        while let Some((at, parent, depth)) = stack.pop() {
            let (place, node) = (usize_to_u32(graph.nodes.len()), &tree.nodes()[at as usize]);
            let below = &children[at as usize];
            let is_kept = |i: &&u32| kept.get(**i as usize).copied().unwrap_or(false);
            let omitted_ns = below.iter().filter(|i| !is_kept(i)).map(|&i| tree.nodes()[i as usize].total_ns).sum();
            graph.nodes.push(FlameNode {
                name: node.frame.label(profile),
                parent,
                depth,
                count: node.count,
                total_ns: node.total_ns,
                self_ns: node.self_ns,
                omitted_ns,
            });
            stack.extend(below.iter().rev().filter(is_kept).map(|&i| (i, place, depth.saturating_add(1))));
        }
        graph.omitted = count_below(&children, root).saturating_sub(graph.nodes.len() as u64);
        graph
    }
}

impl SandwichGraph {
    /// The answer about a name, each half with at most `limit` nodes.
    #[must_use]
    pub fn of(profile: &Profile, sandwich: &Sandwich, limit: usize) -> Self {
        let root = &sandwich.callees.nodes()[0];
        Self {
            name: root.frame.label(profile),
            count: sandwich.count,
            total_ns: root.total_ns,
            self_ns: sandwich.self_ns,
            callers: FlameGraph::of(profile, &sandwich.callers, 0, limit),
            callees: FlameGraph::of(profile, &sandwich.callees, 0, limit),
        }
    }
}

/// Which nodes are kept: the next one is always the one with the most time among those whose parent is kept.
fn most_time(tree: &CallTree, children: &[Vec<u32>], root: u32, limit: usize) -> Vec<bool> {
    let mut kept = vec![false; tree.nodes().len()];
    let key = |i: u32| (tree.nodes()[i as usize].total_ns, std::cmp::Reverse(i));
    let mut next = BinaryHeap::from([key(root)]);
    for _ in 0..limit {
        let Some((_, std::cmp::Reverse(at))) = next.pop() else { break };
        kept[at as usize] = true;
        next.extend(children[at as usize].iter().map(|&i| key(i)));
    }
    kept
}

fn path_to(profile: &Profile, tree: &CallTree, node: u32) -> Vec<String> {
    let parent = |&i: &u32| (i != 0).then(|| tree.nodes()[i as usize].parent);
    let mut path: Vec<String> = std::iter::successors(parent(&node), parent)
        .filter(|&i| i != 0)
        .map(|i| tree.nodes()[i as usize].frame.label(profile))
        .collect();
    path.reverse();
    path
}

fn count_below(children: &[Vec<u32>], root: u32) -> u64 {
    let (mut count, mut stack) = (0, vec![root]);
    while let Some(at) = stack.pop() {
        count += 1;
        stack.extend(&children[at as usize]);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::super::selection::tests::nested;
    use super::super::{Selection, calltree::call_tree};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn omitted_frames_are_accounted_for(
            steps in prop::collection::vec(any::<(u8, u8)>(), 1..200), limit in 1usize..40,
        ) {
            let profile = nested(&steps);
            let tree = call_tree(&profile, &Selection::default(), false);
            let graph = FlameGraph::of(&profile, &tree, 0, limit);
            prop_assert_eq!(graph.nodes.len() as u64 + graph.omitted, tree.nodes().len() as u64);
            prop_assert!(graph.nodes.len() <= limit);
            for (i, node) in graph.nodes.iter().enumerate() {
                let children: Vec<_> = graph.nodes.iter().skip(1).filter(|n| n.parent as usize == i).collect();
                let below: i64 = children.iter().map(|n| n.total_ns).sum();
                prop_assert_eq!(node.total_ns, below + node.self_ns + node.omitted_ns);
                prop_assert!(children.is_sorted_by_key(|n| std::cmp::Reverse(n.total_ns)));
                prop_assert!(i == 0 || (node.parent as usize) < i);
            }
        }
    }

    proptest! {
        #[test]
        fn the_inverted_tree_holds_the_same_self_time(steps in prop::collection::vec(any::<(u8, u8)>(), 1..100)) {
            let profile = nested(&steps);
            let tree = call_tree(&profile, &Selection::default(), false);
            let inverted = tree.inverted();
            let own = |tree: &super::super::calltree::CallTree| tree.nodes().iter().map(|n| n.self_ns).sum::<i64>();
            prop_assert_eq!(own(&tree), own(&inverted));
            prop_assert_eq!(inverted.nodes()[0].total_ns, own(&inverted));
            // The outermost names of the inverted tree have the self time of the name.
            for node in inverted.nodes().iter().skip(1).filter(|n| n.parent == 0) {
                let of_name = tree.nodes().iter().filter(|n| n.frame == node.frame);
                prop_assert_eq!(node.total_ns, of_name.map(|n| n.self_ns).sum::<i64>());
            }
        }
    }

    #[test]
    fn a_part_has_its_surroundings() {
        let profile = nested(&[(0, 1), (1, 2), (1, 3), (1, 4)]);
        let tree = call_tree(&profile, &Selection::default(), false);
        let at = tree.find(&profile, &["n1", "n2", "n3"].map(str::to_owned)).unwrap();
        let part = FlameGraph::of(&profile, &tree, at, 10);
        assert_eq!(part.around, ["n1", "n2"]);
        assert_eq!(part.nodes.iter().map(|n| (n.name.as_str(), n.depth)).collect::<Vec<_>>(), [("n3", 0), ("n4", 1)]);
    }
}
