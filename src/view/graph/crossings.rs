//! The order of nodes within each layer: sweeps that put every node near the middle of its neighbours.

use ns_base::Order;
use ns_base::convert::usize_to_f64;

/// Number of sweeps down and up. More would change little in graphs of models, which are mostly chains.
const SWEEPS: usize = 6;

/// Nodes of a frame by layer, with the bends of edges that span several layers.
#[derive(Clone, Debug, Default)]
pub(super) struct Net {
    /// Nodes of each layer from left to right.
    pub rows: Vec<Vec<u32>>,
    /// Neighbours of each node in the layer above.
    pub above: Vec<Vec<u32>>,
    /// Neighbours of each node in the layer below.
    pub below: Vec<Vec<u32>>,
}

/// Reorders the layers so that fewer edges cross.
pub(super) fn reduce_crossings(net: &mut Net) {
    let mut place = vec![0.0_f64; net.above.len()];
    for row in &net.rows {
        remember(row, &mut place);
    }
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        let last = net.rows.len();
        for i in 0..last {
            let at = if down { i } else { last - 1 - i };
            let neighbours = if down { &net.above } else { &net.below };
            let Some(row) = net.rows.get_mut(at) else { continue };
            // Without neighbours a node stays where it is.
            let wanted = |node: u32| mean(&neighbours[node as usize], &place).unwrap_or(place[node as usize]);
            let mut keyed: Vec<(f64, u32)> = row.iter().map(|&node| (wanted(node), node)).collect();
            keyed.order_by(|a, b| a.0.total_cmp(&b.0));
            *row = keyed.into_iter().map(|(_, node)| node).collect();
            remember(row, &mut place);
        }
    }
}

/// Places in a layer as shares of its width, so that short and long layers can be compared.
fn remember(row: &[u32], place: &mut [f64]) {
    for (i, &node) in row.iter().enumerate() {
        place[node as usize] = (usize_to_f64(i) + 0.5) / usize_to_f64(row.len());
    }
}

fn mean(of: &[u32], place: &[f64]) -> Option<f64> {
    (!of.is_empty()).then(|| of.iter().map(|&n| place[n as usize]).sum::<f64>() / usize_to_f64(of.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_crossed_edges_are_uncrossed() {
        // 0 -> 3 and 1 -> 2, written so that they cross.
        let mut net = Net {
            rows: vec![vec![0, 1], vec![2, 3]],
            above: vec![vec![], vec![], vec![1], vec![0]],
            below: vec![vec![3], vec![2], vec![], vec![]],
        };
        reduce_crossings(&mut net);
        let crossed = (net.rows[0] == [0, 1]) != (net.rows[1] == [3, 2]);
        assert!(!crossed, "{:?}", net.rows);
    }
}
