//! The same work before every repeat of a measured experiment. It never changes, so the times that it takes show what
//! disturbs the machine: other programs on the processor, or a frequency that goes up and down.

use std::hint::black_box;

use crate::base::convert::real;
use crate::base::{Clock, stats};

/// Steps of the work: each waits for the one before, so that it takes some hundred microseconds on any processor, which
/// is long beside the step of a clock and short beside a time slice.
const STEPS: u32 = 200_000;

/// Does the work once: how many nanoseconds it took.
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
pub(super) fn disturbance(calibration_ns: &[u64]) -> Option<f64> {
    let best = *calibration_ns.iter().min().filter(|best| **best > 0)?;
    let times: Vec<f64> = calibration_ns.iter().map(|ns| real(*ns)).collect();
    Some(stats::mean(&times)? / real(best) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ManualClock;

    #[test]
    fn the_mean_is_compared_with_the_best() {
        assert_eq!(disturbance(&[100, 100, 100, 140]), Some(110.0 / 100.0 - 1.0));
        assert_eq!(disturbance(&[100, 100]), Some(0.0));
        assert_eq!(disturbance(&[]), None);
        // A clock that stands still says nothing.
        assert_eq!(disturbance(&[calibrate(&ManualClock::default())]), None);
    }
}
