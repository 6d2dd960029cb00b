//! The measurements of one run: every latency, inferences per second of the window, and the timers.

use serde::{Deserialize, Serialize};

use ns_base::{Order, Refusal, SimTime, refuse, stats};

use super::ends::{Ends, rate_of};
use super::timer::Timers;
use ns_device::CallParts;

/// The most inferences one run records: 800 MB of latencies.
pub const MAX_INFERENCES: u64 = 100_000_000;

/// Inferences that ended in one second of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondCount {
    /// The second since the window opened: `floor(end time)`.
    pub second: u64,
    /// Inferences that ended in it, never zero.
    pub count: u64,
}

/// The result of a run. Grows by 8 bytes with each inference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measurement {
    /// Whether every worker ran to its end.
    pub finished: bool,
    /// From start to the moment the window opened: the slowest copy's set-up, load and warm-up.
    pub bring_up: SimTime,
    /// Length of the measured window; for a stopped run, the part that passed.
    pub window: SimTime,
    /// From the opening of the window to the end of the last inference.
    pub elapsed: SimTime,
    /// Warm-up inferences of all copies.
    pub warmups: u64,
    /// Inferences that ended in the window; the others were in flight at its end.
    pub in_window: u64,
    /// Host work of all workers, divided by the cores of the host; only of a simulated run on a known instance.
    #[serde(default)]
    pub host_busy: Option<SimTime>,
    /// How long the busiest way between the host and devices was in use; only of a simulated run.
    #[serde(default)]
    pub path_busy: Option<SimTime>,
    /// The parts of a call by itself; unknown for a measured run and for one that was read from a file without them.
    #[serde(default)]
    pub parts: Option<CallParts>,
    /// NeuronPerf's timers.
    pub timers: Timers,
    seconds: Vec<SecondCount>,
    /// Ends of each worker; empty if they were not recorded.
    #[serde(default)]
    ends: Vec<Ends>,
    latencies_ps: Vec<u64>,
}

impl Measurement {
    pub(crate) fn new(window: SimTime, timers: Timers, expected: u64) -> Result<Self, Refusal> {
        let expected = expected.min(MAX_INFERENCES);
        let mut latencies_ps = Vec::new();
        let room = usize::try_from(expected).unwrap_or(usize::MAX);
        latencies_ps.try_reserve_exact(room).map_err(|_| {
            refuse!("no memory for the latencies of {expected} inferences (8 bytes each); shorten the duration")
        })?;
        Ok(Self {
            finished: false,
            bring_up: SimTime::ZERO,
            window,
            elapsed: SimTime::ZERO,
            warmups: 0,
            in_window: 0,
            host_busy: None,
            path_busy: None,
            parts: None,
            ends: vec![Ends::default(); timers.e2e.len()],
            timers,
            seconds: Vec::new(),
            latencies_ps,
        })
    }

    /// Adds an inference. End times must not decrease.
    #[inline]
    pub(crate) fn record(&mut self, end: SimTime, latency: SimTime) -> Result<(), Refusal> {
        let second = end.0 / SimTime::from_secs(1).0;
        if self.inferences() == MAX_INFERENCES {
            return Err(refuse!(
                "more than {MAX_INFERENCES} inferences would be recorded ({second} s into the run); shorten the duration"
            ));
        }
        self.latencies_ps.push(latency.0);
        self.elapsed = end;
        self.in_window += u64::from(end <= self.window);
        match self.seconds.last_mut() {
            Some(last) if last.second == second => last.count += 1,
            _ => self.seconds.push(SecondCount { second, count: 1 }),
        }
        Ok(())
    }

    /// Notes that an inference of a worker ended, which [`Self::record`] adds.
    #[inline]
    pub(crate) fn note_end(&mut self, worker: usize, end: SimTime) {
        if let Some(ends) = self.ends.get_mut(worker) {
            ends.add(end);
        }
    }

    /// Inferences a second of all workers, each between its first end and its last; `None` if that is not known.
    pub(crate) fn workers_rate(&self) -> Option<f64> {
        rate_of(&self.ends)
    }

