//! The limit on power changes of the tensor engine.

use ns_base::SimTime;
use ns_machine::cost::{InstructionCost, Throttle};

/// The progress of an engine along its power ramp. Work adds to it and idle time takes the same amount away, so it falls
/// when utilisation is below half. It is counted up to half a ramp beyond the end: idle time of up to half a ramp keeps
/// the full rate, because utilisation over the length of the ramp is then at least half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PowerRamp {
    done: SimTime,
    last_end: SimTime,
}

impl PowerRamp {
    /// The cost of an instruction that starts at `start`: longer while the rate is not full.
    pub fn stretch(&mut self, throttle: Throttle, start: SimTime, cost: InstructionCost) -> InstructionCost {
        let ramp = SimTime::from_ns(throttle.ramp_ns.max(1)).0;
        let idle = start.saturating_sub(self.last_end);
        let before = self.done.saturating_sub(idle).0;
        let done = before.min(ramp);
        // The rate rises linearly from its initial to its full value.
        let from = u128::from(throttle.start_permille.clamp(1, 1_000));
        let permille = from + (1_000 - from) * u128::from(done) / u128::from(ramp);
        let longer = u128::from(cost.interval.0) * 1_000 / permille;
        let interval = SimTime(u64::try_from(longer).unwrap_or(u64::MAX));
        let end = start + interval;
        self.done = SimTime(before.saturating_add(interval.0).min(ramp + ramp / 2));
        self.last_end = end;
        InstructionCost { interval, latency: cost.latency + interval.saturating_sub(cost.interval) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THROTTLE: Throttle = Throttle { start_permille: 500, ramp_ns: 3_000 };

    fn run(gap_ns: u64, count: usize) -> Vec<u64> {
        let mut ramp = PowerRamp::default();
        let time = SimTime::from_ns(200);
        let mut start = SimTime::ZERO;
        let step = |_| {
            let cost = ramp.stretch(THROTTLE, start, InstructionCost { interval: time, latency: time });
            start = start + cost.interval + SimTime::from_ns(gap_ns);
            cost.interval.to_ns()
        };
        (0..count).map(step).collect()
    }

    #[test]
    fn the_rate_is_half_at_first_and_whole_after_the_ramp() {
        let times = run(0, 40);
        assert_eq!(times[0], 400);
        assert!(times.windows(2).all(|w| w[1] <= w[0]));
        let full = times.iter().position(|t| *t == 200).unwrap();
        let before: u64 = times[..full].iter().sum();
        assert!((3_000..3_500).contains(&before), "full after {before} ns");
    }

    #[test]
    fn below_half_utilisation_it_stays_limited() {
        // Stretched to 400 ns and idle for 600: the end of the ramp is never reached.
        assert!(run(600, 50).iter().all(|t| *t == 400));
        // A short gap takes back a little of the ramp each time.
        assert!((200..=204).contains(&run(50, 100)[99]));
    }
}
