//! From a model's text to what runs on a simulated core: trace, lower, optimise, generate code.

use std::rc::Rc;

use crate::compiler::{Workflow, codegen, lower, passes};
use crate::machine::Executable;
use crate::machine::arch::Instance;
use crate::machine::cost::CostTable;
use crate::model::zoo::ModelSpec;

/// The simulated device: for now every instance is timed as NeuronCore-v2.
pub(super) struct Device {
    pub costs: Rc<CostTable>,
}

impl Device {
    /// The NeuronCores of an instance.
    ///
    /// # Errors
    /// When the simulator has no costs for its generation.
    pub fn of_instance(name: &str) -> Result<Self, String> {
        let Some(instance) = crate::machine::arch::instance(name.trim()) else {
            let known: Vec<&str> = crate::machine::arch::INSTANCES.iter().map(|i| i.name).collect();
            return Err(format!("unknown instance type '{name}'; there are {}", known.join(", ")));
        };
        if !is_simulated(instance) {
            return Err(format!(
                "{} has NeuronCore-v{} cores, which are not simulated yet; use an inf2 or trn1 size",
                instance.name, instance.core_version
            ));
        }
        Ok(Self { costs: Rc::new(CostTable::neuroncore_v2()) })
    }

    /// Compiles a model for one core, for a batch size or the model's own default.
    ///
    /// # Errors
    /// With the first stage that refused, naming the model.
    pub fn compile(&self, model: &str, batch_size: Option<u32>, workflow: Workflow) -> Result<Rc<Executable>, String> {
        let named = |e: &dyn std::fmt::Display| format!("{model}: {e}");
        let spec: ModelSpec = model.parse().map_err(|e: crate::model::zoo::SpecError| e.to_string())?;
        let batch_size = batch_size.map_or(spec.info().default_batch_size, u64::from);
        let graph = spec.trace(batch_size).map_err(|e| named(&e))?;
        let module = lower(&graph, workflow).map_err(|e| named(&e))?;
        let (module, _log) = passes::optimize(module).map_err(|e| named(&e))?;
        let executable = codegen::generate(&module, &self.costs.core).map_err(|e| named(&e))?;
        Ok(Rc::new(executable))
    }
}

/// Whether the simulator has costs for the instance's NeuronCores.
pub(super) fn is_simulated(instance: &Instance) -> bool {
    instance.core_version == 2
}
