//! How the durations of the slices of one name are spread.

use super::{Profile, SliceFlags, SliceId};
use crate::base::stats;

/// Durations of one name in bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Number of slices.
    pub count: u64,
    /// Bins from short to long, without gaps.
    pub bins: Vec<Bin>,
    /// Median.
    pub p50_ns: f64,
    /// 99th percentile.
    pub p99_ns: f64,
    /// Whether bins grow by a factor and not by a length.
    pub is_logarithmic: bool,
    /// The longest slice.
    pub longest: Option<SliceId>,
}

/// A bin.
#[derive(Clone, Debug, PartialEq)]
pub struct Bin {
    /// Shortest duration in it.
    pub from_ns: i64,
    /// First duration that is too long for it.
    pub to_ns: i64,
    /// Number of slices.
    pub count: u64,
}

/// Number of bins.
const BINS: i64 = 40;
/// With a longest duration this many times the shortest, bins grow by a factor.
const LOG_FROM: i64 = 50;

/// The durations of slices with exactly this name. Unclosed slices are left out.
#[must_use]
pub fn durations_of(profile: &Profile, name: &str) -> Histogram {
    let slices = profile.slices();
    let is_one = |id: &SliceId| !slices.flags(*id).has(SliceFlags::UNCLOSED) && profile.str(slices.name(*id)) == name;
    let mut found: Vec<(i64, SliceId)> = slices.ids().filter(is_one).map(|id| (slices.dur_ns(id), id)).collect();
    found.sort_unstable();
    let (Some(&(least, _)), Some(&(most, longest))) = (found.first(), found.last()) else {
        return Histogram::default();
    };
    let sorted: Vec<f64> = found.iter().map(|(d, _)| *d as f64).collect();
    let at = |p: f64| stats::percentile_sorted(&sorted, p).unwrap_or(0.0);
    let is_logarithmic = most / least.max(1) >= LOG_FROM;
    let edges = edges(least, most, is_logarithmic);
    let below = |ns: i64| found.partition_point(|(d, _)| *d < ns);
    let bin = |w: &[i64]| Bin { from_ns: w[0], to_ns: w[1], count: (below(w[1]) - below(w[0])) as u64 };
    Histogram {
        count: found.len() as u64,
        bins: edges.windows(2).map(bin).collect(),
        p50_ns: at(50.0),
        p99_ns: at(99.0),
        is_logarithmic,
        longest: Some(longest),
    }
}

/// Where bins meet, each a whole number of nanoseconds after the one before.
#[allow(clippy::cast_possible_truncation)] // between least and most
fn edges(least: i64, most: i64, is_logarithmic: bool) -> Vec<i64> {
    let end = most.saturating_add(1);
    let mut edges = vec![least];
    for i in 1..BINS {
        let share = i as f64 / BINS as f64;
        let edge = if is_logarithmic {
            let (low, high) = (least.max(1) as f64, end as f64);
            libm::round(low * libm::pow(high / low, share)) as i64
        } else {
            least + libm::round((end - least) as f64 * share) as i64
        };
        if edges.last().is_some_and(|last| edge > *last) && edge < end {
            edges.push(edge);
        }
    }
    edges.push(end);
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::ProfileBuilder;

    fn with(durations: impl Iterator<Item = i64>) -> Histogram {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let t = b.thread(p, "1", "");
        let mut at = 0;
        for dur in durations {
            b.slice(t, at, dur, "op", "", None);
            at += dur + 1;
        }
        b.slice(t, at, 7, "other", "", None);
        durations_of(&b.finish(Diagnostics::new()), "op")
    }

    #[test]
    fn every_slice_is_in_one_bin() {
        let even = with(100..=199);
        assert_eq!((even.count, even.bins.len(), even.is_logarithmic), (100, 40, false));
        assert!(even.bins.iter().all(|b| b.count == 2 || b.count == 3), "{even:?}");
        assert_eq!(even.p50_ns, 149.5);
        let wide = with([1, 10, 100, 1_000, 10_000].into_iter());
        assert!(wide.is_logarithmic && wide.bins.iter().map(|b| b.count).sum::<u64>() == 5);
        assert!(wide.bins.windows(2).all(|w| w[0].to_ns == w[1].from_ns));
        let one = with([5, 5].into_iter());
        assert_eq!(one.bins, [Bin { from_ns: 5, to_ns: 6, count: 2 }]);
        assert_eq!(with([].into_iter()), Histogram::default());
    }
}