    pub(crate) fn close(&mut self, now: SimTime, finished: bool) {
        self.finished = finished;
        if !finished {
            self.window = self.window.min(now);
        }
    }

    /// Makes the window end with the last inference, for a run that ends when its data does.
    pub(crate) fn window_is_elapsed(&mut self) {
        self.window = self.elapsed;
        self.in_window = self.inferences();
    }

    /// Inferences recorded, without warm-ups.
    pub fn inferences(&self) -> u64 {
        self.latencies_ps.len() as u64
    }

    /// Seconds in which an inference ended, in order; seconds without one are left out.
    pub fn seconds(&self) -> &[SecondCount] {
        &self.seconds
    }

    /// Latencies in picoseconds, in order of completion until [`Self::latency_percentiles_ms`] reorders them.
    pub fn latencies_ps(&self) -> &[u64] {
        &self.latencies_ps
    }

    /// Exact latency percentiles by numpy's linear rule, milliseconds, for percents in any order. Reorders the latencies
    /// in place instead of copying or sorting them, and works from the lowest percent up, so that one call for many is much
    /// cheaper than many calls. Returns `None` when no latency was measured.
    pub fn latency_percentiles_ms<const N: usize>(&mut self, percents: [f64; N]) -> Option<[f64; N]> {
        let mut out = [0.0; N];
        let mut settled = 0;
        let mut order: [usize; N] = std::array::from_fn(|i| i);
        order.order_by(|a, b| percents[*a].total_cmp(&percents[*b]));
        for at in order {
            let (value, percent) = (&mut out[at], percents[at]);
            let (low, high, fraction) = stats::percentile_ranks(self.latencies_ps.len(), percent)?;
            let a = select(&mut self.latencies_ps, &mut settled, low);
            let b = select(&mut self.latencies_ps, &mut settled, high);
            *value = stats::lerp(SimTime(a).to_ms_f64(), SimTime(b).to_ms_f64(), fraction);
        }
        Some(out)
    }
}

/// The value at this rank. Every value before `settled` is already no larger than every value after it.
fn select(values: &mut [u64], settled: &mut usize, rank: usize) -> u64 {
    if rank >= *settled {
        values[*settled..].select_nth_unstable(rank - *settled);
        *settled = rank + 1;
    }
    values[rank]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(latencies_ms: &[u64]) -> Measurement {
        let mut m = Measurement::new(SimTime::from_secs(2), Timers::new(1, 1), 0).unwrap();
        for (i, ms) in latencies_ms.iter().enumerate() {
            m.record(SimTime::from_secs(i as u64), SimTime::from_us(ms * 1_000)).unwrap();
        }
        m
    }

    #[test]
    fn percentiles_equal_those_of_the_sorted_values() {
        let values: Vec<u64> = (0..997).map(|i| i * 7_919 % 1_009).collect();
        let mut sorted: Vec<f64> = values.iter().map(|v| *v as f64).collect();
        sorted.sort_by(f64::total_cmp);
        let percents = [0.0, 50.0, 90.0, 95.0, 99.0, 100.0];
        let expected = percents.map(|p| stats::percentile_sorted(&sorted, p).unwrap());
        assert_eq!(measured(&values).latency_percentiles_ms(percents), Some(expected));
        assert_eq!(measured(&[4]).latency_percentiles_ms(percents), Some([4.0; 6]));
        assert_eq!(measured(&[]).latency_percentiles_ms(percents), None);
    }

    #[test]
    fn the_window_counts_its_end_and_seconds_skip_gaps() {
        let m = measured(&[1, 1, 1, 1]);
        assert_eq!((m.inferences(), m.in_window), (4, 3));
        let mut gap = measured(&[1]);
        gap.record(SimTime::from_secs(9), SimTime::from_secs(9)).unwrap();
        let seconds: Vec<_> = gap.seconds().iter().map(|s| (s.second, s.count)).collect();
        assert_eq!(seconds, [(0, 1), (9, 1)]);
    }
}
