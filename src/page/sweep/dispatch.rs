//! Hands configurations to workers.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::lane::{Lane, Running, Worker};
use super::measured::{CpuRow, MOST_COPIES};
use crate::RunState;
use ns_bench::cpu::side_by_side;
use ns_bench::mlperf::MlperfSettings;
use ns_bench::{Configuration, DeviceType, Processes, RowResult, ServiceTimes, SweepState};
use ns_session::JobId;

/// The workers of a sweep and the configuration that each runs.
#[derive(Debug)]
pub struct Dispatch<W> {
    /// The sweep that ran last, or runs.
    pub(super) sweep: Option<Rc<SweepState>>,
    pub(super) lanes: Vec<Lane<W>>,
    /// Stage times that a worker has computed, by [`Configuration::times_key`].
    pub(super) times: BTreeMap<u64, ServiceTimes>,
    /// The configuration that is being measured.
    pub(super) cpu: Option<CpuRow>,
    /// Rows whose results are not shown yet.
    pub(super) fresh: BTreeSet<u32>,
    /// Progress text of a scenario.
    pub(super) doing: String,
    pub(super) is_running: bool,
    pub(super) is_cancelled: bool,
    pub(super) started_ms: f64,
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
    #[must_use]
    pub fn copies(&self) -> u32 {
        side_by_side(&self.configuration).0
    }

    /// Whether each worker has to be a new one.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.configuration.options.processes == Processes::Fresh
    }
}

impl<W> Default for Dispatch<W> {
    fn default() -> Self {
        Self {
            sweep: None,
            lanes: Vec::new(),
            times: BTreeMap::new(),
            cpu: None,
            fresh: BTreeSet::new(),
            doing: String::new(),
            is_running: false,
            is_cancelled: false,
            started_ms: 0.0,
        }
    }
}

