//! Benchmarks as they are handed out: stage times that are computed once, measurements with a worker for each copy, scenarios.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::dispatch::{Dispatch, Next, WorkerSweep};
use super::lane::{Running, Worker};
use super::next_action::NextAction;
use super::on_processor::{CpuRow, MOST_COPIES, failed_copy};
use crate::RunState;
use crate::bench::{BenchAction, RowId, ScenarioRow};
use crate::replies::kind_of;
use ns_bench::cpu::{CpuTimers, side_by_side};
use ns_bench::mlperf::MlperfSettings;
use ns_bench::{
    BenchConfig, Benchmarks, Configuration, DeviceType, Processes, RowResult, ServiceTimes, SweepRow, SweepState,
};
use ns_session::{JobId, JobResult, Message, ResultPart};

/// What the configurations of a benchmark learn from each other.
#[derive(Debug, Default)]
pub struct BenchMemory {
    /// Stage times that a worker has computed, by [`Configuration::times_key`].
    times: BTreeMap<u64, ServiceTimes>,
    /// The configuration that is being measured.
    cpu: Option<CpuRow>,
}

impl WorkerSweep for Benchmarks {
    type Memory = BenchMemory;

    fn failed(_: &BenchConfig, configuration: &Configuration, message: String) -> RowResult {
        RowResult::failed(configuration, message)
    }

    fn is_measuring(memory: &BenchMemory) -> bool {
        memory.cpu.is_some()
    }

    fn says_doing(config: &BenchConfig) -> bool {
        config.mlperf.is_some()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Step<W> {
    /// Do nothing until a message arrives.
    Rest,
    /// Start a worker, then add or refuse it.
    Start {
        /// Whether it is the only worker: the one that all benchmarks share.
        is_only: bool,
    },
    /// Run a configuration.
    Run(Box<HandOut<W>>),
    /// Measure a configuration on this processor.
    Measure(Box<Measurement>),
    /// The run is over.
    End(RunState),
}

/// A configuration for a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct HandOut<W> {
    pub worker: W,
    /// The configuration's position in the sweep.
    pub row: u32,
    pub configuration: Configuration,
    /// Its stage times, if a worker has computed them.
    pub times: Option<ServiceTimes>,
    /// The scenario to run; `None` for NeuronPerf's closed loop.
    pub scenario: Option<MlperfSettings>,
}

/// A configuration to measure with a worker for each copy of its model.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Its position in the sweep.
    pub row: u32,
    pub configuration: Configuration,
}

impl Measurement {
    /// Number of workers that it needs.
    pub fn copies(&self) -> u32 {
        side_by_side(&self.configuration).0
    }

    /// Whether each worker has to be a new one.
    pub fn is_fresh(&self) -> bool {
        self.configuration.options.processes == Processes::Fresh
    }
}

impl<W: Worker> Dispatch<W, Benchmarks> {
    /// The next step, with at most `most_lanes` workers.
    pub fn next(&mut self, most_lanes: usize) -> Step<W> {
        let Some(sweep) = &self.sweep else { return Step::Rest };
        let (device_type, scenario) = (sweep.config.options.device_type, sweep.config.mlperf.clone());
        if device_type == DeviceType::Cpu {
            return self.next_measured();
        }
        // Stage times are computed once: other configurations with the same ones wait for them.
        let awaited = self.awaited_times();
        let may_begin = |c: &Configuration| !awaited.contains(&c.times_key());
        match self.next_of(most_lanes, may_begin) {
            Next::Begin(worker, row, configuration) => {
                let times = self.memory.times.get(&configuration.times_key()).cloned();
                Step::Run(Box::new(HandOut { worker, row, configuration, times, scenario }))
            }
            Next::Rest => Step::Rest,
            Next::Start { is_only } => Step::Start { is_only },
            Next::End(state) => Step::End(state),
        }
    }

    /// The next configuration to measure, unless one is being measured: a measurement must run alone.
    fn next_measured(&mut self) -> Step<W> {
        let is_free = self.memory.cpu.is_none();
        let next = self.sweep_mut().filter(|_| is_free).and_then(SweepState::begin_next);
        if let Some((row, configuration)) = next {
            return Step::Measure(Box::new(Measurement { row, configuration }));
        }
        let next: Next<W, ()> = self.rest();
        if let Next::End(state) = next { Step::End(state) } else { Step::Rest }
    }

    /// Notes that a configuration was sent to its worker as this request.
    pub fn note_request(&mut self, out: &HandOut<W>, job: JobId) {
        let works_out = (out.scenario.is_none() && out.times.is_none()).then(|| out.configuration.times_key());
        if let Some(lane) = self.lane_of(&out.worker) {
            lane.running = Some(Running { works_out, ..Running::new(out.row, job) });
        }
    }

