//! Properties of every picture, whatever the graph.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::graph::{GraphNode, Look};

/// A graph from a list of parents and edges: node `i + 1` lies in one of the modules before it.
fn graph_of(parents: &[usize], edges: &[(usize, usize)]) -> ModuleGraph {
    let node = |i: usize| GraphNode { id: format!("n{i}"), title: format!("node {i}"), ..GraphNode::default() };
    let mut graph = ModuleGraph::new(node(0));
    for (i, parent) in parents.iter().enumerate() {
        graph.push((parent % (i + 1)) as u32, node(i + 1));
    }
    let leaves: Vec<u32> =
        (0..graph.nodes().len() as u32).filter(|&i| graph.nodes()[i as usize].children.is_empty()).collect();
    for (a, b) in edges {
        let (a, b) = (leaves[a % leaves.len()], leaves[b % leaves.len()]);
        // As in a program: values are read after they are produced.
        graph.connect(a.min(b), a.max(b));
    }
    graph
}

fn inside(inner: &NodeBox, outer: &NodeBox) -> bool {
    let e = 1e-6;
    inner.x >= outer.x - e
        && inner.y >= outer.y - e
        && inner.x + inner.width <= outer.x + outer.width + e
        && inner.y + inner.height <= outer.y + outer.height + e
}

fn overlap(a: &NodeBox, b: &NodeBox) -> bool {
    let e = 1e-6;
    a.x + a.width > b.x + e && b.x + b.width > a.x + e && a.y + a.height > b.y + e && b.y + b.height > a.y + e
}

fn check(graph: &ModuleGraph, open: &BTreeSet<u32>) {
    let scene = lay_out(graph, open);
    for (i, a) in scene.boxes.iter().enumerate() {
        assert!(a.x >= -1e-6 && a.y >= -1e-6 && a.x + a.width <= scene.width + 1e-6, "{a:?} is outside");
        for b in &scene.boxes[..i] {
            if graph.path(a.node).contains(&b.node) {
                assert!(inside(a, b), "{a:?} leaves its frame {b:?}");
            } else {
                assert!(!overlap(a, b), "{a:?} overlaps {b:?}");
            }
        }
    }
    for link in scene.links.iter().filter(|l| !l.goes_up) {
        assert!(link.points.windows(2).all(|p| p[0].1 <= p[1].1 + 1e-6), "{link:?} goes up");
    }
    // Each leaf is visible itself, or through the outermost closed module around it.
    let boxes: BTreeSet<u32> = scene.boxes.iter().filter(|b| !b.is_open).map(|b| b.node).collect();
    let visible_for = |leaf: u32| graph.path(leaf).into_iter().find(|m| boxes.contains(m));
    // Between nodes of one frame the drawn edges are those of the graph, merged.
    let parent = |n: u32| graph.nodes()[n as usize].parent;
    let wanted: BTreeSet<(u32, u32)> = graph
        .edges()
        .iter()
        .filter_map(|&(a, b)| Some((visible_for(a)?, visible_for(b)?)))
        .filter(|&(a, b)| a != b && parent(a) == parent(b))
        .collect();
    let drawn: BTreeSet<(u32, u32)> = scene
        .links
        .iter()
        .filter_map(|l| Some((l.from?, l.to?)))
        .filter(|(a, b)| boxes.contains(a) && boxes.contains(b))
        .collect();
    assert_eq!(drawn, wanted);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn nothing_overlaps_and_edges_go_down(
        parents in prop::collection::vec(0_usize..40, 1..40),
        edges in prop::collection::vec((0_usize..99, 0_usize..99), 0..60),
        open in prop::collection::btree_set(0_u32..40, 0..20),
    ) {
        check(&graph_of(&parents, &edges), &open);
    }
}

#[test]
fn an_open_module_leads_its_values_in_and_out() {
    // input -> module { a -> b } -> output
    let mut graph = ModuleGraph::new(GraphNode::default());
    let named = |id: &str| GraphNode { id: id.to_owned(), look: Look::Operator, ..GraphNode::default() };
    let input = graph.push(0, named("input"));
    let module = graph.push(0, named("module"));
    let (a, b) = (graph.push(module, named("a")), graph.push(module, named("b")));
    let output = graph.push(0, named("output"));
    for (from, to) in [(input, a), (a, b), (b, output)] {
        graph.connect(from, to);
    }
    let ends = |open: &[u32]| -> Vec<(Option<u32>, Option<u32>)> {
        let scene = lay_out(&graph, &open.iter().copied().collect());
        scene.links.iter().map(|l| (l.from, l.to)).collect()
    };
    assert_eq!(ends(&[0]), [(Some(input), Some(module)), (Some(module), Some(output))]);
    let opened = ends(&[0, module]);
    assert_eq!(opened[..2], [(Some(input), Some(module)), (Some(module), Some(output))]);
    assert_eq!(opened[2..], [(None, Some(a)), (Some(a), Some(b)), (Some(b), None)]);
}

/// Five thousand operators in one frame, in chains with residual edges and one value that all of them read.
fn large() -> ModuleGraph {
    let mut graph = ModuleGraph::new(GraphNode::default());
    for i in 0..5_000_u32 {
        let node = graph.push(0, GraphNode { id: format!("op{i}"), ..GraphNode::default() });
        if i > 0 {
            graph.connect(node - 1, node);
            graph.connect(node.saturating_sub(7).max(1), node);
            if i % 10 == 0 {
                graph.connect(1, node);
            }
        }
    }
    graph
}

#[test]
fn five_thousand_nodes_have_a_place_each() {
    let graph = large();
    let scene = lay_out(&graph, &BTreeSet::from([0]));
    assert_eq!(scene.boxes.len(), 5_000);
    let mut rows: Vec<&NodeBox> = scene.boxes.iter().collect();
    rows.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.x.total_cmp(&b.x)));
    assert!(rows.windows(2).all(|p| !overlap(p[0], p[1])));
    assert_eq!(scene, lay_out(&graph, &BTreeSet::from([0])), "the same graph gives the same picture");
}
