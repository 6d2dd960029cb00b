//! Records a benchmark run, up to a given time in the measured window.

use ns_base::{Interval, SimTime};
use ns_bench::{RunObserver, SetupStep, Stage};

/// Limit on the recorded inferences: a timeline of this many has some hundred thousand slices.
pub const MOST_TRACED_INFERENCES: usize = 20_000;

/// One inference that begins in the recorded part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TracedInference {
    /// Worker, over all copies.
    pub worker: u32,
    /// From its request to its end, since the window opened.
    pub time: Interval<SimTime>,
    /// Its stages in order: positions in the list of all stages.
    pub stages: std::ops::Range<usize>,
}

/// The recording of a run: all of bringing up, and the inferences that begin in the first part of the window.
#[derive(Clone, Debug, Default)]
pub struct BenchRecorder {
    /// Inferences that begin before this time are recorded.
    pub(super) until: SimTime,
    pub(super) setup: Vec<(u32, SetupStep, Interval<SimTime>)>,
    pub(super) bring_up: SimTime,
    pub(super) inferences: Vec<TracedInference>,
    pub(super) stages: Vec<(Stage, Interval<SimTime>)>,
    left_out: u64,
    /// Stages so far of the current inference of each worker.
    current: Vec<Vec<(Stage, Interval<SimTime>)>>,
}

impl BenchRecorder {
    /// Records the inferences that begin in the first `part` of the window, at most [`MOST_TRACED_INFERENCES`].
    pub fn new(part: SimTime) -> Self {
        Self { until: part, ..Self::default() }
    }

    /// The time in the window up to which every inference was recorded.
    pub fn until(&self) -> SimTime {
        self.until
    }

    /// Inferences that were not recorded.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

impl RunObserver for BenchRecorder {
    fn setup(&mut self, model: u32, step: SetupStep, span: Interval<SimTime>) {
        self.setup.push((model, step, span));
    }

    fn window_opens(&mut self, after: SimTime) {
        self.bring_up = after;
    }

    fn stage(&mut self, worker: u32, stage: Stage, span: Interval<SimTime>) {
        let at = worker as usize;
        if self.current.len() <= at {
            self.current.resize_with(at + 1, Vec::new);
        }
        self.current[at].push((stage, span));
    }

    fn inference(&mut self, worker: u32, span: Interval<SimTime>) {
        let Some(own) = self.current.get_mut(worker as usize) else { return };
        if span.start < self.until && self.inferences.len() == MOST_TRACED_INFERENCES {
            // From here on some inferences are missing.
            self.until = span.start;
        }
        if span.start < self.until {
            let first = self.stages.len();
            self.stages.append(own);
            self.inferences.push(TracedInference { worker, time: span, stages: first..self.stages.len() });
        } else {
            self.left_out += 1;
        }
        own.clear();
    }
}
