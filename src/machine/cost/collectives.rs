//! Collectives between the NeuronCores of an instance.

use super::decisions::{ALL_REDUCE_BUS_BYTES_PER_US, ALL_REDUCE_HOP_NS};
use ns_base::SimTime;

/// Summing bytes over a ring of ranks, so that each has the sum: `2 (n - 1) / n` of the bytes pass every link, in `2 (n - 1)` hops.
#[must_use]
pub fn all_reduce(bytes: u64, ranks: u64) -> SimTime {
    if ranks <= 1 {
        return SimTime::ZERO;
    }
    let hops = 2 * (ranks - 1);
    let moved = u128::from(bytes) * u128::from(hops) / u128::from(ranks);
    let ns = moved * 1_000 / u128::from(ALL_REDUCE_BUS_BYTES_PER_US);
    SimTime::from_ns(u64::try_from(ns).unwrap_or(u64::MAX / 1_000).saturating_add(hops * ALL_REDUCE_HOP_NS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_moves_almost_twice_the_bytes() {
        assert_eq!(all_reduce(1 << 30, 1), SimTime::ZERO);
        // The measured row that the rate comes from: 18.93 ms.
        let two = all_reduce(1 << 30, 2).to_ms_f64();
        assert!((two - 18.93).abs() < 0.05, "{two}");
        let ratio = all_reduce(1 << 30, 32).to_ms_f64() / two;
        assert!((ratio - 2.0 * 31.0 / 32.0).abs() < 0.01, "{ratio}");
    }
}
