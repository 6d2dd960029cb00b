//! The place of every node and the course of every edge.

use std::collections::{BTreeMap, BTreeSet};

use super::ModuleGraph;
use super::contract::{End, FrameEdges, contract};
use super::frame::{GraphPlaces, place};
use ns_base::convert::usize_to_f64;

/// Height of a node: two lines of text.
const NODE_HEIGHT: f64 = 40.0;
/// Greatest width of a node; longer texts are cut.
const MOST_WIDTH: f64 = 216.0;
const LEAST_WIDTH: f64 = 84.0;
/// Room for one letter of a title.
pub(super) const LETTER: f64 = 7.0;
/// Room for one letter of a note.
pub(super) const SMALL_LETTER: f64 = 6.0;
/// Distance between the border of a node and its text.
pub(super) const PAD: f64 = 10.0;
/// Height of the line with the title of a frame.
pub(super) const HEAD: f64 = 28.0;
/// Distance between the border of a frame and its content.
const MARGIN: f64 = 14.0;

/// A node or a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeBox {
    /// Its place in the graph.
    pub node: u32,
    /// Left border.
    pub x: f64,
    /// Upper border.
    pub y: f64,
    pub width: f64,
    pub height: f64,
    /// Whether it is a frame around its content.
    pub is_open: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The node or frame it comes from; `None` for the border of the frame it is in.
    pub from: Option<u32>,
    /// The node or frame it goes to; `None` for the border of the frame it is in.
    pub to: Option<u32>,
    /// Its points, from end to end.
    pub points: Vec<(f64, f64)>,
    /// Whether it closes a cycle of modules and goes up; all others go down.
    pub goes_up: bool,
}

/// A picture of a graph, in pixels from the upper left corner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphScene {
    /// Width of the whole.
    pub width: f64,
    /// Height of the whole.
    pub height: f64,
    /// The boxes, frames before their content.
    pub boxes: Vec<NodeBox>,
    /// Edges.
    pub links: Vec<Link>,
}

/// One module's frame before its place is known.
struct Frame {
    /// Its content, without the border.
    children: Vec<u32>,
    ends: Vec<(End, End)>,
    placed: GraphPlaces,
}

/// Lays out the visible part of a graph when these modules are open. The root is always open.
pub fn lay_out(graph: &ModuleGraph, open: &BTreeSet<u32>) -> GraphScene {
    let open = visible_modules(graph, open);
    let edges = contract(graph, &open);
    let mut frames: BTreeMap<u32, Frame> = BTreeMap::new();
    let mut sizes: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    // A module comes before its content, so going backwards the innermost comes first.
    for &module in open.iter().rev() {
        let frame = frame(graph, module, &edges, &sizes);
        let size = (frame.placed.width + 2.0 * MARGIN, frame.placed.height + HEAD + MARGIN);
        sizes.insert(module, (size.0.max(width_of(graph, module) + PAD), size.1));
        frames.insert(module, frame);
    }
    let (width, height) = sizes.get(&0).copied().unwrap_or_default();
    let mut scene = GraphScene { width, height, ..GraphScene::default() };
    let mut corners: BTreeMap<u32, (f64, f64)> = BTreeMap::from([(0, (0.0, 0.0))]);
    for &module in &open {
        let (Some(frame), Some(&corner)) = (frames.get(&module), corners.get(&module)) else { continue };
        let size = sizes.get(&module).copied().unwrap_or_default();
        let slack = (size.0 - frame.placed.width) / 2.0;
        let inside = (corner.0 + slack, corner.1 + HEAD);
        if module != 0 {
            scene.boxes.push(NodeBox {
                node: module,
                x: corner.0,
                y: corner.1,
                width: size.0,
                height: size.1,
                is_open: true,
            });
        }
        for (&child, at) in frame.children.iter().zip(&frame.placed.corners) {
            let at = (inside.0 + at.0, inside.1 + at.1);
            if open.contains(&child) {
                corners.insert(child, at);
            } else {
                let (width, height) = (width_of(graph, child), NODE_HEIGHT);
                scene.boxes.push(NodeBox { node: child, x: at.0, y: at.1, width, height, is_open: false });
            }
        }
        links_of(frame, &sizes, graph, inside, corner.1 + size.1, &mut scene.links);
    }
    scene
}

