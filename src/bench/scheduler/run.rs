//! A run from bringing up its copies to its measurement.

use crate::config::configuration::Configuration;
use crate::config::options::Accounting;
use crate::measured::measurement::Measurement;
use crate::measured::timer::Timers;
use crate::run::error::RunError;
use crate::scheduler::executor::{Executor, SetupStep, Stage};
use crate::scheduler::observer::{RunObserver, Unobserved};
use crate::scheduler::queue::{EventQueue, MAX_WORKERS, Resources};
use crate::scheduler::source::Source;
use ns_base::convert::{u64_to_usize, usize_to_u32};
use ns_base::stats::round_to;
use ns_base::{Interval, SimTime};

use super::resources::FIRST_LINK;

/// Progress of a run.
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

/// A worker and its state.
pub(super) struct Worker {
    pub(super) model: u32,
    /// The stage that its pending event ends; `None` for the wait for a query with a known arrival.
    pub(super) stage: Option<Stage>,
    /// Duration of the stage it waits to begin, drawn when it queued.
    pub(super) pending: u64,
    /// Start time of its stage.
    pub(super) since: u64,
    pub(super) begun: u64,
    pub(super) called: u64,
}

/// Runs one configuration on an [`Executor`], in steps, and reports them to a [`RunObserver`].
pub struct Scheduler<E, O = Unobserved> {
    pub(super) executor: E,
    pub(super) observer: O,
    pub(super) pipeline_size: u32,
    /// The device of each model copy.
    pub(super) devices: Box<[u32]>,
    /// Number of the first input lock.
    pub(super) first_lock: usize,
    pub(super) source: Source,
    pub(super) now: u64,
    pub(super) shared_process: bool,
    /// Workers that wait for a query.
    pub(super) idle: Vec<u32>,
    pub(super) events: EventQueue,
    pub(super) resources: Resources,
    pub(super) workers: Vec<Worker>,
    pub(super) running: usize,
    pub(super) measurement: Measurement,
}

impl<E: Executor> Scheduler<E> {
    /// Brings up every model copy and lets all workers begin. Memory for `expected` inferences is reserved at once; more
    /// are possible.
    ///
    /// # Errors
    /// When there are too many workers, not enough memory for the expected number of inferences, or no time left to measure.
    pub fn new(configuration: &Configuration, executor: E, expected: u64) -> Result<Self, RunError> {
        Self::observed(configuration, executor, expected, Unobserved)
    }

    /// As [`Self::new`], with inferences from another source.
    pub(crate) fn with_source(
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
            Some(d) => {
                let calls = d.calls(configuration.batch_size);
                Source::Dataset { left: vec![calls; configuration.n_models as usize].into() }
            }
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
        let (models, workers) = (configuration.n_models, u64_to_usize(configuration.workers()));
        let pipeline_size = configuration.pipeline_size.max(1);
        let first_lock = FIRST_LINK + configuration.links() as usize;
        let resources = first_lock + models as usize * (1 + pipeline_size as usize);
        let mut scheduler = Self {
            executor,
            observer,
            pipeline_size,
            devices: (0..models).map(|model| configuration.device_of(model)).collect(),
            first_lock,
            source,
            now: 0,
            shared_process: !configuration.options.is_multiprocess(),
            idle: Vec::with_capacity(workers),
            events: EventQueue::new(workers),
            resources: Resources::new(resources, workers),
            workers: (0..models)
                .flat_map(|model| (0..configuration.workers_per_model).map(move |_| model))
                .map(|model| Worker { model, stage: None, pending: 0, since: 0, begun: 0, called: 0 })
                .collect(),
            running: workers,
            measurement: Measurement::new(configuration.duration(), Timers::new(models as usize, workers), expected)?,
        };
        scheduler.bring_up(configuration);
        if configuration.options.accounting == Accounting::Original {
            scheduler.take_bring_up_from_window(configuration)?;
        }
        let order: Vec<u32> = match &scheduler.source {
            Source::Window { .. } | Source::Dataset { .. } => (0..usize_to_u32(scheduler.workers.len())).collect(),
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
    /// When the run cannot continue; the recorded inferences are lost.
    pub fn step(&mut self, budget: u64) -> Result<Progress, RunError> {
        for _ in 0..budget {
            let Some((time, worker)) = self.events.pop() else { break };
            self.now = time;
            self.end_of_stage(worker)?;
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

    /// The progress of the run.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let done = self.running == 0;
        let share = self.source.share(self.now, self.measurement.inferences());
        let percent = if done { 100.0 } else { (share * 100.0).min(99.9) };
        Progress { done, now: SimTime(self.now), percent, inferences: self.measurement.inferences() }
    }

    /// The measurement; for an unfinished run, the inferences so far, marked as not finished.
    #[must_use]
    pub fn into_measurement(self) -> Measurement {
        self.into_parts().0
    }

    /// The measurement, as [`Self::into_measurement`], and the listener.
    #[must_use]
    pub fn into_parts(mut self) -> (Measurement, O) {
        let now = SimTime(self.now);
        self.measurement.close(now, self.running == 0);
        if self.source.ends_with_data() {
            self.measurement.window_is_elapsed();
        }
        (self.measurement, self.observer)
    }
}

impl<E: Executor, O: RunObserver> Scheduler<E, O> {
    /// Copies are set up, loaded and warm before the window opens.
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
}

/// Checks that workers and cores can be numbered, before memory is allocated for them.
///
/// # Errors
/// When there are no workers or too many.
pub(crate) fn check_size(configuration: &Configuration) -> Result<(), RunError> {
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

/// All workers, the first of each copy before the second of any: the first to wait is served first, and one copy should not
/// get two of eight samples while another has none.
fn in_turns(configuration: &Configuration) -> impl Iterator<Item = u32> + use<> {
    let (models, each) = (configuration.n_models, configuration.workers_per_model);
    (0..each).flat_map(move |w| (0..models).map(move |m| m * each + w))
}
