//! From the times of a record to one number.

use super::measure::Measure;
use crate::base::stats;

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Time of an execution once everything is warm: the mean of all repeats but the first three.
    #[default]
    Execution,
    /// Time that the first repeat takes longer than the mean of the others: tracing and compilation.
    Compilation,
}

/// Repeats that warm up.
const WARM_UP: usize = 3;

impl Metric {
    /// The number of a record; `None` when it has too few repeats.
    #[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_up_is_left_out() {
        assert_eq!(Metric::Execution.of(&[9.0, 9.0, 9.0]), None);
        assert_eq!(Metric::Execution.of(&[9.0, 9.0, 9.0, 2.0]), Some(Measure { avg: 2.0, std: 0.0 }));
        assert_eq!(Metric::Execution.of(&[9.0, 9.0, 9.0, 1.0, 3.0]).unwrap().std, libm::sqrt(2.0));
        assert_eq!(Metric::Compilation.of(&[9.0]), None);
        assert_eq!(Metric::Compilation.of(&[9.0, 1.0, 3.0]), Some(Measure { avg: 7.0, std: 0.0 }));
    }
}
