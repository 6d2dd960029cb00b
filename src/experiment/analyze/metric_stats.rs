//! Statistics of the repeats of one metric.

use ns_base::Order;
use ns_base::convert::usize_to_f64;
use ns_base::stats;

/// Statistics, in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricStats {
    pub min: f64,
    pub median: f64,
    pub max: f64,
    /// Mean and population standard deviation of all repeats except the first, which compiles; `None` for a single repeat.
    pub steady: Option<(f64, f64)>,
}

impl MetricStats {
    /// Statistics of the repeats; `None` for an empty list. NaN makes them NaN.
    pub fn of(repeats: &[f64]) -> Option<Self> {
        let (_, after_first) = repeats.split_first()?;
        let nan = repeats.iter().any(|v| v.is_nan());
        let mut sorted = repeats.to_vec();
        sorted.order_by(f64::total_cmp);
        let known = |value: f64| if nan { f64::NAN } else { value };
        let (min, max) = (sorted.first().copied()?, sorted.last().copied()?);
        let steady = stats::mean(after_first).map(|mean| {
            let squares: f64 = after_first.iter().map(|v| (v - mean) * (v - mean)).sum();
            (mean, libm::sqrt(squares / usize_to_f64(after_first.len())))
        });
        Some(Self { min: known(min), median: known(median(&sorted)), max: known(max), steady })
    }

    /// Names and values in the order of the reports.
    pub fn values_by_name(&self) -> Vec<(&'static str, f64)> {
        let mut named = vec![("min", self.min), ("median", self.median), ("max", self.max)];
        if let Some((mean, std)) = self.steady {
            named.extend([("mean", mean), ("std", std)]);
        }
        named
    }
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_repeat_compiles() {
        let stats = MetricStats::of(&[9.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((stats.min, stats.median, stats.max), (1.0, 2.5, 9.0));
        assert_eq!(stats.steady, Some((2.0, libm::sqrt(2.0 / 3.0))));
        assert_eq!(MetricStats::of(&[4.0]).unwrap().steady, None);
        assert_eq!(MetricStats::of(&[]), None);
        assert!(MetricStats::of(&[1.0, f64::NAN]).unwrap().min.is_nan());
    }
}
