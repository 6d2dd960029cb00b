//! Turns the rows of a flame graph into rectangles.

use ns_analysis::flame::FlameGraph;
use ns_base::convert::{i64_to_f64, usize_to_u32};

/// The direction in which children are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// Below their parent: left-heavy graphs and callees.
    #[default]
    Down,
    /// Above it: callers.
    Up,
}

/// One rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlameRect {
    /// Position of its node in the graph.
    pub node: u32,
    /// Left edge in pixels.
    pub x: f64,
    /// Width in pixels.
    pub width: f64,
    /// Row from the top, 0 first.
    pub row: u16,
}

/// Rectangles of a flame graph: those of one row lie side by side, and each lies within its parent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlameLayout {
    /// Rectangles in the order of the nodes.
    pub rects: Vec<FlameRect>,
    /// Number of rows.
    pub rows: u16,
}

impl FlameLayout {
    /// The rectangles of a graph that is `width_px` wide; those narrower than `least_px` are left out with their
    /// children.
    ///
    /// The width of a node is proportional to its time; time without children is at its right. Children that overlap in time
    /// (their times add up to more than the node's) are all narrowed to fit.
    pub fn new(graph: &FlameGraph, width_px: f64, least_px: f64, growth: Growth) -> Self {
        let nodes = &graph.nodes;
        let mut below = vec![0i64; nodes.len()];
        for node in nodes.iter().skip(1) {
            if let Some(sum) = below.get_mut(node.parent as usize) {
                *sum = sum.saturating_add(node.total_ns.max(0));
            }
        }
        // For each node: pixels per nanosecond inside it, the position of its next child, and whether it is drawn.
        let mut inside: Vec<Option<(f64, f64)>> = vec![None; nodes.len()];
        let mut layout = Self::default();
        for (i, node) in nodes.iter().enumerate() {
            let (x, width) = if i == 0 {
                (0.0, width_px.max(0.0))
            } else {
                let parent = node.parent as usize;
                let Some(Some((per_ns, next))) = inside.get_mut(parent) else { continue };
                let (x, width) = (*next, i64_to_f64(node.total_ns.max(0)) * *per_ns);
                *next += width;
                (x, width)
            };
            if width < least_px && i > 0 {
                continue;
            }
            let time =
                below[i].max(node.total_ns).saturating_add(if below[i] > node.total_ns { node.omitted_ns } else { 0 });
            inside[i] = Some((if time > 0 { width / i64_to_f64(time) } else { 0.0 }, x));
            layout.rects.push(FlameRect { node: usize_to_u32(i), x, width, row: node.depth });
            layout.rows = layout.rows.max(node.depth.saturating_add(1));
        }
        if growth == Growth::Up {
            let last = layout.rows.saturating_sub(1);
            for rect in &mut layout.rects {
                rect.row = last - rect.row;
            }
        }
        layout
    }

    /// The rectangle at a point: pixels from the left, row from the top.
    pub fn at(&self, x: f64, row: u16) -> Option<&FlameRect> {
        self.rects.iter().find(|r| r.row == row && r.x <= x && x < r.x + r.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_analysis::flame::FlameNode;
    use proptest::prelude::*;

    fn graph(rows: &[(u32, u16, i64)]) -> FlameGraph {
        let node = |&(parent, depth, total_ns): &(u32, u16, i64)| FlameNode {
            parent,
            depth,
            total_ns,
            ..FlameNode::default()
        };
        FlameGraph { nodes: rows.iter().map(node).collect(), ..FlameGraph::default() }
    }

    #[test]
    fn widths_are_shares_and_narrow_frames_vanish_with_their_children() {
        let graph = graph(&[(0, 0, 100), (0, 1, 60), (1, 2, 30), (0, 1, 30), (0, 1, 1), (4, 2, 1)]);
        let layout = FlameLayout::new(&graph, 200.0, 3.0, Growth::Down);
        let found: Vec<_> = layout.rects.iter().map(|r| (r.node, r.x, r.width, r.row)).collect();
        assert_eq!(found, [(0, 0.0, 200.0, 0), (1, 0.0, 120.0, 1), (2, 0.0, 60.0, 2), (3, 120.0, 60.0, 1)]);
        assert_eq!(layout.at(150.0, 1).map(|r| r.node), Some(3));
        assert_eq!(layout.at(190.0, 1), None);
        let up = FlameLayout::new(&graph, 200.0, 3.0, Growth::Up);
        assert_eq!(up.rects.iter().map(|r| r.row).collect::<Vec<_>>(), [2, 1, 0, 1]);
    }

    proptest! {
        #[test]
        fn nothing_is_outside_its_parent_or_over_its_neighbour(
            rows in prop::collection::vec((any::<u32>(), 0i64..1000), 1..60), width in 1f64..3000.0,
        ) {
            let mut built: Vec<(u32, u16, i64)> = Vec::new();
            for (i, &(parent, ns)) in rows.iter().enumerate() {
                let parent = if i == 0 { 0 } else { parent % i as u32 };
                let depth = if i == 0 { 0 } else { built[parent as usize].1 + 1 };
                built.push((parent, depth, ns));
            }
            let graph = graph(&built);
            let layout = FlameLayout::new(&graph, width, 0.0, Growth::Down);
            let of = |node: u32| layout.rects.iter().find(|r| r.node == node);
            for r in &layout.rects {
                let parent = of(graph.nodes[r.node as usize].parent).unwrap();
                prop_assert!(r.x >= parent.x - 1e-6 && r.x + r.width <= parent.x + parent.width + 1e-6);
                for o in layout.rects.iter().filter(|o| o.row == r.row && o.node != r.node) {
                    prop_assert!(o.x + o.width <= r.x + 1e-6 || r.x + r.width <= o.x + 1e-6);
                }
            }
        }
    }
}
