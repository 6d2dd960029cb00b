//! NeuronPerf's ten timers with every start and end, as `return_timers` gives them. Memory grows with inferences, so it is
//! recorded only on request; a report needs only the sums.

use ns_base::{Interval, SimTime};

use super::timer::Timers;
use crate::config::configuration::Configuration;
use crate::scheduler::executor::{SetupStep, Stage};
use crate::scheduler::observer::RunObserver;

/// The most inferences whose spans are kept: five spans of 16 bytes each, and about 150 bytes of text.
pub const MOST_TIMED_INFERENCES: u64 = 1_000_000;

/// A start and an end.
pub type Span = Interval<SimTime>;

/// Every span of every timer.
pub type TimerSpans = Timers<Vec<Span>>;

impl TimerSpans {
    /// The timers with NeuronPerf's names, in its order.
    pub fn named(&self) -> [(&'static str, &[Vec<Span>]); 10] {
        [
            ("env_setup", &self.env_setup),
            ("setup", &self.setup),
            ("load", &self.load),
            ("input", &self.input),
            ("warmup", &self.warmup),
            ("preprocess", &self.preprocess),
            ("infer", &self.infer),
            ("postprocess", &self.postprocess),
            ("e2e", &self.e2e),
            ("worker", &self.worker),
        ]
    }
}

/// The stages that a worker's current inference has passed.
#[derive(Clone, Copy, Default)]
struct Current {
    input_end: Option<SimTime>,
    preprocess: Option<Span>,
    infer_end: Option<SimTime>,
    postprocess: Option<Span>,
}

/// Records every span of a run.
pub struct SpanRecorder {
    spans: TimerSpans,
    workers_per_model: usize,
    current: Vec<Current>,
    opened: SimTime,
    inferences: u64,
}

impl SpanRecorder {
    /// A recorder for a run of this configuration.
    pub fn new(configuration: &Configuration) -> Self {
        let workers = usize::try_from(configuration.workers()).unwrap_or(0);
        Self {
            spans: TimerSpans::new(configuration.n_models as usize, workers),
            workers_per_model: configuration.workers_per_model.max(1) as usize,
            current: vec![Current::default(); workers],
            opened: SimTime::ZERO,
            inferences: 0,
        }
    }

    /// Every span. Times count from a moment chosen so that the measured window opens at a whole second. So the seconds
    /// in which inferences are counted are those of the run's own report. `None` when the run had more than
    /// [`MOST_TIMED_INFERENCES`].
    pub fn into_spans(mut self) -> Option<TimerSpans> {
        if self.inferences > MOST_TIMED_INFERENCES {
            return None;
        }
        for (worker, spans) in self.spans.e2e.iter().enumerate() {
            // A worker stops with its last inference.
            let end = spans.last().map_or(SimTime::ZERO, |s| s.end);
            self.spans.worker[worker].push(Interval::new(SimTime::ZERO, end));
        }
        let second = SimTime::from_secs(1).0;
        let opens_at = SimTime(self.opened.0.div_ceil(second) * second);
        let begun_at = opens_at - self.opened;
        let s = &mut self.spans;
        for (lists, by) in [
            (&mut s.env_setup, begun_at),
            (&mut s.setup, begun_at),
            (&mut s.load, begun_at),
            (&mut s.warmup, begun_at),
            (&mut s.input, opens_at),
            (&mut s.preprocess, opens_at),
            (&mut s.infer, opens_at),
            (&mut s.postprocess, opens_at),
            (&mut s.e2e, opens_at),
            (&mut s.worker, opens_at),
        ] {
            lists.iter_mut().flatten().for_each(|span| *span = Interval::new(span.start + by, span.end + by));
        }
        Some(self.spans)
    }
}

impl RunObserver for SpanRecorder {
    fn setup(&mut self, model: u32, step: SetupStep, span: Span) {
        let lists = match step {
            SetupStep::EnvSetup => &mut self.spans.env_setup,
            SetupStep::Load => &mut self.spans.load,
            SetupStep::Setup => &mut self.spans.setup,
            SetupStep::Warmup => &mut self.spans.warmup,
        };
        if let Some(list) = lists.get_mut(model as usize) {
            list.push(span);
        }
    }

    fn window_opens(&mut self, after: SimTime) {
        self.opened = after;
    }