impl<W: Worker> Dispatch<W> {
    /// Whether a sweep runs.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.is_running
    }

    /// Whether the last sweep ended without being cancelled.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !self.is_cancelled && self.sweep.as_ref().is_some_and(|s| s.is_done())
    }

    /// The sweep that ran last, or runs.
    #[must_use]
    pub const fn sweep(&self) -> Option<&Rc<SweepState>> {
        self.sweep.as_ref()
    }

    /// The sweep, to change it: views keep it as it was.
    pub(super) fn sweep_mut(&mut self) -> Option<&mut SweepState> {
        self.sweep.as_mut().map(Rc::make_mut)
    }

    /// Starts to hand out a sweep, at a time in milliseconds.
    pub fn start(&mut self, sweep: Rc<SweepState>, now_ms: f64) {
        self.sweep = Some(sweep);
        (self.is_running, self.is_cancelled, self.started_ms) = (true, false, now_ms);
    }

    /// The next step, with at most `most_lanes` workers.
    pub fn next(&mut self, most_lanes: usize) -> Step<W> {
        let Some(sweep) = &self.sweep else { return Step::Rest };
        let (device_type, scenario) = (sweep.config.options.device_type, sweep.config.mlperf.clone());
        let waiting = if sweep.is_paused() { 0 } else { sweep.progress().waiting };
        if waiting == 0 {
            return self.rest();
        }
        if device_type == DeviceType::Cpu {
            return self.next_measured();
        }
        self.lanes.retain(|l| l.running.is_some() || l.worker.is_alive());
        let Some(worker) = self.lanes.iter().find(|l| l.is_free()).map(|l| l.worker.clone()) else {
            let busy = self.lanes.len();
            return if busy < most_lanes { Step::Start { is_only: busy == 0 } } else { self.rest() };
        };
        // Stage times are computed once: other configurations with the same ones wait for them.
        let awaited = self.awaited_times();
        let may_begin = |c: &Configuration| !awaited.contains(&c.times_key());
        let next = self.sweep_mut().and_then(|sweep| sweep.begin_next_of(may_begin));
        let Some((row, configuration)) = next else { return self.rest() };
        let times = self.times.get(&configuration.times_key()).cloned();
        Step::Run(Box::new(HandOut { worker, row, configuration, times, scenario }))
    }

    /// The next configuration to measure, unless one is being measured: a measurement must run alone.
    fn next_measured(&mut self) -> Step<W> {
        let is_free = self.cpu.is_none();
        let next = self.sweep_mut().filter(|_| is_free).and_then(SweepState::begin_next);
        next.map_or_else(
            || self.rest(),
            |(row, configuration)| Step::Measure(Box::new(Measurement { row, configuration })),
        )
    }

    /// Waits, or ends the run if all configurations are done.
    fn rest(&self) -> Step<W> {
        let is_idle = self.lanes.iter().all(|l| l.running.is_none());
        let is_done = self.sweep.as_ref().is_some_and(|sweep| sweep.is_done());
        if !(is_idle && is_done && self.is_running) {
            return Step::Rest;
        }
        Step::End(if self.is_cancelled { RunState::Cancelled } else { RunState::Done })
    }

    /// Adds a worker that was started.
    pub fn add(&mut self, worker: W) {
        self.lanes.push(Lane { worker, running: None });
    }

    /// Called when no worker could be started: the existing ones continue alone; without any the run has failed.
    pub fn refuse(&mut self, message: String) -> Step<W> {
        if !self.lanes.is_empty() {
            return self.rest();
        }
        if let Some(sweep) = self.sweep_mut() {
            sweep.cancel();
        }
        Step::End(RunState::Failed(message))
    }

    /// Notes that a configuration was sent to its worker as this request.
    pub fn sent(&mut self, out: &HandOut<W>, job: JobId) {
        let works_out = (out.scenario.is_none() && out.times.is_none()).then(|| out.configuration.times_key());
        if let Some(lane) = self.lane_of(&out.worker) {
            lane.running = Some(Running { works_out, ..Running::new(out.row, job) });
        }
    }

    /// Makes room for the copies of a measurement. If they need new workers, the old ones are dropped.
    ///
    /// # Errors
    /// If there are more copies than can be measured.
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
    #[must_use]
    pub fn has_room(&self, measurement: &Measurement) -> bool {
        self.lanes.len() >= measurement.copies() as usize
    }

    /// Whether there is no worker.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Starts a measurement, at a time in seconds since 1970; returns the worker of each copy.
    pub fn measure(&mut self, measurement: &Measurement, now_unix_s: u64) -> Vec<W> {
        self.cpu = Some(CpuRow::new(measurement.row, measurement.configuration.clone(), now_unix_s));
        self.lanes.iter().take(measurement.copies() as usize).map(|l| l.worker.clone()).collect()
    }

    /// Notes that a copy of a measurement was sent to its worker as this request.
    pub fn sent_copy(&mut self, worker: &W, row: u32, job: JobId) {
        if let Some(lane) = self.lane_of(worker) {
            lane.running = Some(Running::new(row, job));
        }
    }

    /// Takes the result of a configuration; [`Self::next`] returns the step that follows.
    pub fn finish(&mut self, row: u32, result: RowResult) {
        if let Some(sweep) = self.sweep_mut() {
            sweep.finish(row, result);
            self.fresh.insert(row);
        }
    }

    /// Shows the results that a sweep has from an earlier visit, once it starts.
    pub fn recall(&mut self, sweep: &SweepState) {
        self.fresh = (0..).zip(sweep.rows()).filter(|(_, row)| row.result().is_some()).map(|(row, _)| row).collect();
    }

    /// Drops a note that the user has read.
    pub fn dismiss(&mut self, message: &str) {
        if let Some(sweep) = self.sweep_mut() {
            sweep.dismiss(message);
        }
    }

    /// The sweep with its failed and cancelled rows waiting again, to be started; `None` if there are none.
    pub fn retry_failed(&mut self) -> Option<Rc<SweepState>> {
        let count = self.sweep_mut()?.retry_failed();
        self.sweep.clone().filter(|_| count > 0)
    }

    /// Notes that the run is over.
    pub const fn end(&mut self) {
        self.is_running = false;
    }

    /// Pauses or resumes the sweep; returns the requests to notify.
    pub fn set_paused(&mut self, is_paused: bool) -> Vec<(W, JobId)> {
        let Some(sweep) = self.sweep_mut() else { return Vec::new() };
        if is_paused {
            sweep.pause();
        } else {
            sweep.resume();
        }
        self.lanes.iter_mut().filter_map(|l| l.running.as_mut()).for_each(|r| r.is_resting = false);
        // A measurement continues: its clock cannot be paused.
        if self.cpu.is_some() { Vec::new() } else { self.requests() }
    }

    /// Cancels the waiting and the running rows; returns the requests to stop. Finished rows stay.
    pub fn cancel(&mut self) -> Vec<(W, JobId)> {
        self.is_cancelled = true;
        let Some(sweep) = self.sweep_mut() else { return Vec::new() };
        sweep.cancel();
        self.requests()
    }

    fn requests(&self) -> Vec<(W, JobId)> {
        self.lanes.iter().filter_map(|l| l.running.map(|r| (l.worker.clone(), r.job))).collect()
    }

    /// Keys of the stage times that workers are computing.
    fn awaited_times(&self) -> Vec<u64> {
        self.lanes.iter().filter_map(|l| l.running.as_ref()?.works_out).collect()
    }

    pub(super) fn lane_of(&mut self, worker: &W) -> Option<&mut Lane<W>> {
        self.lanes.iter_mut().find(|l| l.worker == *worker)
    }
}
