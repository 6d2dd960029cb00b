//! Runs calls one after another: warm-up and timed iterations of one worker.

use ns_base::Order;
use ns_base::convert::{f64_to_u64, f64_to_usize, u64_to_f64, usize_to_f64};
use ns_base::{Rng, SimTime};

use super::config::MatmultRun;
use ns_neuron::step::{StepCosts, Waits};

/// Times of a series of calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CallTimes {
    pub warmup: SimTime,
    /// All timed calls: the time between the two readings of the clock.
    pub total: SimTime,
    /// The time that the clock shows, in whole ticks.
    pub read: SimTime,
    /// The part of `total` in which the host works.
    pub host: SimTime,
    /// The part in which inputs and outputs move.
    pub link: SimTime,
    /// The part of both that passed while the device ran the previous call.
    pub hidden: SimTime,
    /// The part in which the device runs the call.
    pub device: SimTime,
    /// Each timed call, shortest first.
    pub sorted: Vec<SimTime>,
}

impl CallTimes {
    /// The calls of a run, one after another: each part varies by at most its jitter, evenly, drawn from `seed`.
    pub fn of(step: &StepCosts, run: &MatmultRun, seed: u64) -> Self {
        let mut rng = Rng::from_seed(seed);
        let mut draw = |time: SimTime| vary(time, run.jitter, rng.unit_f64());
        let mut timed = Self::default();
        let (mut extra, mut before) = (step.first.warmup, SimTime::ZERO);
        for call in 0..u64::from(run.warmup_iterations) + u64::from(run.timed_iterations) {
            let (host, link, device) = (draw(step.host()) + extra, draw(step.link), draw(step.device()));
            let hidden = match run.waits() {
                Waits::ForEachResult => SimTime::ZERO,
                Waits::Never => (host + link).min(before),
            };
            let took = host + link + device - hidden;
            (extra, before) = (SimTime::ZERO, device);
            if call < u64::from(run.warmup_iterations) {
                timed.warmup += took;
                continue;
            }
            timed.host += host;
            timed.link += link;
            timed.hidden += hidden;
            timed.device += device;
            timed.total += took;
            timed.sorted.push(took);
        }
        timed.sorted.order();
        timed.read = reading(timed.total, run.clock_tick_ns, seed);
        timed
    }
}

/// The time that a ticking clock shows: the ticks in a span that begins anywhere between two ticks, drawn from `seed`.
fn reading(time: SimTime, tick_ns: u64, seed: u64) -> SimTime {
    let tick = SimTime::from_ns(tick_ns).0;
    if tick == 0 {
        return time;
    }
    // A separate random stream, so that the calls take the same time with any clock.
    let begun = f64_to_u64(Rng::from_seed(seed ^ CLOCK_STREAM).unit_f64() * u64_to_f64(tick));
    SimTime((begun.min(tick - 1) + time.0) / tick * tick)
}

/// Separates the random numbers of the clock from those of the calls.
const CLOCK_STREAM: u64 = 0x74_69_63_6b;

/// A time changed by at most `jitter`; `at` from 0 to 1 says where in that range.
fn vary(time: SimTime, jitter: f64, at: f64) -> SimTime {
    let moved = u64_to_f64(time.0) * (1.0 + jitter * (2.0 * at - 1.0));
    SimTime(f64_to_u64(moved))
}

impl CallTimes {
    /// The mean of the timed calls by the clock, seconds.
    pub fn mean_s(&self) -> f64 {
        self.of_each(self.read)
    }

    /// The mean that the calls really took, seconds.
    pub fn true_mean_s(&self) -> f64 {
        self.of_each(self.total)
    }

    /// A part of the timed calls for each of them, seconds.
    pub fn of_each(&self, part: SimTime) -> f64 {
        part.to_secs_f64() / usize_to_f64(self.sorted.len().max(1))
    }

    /// The time of the call at a rank from 0 to 1, seconds.
    pub fn at(&self, rank: f64) -> f64 {
        let last = self.sorted.len().saturating_sub(1);
        self.sorted.get(f64_to_usize(usize_to_f64(last) * rank)).map_or(0.0, |t| t.to_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_neuron::step::FirstStep;

    fn step() -> StepCosts {
        let us = SimTime::from_us;
        let first = FirstStep { warmup: us(2_000), ..FirstStep::default() };
        StepCosts { first, call: us(100), link: us(50), tear_down: us(10), window: us(840), ..StepCosts::default() }
    }

    fn run(warmup_iterations: u32, timed_iterations: u32, jitter: f64, sync: bool) -> MatmultRun {
        MatmultRun { warmup_iterations, timed_iterations, jitter, sync, ..MatmultRun::default() }
    }

    #[test]
    fn the_first_call_is_paid_once_in_the_warm_up_or_in_the_timed_run() {
        let warm = CallTimes::of(&step(), &run(2, 4, 0.0, true), 0);
        assert_eq!((warm.warmup, warm.total), (SimTime::from_us(4_000), SimTime::from_us(4_000)));
        let cold = CallTimes::of(&step(), &run(0, 4, 0.0, true), 0);
        assert_eq!((cold.warmup, cold.total), (SimTime::ZERO, SimTime::from_us(6_000)));
        assert!((cold.at(0.0) - 1e-3).abs() < 1e-12 && (cold.at(1.0) - 3e-3).abs() < 1e-12);
        assert!((warm.of_each(warm.device) - 850e-6).abs() < 1e-12);
    }

    #[test]
    fn the_host_is_hidden_behind_the_call_before_unless_results_are_waited_for() {
        let ahead = CallTimes::of(&step(), &run(2, 4, 0.0, false), 0);
        assert_eq!((ahead.warmup, ahead.total), (SimTime::from_us(3_850), SimTime::from_us(4 * 850)));
        assert_eq!(ahead.hidden, SimTime::from_us(4 * 150));
        // A host that is slower than the device determines the time of a call.
        let slow = StepCosts { call: SimTime::from_us(5_000), ..step() };
        assert_eq!(CallTimes::of(&slow, &run(1, 2, 0.0, false), 0).total, SimTime::from_us(2 * 5_050));
    }

    #[test]
    fn a_clock_reads_whole_ticks_on_either_side_of_the_time() {
        let tick_ns = 1_000_000;
        let of = |seed| {
            let run = MatmultRun { clock_tick_ns: tick_ns, ..run(1, 3, 0.0, true) };
            CallTimes::of(&step(), &run, seed)
        };
        // Three calls of a millisecond begin and end at the same place between two ticks.
        assert!((0..20).all(|seed| of(seed).read == SimTime::from_us(3_000)));
        let half = |seed| {
            let run = MatmultRun { clock_tick_ns: 2 * tick_ns, ..run(1, 1, 0.0, true) };
            CallTimes::of(&step(), &run, seed).read
        };
        let readings: Vec<SimTime> = (0..20).map(half).collect();
        assert!(readings.contains(&SimTime::ZERO) && readings.contains(&SimTime::from_us(2_000)), "{readings:?}");
        assert!(readings.iter().all(|r| *r == SimTime::ZERO || *r == SimTime::from_us(2_000)));
        assert!((of(0).true_mean_s() - 1e-3).abs() < 1e-12);
    }

    #[test]
    fn a_seed_repeats_and_jitter_stays_within_its_bounds() {
        let of = |seed| CallTimes::of(&step(), &run(1, 1_000, 0.02, true), seed);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        let t = of(3);
        assert!(t.at(0.0) >= 0.98e-3 && t.at(1.0) <= 1.02e-3 && (t.mean_s() / 1e-3 - 1.0).abs() < 1e-3);
    }
}
