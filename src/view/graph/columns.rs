//! The horizontal place of each node: near the middle of its neighbours, never overlapping the node beside it.

use super::crossings::Net;
use ns_base::convert::usize_to_f64;

/// Number of sweeps down and up.
const SWEEPS: usize = 6;

/// Centres of all nodes. `widths` are the widths of the nodes; bends have none. `gap` is the smallest distance between two borders.
pub(super) fn columns(net: &Net, widths: &[f64], gap: f64) -> Vec<f64> {
    let mut centre = vec![0.0; widths.len()];
    for row in &net.rows {
        let mut left = 0.0;
        for &node in row {
            centre[node as usize] = left + widths[node as usize] / 2.0;
            left += widths[node as usize] + gap;
        }
        // Layers of different lengths are centred on a common middle.
        for &node in row {
            centre[node as usize] -= (left - gap) / 2.0;
        }
    }
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        let last = net.rows.len();
        for i in 0..last {
            let at = if down { i } else { last - 1 - i };
            let (first, second) = if down { (&net.above, &net.below) } else { (&net.below, &net.above) };
            let row = &net.rows[at];
            let wanted: Vec<f64> = row
                .iter()
                .map(|&node| {
                    let n = node as usize;
                    mean(&first[n], &centre).or_else(|| mean(&second[n], &centre)).unwrap_or(centre[n])
                })
                .collect();
            let sizes: Vec<f64> = row.iter().map(|&node| widths[node as usize]).collect();
            for (&node, x) in row.iter().zip(apart(&wanted, &sizes, gap)) {
                centre[node as usize] = x;
            }
        }
    }
    centre
}

fn mean(of: &[u32], centre: &[f64]) -> Option<f64> {
    (!of.is_empty()).then(|| of.iter().map(|&n| centre[n as usize]).sum::<f64>() / usize_to_f64(of.len()))
}

/// Centres in the given order that are at least `gap` apart and as near as possible (least squares) to the wanted places: pools of
/// neighbours that would overlap move together (pool adjacent violators).
fn apart(wanted: &[f64], sizes: &[f64], gap: f64) -> Vec<f64> {
    // After subtracting the room that the preceding nodes take, "apart" means "not smaller than the one before".
    let mut offset = vec![0.0; wanted.len()];
    for i in 1..wanted.len() {
        offset[i] = offset[i - 1] + (sizes[i - 1] + sizes[i]) / 2.0 + gap;
    }
    // Pools: mean and number of members.
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (want, offset) in wanted.iter().zip(&offset) {
        pools.push((want - offset, 1));
        while let [.., (a, n), (b, m)] = pools[..]
            && a > b
        {
            pools.truncate(pools.len() - 2);
            pools.push(((a * usize_to_f64(n) + b * usize_to_f64(m)) / usize_to_f64(n + m), n + m));
        }
    }
    let flat = pools.into_iter().flat_map(|(at, n)| std::iter::repeat_n(at, n));
    flat.zip(&offset).map(|(at, offset)| at + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_want_one_place_stand_around_it() {
        assert_eq!(apart(&[5.0, 5.0, 40.0], &[10.0, 10.0, 10.0], 2.0), [-1.0, 11.0, 40.0]);
        assert_eq!(apart(&[9.0, 0.0], &[4.0, 4.0], 0.0), [2.5, 6.5]);
    }
}
