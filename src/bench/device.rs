//! From a model's text to what runs on a simulated core: trace, lower, optimise, generate code.

use std::rc::Rc;

use super::service::ServiceTimes;
use super::sweep::Configuration;
use crate::compiler::{Workflow, codegen, lower, passes};
use crate::machine::Executable;
use crate::machine::arch::Instance;
use crate::machine::cost::CostTable;
use crate::model::zoo::ModelSpec;
use crate::neuron::runtime::inference_costs;
use crate::neuron::sim::{NoObserver, simulate};

/// A simulated device: the NeuronCores of an instance.
#[derive(Clone, Debug)]
pub struct Device {
    /// What its instructions cost.
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
        let costs =
            if instance.name.starts_with("inf2") { CostTable::inferentia2() } else { CostTable::neuroncore_v2() };
        Ok(Self { costs: Rc::new(costs) })
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

    /// Stage times of a configuration: its model compiled ahead and simulated once, with the host around it.
    ///
    /// # Errors
    /// When the model can not be compiled for one core.
    pub fn service_times(&self, configuration: &Configuration) -> Result<ServiceTimes, String> {
        let executable = self.compile(&configuration.model, Some(configuration.batch_size), Workflow::Trace)?;
        let outcome = simulate(&executable, &self.costs, &mut NoObserver).map_err(|e| e.to_string())?;
        let costs = inference_costs(&executable, &self.costs, outcome.window);
        let times = ServiceTimes {
            load: costs.load,
            warmup: costs.warmup,
            // Inputs and outputs move while the core works on another request: with one worker that is added to each
            // call, with two it is hidden, as the published rows of NeuronCore-v2 show.
            host: costs.host + costs.transfer,
            device: vec![costs.device],
            ..ServiceTimes::default()
        };
        // A compiled pipeline would know its own stages.
        let stages = configuration.pipeline_size;
        Ok(if stages > 1 { times.with_even_pipeline(stages) } else { times })
    }
}

/// Whether the simulator has costs for the instance's NeuronCores.
#[must_use]
pub fn is_simulated(instance: &Instance) -> bool {
    instance.core_version == 2
}
