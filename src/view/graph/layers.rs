//! Layers: every edge goes to a later layer, except those that close a cycle.

use std::collections::BTreeSet;

/// The layer of each node, from 0, and which edges go against the layers.
pub(super) struct Layers {
    pub of: Vec<u32>,
    /// For each edge, in the same order: whether it closes a cycle and goes up.
    pub goes_up: Vec<bool>,
}

/// Puts `n` nodes into layers. A node without operands is placed right above the first node that reads it; `top` stays at the top.
pub(super) fn layers(n: usize, edges: &[(usize, usize)], top: Option<usize>) -> Layers {
    let order = order(n, edges);
    let mut rank = vec![0; n];
    for (i, &node) in order.iter().enumerate() {
        rank[node] = i;
    }
    let goes_up: Vec<bool> = edges.iter().map(|&(a, b)| rank[a] >= rank[b]).collect();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut has_operand = vec![false; n];
    for (&(a, b), up) in edges.iter().zip(&goes_up) {
        let (from, to) = if *up { (b, a) } else { (a, b) };
        if from != to {
            below[from].push(to);
            has_operand[to] = true;
        }
    }
    let mut of = vec![0_u32; n];
    for &node in &order {
        for &next in &below[node] {
            of[next] = of[next].max(of[node] + 1);
        }
    }
    for &node in &order {
        let nearest = below[node].iter().map(|&next| of[next]).min();
        if let (false, Some(nearest)) = (has_operand[node] || top == Some(node), nearest) {
            of[node] = nearest.saturating_sub(1);
        }
    }
    Layers { of, goes_up }
}

/// An order with operands before the nodes that read them; if a cycle blocks it, the first of the remaining nodes is taken.
fn order(n: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut waits = vec![0_usize; n];
    for &(a, b) in edges.iter().filter(|(a, b)| a != b) {
        below[a].push(b);
        waits[b] += 1;
    }
    let mut rest: BTreeSet<usize> = (0..n).collect();
    let mut ready: BTreeSet<usize> = rest.iter().copied().filter(|&i| waits[i] == 0).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(node) = ready.pop_first().or_else(|| rest.first().copied()) {
        rest.remove(&node);
        order.push(node);
        for &next in &below[node] {
            waits[next] = waits[next].saturating_sub(1);
            if waits[next] == 0 && rest.contains(&next) {
                ready.insert(next);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_go_to_later_layers_and_sources_stand_near_their_readers() {
        // 0 -> 1 -> 2 -> 3, and 4 feeds 3 alone.
        let edges = [(0, 1), (1, 2), (2, 3), (4, 3)];
        let found = layers(5, &edges, None);
        assert_eq!(found.of, [0, 1, 2, 3, 2]);
        assert!(found.goes_up.iter().all(|up| !up));
        assert_eq!(layers(5, &edges, Some(4)).of[4], 0);
    }

    #[test]
    fn a_circle_has_one_edge_that_goes_up() {
        let found = layers(3, &[(0, 1), (1, 2), (2, 0)], None);
        assert_eq!((found.of, found.goes_up), (vec![0, 1, 2], vec![false, false, true]));
    }
}
