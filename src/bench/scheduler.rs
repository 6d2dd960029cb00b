//! The discrete-event run of one configuration.
//!
//! Workers of every model copy run in a closed loop: fetch an input (the workers of a model take turns), preprocess,
//! host work on the instance's one shared resource, take the model's NeuronCore, transfer on the same shared resource
//! while holding the core, compute, release, go through the remaining pipeline stages (each with its own core; a
//! worker leaves a core before it queues for the next), postprocess, record. Every queue is first come first served
//! and events of one instant happen in the order they were scheduled, so a run is a function of its stage times.
//!
//! The clock starts at the measured window: all copies are brought up side by side before it, and it opens when the
//! last one is warm. At its end no worker begins another inference; those in flight are finished and counted in the
//! latencies, the totals and the per-second counts, as NeuronPerf joins its workers and keeps what they did.
//!
//! Three options change that. In one shared process (`multiprocess=False`) fetching an input, preprocessing and
//! postprocessing take turns over all copies. A dataset that is not looped ends a copy's work when the copy has been
//! through it, whatever the duration. With the original accounting, bringing up takes from the duration.

use crate::base::stats::round_to;
use crate::base::{Interval, SimTime};

use super::configuration::Configuration;
use super::executor::{Executor, SetupStep, Stage};
use super::measurement::Measurement;
use super::observer::{RunObserver, Unobserved};
use super::options::Accounting;
use super::queue::{EventQueue, MAX_WORKERS, Resources};
use super::run_error::RunError;
use super::source::{Ended, Next, Source};
use super::timer::Timers;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Whether every worker has stopped.
    pub done: bool,
    /// Simulated time since the window opened.
    pub now: SimTime,
    /// Share of the window that has passed, 0 to 100; 100 only when done.
    pub percent: f64,
    /// Inferences recorded so far.
    pub inferences: u64,
}

/// What a worker's pending event ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The wait for a query that is known to come.
    Arrival,
    Input,
    Preprocess,
    Call,
    Host,
    Transfer,
    Device(u32),
    Postprocess,
}

struct Worker {
    model: u32,
    phase: Phase,
    /// Time of the stage it waits to begin, drawn when it asked.
    pending: u64,
    /// When its phase was served.
    since: u64,
    begun: u64,
    called: u64,
}

/// Checks that workers and cores can be numbered, before anything is made for each of them.
///
/// # Errors
/// When there are none or too many.
pub(super) fn check_size(configuration: &Configuration) -> Result<(), RunError> {
    let workers = configuration.workers();
    if workers == 0 || workers > MAX_WORKERS {
        let Configuration { n_models, workers_per_model, .. } = *configuration;
        return Err(RunError::Workers { n_models, workers_per_model, workers, max: MAX_WORKERS });
    }
    if configuration.n_devices() > MAX_WORKERS {
        return Err(RunError::Cores { cores: configuration.n_devices(), max: MAX_WORKERS });
    }
    Ok(())
}

/// All workers, the first of each copy before the second of any: what waits first is served first, and one copy is not
/// to get two of eight samples while another has none.
fn in_turns(configuration: &Configuration) -> impl Iterator<Item = u32> + use<> {
    let (models, each) = (configuration.n_models, configuration.workers_per_model);
    (0..each).flat_map(move |w| (0..models).map(move |m| m * each + w))
}

impl Phase {
    /// The stage of an inference; none for the wait before one.
    fn stage(self) -> Option<Stage> {
        match self {
            Self::Arrival => None,
            Self::Input => Some(Stage::Input),
            Self::Preprocess => Some(Stage::Preprocess),
            Self::Call => Some(Stage::Call),
            Self::Host => Some(Stage::Host),
            Self::Transfer => Some(Stage::Transfer),
            Self::Device(stage) => Some(Stage::Device(stage)),
            Self::Postprocess => Some(Stage::Postprocess),
        }
    }
}

/// Runs one configuration on an [`Executor`], in steps, and tells a [`RunObserver`] of them.
pub struct Scheduler<E, O = Unobserved> {
    executor: E,
    observer: O,
    pipeline_size: u32,
    source: Source,
    now: u64,
    shared_process: bool,
    /// Workers that wait for a query.
    idle: Vec<u32>,
    events: EventQueue,
    resources: Resources,
    workers: Vec<Worker>,
    running: usize,
    measurement: Measurement,
}

/// The shared host resource.
const HOST: usize = 0;
/// The interpreter that all copies share when they are in one process.
const INTERPRETER: usize = 1;
/// Input locks and NeuronCores follow.
const FIRST_LOCK: usize = 2;

