//! A model that computes on the processor.

use std::rc::Rc;

use crate::bench::config::configuration::Configuration;
use crate::bench::run::fixed::FixedModel;
use crate::bench::run::times::check_inputs;
use crate::compiler::hlo::{Arithmetic, Evaluation, HloModule, InstrId, Unwatched};
use crate::compiler::{Workflow, lower, parameter_values, passes};
use crate::device::{BroughtSpec, ModelLibrary};
use crate::model::{ModelSpec, SpecError, input_tensor};
use crate::tensor::Tensor;
use crate::tensor::kernels::Accumulation;

/// A loaded copy: its program, its weights and one batch of inputs.
pub struct CpuModel {
    module: Rc<HloModule>,
    parameters: Vec<Rc<Tensor>>,
    inputs: Vec<Rc<Tensor>>,
}

/// Products in whatever order is fastest; everything else as the reference.
struct Fastest;

impl Arithmetic for Fastest {
    fn accumulation(&self) -> Accumulation {
        Accumulation::Fastest
    }

    fn forget(&mut self, _: InstrId) {}
}

impl CpuModel {
    /// Compiles the model of a configuration and draws its weights.
    ///
    /// # Errors
    /// When the model is not known, cannot be compiled, or is too large for the memory there is.
    pub fn load(configuration: &Configuration) -> Result<Self, String> {
        configuration.check().map_err(|e| e.to_string())?;
        if FixedModel::is_meant(&configuration.model) {
            return Err("model fixed is given by its times: there is nothing to run on a processor; name another model, such as nn".to_owned());
        }
        if BroughtSpec::is_meant(&configuration.model) {
            return Err("device_type cpu: models of the zoo are measured on a processor; a model file runs with device_type neuron".to_owned());
        }
        let named = |e: &dyn std::fmt::Display| format!("{}: {e}", configuration.model);
        let spec: ModelSpec = configuration.model.parse().map_err(|e: SpecError| e.to_string())?;
        check_inputs(configuration, &ModelLibrary::default())?;
        let batch = u64::from(configuration.batch_size);
        let graph = spec.trace(batch).map_err(|e| named(&e))?;
        let module = lower(&graph, Workflow::Trace).map_err(|e| named(&e))?;
        let (module, _log) = passes::optimize(module).map_err(|e| named(&e))?;
        let inputs = spec.inputs(batch).map_err(|e| named(&e))?;
        let seed = configuration.seed;
        let inputs: Vec<Rc<Tensor>> = (0u32..)
            .zip(&inputs)
            .map(|(i, input)| input_tensor(seed, i, input).map(Rc::new))
            .collect::<Result<_, _>>()
            .map_err(|e| named(&e))?;
        let parameters = parameter_values(&module, &graph, &inputs, seed).map_err(|e| named(&e))?;
        Ok(Self { module: Rc::new(module), parameters, inputs })
    }

    /// The batch that every inference takes.
    #[must_use]
    pub fn inputs(&self) -> &[Rc<Tensor>] {
        &self.inputs
    }

    /// One inference, from inputs to outputs.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn infer(&self) -> Result<Vec<Rc<Tensor>>, String> {
        let mut evaluation = Evaluation::new(Rc::clone(&self.module), self.parameters.clone());
        loop {
            let step = evaluation.step(u64::MAX, &mut Fastest, &mut Unwatched).map_err(|e| e.to_string())?;
            if let Some(results) = step {
                return Ok(results);
            }
        }
    }
}
