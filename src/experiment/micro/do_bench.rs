//! One operation, called until two time budgets are spent, with the caches cleared before each timed call.

use ns_base::Clock;
use ns_base::convert::{f64_to_u64, u64_to_f64};

/// Budgets, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BenchPlan {
    /// Budget for the warm-up.
    pub warmup_ms: f64,
    /// Budget for the measurement.
    pub measure_ms: f64,
}

impl Default for BenchPlan {
    /// The budgets of the suite's `do_bench`.
    fn default() -> Self {
        Self { warmup_ms: 25.0, measure_ms: 100.0 }
    }
}

pub trait TimedOperation {
    /// Why a call failed.
    type Error;

    /// Runs the operation to its end. Fails when the operation fails.
    fn call(&mut self) -> Result<(), Self::Error>;

    /// Fills the caches with something else.
    fn empty_caches(&mut self);
}

/// Times of the calls, milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchTimes {
    /// Times in the order of the calls.
    pub times_ms: Vec<f64>,
    /// Number of warm-up calls.
    pub warmups: u64,
}

/// Calls of the first estimate.
const ESTIMATES: u32 = 5;
/// Most calls of either kind: an operation that takes no time would never end.
const MOST_CALLS: f64 = 100_000.0;

impl BenchTimes {
    /// The shortest time, which the suite reports.
    pub fn min_ms(&self) -> Option<f64> {
        self.times_ms.iter().copied().reduce(f64::min)
    }
}

/// Calls once, estimates the time of a call including the clearing of caches from five calls, and from this decides how many calls warm up
/// and how many are timed: at least one each. Caches are cleared before each timed call, outside its time. Fails when a call fails.
pub fn do_bench<M: TimedOperation>(
    measured: &mut M,
    plan: BenchPlan,
    clock: &dyn Clock,
) -> Result<BenchTimes, M::Error> {
    let ms_since = |start: u64| u64_to_f64(clock.now().0.saturating_sub(start)) / 1e6;
    measured.call()?;
    let start = clock.now().0;
    for _ in 0..ESTIMATES {
        measured.empty_caches();
        measured.call()?;
    }
    let estimate_ms = ms_since(start) / f64::from(ESTIMATES);
    let calls = |budget_ms: f64| {
        let calls = if estimate_ms > 0.0 { budget_ms / estimate_ms } else { MOST_CALLS };
        f64_to_u64(calls.clamp(1.0, MOST_CALLS))
    };
    let warmups = calls(plan.warmup_ms);
    for _ in 0..warmups {
        measured.call()?;
    }
    let mut times_ms = Vec::new();
    for _ in 0..calls(plan.measure_ms) {
        measured.empty_caches();
        let start = clock.now().0;
        measured.call()?;
        times_ms.push(ms_since(start));
    }
    Ok(BenchTimes { times_ms, warmups })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::ManualClock;

    struct Fake<'a> {
        clock: &'a ManualClock,
        calls: u64,
        emptied: u64,
    }

    impl TimedOperation for Fake<'_> {
        type Error = ();

        fn call(&mut self) -> Result<(), ()> {
            self.calls += 1;
            self.clock.advance_ns(1_500_000 + self.calls);
            Ok(())
        }

        fn empty_caches(&mut self) {
            self.emptied += 1;
            self.clock.advance_ns(500_000);
        }
    }

    #[test]
    fn budgets_decide_how_many_calls() {
        let clock = ManualClock::default();
        let mut fake = Fake { clock: &clock, calls: 0, emptied: 0 };
        let times = do_bench(&mut fake, BenchPlan::default(), &clock).unwrap();
        // A call and the clearing take 2 ms: 25 / 2 and 100 / 2, rounded down because each takes a little more.
        assert_eq!((times.warmups, times.times_ms.len()), (12, 49));
        assert_eq!((fake.calls, fake.emptied), (1 + 5 + 12 + 49, 5 + 49));
        assert!((times.min_ms().unwrap() - 1.5).abs() < 1e-4);
    }
}