impl<E: Executor> Scheduler<E> {
    /// Brings up every model copy and lets all workers begin. `expected` inferences are given memory at once; more
    /// are possible.
    ///
    /// # Errors
    /// When there are too many workers, no memory for what is expected, or no time left to measure.
    pub fn new(configuration: &Configuration, executor: E, expected: u64) -> Result<Self, RunError> {
        Self::observed(configuration, executor, expected, Unobserved)
    }

    /// As [`Self::new`], with inferences from elsewhere.
    pub(super) fn with_source(
        configuration: &Configuration,
        executor: E,
        expected: u64,
        source: Source,
    ) -> Result<Self, RunError> {
        Self::start(configuration, executor, expected, source, Unobserved)
    }
}

impl<E: Executor, O: RunObserver> Scheduler<E, O> {
    /// As [`Scheduler::new`], with a listener.
    ///
    /// # Errors
    /// As [`Scheduler::new`].
    pub fn observed(configuration: &Configuration, executor: E, expected: u64, observer: O) -> Result<Self, RunError> {
        let source = match configuration.options.dataset.filter(|d| !d.looped) {
            Some(d) => Source::Dataset { left: vec![d.length; configuration.n_models as usize].into() },
            None => Source::Window { end: configuration.duration().0 },
        };
        Self::start(configuration, executor, expected, source, observer)
    }

    fn start(
        configuration: &Configuration,
        executor: E,
        expected: u64,
        source: Source,
        observer: O,
    ) -> Result<Self, RunError> {
        check_size(configuration)?;
        // Both fit after the check: at most 2^20 workers and as many cores, and no more models than workers.
        let (models, workers) = (configuration.n_models, configuration.workers() as usize);
        let pipeline_size = configuration.pipeline_size.max(1);
        let resources = FIRST_LOCK + models as usize * (1 + pipeline_size as usize);
        let mut scheduler = Self {
            executor,
            observer,
            pipeline_size,
            source,
            now: 0,
            shared_process: !configuration.options.is_multiprocess(),
            idle: Vec::with_capacity(workers),
            events: EventQueue::new(workers),
            resources: Resources::new(resources, workers),
            workers: (0..models)
                .flat_map(|model| (0..configuration.workers_per_model).map(move |_| model))
                .map(|model| Worker { model, phase: Phase::Input, pending: 0, since: 0, begun: 0, called: 0 })
                .collect(),
            running: workers,
            measurement: Measurement::new(configuration.duration(), Timers::new(models as usize, workers), expected)?,
        };
        scheduler.bring_up(configuration);
        if configuration.options.accounting == Accounting::Original {
            scheduler.take_bring_up_from_window(configuration)?;
        }
        let order: Vec<u32> = match &scheduler.source {
            Source::Window { .. } | Source::Dataset { .. } => (0..scheduler.workers.len() as u32).collect(),
            _ => in_turns(configuration).collect(),
        };
        for worker in order {
            scheduler.begin_inference(worker);
        }
        Ok(scheduler)
    }

    /// Handles up to `budget` events.
    ///
    /// # Errors
    /// When the run can not go on; what was recorded is lost.
    pub fn step(&mut self, budget: u64) -> Result<Progress, RunError> {
        for _ in 0..budget {
            let Some((time, worker)) = self.events.pop() else { break };
            self.now = time;
            self.end_of_phase(worker)?;
        }
        Ok(self.progress())
    }

