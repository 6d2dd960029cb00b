//! Measures one case: compiled, simulated once, and called as often as configured, in parts of a bounded number of events.

use std::rc::Rc;

use ns_base::Refusal;
use ns_base::convert::u64_to_f64;
use ns_device::{Compilation, Device, ModelLibrary};
use ns_machine::Executable;
use ns_machine::cost::CostTable;
use ns_neuron::sim::{NoObserver, SimOutcome, SimProgress, Simulator};
use ns_neuron::step::StepCosts;

use super::call_times::CallTimes;
use super::config::MatmultCase;

/// A case and its result.
pub(super) struct CaseResult {
    /// Operations of one call: by the guide's formula, or for another model those of its products and convolutions.
    pub operations: f64,
    pub compilation: Compilation,
    /// Costs and limits of its core.
    pub costs: Rc<CostTable>,
    /// One execution.
    pub outcome: SimOutcome,
    /// The parts of a call.
    pub step: StepCosts,
    pub timed: CallTimes,
}

/// A case that is being measured.
pub(super) enum Measuring {
    /// It waits for the compiler, whose work is not divided.
    Compile(Box<MatmultCase>, ModelLibrary),
    /// One execution is simulated.
    Simulate(Box<Simulating>),
}

/// An execution under way.
pub(super) struct Simulating {
    case: MatmultCase,
    compilation: Compilation,
    costs: Rc<CostTable>,
    simulator: Simulator<Rc<Executable>, Rc<CostTable>>,
}

impl Measuring {
    /// Begins a case whose model is in the zoo or in `models`.
    pub fn new(case: MatmultCase, models: ModelLibrary) -> Self {
        Self::Compile(Box::new(case), models)
    }

    /// Compiles, or simulates about this many more events. Returns the result of the case when that was the last part.
    ///
    /// # Errors
    /// When the device is not simulated, or the layer cannot be compiled for it.
    pub fn step(self, budget_events: u64) -> Result<Step, Refusal> {
        match self {
            Self::Compile(case, models) => {
                compiled(*case, &models).map(|run| Step::More(Self::Simulate(Box::new(run))))
            }
            Self::Simulate(mut run) => {
                let progress = run.simulator.step(budget_events, &mut NoObserver)?;
                match progress {
                    SimProgress::More { .. } => Ok(Step::More(Self::Simulate(run))),
                    SimProgress::Done => Ok(Step::Done(Box::new(run.finish()))),
                }
            }
        }
    }
}

/// State of a case after a step.
pub(super) enum Step {
    /// There is more to do.
    More(Measuring),
    /// The case is done.
    Done(Box<CaseResult>),
}

/// The HLO of a case as text, before and after the compiler's passes.
///
/// # Errors
/// When it cannot be compiled, or its device is not simulated.
pub fn programs(case: &MatmultCase, models: &ModelLibrary) -> Result<[String; 2], Refusal> {
    let device = Device::new(&case.instance, case.options)?.with_models(models);
    device.programs(&case.specification(), Some(case.batch_size), case.run.workflow)
}

fn compiled(case: MatmultCase, models: &ModelLibrary) -> Result<Simulating, Refusal> {
    let device = Device::new(&case.instance, case.options)?.with_models(models);
    let compilation = device.compilation(&case.specification(), Some(case.batch_size), case.run.workflow)?;
    let costs = Rc::clone(&device.costs);
    let simulator = Simulator::new(Rc::clone(&compilation.executable), Rc::clone(&costs));
    Ok(Simulating { case, compilation, costs, simulator })
}

impl Simulating {
    fn finish(self) -> CaseResult {
        let Self { case, compilation, costs, simulator } = self;
        let outcome = simulator.outcome().clone();
        let operations = case.operations().unwrap_or(u64_to_f64(compilation.model_flops));
        let step = compilation.step(&costs, outcome.window, case.run.workflow);
        let timed = CallTimes::of(&step, &case.run, case.run.seed);
        CaseResult { operations, compilation, costs, outcome, step, timed }
    }
}

impl CaseResult {
    /// Tera-operations per second of some calls by the clock, counting the operations as written; 0 when the clock did not tick.
    pub fn tops_of(&self, timed: &CallTimes) -> f64 {
        let mean = timed.mean_s();
        if mean > 0.0 { self.operations / mean / 1e12 } else { 0.0 }
    }

    /// The same for the timed calls.
    pub fn tops(&self) -> f64 {
        self.tops_of(&self.timed)
    }

    /// The same for the products that the core computes.
    pub fn tops_computed(&self) -> f64 {
        self.tops() * self.computed_share()
    }

    /// The same by a clock without ticks.
    pub fn tops_exact(&self) -> f64 {
        self.operations * self.computed_share() / self.timed.true_mean_s().max(f64::MIN_POSITIVE) / 1e12
    }

    /// The rate of those products from the first to the last instruction of an execution.
    pub fn tops_executing(&self) -> f64 {
        let window_s = self.step.window.to_secs_f64().max(f64::MIN_POSITIVE);
        self.operations * self.computed_share() / window_s / 1e12
    }

    /// The part of the operations whose products the compiler kept.
    pub fn computed_share(&self) -> f64 {
        let c = &self.compilation;
        u64_to_f64(c.products_after) / u64_to_f64(c.products_before.max(1))
    }
}
