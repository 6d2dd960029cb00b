//! One case compiled, simulated once, and called as often as it asks for.

use std::rc::Rc;

use crate::base::SimTime;
use crate::bench::device::{Compilation, Device};
use crate::compiler::Workflow;
use crate::machine::cost::CostTable;
use crate::neuron::runtime::{InferenceCosts, inference_costs};
use crate::neuron::sim::{NoObserver, SimOutcome, simulate};

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

/// Measures a case.
///
/// # Errors
/// When the device is not simulated, or the layer can not be compiled for it.
pub(super) fn measure(case: &MatmultCase) -> Result<Measured, String> {
    let device = Device::new(&case.instance, case.options)?;
    let run = &case.run;
    let compilation = device.compilation(&case.specification(), Some(case.batch_size), run.workflow)?;
    let operations = case.operations().unwrap_or(compilation.model_flops as f64);
    let costs = Rc::clone(&device.costs);
    let outcome = simulate(&compilation.executable, &costs, &mut NoObserver).map_err(|e| e.to_string())?;
    let around = inference_costs(&compilation.executable, &costs, outcome.window);
    let stages = stages(&costs, &around, outcome.window, run.workflow);
    let timed = stages.run(run, run.seed);
    Ok(Measured { operations, compilation, costs, outcome, around, stages, timed })
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
        c.products_after as f64 / (c.products_before.max(1) as f64)
    }
}
