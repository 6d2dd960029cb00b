//! The distribution of the durations of some slices.

use serde::{Deserialize, Serialize};

use super::operators::{Percentiles, percentile};

/// The spacing of the edges of bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinScale {
    /// Equal steps from 0 or from the shortest duration.
    Linear,
    /// 1, 2, 5, 10, 20, 50 ...
    #[default]
    Log,
}

/// Durations from one edge to the next; the last bin includes its upper edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// Lower edge, in ns; inclusive.
    pub from_ns: i64,
    /// Upper edge, in ns; exclusive, except in the last bin.
    pub to_ns: i64,
    /// Number of slices.
    pub count: u64,
    /// Sum of their durations, in ns.
    pub total_ns: i64,
}

/// A distribution of durations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Bins without gaps, shortest durations first; empty without slices.
    pub bins: Vec<Bin>,
    /// Number of slices.
    pub count: u64,
    /// Sum of their durations, in ns.
    pub total_ns: i64,
    /// Shortest, in ns.
    pub min_ns: i64,
    /// Longest, in ns.
    pub max_ns: i64,
    /// Median and 99th percentile, in ns.
    pub percentiles: Option<Percentiles>,
}

impl Histogram {
    /// The distribution of durations in at most `bins` bins.
    #[must_use]
    pub fn of(mut durations: Vec<i64>, scale: BinScale, bins: usize) -> Self {
        let (Some(&min_ns), Some(&max_ns)) = (durations.iter().min(), durations.iter().max()) else {
            return Self::default();
        };
        let edges = match scale {
            BinScale::Linear => linear_edges(min_ns, max_ns, bins.max(1)),
            BinScale::Log => log_edges(min_ns, max_ns, bins.max(1)),
        };
        let mut found: Vec<Bin> =
            edges.windows(2).map(|e| Bin { from_ns: e[0], to_ns: e[1], count: 0, total_ns: 0 }).collect();
        let last = found.len().saturating_sub(1);
        for &dur in &durations {
            let at = edges.partition_point(|edge| *edge <= dur).saturating_sub(1).min(last);
            if let Some(bin) = found.get_mut(at) {
                bin.count += 1;
                bin.total_ns = bin.total_ns.saturating_add(dur);
            }
        }
        let total_ns = found.iter().map(|b| b.total_ns).fold(0, i64::saturating_add);
        let p50_ns = percentile(&mut durations, 50.0);
        let percentiles = Some(Percentiles { p50_ns, p99_ns: percentile(&mut durations, 99.0) });
        Self { bins: found, count: durations.len() as u64, total_ns, min_ns, max_ns, percentiles }
    }
}

/// Edges at multiples of the smallest of 1, 2, 5, 10, 20 ... that gives at most `bins` bins.
fn linear_edges(min: i64, max: i64, bins: usize) -> Vec<i64> {
    let bins = i64::try_from(bins).unwrap_or(i64::MAX);
    let step = round_numbers().find(|step| max / step - min / step < bins).unwrap_or(i64::MAX);
    let first = min / step * step;
    let last = max / step;
    (0..=last - min / step + 1).map(|i| first.saturating_add(i.saturating_mul(step))).collect()
}

/// Edges at 0, 1, 2, 5, 10, 20 ... from the one below the shortest to the one above the longest; if that gives more than
/// `bins` bins, only every third edge or fewer.
fn log_edges(min: i64, max: i64, bins: usize) -> Vec<i64> {
    let all: Vec<i64> = std::iter::once(0).chain(round_numbers()).chain([i64::MAX]).collect();
    let first = all.partition_point(|edge| *edge <= min).saturating_sub(1);
    let last = all.partition_point(|edge| *edge <= max).min(all.len() - 1);
    let edges = &all[first..=last.max(first + 1).min(all.len() - 1)];
    let stride = (edges.len() - 1).div_ceil(bins).max(1);
    let mut thinned: Vec<i64> = edges.iter().copied().step_by(stride).collect();
    if !(edges.len() - 1).is_multiple_of(stride) {
        thinned.extend(edges.last());
    }
    thinned
}

/// 1, 2, 5, 10, 20, 50 ... as far as they go.
fn round_numbers() -> impl Iterator<Item = i64> {
    std::iter::successors(Some(1i64), |power| power.checked_mul(10))
        .flat_map(|power| [Some(power), power.checked_mul(2), power.checked_mul(5)])
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_are_round_numbers() {
        let edges = |h: &Histogram| h.bins.iter().map(|b| (b.from_ns, b.count)).collect::<Vec<_>>();
        let log = Histogram::of(vec![3, 4, 5, 90, 100], BinScale::Log, 20);
        assert_eq!(edges(&log), [(2, 2), (5, 1), (10, 0), (20, 0), (50, 1), (100, 1)]);
        let linear = Histogram::of(vec![12, 13, 25, 39, 40], BinScale::Linear, 5);
        assert_eq!(edges(&linear), [(10, 2), (20, 1), (30, 1), (40, 1)]);
        assert_eq!(Histogram::of(vec![], BinScale::Log, 5), Histogram::default());
    }

    #[test]
    fn one_long_slice_is_in_one_logarithmic_bin() {
        let h = Histogram::of(vec![5_000_000_000_000_000_000], BinScale::Log, 1);
        assert_eq!(h.bins.iter().map(|b| b.count).collect::<Vec<_>>(), [1]);
        assert!(h.bins[0].from_ns <= 5_000_000_000_000_000_000 && 5_000_000_000_000_000_000 <= h.bins[0].to_ns);
    }

    proptest! {
        #[test]
        fn every_slice_is_in_the_bin_of_its_duration(
            durations in prop::collection::vec(prop_oneof![0i64..100, 0i64..i64::MAX], 1..60), bins in 1usize..40, log: bool,
        ) {
            let scale = if log { BinScale::Log } else { BinScale::Linear };
            let h = Histogram::of(durations.clone(), scale, bins);
            prop_assert!(h.bins.len() <= bins, "{} of {}", h.bins.len(), bins);
            prop_assert_eq!(h.bins.iter().map(|b| b.count).sum::<u64>(), durations.len() as u64);
            for (i, bin) in h.bins.iter().enumerate() {
                let last = i + 1 == h.bins.len();
                let inside = durations.iter().filter(|d| bin.from_ns <= **d && (**d < bin.to_ns || last)).count();
                prop_assert_eq!(bin.count, inside as u64);
                prop_assert!(bin.from_ns < bin.to_ns || h.bins.len() == 1);
                prop_assert!(i == 0 || h.bins[i - 1].to_ns == bin.from_ns);
            }
        }
    }
}
