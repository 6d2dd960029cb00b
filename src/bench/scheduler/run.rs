//! A run from bringing up its copies to its measurement.

use crate::config::configuration::Configuration;
use crate::config::options::Accounting;
use crate::measured::measurement::Measurement;
use crate::measured::timer::Timers;
use crate::scheduler::executor::{Executor, SetupStep};
use crate::scheduler::observer::{NoObserver, RunObserver};
use crate::scheduler::queue::MAX_WORKERS;
use crate::scheduler::source::Source;
use ns_base::convert::{u64_to_usize, usize_to_u32};
use ns_base::stats::round_to;
use ns_base::{Interval, SimTime};
use ns_base::{Refusal, refuse};

use super::resources::Places;
use super::workers::Workers;

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

/// Runs one configuration on an [`Executor`], in steps, and reports them to a [`RunObserver`].
pub struct Scheduler<E, O = NoObserver> {
    /// How long each stage takes.
    pub(super) executor: E,
    /// Which inference comes next.
    pub(super) source: Source,
    pub(super) places: Places,
    /// Cores of the host, if the instance is known.
    host_cores: Option<u32>,
    /// The only part that knows the clock and changes what a worker does.
    pub(super) workers: Workers,
    pub(super) measurement: Measurement,
    pub(super) observer: O,
}

impl<E: Executor> Scheduler<E> {
    /// Brings up every model copy and lets all workers begin. Memory for `expected` inferences is reserved at once; more
    /// are possible. Fails when there are too many workers, not enough memory for the expected number of inferences, or no time
    /// left to measure.
    pub fn new(configuration: &Configuration, executor: E, expected: u64) -> Result<Self, Refusal> {
        Self::observed(configuration, executor, expected, NoObserver)
    }

    /// As [`Self::new`], with inferences from another source.
    pub(crate) fn with_source(
        configuration: &Configuration,
        executor: E,
        expected: u64,
        source: Source,
    ) -> Result<Self, Refusal> {
        Self::start(configuration, executor, expected, source, NoObserver)
    }
}

impl<E: Executor, O: RunObserver> Scheduler<E, O> {
    /// As [`Scheduler::new`], with a listener. Fails as [`Scheduler::new`].
    pub fn observed(configuration: &Configuration, executor: E, expected: u64, observer: O) -> Result<Self, Refusal> {
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
    ) -> Result<Self, Refusal> {
        check_size(configuration)?;
        // Both fit after the check: at most 2^20 workers and as many cores, and no more models than workers.
        let (models, workers) = (configuration.n_models, u64_to_usize(configuration.workers()));
        let places = Places::of(configuration);
        let mut scheduler = Self {
            executor,
            source,
            workers: Workers::new(models, configuration.workers_per_model, places.count(), configuration.host_cores()),
            places,
            host_cores: configuration.host_cores(),
            measurement: Measurement::new(configuration.duration(), Timers::new(models as usize, workers), expected)?,
            observer,
        };
        scheduler.bring_up(configuration);
        if configuration.options.accounting == Accounting::Original {
            scheduler.take_bring_up_from_window(configuration)?;
        }
        let order: Vec<u32> = match &scheduler.source {
            Source::Window { .. } | Source::Dataset { .. } => (0..usize_to_u32(workers)).collect(),
            _ => in_turns(configuration).collect(),
        };
        for worker in order {
            scheduler.begin_inference(worker);
        }
        Ok(scheduler)
    }

    /// Handles up to `budget` events. Fails when the run cannot continue; the recorded inferences are lost.
    pub fn step(&mut self, budget: u64) -> Result<Progress, Refusal> {
        for _ in 0..budget {
            let Some(worker) = self.workers.next() else { break };
            self.end_of_stage(worker)?;
        }
        Ok(self.progress())
    }

    /// Runs until every worker has stopped. Fails as [`Self::step`].
    pub fn run_to_end(&mut self) -> Result<Progress, Refusal> {
        self.step(u64::MAX)
    }

    pub fn progress(&self) -> Progress {
        let (done, now) = (self.workers.are_done(), self.workers.now());
        let share = self.source.share(now.0, self.measurement.inferences());
        let percent = if done { 100.0 } else { (share * 100.0).min(99.9) };
        Progress { done, now, percent, inferences: self.measurement.inferences() }
    }

    /// The measurement; for an unfinished run, the inferences so far, marked as not finished.
    pub fn into_measurement(self) -> Measurement {
        self.into_parts().0
    }

    /// The measurement, as [`Self::into_measurement`], and the listener.
    pub fn into_parts(mut self) -> (Measurement, O) {
        self.measurement.close(self.workers.now(), self.workers.are_done());
        if self.source.ends_with_data() {
            self.measurement.window_is_elapsed();
        }
        self.measurement.path_busy = Some(self.workers.longest_served(self.places.ways()));
        self.measurement.host_busy = self.host_cores.map(|cores| {
            let of_a_core = self.workers.host_work_ps() / u128::from(cores.max(1));
            SimTime(u64::try_from(of_a_core).unwrap_or(u64::MAX))
        });
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
    fn take_bring_up_from_window(&mut self, configuration: &Configuration) -> Result<(), Refusal> {
        let Source::Window { end } = &mut self.source else { return Ok(()) };
        let bring_up = self.measurement.bring_up;
        *end = end.saturating_sub(bring_up.0);
        self.measurement.window = SimTime(*end);
        if *end > 0 {
            return Ok(());
        }
        let bring_up_s = round_to(bring_up.to_secs_f64(), 3).to_string();
        Err(refuse!(
            "the duration of {} s is over before the models are loaded and warm, which takes {bring_up_s} s; use a longer duration, or the accounting that starts when they are warm",
            configuration.duration_s
        ))
    }
}

/// Checks that workers and cores can be numbered, before memory is allocated for them. Fails when there are no workers or too many.
pub(crate) fn check_size(configuration: &Configuration) -> Result<(), Refusal> {
    let workers = configuration.workers();
    if workers == 0 || workers > MAX_WORKERS {
        let Configuration { n_models, workers_per_model, .. } = *configuration;
        return Err(refuse!(
            "n_models {n_models} x workers_per_model {workers_per_model} makes {workers} workers; use a product from 1 to {MAX_WORKERS}"
        ));
    }
    if configuration.n_devices() > MAX_WORKERS {
        return Err(refuse!(
            "n_models x pipeline_size makes {} NeuronCores; at most {MAX_WORKERS} can be simulated; use fewer models or stages",
            configuration.n_devices()
        ));
    }
    Ok(())
}

/// All workers, the first of each copy before the second of any: the first to wait is served first, and one copy should not
/// get two of eight samples while another has none.
fn in_turns(configuration: &Configuration) -> impl Iterator<Item = u32> + use<> {
    let (models, each) = (configuration.n_models, configuration.workers_per_model);
    (0..each).flat_map(move |w| (0..models).map(move |m| m * each + w))
}