    fn stage(&mut self, worker: u32, stage: Stage, span: Span) {
        let Some(current) = self.current.get_mut(worker as usize) else { return };
        match stage {
            Stage::Input => current.input_end = Some(span.end),
            Stage::Preprocess => current.preprocess = Some(span),
            Stage::Postprocess => current.postprocess = Some(span),
            _ => current.infer_end = Some(span.end),
        }
    }

    fn inference(&mut self, worker: u32, span: Span) {
        self.inferences += 1;
        let at = worker as usize;
        let Some(current) = self.current.get_mut(at).map(std::mem::take) else { return };
        if self.inferences > MOST_TIMED_INFERENCES {
            return;
        }
        // A stage of zero length is not reported: it lies where the previous stage ended.
        let fetched = current.input_end.unwrap_or(span.start);
        let preprocess = current.preprocess.unwrap_or(Interval::new(fetched, fetched));
        let called = preprocess.end;
        let answered = current.infer_end.unwrap_or(called);
        let postprocess = current.postprocess.unwrap_or(Interval::new(answered, answered));
        self.spans.input[at / self.workers_per_model].push(Interval::new(span.start, fetched));
        self.spans.preprocess[at].push(preprocess);
        self.spans.infer[at].push(Interval::new(called, answered));
        self.spans.postprocess[at].push(postprocess);
        self.spans.e2e[at].push(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchConfig, ConfigurationRun, Processes, RunDetail, RunOptions, ServiceTimes, Timer, expand};

    /// The spans of a run and the sums that it kept itself.
    fn both(processes: Processes, times: &ServiceTimes) -> (TimerSpans, crate::Timers) {
        let config = BenchConfig {
            duration_s: 0.2,
            n_models: Some(vec![2]),
            workers_per_model: Some(vec![2]),
            warmup_inferences: 3,
            options: RunOptions { processes, ..RunOptions::default() },
            ..BenchConfig::default()
        };
        let configuration = expand(&config).unwrap().configurations.remove(0);
        let recorder = SpanRecorder::new(&configuration);
        let mut run = ConfigurationRun::observed(configuration, Ok(times), recorder);
        while !run.step(1_000).done {}
        let (row, recorder) = run.finish(RunDetail { timers: true, ..RunDetail::default() });
        (recorder.unwrap().into_spans().unwrap(), row.measurement.unwrap().timers)
    }

    #[test]
    fn the_spans_of_every_timer_add_up_to_its_sum() {
        let us = SimTime::from_us;
        let full = ServiceTimes {
            env_setup: us(50),
            load: us(7_000),
            setup: us(20),
            warmup: us(900),
            input: us(30),
            preprocess: us(80),
            call: us(15),
            host: us(40),
            transfer: us(25),
            device: vec![us(700)],
            postprocess: us(60),
            ..ServiceTimes::default()
        };
        let bare = ServiceTimes { device: vec![us(700)], ..ServiceTimes::default() };
        for (processes, times) in
            [(Processes::PerModel, &full), (Processes::Shared, &full), (Processes::PerModel, &bare)]
        {
            let (spans, timers) = both(processes, times);
            let sums = [
                &timers.env_setup,
                &timers.setup,
                &timers.load,
                &timers.input,
                &timers.warmup,
                &timers.preprocess,
                &timers.infer,
                &timers.postprocess,
                &timers.e2e,
                &timers.worker,
            ];
            for ((name, lists), sums) in spans.named().into_iter().zip(sums) {
                let of = |spans: &Vec<Span>| {
                    let mut timer = Timer::default();
                    spans.iter().for_each(|s| timer.add(s.end - s.start));
                    timer
                };
                assert_eq!(lists.iter().map(of).collect::<Vec<_>>(), **sums, "{name}, {processes:?}");
            }
        }
    }

    #[test]
    fn the_window_opens_at_a_whole_second() {
        let times = ServiceTimes {
            load: SimTime::from_us(1_200_000),
            device: vec![SimTime::from_us(500)],
            ..ServiceTimes::default()
        };
        let (spans, _) = both(Processes::PerModel, &times);
        let begin = spans.worker.iter().flatten().map(|s| s.start).min().unwrap();
        assert_eq!(begin, SimTime::from_secs(2));
        assert!(spans.warmup.iter().flatten().all(|s| s.end <= begin), "{:?}", spans.warmup);
    }
}
