//! Collectives between the NeuronCores of an instance: a latency, the further steps of the algorithm, and bytes at a rate.

use super::decisions::{ALL_REDUCE_BUS_BYTES_PER_US, ALL_REDUCE_HOP_NS};
use ns_base::SimTime;

/// What the ranks exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// Each rank gets the sum.
    AllReduce,
    /// Each rank gets all parts.
    AllGather,
    /// Each rank gets its part of the sum.
    ReduceScatter,
}

/// How the bytes travel (runtime documentation: chosen by size).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    /// All to all, in a constant number of steps: below a megabyte.
    Mesh,
    /// Recursive doubling and halving: to 56 MB.
    Recursive,
    /// A ring of pairs of cores, of which one moves the bytes of both: above.
    KangaRing,
}

/// Costs of collectives that no document gives for a release of the software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectiveCosts {
    /// Time of an all-reduce of few bytes, nanoseconds: trigger, steps, semaphore.
    pub latency_ns: u64,
    /// Bytes of an all-reduce over its time, bytes per microsecond, for messages that the latency does not decide.
    pub bytes_per_us: u64,
}

impl Algorithm {
    /// The algorithm for a message.
    #[must_use]
    const fn of(bytes: u64) -> Self {
        match bytes {
            0..1_000_000 => Self::Mesh,
            1_000_000..56_000_000 => Self::Recursive,
            _ => Self::KangaRing,
        }
    }

    /// Steps of an all-reduce, one after the other: two for each half of a mesh, `2 log n`, and a ring of pairs that goes round
    /// twice.
    fn steps(self, ranks: u64) -> u64 {
        let half = match self {
            _ if ranks <= 1 => 0,
            Self::Mesh => 2,
            Self::Recursive => u64::from(ranks.next_power_of_two().trailing_zeros()).max(2),
            Self::KangaRing => (ranks / 2).max(2),
        };
        2 * half
    }
}

/// Time of a hop beyond the steps of a mesh, nanoseconds (published for rings: one to two microseconds).
const STEP_NS: u64 = 1_500;

impl CollectiveCosts {
    /// A collective of `bytes`, the whole message, between `ranks` cores.
    pub fn time(&self, collective: Collective, bytes: u64, ranks: u64) -> SimTime {
        if ranks <= 1 {
            return SimTime::ZERO;
        }
        let algorithm = Algorithm::of(bytes);
        let further = algorithm.steps(ranks).saturating_sub(Algorithm::Mesh.steps(ranks));
        let moved = u128::from(bytes) * 1_000 / u128::from(self.bytes_per_us.max(1));
        let all = u128::from(self.latency_ns + further * STEP_NS) + moved;
        // A gather and a scatter are the halves of an all-reduce.
        let all = if collective == Collective::AllReduce { all } else { all / 2 };
        SimTime::from_ns(u64::try_from(all).unwrap_or(u64::MAX / 1_000))
    }
}

/// Summing bytes over a ring of ranks, so that each has the sum: `2 (n - 1) / n` of the bytes pass every link, in `2 (n - 1)` hops.
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

    /// What `nccom-test` printed: a latency and a rate for each run reproduce its sizes.
    #[test]
    fn a_latency_and_a_rate_reproduce_the_measured_runs() {
        use Collective::{AllGather, AllReduce};
        const KIB: u64 = 1 << 10;
        const MIB: u64 = 1 << 20;
        // Costs of an all-reduce: of a gather both are the half.
        let run = |latency_us: f64, gb_per_s: u64, collective| {
            let halves = if collective == AllReduce { (1.0, 1) } else { (2.0, 2) };
            let latency_ns = (latency_us * 1e3 * halves.0) as u64;
            CollectiveCosts { latency_ns, bytes_per_us: gb_per_s * 1_000 / halves.1 }
        };
        /// Costs, ranks, and microseconds by bytes.
        type Run = (CollectiveCosts, Collective, u64, &'static [(u64, f64)]);
        let runs: [Run; 4] = [
            (
                run(58.0, 57, AllReduce),
                AllReduce,
                2,
                &[
                    (KIB, 58.0),
                    (64 * KIB, 58.0),
                    (MIB, 68.0),
                    (16 * MIB, 332.0),
                    (64 * MIB, 1_214.0),
                    (1 << 30, 18_930.0),
                ],
            ),
            (run(6.1, 31, AllGather), AllGather, 32, &[(KIB, 6.2), (8 * KIB, 6.5), (64 * KIB, 8.2), (512 * KIB, 23.1)]),
            (
                run(10.0, 108, AllGather),
                AllGather,
                8,
                &[(KIB, 10.0), (8 * KIB, 10.2), (64 * KIB, 11.3), (512 * KIB, 14.8)],
            ),
            (run(150.0, 18, AllGather), AllGather, 32, &[(KIB, 151.0), (64 * KIB, 150.0), (512 * KIB, 179.0)]),
        ];
        for (costs, collective, ranks, sizes) in runs {
            for (bytes, us) in sizes {
                let here = costs.time(collective, *bytes, ranks).to_ms_f64() * 1e3;
                assert!((here / us - 1.0).abs() < 0.15, "{ranks} ranks, {bytes} bytes: {here} us, measured {us}");
            }
        }
    }

    #[test]
    fn steps_follow_size_and_ranks() {
        let steps = |bytes, ranks| Algorithm::of(bytes).steps(ranks);
        assert_eq!([steps(80_000, 2), steps(80_000, 32)], [4, 4]);
        assert_eq!([steps(8 << 20, 8), steps(8 << 20, 24), steps(8 << 20, 32)], [6, 10, 10]);
        assert_eq!([steps(64 << 20, 32), steps(64 << 20, 1)], [32, 0]);
        let costs = CollectiveCosts { latency_ns: 20_000, bytes_per_us: 15_000 };
        let of = |collective, bytes| costs.time(collective, bytes, 24);
        assert_eq!(of(Collective::ReduceScatter, 80_000), of(Collective::AllGather, 80_000));
        // Times are whole nanoseconds.
        let (twice, whole) = (of(Collective::AllGather, 80_000).times(2), of(Collective::AllReduce, 80_000));
        assert!((twice.to_ms_f64() - whole.to_ms_f64()).abs() < 2e-6, "{twice:?} {whole:?}");
        assert!(of(Collective::AllReduce, 1 << 20) > of(Collective::AllReduce, 1 << 19));
    }
}