/// The open modules whose enclosing modules are all open, including the root.
fn visible_modules(graph: &ModuleGraph, open: &BTreeSet<u32>) -> BTreeSet<u32> {
    let mut seen = BTreeSet::from([0]);
    for &module in open {
        let Some(node) = graph.nodes().get(module as usize) else { continue };
        // Parents come first.
        if node.parent.is_some_and(|p| seen.contains(&p)) && !node.children.is_empty() {
            seen.insert(module);
        }
    }
    seen
}

fn frame(graph: &ModuleGraph, module: u32, edges: &FrameEdges, sizes: &BTreeMap<u32, (f64, f64)>) -> Frame {
    let children = graph.nodes()[module as usize].children.clone();
    let place_of: BTreeMap<u32, usize> = children.iter().enumerate().map(|(i, &c)| (c, i)).collect();
    let ends: Vec<(End, End)> = edges.get(&module).into_iter().flatten().copied().collect();
    let above = ends.iter().any(|e| e.0 == End::Above).then_some(children.len());
    let below = ends.iter().any(|e| e.1 == End::Below).then_some(children.len() + usize::from(above.is_some()));
    let index = |end: &End| match end {
        End::Above => above,
        End::Below => below,
        End::Child(child) => place_of.get(child).copied(),
    };
    let size = |&child: &u32| sizes.get(&child).copied().unwrap_or((width_of(graph, child), NODE_HEIGHT));
    let borders = above.iter().chain(&below).map(|_| (0.0, 0.0));
    let all: Vec<(f64, f64)> = children.iter().map(size).chain(borders).collect();
    let ends: Vec<(End, End)> = ends.into_iter().filter(|(a, b)| index(a).is_some() && index(b).is_some()).collect();
    let pairs: Vec<(usize, usize)> = ends.iter().filter_map(|(a, b)| Some((index(a)?, index(b)?))).collect();
    let placed = place(&all, &pairs, above, below);
    Frame { children, ends, placed }
}

/// The edges of one frame: from the lower border of the node that gives a value to the upper border of the node that reads it.
fn links_of(
    frame: &Frame,
    sizes: &BTreeMap<u32, (f64, f64)>,
    graph: &ModuleGraph,
    inside: (f64, f64),
    bottom: f64,
    links: &mut Vec<Link>,
) {
    let borders = &frame.placed.corners[frame.children.len()..];
    let has_above = frame.ends.iter().any(|e| e.0 == End::Above);
    let corner: BTreeMap<u32, (f64, f64)> =
        frame.children.iter().copied().zip(frame.placed.corners.iter().copied()).collect();
    let size = |child: u32| sizes.get(&child).copied().unwrap_or((width_of(graph, child), NODE_HEIGHT));
    // The points where the edge leaves and arrives.
    let at = |end: End, is_lower: bool| match end {
        End::Child(child) => {
            let (w, h) = size(child);
            let (x, y) = corner.get(&child).copied().unwrap_or_default();
            (inside.0 + x + w / 2.0, inside.1 + y + if is_lower { h } else { 0.0 })
        }
        End::Above => (inside.0 + borders.first().map_or(0.0, |b| b.0), inside.1 - 6.0),
        End::Below => (inside.0 + borders.get(usize::from(has_above)).map_or(0.0, |b| b.0), bottom),
    };
    let named = |end: End| if let End::Child(child) = end { Some(child) } else { None };
    for (i, &(from, to)) in frame.ends.iter().enumerate() {
        let goes_up = frame.placed.goes_up.get(i).copied().unwrap_or_default();
        let mut bends: Vec<(f64, f64)> =
            frame.placed.bends.get(i).into_iter().flatten().map(|b| (inside.0 + b.0, inside.1 + b.1)).collect();
        if goes_up {
            bends.reverse();
        }
        let mut points = vec![at(from, !goes_up)];
        points.append(&mut bends);
        points.push(at(to, goes_up));
        links.push(Link { from: named(from), to: named(to), points, goes_up });
    }
}

/// Width of a closed node: the width of its texts.
fn width_of(graph: &ModuleGraph, node: u32) -> f64 {
    let Some(node) = graph.nodes().get(node as usize) else { return LEAST_WIDTH };
    let letters = |text: &str, each: f64| usize_to_f64(text.chars().count()) * each;
    let text = letters(&node.title, LETTER).max(letters(&node.note, SMALL_LETTER));
    (text + 2.0 * PAD).clamp(LEAST_WIDTH, MOST_WIDTH)
}

#[cfg(test)]
mod tests;
