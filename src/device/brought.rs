//! A model that the user brought, on a simulated core.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::compile::{Device, products_of};
use super::error::{DeviceError, StageError};
use super::removed::RemovedProducts;
use ns_base::SimTime;
use ns_compiler::passes::{PassLog, PassManager};
use ns_compiler::{Stand, Workflow, codegen, from_program};
use ns_import::program::Program;
use ns_machine::Executable;
use ns_neuron::runtime::{InferenceCosts, inference_costs};
use ns_neuron::sim::{NoObserver, simulate};

/// One call of a brought model.
#[derive(Clone, Debug)]
pub struct BroughtRun {
    /// The compiled program.
    pub executable: Rc<Executable>,
    /// The log of the compiler's passes.
    pub passes: PassLog,
    /// From the first instruction to the last, on the core.
    pub window: SimTime,
    /// Host and transfer times around the execution.
    pub costs: InferenceCosts,
    /// Operators that are placed by an estimate, with the count and the first location of each.
    pub estimates: BTreeMap<String, (u64, String)>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl BroughtRun {
    /// The time of one call when nothing else waits: host, link and core, one after the other.
    #[must_use]
    pub fn call_time(&self) -> SimTime {
        self.costs.call + self.costs.transfer + self.costs.device
    }
}

impl Device {
    /// Compiles a program for one core and simulates a call. `assumed` says how operators without a known meaning are placed.
    ///
    /// # Errors
    /// When it cannot be placed on a core; the error names the operation.
    pub fn run_program(&self, program: &Program, assumed: &BTreeMap<String, Stand>) -> Result<BroughtRun, DeviceError> {
        let placed = from_program(program, Workflow::Trace, assumed).map_err(StageError::from)?;
        let asked = products_of(&placed.module);
        let passes = PassManager::of_level(self.options.opt_level);
        let (module, passes) = passes.run(placed.module).map_err(StageError::from)?;
        let executable = codegen::generate_with(&module, &self.costs, &self.options).map_err(StageError::from)?;
        let outcome = simulate(&executable, &self.costs, &mut NoObserver).map_err(StageError::from)?;
        let costs = inference_costs(&executable, &self.costs, outcome.window);
        let (estimates, mut notes) = (placed.estimates, placed.notes);
        if let Some(removed) = RemovedProducts::of(asked, products_of(&module)) {
            notes.push(removed.sentence("the program"));
        }
        Ok(BroughtRun { executable: Rc::new(executable), passes, window: outcome.window, costs, estimates, notes })
    }
}
