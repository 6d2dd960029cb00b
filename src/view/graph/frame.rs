//! Layout of one frame: nodes of given sizes get places, and the edges between them get bends.

use super::columns::columns;
use super::crossings::{Net, reduce_crossings};
use super::layers::layers;
use ns_base::convert::usize_to_u32;

/// Gap between two nodes of a layer.
const GAP_X: f64 = 18.0;
/// Gap between two layers: room for edges.
const GAP_Y: f64 = 34.0;
/// Edges that span more layers than this go straight: with a bend in every layer there would be more bends than nodes.
const MOST_BENDS: u32 = 24;

/// The places of nodes and edges, from the upper left corner.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GraphPlaces {
    /// Upper left corner of each node.
    pub corners: Vec<(f64, f64)>,
    pub width: f64,
    pub height: f64,
    /// The bends of each edge between its ends, from top to bottom.
    pub bends: Vec<Vec<(f64, f64)>>,
    /// Whether each edge closes a cycle and goes up.
    pub goes_up: Vec<bool>,
}

/// Places nodes in layers. `top` is a node that stays in the first layer, `bottom` one that stays in the last.
pub(super) fn place(
    sizes: &[(f64, f64)],
    edges: &[(usize, usize)],
    top: Option<usize>,
    bottom: Option<usize>,
) -> GraphPlaces {
    let mut found = layers(sizes.len(), edges, top);
    let last = found.of.iter().copied().max().unwrap_or(0);
    if let Some(layer) = bottom.and_then(|b| found.of.get_mut(b)) {
        *layer = last;
    }
    let mut net = Net { rows: vec![Vec::new(); last as usize + 1], ..Net::default() };
    let mut sizes = sizes.to_vec();
    for (node, &layer) in found.of.iter().enumerate() {
        net.rows[layer as usize].push(usize_to_u32(node));
    }
    net.above = vec![Vec::new(); sizes.len()];
    net.below = vec![Vec::new(); sizes.len()];
    let mut bends = Vec::with_capacity(edges.len());
    for (&(a, b), up) in edges.iter().zip(&found.goes_up) {
        let (from, to) = if *up { (b, a) } else { (a, b) };
        bends.push(thread(&mut net, &mut sizes, &found.of, from, to));
    }
    reduce_crossings(&mut net);
    let widths: Vec<f64> = sizes.iter().map(|s| s.0).collect();
    let centres = columns(&net, &widths, GAP_X);
    let left = sizes.iter().zip(&centres).map(|(s, c)| c - s.0 / 2.0).fold(f64::INFINITY, f64::min);
    let left = if left.is_finite() { left } else { 0.0 };
    let (tops, height) = rows_of(&net, &sizes);
    let mut corners = vec![(0.0, 0.0); sizes.len()];
    for (row, (top, tall)) in net.rows.iter().zip(&tops) {
        for &node in row {
            let (w, h) = sizes[node as usize];
            corners[node as usize] = (centres[node as usize] - w / 2.0 - left, top + (tall - h) / 2.0);
        }
    }
    let width = sizes.iter().zip(&corners).map(|(s, c)| c.0 + s.0).fold(0.0, f64::max);
    let bends = bends.into_iter().map(|chain| chain.iter().map(|&b| corners[b as usize]).collect()).collect();
    GraphPlaces { corners, width, height, bends, goes_up: found.goes_up }
}

/// Joins two nodes, with a bend in every layer between them.
fn thread(net: &mut Net, sizes: &mut Vec<(f64, f64)>, layer: &[u32], from: usize, to: usize) -> Vec<u32> {
    let (first, last) = (layer[from], layer[to]);
    let mut chain = Vec::new();
    if last <= first || last - first > MOST_BENDS {
        return chain;
    }
    let mut at = usize_to_u32(from);
    for between in first + 1..last {
        let bend = usize_to_u32(sizes.len());
        sizes.push((0.0, 0.0));
        net.above.push(vec![at]);
        net.below.push(Vec::new());
        net.below[at as usize].push(bend);
        net.rows[between as usize].push(bend);
        chain.push(bend);
        at = bend;
    }
    net.below[at as usize].push(usize_to_u32(to));
    net.above[to].push(at);
    chain
}

/// Upper edge and height of each layer, and the total height.
fn rows_of(net: &Net, sizes: &[(f64, f64)]) -> (Vec<(f64, f64)>, f64) {
    let mut y = 0.0;
    let mut tops = Vec::with_capacity(net.rows.len());
    for row in &net.rows {
        let tall = row.iter().map(|&n| sizes[n as usize].1).fold(0.0, f64::max);
        tops.push((y, tall));
        y += tall + GAP_Y;
    }
    (tops, (y - GAP_Y).max(0.0))
}