    /// Runs until every worker has stopped.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn run_to_end(&mut self) -> Result<Progress, RunError> {
        self.step(u64::MAX)
    }

    /// How far the run is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let done = self.running == 0;
        let share = self.source.share(self.now, self.measurement.inferences());
        let percent = if done { 100.0 } else { (share * 100.0).min(99.9) };
        Progress { done, now: SimTime(self.now), percent, inferences: self.measurement.inferences() }
    }

    /// What was measured; of a run that is not done, what was recorded so far, marked as not finished.
    #[must_use]
    pub fn into_measurement(self) -> Measurement {
        self.into_parts().0
    }

    /// What was measured, as [`Self::into_measurement`], and the listener.
    #[must_use]
    pub fn into_parts(mut self) -> (Measurement, O) {
        let now = SimTime(self.now);
        self.measurement.close(now, self.running == 0);
        if self.source.ends_with_data() {
            self.measurement.window_is_elapsed();
        }
        (self.measurement, self.observer)
    }

    fn bring_up(&mut self, configuration: &Configuration) {
        for model in 0..configuration.n_models {
            let timers = &mut self.measurement.timers;
            let mut ready = SimTime::ZERO;
            for (step, timers) in [
                (SetupStep::EnvSetup, &mut timers.env_setup),
                (SetupStep::Load, &mut timers.load),
                (SetupStep::Setup, &mut timers.setup),
            ] {
                let time = self.executor.setup_time(model, step);
                timers[model as usize].add(time);
                self.observer.setup(model, step, Interval::new(ready, ready + time));
                ready += time;
            }
            for _ in 0..configuration.warmup_inferences {
                let time = self.executor.setup_time(model, SetupStep::Warmup);
                timers.warmup[model as usize].add(time);
                self.observer.setup(model, SetupStep::Warmup, Interval::new(ready, ready + time));
                ready += time;
            }
            self.measurement.warmups += u64::from(configuration.warmup_inferences);
            self.measurement.bring_up = self.measurement.bring_up.max(ready);
        }
        self.observer.window_opens(self.measurement.bring_up);
    }

    /// NeuronPerf's clock starts before the copies are set up.
    fn take_bring_up_from_window(&mut self, configuration: &Configuration) -> Result<(), RunError> {
        let Source::Window { end } = &mut self.source else { return Ok(()) };
        let bring_up = self.measurement.bring_up;
        *end = end.saturating_sub(bring_up.0);
        self.measurement.window = SimTime(*end);
        if *end > 0 {
            return Ok(());
        }
        let bring_up_s = round_to(bring_up.to_secs_f64(), 3).to_string();
        Err(RunError::TooShort { duration_s: configuration.duration_s.to_string(), bring_up_s })
    }

    fn tell_stage(&mut self, worker: u32) {
        let w = &self.workers[worker as usize];
        if let Some(stage) = w.phase.stage() {
            self.observer.stage(worker, stage, Interval::new(SimTime(w.since), SimTime(self.now)));
        }
    }

    fn end_of_phase(&mut self, worker: u32) -> Result<(), RunError> {
        if O::LISTENS {
            self.tell_stage(worker);
        }
        match self.workers[worker as usize].phase {
            Phase::Arrival => self.fetch_input(worker),
            Phase::Input => {
                self.release(self.input_resource(worker));
                self.preprocess(worker);
            }
            Phase::Preprocess => {
                self.leave_interpreter();
                self.call(worker);
            }
            Phase::Call => self.host(worker),
            Phase::Host => {
                self.release(HOST);
                self.take_core(worker, 0);
            }
            Phase::Transfer => {
                self.release(HOST);
                self.compute(worker, 0);
            }
            Phase::Device(stage) => {
                self.release_core(worker, stage);
                if stage + 1 < self.pipeline_size {
                    self.take_core(worker, stage + 1);
                } else {
                    return self.postprocess(worker);
                }
            }
            Phase::Postprocess => {
                self.leave_interpreter();
                return self.record(worker);
            }
        }
        Ok(())
    }

    /// The next inference, a wait for one, or the end of the worker when nothing more comes.
    fn begin_inference(&mut self, worker: u32) {
        let model = self.workers[worker as usize].model;
        match self.source.next(self.now, model) {
            Next::Begin(asked) => {
                self.workers[worker as usize].begun = asked;
                self.fetch_input(worker);
            }
            Next::At(asked) => {
                self.workers[worker as usize].begun = asked;
                self.begin(worker, Phase::Arrival, asked - self.now);
            }
            Next::Wait => self.idle.push(worker),
            Next::Stop => {
                self.running -= 1;
                self.measurement.timers.worker[worker as usize].add(SimTime(self.now));
            }
        }
    }

    fn fetch_input(&mut self, worker: u32) {
        let time = self.executor.stage_time(worker, Stage::Input);
        if time == SimTime::ZERO {
            self.preprocess(worker);
        } else {
            self.serve(self.input_resource(worker), worker, Phase::Input, time);
        }
    }

    fn preprocess(&mut self, worker: u32) {
        let w = &self.workers[worker as usize];
        self.measurement.timers.input[w.model as usize].add(SimTime(self.now - w.begun));
        let time = self.executor.stage_time(worker, Stage::Preprocess);
        self.measurement.timers.preprocess[worker as usize].add(time);
        if time == SimTime::ZERO {
            self.call(worker);
        } else {
            self.interpret(worker, Phase::Preprocess, time);
        }
    }

    fn call(&mut self, worker: u32) {
        self.workers[worker as usize].called = self.now;
        let time = self.executor.stage_time(worker, Stage::Call);
        if time == SimTime::ZERO {
            self.host(worker);
        } else {
            self.begin(worker, Phase::Call, time.0);
        }
    }

    fn host(&mut self, worker: u32) {
        let time = self.executor.stage_time(worker, Stage::Host);
        if time == SimTime::ZERO {
            self.take_core(worker, 0);
        } else {
            self.serve(HOST, worker, Phase::Host, time);
        }
    }

    fn take_core(&mut self, worker: u32, stage: u32) {
        self.workers[worker as usize].phase = Phase::Device(stage);
        if self.resources.acquire(self.core(worker, stage), worker) {
            self.on_core(worker, stage);
        }
    }

    fn release_core(&mut self, worker: u32, stage: u32) {
        if let Some(next) = self.resources.release(self.core(worker, stage)) {
            self.on_core(next, stage);
        }
    }

    fn on_core(&mut self, worker: u32, stage: u32) {
        if stage == 0 {
            let time = self.executor.stage_time(worker, Stage::Transfer);
            if time != SimTime::ZERO {
                return self.serve(HOST, worker, Phase::Transfer, time);
            }
        }
        self.compute(worker, stage);
    }

    /// Always an event, also for a stage of no length: it bounds how deep one event can reach into the next.
    fn compute(&mut self, worker: u32, stage: u32) {
        let time = self.executor.stage_time(worker, Stage::Device(stage));
        self.begin(worker, Phase::Device(stage), time.0);
    }

    fn postprocess(&mut self, worker: u32) -> Result<(), RunError> {
        let time = self.executor.stage_time(worker, Stage::Postprocess);
        let called = self.workers[worker as usize].called;
        self.measurement.timers.infer[worker as usize].add(SimTime(self.now - called));
        self.measurement.timers.postprocess[worker as usize].add(time);
        if time == SimTime::ZERO {
            return self.record(worker);
        }
        self.interpret(worker, Phase::Postprocess, time);
        Ok(())
    }

    fn record(&mut self, worker: u32) -> Result<(), RunError> {
        let latency = SimTime(self.now - self.workers[worker as usize].begun);
        if latency == SimTime::ZERO {
            return Err(RunError::ZeroLatency { worker });
        }
        self.measurement.timers.e2e[worker as usize].add(latency);
        if O::LISTENS {
            let begun = SimTime(self.workers[worker as usize].begun);
            self.observer.inference(worker, Interval::new(begun, SimTime(self.now)));
        }
        match self.source.ended(self.now) {
            Ended::Inference => self.measurement.record(SimTime(self.now), latency)?,
            Ended::Part => {}
            Ended::Query(asked) => {
                self.measurement.record(SimTime(self.now), SimTime(self.now - asked))?;
                for waiting in std::mem::take(&mut self.idle) {
                    self.begin_inference(waiting);
                }
            }
        }
        self.begin_inference(worker);
        Ok(())
    }

    /// Work of the worker's own thread: side by side with others, or in turns in a shared process.
    fn interpret(&mut self, worker: u32, phase: Phase, time: SimTime) {
        if self.shared_process {
            self.serve(INTERPRETER, worker, phase, time);
        } else {
            self.begin(worker, phase, time.0);
        }
    }

    fn leave_interpreter(&mut self) {
        if self.shared_process {
            self.release(INTERPRETER);
        }
    }

    /// Uses a resource for `time`, now or when it is this worker's turn.
    fn serve(&mut self, resource: usize, worker: u32, phase: Phase, time: SimTime) {
        if self.resources.acquire(resource, worker) {
            self.begin(worker, phase, time.0);
        } else {
            let w = &mut self.workers[worker as usize];
            w.phase = phase;
            w.pending = time.0;
        }
    }

    /// Hands an input lock or the host resource on; whoever waited begins what it waited for.
    fn release(&mut self, resource: usize) {
        if let Some(next) = self.resources.release(resource) {
            let w = &self.workers[next as usize];
            self.begin(next, w.phase, w.pending);
        }
    }

    fn begin(&mut self, worker: u32, phase: Phase, time: u64) {
        let w = &mut self.workers[worker as usize];
        w.phase = phase;
        if O::LISTENS {
            w.since = self.now;
        }
        self.events.schedule(self.now.saturating_add(time), worker);
    }

    fn input_resource(&self, worker: u32) -> usize {
        if self.shared_process { INTERPRETER } else { self.input_lock(worker) }
    }

    fn input_lock(&self, worker: u32) -> usize {
        FIRST_LOCK + self.workers[worker as usize].model as usize * (1 + self.pipeline_size as usize)
    }

    fn core(&self, worker: u32, stage: u32) -> usize {
        self.input_lock(worker) + 1 + stage as usize
    }
}
