//! How reliable measured times are, and how to improve them. Before every repeat
//! the same work is timed: its times show disturbances of the machine.

use std::hint::black_box;

use ns_base::Order;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_change, format_share, format_whole_share};
use ns_base::{Clock, stats};

/// Noise of the repeats of one experiment, the first three left out as in reports.
#[derive(Clone, Debug, PartialEq)]
pub struct NoiseReport {
    /// Number of repeats that count.
    pub samples: usize,
    /// The clock's smallest step as a share of the median time.
    pub clock_step_share: f64,
    /// The median of the last third divided by the median of the first third, minus one.
    pub drift: f64,
    /// Repeats beyond 1.5 and beyond 3 interquartile ranges from the quartiles (Tukey).
    pub outliers: [usize; 2],
    /// Interquartile range divided by the median.
    pub spread: f64,
    /// How much longer the same work between the repeats took on average than at best, as a share of the best; `None`
    /// if it was not timed.
    pub disturbance: Option<f64>,
}

/// Number of warm-up repeats.
const WARM_UP: usize = 3;
/// Fewest repeats for an estimate of the noise.
const FEWEST: usize = 4;

impl NoiseReport {
    /// The noise of total times in seconds, with the times of the same work before each; `None` for too few.
    pub fn of(total_time_s: &[f64], clock_step_ns: u64, calibration_ns: &[u64]) -> Option<Self> {
        let steady = total_time_s.get(WARM_UP..).filter(|s| s.len() >= FEWEST)?;
        let mut sorted = steady.to_vec();
        sorted.order_by(f64::total_cmp);
        let at = |p| stats::percentile_sorted(&sorted, p);
        let (low, median, high) = (at(25.0)?, at(50.0)?, at(75.0)?);
        if median <= 0.0 {
            return None;
        }
        let range = high - low;
        let beyond =
            |times: f64| steady.iter().filter(|t| **t < low - times * range || **t > high + times * range).count();
        let third = (steady.len() / 3).max(1);
        let middle = |part: &[f64]| {
            let mut part = part.to_vec();
            part.order_by(f64::total_cmp);
            stats::percentile_sorted(&part, 50.0)
        };
        let drift = middle(&steady[steady.len() - third..])? / middle(&steady[..third])? - 1.0;
        Some(Self {
            samples: steady.len(),
            clock_step_share: u64_to_f64(clock_step_ns) * 1e-9 / median,
            drift,
            outliers: [beyond(1.5), beyond(3.0)],
            spread: range / median,
            disturbance: disturbance(calibration_ns),
        })
    }

    /// What to change, one sentence each; empty when the times are good. `others_busy` is the share of the processors
    /// that other programs used meanwhile, if known.
    pub fn advice(&self, others_busy: Option<f64>) -> Vec<String> {
        let mut advice = Vec::new();
        if self.clock_step_share > 0.01 {
            advice.push(format!(
                "a run takes only {:.0} ticks of the clock: raise --iterations-per-run",
                1.0 / self.clock_step_share
            ));
        }
        if self.drift.abs() > 0.05 {
            advice.push(format!(
                "times changed by {} from the first to the last third: fix the processor's frequency (cpupower frequency-set --governor performance) and let it cool",
                format_change(self.drift * 100.0)
            ));
        }
        let [mild, extreme] = self.outliers;
        if extreme > 0 || mild * 10 > self.samples {
            advice.push(format!(
                "{mild} of {} runs are outliers, {extreme} of them far out: raise --repeat",
                self.samples
            ));
        }
        if self.spread > 0.05 {
            advice.push(format!(
                "half of the runs differ by {}: raise --iterations-per-run, or stop other programs",
                format_share(self.spread * 100.0)
            ));
        }
        if let Some(longer) = self.disturbance.filter(|d| *d > 0.1) {
            advice.push(format!(
                "the same work between the runs took {} longer on average than at best: other programs share the processor, or its frequency changes; stop them, and fix the frequency",
                format_whole_share(longer * 100.0)
            ));
        }
        if let Some(busy) = others_busy.filter(|b| *b > 0.1) {
            advice.push(format!(
                "other programs used {} of the processors meanwhile: stop them",
                format_whole_share(busy * 100.0)
            ));
        }
        advice
    }
}

/// Steps of the work: each depends on the previous one, so that the work takes a few hundred microseconds on any processor, which
/// is long compared with the step of a clock and short compared with a time slice.
const STEPS: u32 = 200_000;

/// Does the work once; returns the nanoseconds that it took.
pub(super) fn calibrate(clock: &dyn Clock) -> u64 {
    let start = clock.now().0;
    let mut state = 1_u64;
    for _ in 0..STEPS {
        state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
    black_box(state);
    clock.now().0.saturating_sub(start)
}

/// How much longer the work took on average than at best, as a share of the best; `None` when it was never timed.
fn disturbance(calibration_ns: &[u64]) -> Option<f64> {
    let best = *calibration_ns.iter().min().filter(|best| **best > 0)?;
    let times: Vec<f64> = calibration_ns.iter().map(|ns| u64_to_f64(*ns)).collect();
    Some(stats::mean(&times)? / u64_to_f64(best) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::ManualClock;

    #[test]
    fn quiet_runs_need_no_advice_and_noisy_ones_do() {
        let quiet: Vec<f64> = (0..13).map(|i| 1.0 + f64::from(i % 2) * 1e-4).collect();
        let report = NoiseReport::of(&quiet, 50, &[100, 101]).unwrap();
        assert_eq!(report.advice(Some(0.02)), [""; 0]);
        let mut noisy = vec![9.0, 9.0, 9.0, 1.0, 1.0, 1.0, 1.01, 1.0, 1.0, 1.2, 1.2, 1.2];
        noisy[6] = 40.0;
        let advice = NoiseReport::of(&noisy, 20_000_000, &[100, 150]).unwrap().advice(Some(0.5));
        assert_eq!(advice.len(), 6, "{advice:?}");
        assert!(advice[1].contains("+20.0 %"));
        assert!(advice[4].contains("took 25 % longer"), "{advice:?}");
        assert!(advice[5].contains("used 50 % of the processors"), "{advice:?}");
        assert_eq!(NoiseReport::of(&[1.0; 6], 1, &[]), None);
    }

    #[test]
    fn the_mean_is_compared_with_the_best() {
        assert_eq!(disturbance(&[100, 100, 100, 140]), Some(110.0 / 100.0 - 1.0));
        assert_eq!(disturbance(&[100, 100]), Some(0.0));
        assert_eq!(disturbance(&[]), None);
        // A clock that stands still gives no information.
        assert_eq!(disturbance(&[calibrate(&ManualClock::default())]), None);
    }
}