    /// Makes room for the copies of a measurement. If they need new workers, the old ones are dropped. Fails if there are more
    /// copies than can be measured.
    pub fn make_room(&mut self, measurement: &Measurement) -> Result<(), String> {
        let copies = measurement.copies();
        if copies > MOST_COPIES {
            return Err(format!(
                "n_models {copies}: at most {MOST_COPIES} copies can be measured here, with one worker each"
            ));
        }
        self.lanes.retain(|l| l.worker.is_alive() && !measurement.is_fresh());
        Ok(())
    }

    /// Whether a measurement has a worker for each copy.
    pub fn has_room(&self, measurement: &Measurement) -> bool {
        self.lanes.len() >= measurement.copies() as usize
    }

    /// Starts a measurement, at a time in seconds since 1970; returns the worker of each copy.
    pub fn measure(&mut self, measurement: &Measurement, now_unix_s: u64) -> Vec<W> {
        self.memory.cpu = Some(CpuRow::new(measurement.row, measurement.configuration.clone(), now_unix_s));
        self.lanes.iter().take(measurement.copies() as usize).map(|l| l.worker.clone()).collect()
    }

    /// Takes a worker's message about a configuration that it runs.
    pub fn hear(&mut self, worker: &W, row: u32, configuration: &Configuration, message: Message) -> NextAction {
        let message = match self.hear_any(worker, row, configuration, message) {
            Ok(heard) => return heard,
            Err(message) => *message,
        };
        match message {
            Message::Part(ResultPart::Times { times, .. }) => {
                self.with_running(worker, row, |running| running.works_out = None);
                self.learn(configuration.times_key(), *times);
                NextAction::GoOn
            }
            Message::Done(JobResult::Mlperf(result)) => {
                self.free(worker, row);
                NextAction::Row(Box::new(RowResult::of_scenario(configuration, result)))
            }
            Message::Done(JobResult::Row { result, .. }) => {
                self.free(worker, row);
                NextAction::Row(result)
            }
            message => NextAction::Unexpected(kind_of(&message)),
        }
    }

    /// Takes a worker's message about a copy that it measures.
    pub fn hear_copy(&mut self, worker: &W, row: u32, copy: u32, message: Message) -> NextAction {
        match message {
            Message::Progress { done, total, .. } => self.share(worker, row, done, total),
            Message::Done(JobResult::CpuTimers { timers, .. }) => self.take_copy(worker, row, copy, *timers),
            Message::Failed(message) => self.take_copy(worker, row, copy, failed_copy(message)),
            Message::Cancelled => self.take_copy(worker, row, copy, failed_copy("stopped when asked".to_owned())),
            // A measurement can neither pause nor send notes.
            Message::Note(_) | Message::Paused => NextAction::Taken,
            message @ (Message::Part(_) | Message::Done(_) | Message::Answer(_) | Message::File(_)) => {
                NextAction::Unexpected(kind_of(&message))
            }
        }
    }

    /// Takes stage times that a worker has computed.
    pub fn learn(&mut self, key: u64, times: ServiceTimes) {
        self.memory.times.insert(key, times);
    }

    fn take_copy(&mut self, worker: &W, row: u32, copy: u32, mut timers: CpuTimers) -> NextAction {
        self.free(worker, row);
        // A measurement that was cut off did not last the requested duration.
        if self.is_cancelled && timers.error.is_none() {
            timers.error = Some("stopped when asked".to_owned());
        }
        let is_last = self.memory.cpu.as_mut().is_some_and(|cpu| cpu.row == row && cpu.take(copy, timers));
        match self.memory.cpu.take_if(|_| is_last) {
            Some(cpu) => NextAction::Measured(Box::new(cpu)),
            None => NextAction::Taken,
        }
    }

    /// The action that brings the rows since the last call to the page; `None` if there are none.
    pub fn news(&mut self) -> Option<BenchAction> {
        let ended = self.take_fresh();
        if ended.is_empty() {
            return None;
        }
        let has_scenario = self.sweep.as_ref().is_some_and(|sweep| sweep.config.mlperf.is_some());
        let results = ended.iter().filter_map(|(at, row)| Some((*at, row, row.result()?)));
        Some(if has_scenario {
            BenchAction::Scenario(results.map(|(at, row, result)| scenario_row(at, row, result)).collect())
        } else {
            BenchAction::Results(results.map(|(at, _, result)| (RowId::Own(at), Rc::clone(result))).collect())
        })
    }

    /// Keys of the stage times that workers are computing.
    fn awaited_times(&self) -> Vec<u64> {
        self.lanes.iter().filter_map(|l| l.running.as_ref()?.works_out).collect()
    }
}

/// The result of a scenario for a configuration of a sweep.
fn scenario_row(at: u32, row: &SweepRow, result: &RowResult) -> ScenarioRow {
    let failure = || result.report.error.clone().unwrap_or_default();
    let verdict = result.mlperf.as_deref().cloned().ok_or_else(failure);
    ScenarioRow { row: at, label: row.planned.configuration.label(), result: verdict }
}
