//! One case compiled, simulated once, and called as often as it asks for; in parts of so many events.

use std::rc::Rc;

use crate::base::SimTime;
use crate::base::convert::real;
use crate::compiler::Workflow;
use crate::device::{Compilation, Device, DeviceError, ModelLibrary, StageError};
use crate::machine::Executable;
use crate::machine::cost::CostTable;
use crate::neuron::runtime::{InferenceCosts, inference_costs};
use crate::neuron::sim::{NoObserver, SimOutcome, SimProgress, Simulator};

use super::config::MatmultCase;
use super::timed::{Stages, Timed};

/// A case and what it came to.
pub(super) struct Measured {
    /// Operations of one call: the guide's formula, or of another model its products and convolutions.
    pub operations: f64,
    /// What the compiler made of it.
    pub compilation: Compilation,
    /// What its core costs and can do.
    pub costs: Rc<CostTable>,
    /// One execution.
    pub outcome: SimOutcome,
    /// Loading, and the host around a call.
    pub around: InferenceCosts,
    /// The stages of a call.
    pub stages: Stages,
    /// Its calls.
    pub timed: Timed,
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
    /// Begins a case, whose model is of the zoo or of `models`.
    pub fn new(case: MatmultCase, models: ModelLibrary) -> Self {
        Self::Compile(Box::new(case), models)
    }

    /// Compiles, or simulates about so many events more; what the case came to, when that was the last.
    ///
    /// # Errors
    /// When the device is not simulated, or the layer cannot be compiled for it.
    pub fn step(self, budget_events: u64) -> Result<Step, DeviceError> {
        match self {
            Self::Compile(case, models) => {
                compiled(*case, &models).map(|run| Step::More(Self::Simulate(Box::new(run))))
            }
            Self::Simulate(mut run) => {
                let progress = run.simulator.step(budget_events, &mut NoObserver).map_err(StageError::Simulate)?;
                match progress {
                    SimProgress::More { .. } => Ok(Step::More(Self::Simulate(run))),
                    SimProgress::Done => Ok(Step::Done(Box::new(run.finish()))),
                }
            }
        }
    }
}

/// Where a case is after a step.
pub(super) enum Step {
    /// There is more to do.
    More(Measuring),
    /// It is over.
    Done(Box<Measured>),
}

/// The HLO of a case as text: as written, and as the compiler's passes leave it.
///
/// # Errors
/// When it cannot be compiled, or its device is not simulated.
pub fn programs(case: &MatmultCase, models: &ModelLibrary) -> Result<[String; 2], DeviceError> {
    let device = Device::new(&case.instance, case.options)?.with_models(models);
    device.programs(&case.specification(), Some(case.batch_size), case.run.workflow)
}

fn compiled(case: MatmultCase, models: &ModelLibrary) -> Result<Simulating, DeviceError> {
    let device = Device::new(&case.instance, case.options)?.with_models(models);
    let compilation = device.compilation(&case.specification(), Some(case.batch_size), case.run.workflow)?;
    let costs = Rc::clone(&device.costs);
    let simulator = Simulator::new(Rc::clone(&compilation.executable), Rc::clone(&costs));
    Ok(Simulating { case, compilation, costs, simulator })
}

impl Simulating {
    fn finish(self) -> Measured {
        let Self { case, compilation, costs, simulator } = self;
        let outcome = simulator.outcome().clone();
        let operations = case.operations().unwrap_or(real(compilation.model_flops));
        let around = inference_costs(&compilation.executable, &costs, outcome.window);
        let stages = stages(&costs, &around, outcome.window, case.run.workflow);
        let timed = stages.run(&case.run, case.run.seed);
        Measured { operations, compilation, costs, outcome, around, stages, timed }
    }
}

fn stages(costs: &CostTable, around: &InferenceCosts, window: SimTime, workflow: Workflow) -> Stages {
    let r = &costs.runtime;
    let start_up = match workflow {
        Workflow::Trace => r.setup_traced_ns,
        Workflow::MarkStep => r.setup_mark_step_ns,
    };
    Stages {
        host: around.call,
        link: around.transfer,
        around: SimTime::from_ns(start_up + r.teardown_ns),
        window,
        first_call: around.warmup,
    }
}

impl Measured {
    /// Tera-operations a second of some calls as the clock says it, of the operations asked for; 0 when it did not tick.
    pub fn tops_of(&self, timed: &Timed) -> f64 {
        let mean = timed.mean_s();
        if mean > 0.0 { self.operations / mean / 1e12 } else { 0.0 }
    }

    /// The same of the timed calls.
    pub fn tops(&self) -> f64 {
        self.tops_of(&self.timed)
    }

    /// The same of the products that the core computes.
    pub fn tops_computed(&self) -> f64 {
        self.tops() * self.computed_share()
    }

    /// The part of the operations whose products the compiler left.
    pub fn computed_share(&self) -> f64 {
        let c = &self.compilation;
        real(c.products_after) / real(c.products_before.max(1))
    }
}
