//! A mean with its standard deviation, how errors propagate, and how they are computed from the times of a record.

use ns_base::convert::usize_to_f64;
use ns_base::stats;

/// A number and its standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    pub avg: f64,
    pub std: f64,
}

impl Measure {
    /// `self / other`, with both relative deviations added in quadrature.
    pub fn over(self, other: Self) -> Self {
        let (a, b) = (self.std / self.avg, other.std / other.avg);
        let avg = self.avg / other.avg;
        Self { avg, std: avg * libm::sqrt(b * b + a * a) }
    }

    /// The geometric mean, with the deviation `g / n * sqrt(sum((std / avg)^2))`. `None` for an empty list.
    pub fn geometric_mean(values: &[Self]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let n = usize_to_f64(values.len());
        let avg = libm::exp(values.iter().map(|v| libm::log(v.avg)).sum::<f64>() / n);
        let squares: f64 = values.iter().map(|v| (v.std / v.avg) * (v.std / v.avg)).sum();
        Some(Self { avg, std: avg / n * libm::sqrt(squares) })
    }
}

/// The metric that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Time of an execution once everything is warm: the mean of all repeats but the first three.
    #[default]
    Execution,
    /// Extra time of the first repeat over the mean of the others: tracing and compilation.
    Compilation,
}

/// Number of warm-up repeats, which no execution time counts.
pub const WARM_UP: usize = 3;

impl Metric {
    /// The measure of a record; `None` when it has too few repeats.
    pub fn of(self, total_time_s: &[f64]) -> Option<Measure> {
        match self {
            Self::Execution => {
                let steady = total_time_s.get(WARM_UP..)?;
                let avg = stats::mean(steady)?;
                // The deviation of a single repeat is not known; the suite writes 0.
                Some(Measure { avg, std: stats::stddev(steady).unwrap_or(0.0) })
            }
            Self::Compilation => {
                let (first, others) = total_time_s.split_first()?;
                Some(Measure { avg: first - stats::mean(others)?, std: 0.0 })
            }
        }
    }
}

const _: () = assert!(WARM_UP == 3, "the sentence below names it");

impl Metric {
    /// What is said of records that have too few repeats for a measure.
    pub(super) fn too_few_repeats(self) -> &'static str {
        match self {
            Self::Execution => {
                "records have 3 repeats or fewer, which are the warm-up: run them with --repeat 4 or more"
            }
            Self::Compilation => "records have a single repeat: run them with --repeat 2 or more",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_and_means_carry_their_errors() {
        let (a, b) = (Measure { avg: 2.0, std: 0.3 }, Measure { avg: 4.0, std: 0.8 });
        let ratio = a.over(b);
        assert_eq!(ratio.avg, 0.5);
        assert!((ratio.std - 0.5 * libm::sqrt(0.15 * 0.15 + 0.2 * 0.2)).abs() < 1e-15);
        let mean = Measure::geometric_mean(&[a, Measure { avg: 8.0, std: 0.0 }]).unwrap();
        assert!((mean.avg - 4.0).abs() < 1e-12 && (mean.std - 4.0 / 2.0 * 0.15).abs() < 1e-12);
        assert_eq!(Measure::geometric_mean(&[]), None);
    }

    #[test]
    fn warm_up_is_left_out() {
        assert_eq!(Metric::Execution.of(&[9.0, 9.0, 9.0]), None);
        assert_eq!(Metric::Execution.of(&[9.0, 9.0, 9.0, 2.0]), Some(Measure { avg: 2.0, std: 0.0 }));
        assert_eq!(Metric::Execution.of(&[9.0, 9.0, 9.0, 1.0, 3.0]).unwrap().std, libm::sqrt(2.0));
        assert_eq!(Metric::Compilation.of(&[9.0]), None);
        assert_eq!(Metric::Compilation.of(&[9.0, 1.0, 3.0]), Some(Measure { avg: 7.0, std: 0.0 }));
    }
}
