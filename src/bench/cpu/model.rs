//! A model that computes on the processor.

use std::rc::Rc;

use crate::config::configuration::Configuration;
use crate::run::times::check_inputs;
use crate::values::ModelValues;
use ns_base::{Refusal, refuse};
use ns_compiler::CompileOptions;
use ns_compiler::hlo::{Arithmetic, Evaluation, HloModule, InstrId, Unwatched};
use ns_device::{ModelKind, ModelLibrary};
use ns_model::ModelSpec;
use ns_tensor::Tensor;
use ns_tensor::kernels::Accumulation;

/// A loaded copy: its program, its weights and one batch of inputs.
pub struct CpuModel {
    module: Rc<HloModule>,
    parameters: Vec<Rc<Tensor>>,
    inputs: Vec<Rc<Tensor>>,
}

/// Products in the fastest order; everything else as the reference computes it.
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
    /// When the model is not known, cannot be compiled, or is too large for the memory.
    pub fn load(configuration: &Configuration) -> Result<Self, Refusal> {
        configuration.check()?;
        match ModelKind::of(&configuration.model) {
            ModelKind::Fixed => {
                return Err(refuse!(
                    "model fixed is given by its times: there is nothing to run on a processor; name another model, such as nn"
                ));
            }
            ModelKind::File => {
                return Err(refuse!(
                    "device_type cpu: a model file is computed here one operation after another in double precision, to check its values, which says nothing about a processor's speed; time it in its own framework (torch.utils.benchmark, onnxruntime_perf_test), or run it with device_type neuron"
                ));
            }
            ModelKind::Zoo => {}
        }
        let spec: ModelSpec = configuration.model.parse()?;
        check_inputs(configuration, &ModelLibrary::default())?;
        let batch = u64::from(configuration.batch_size);
        let values = ModelValues::of(&spec, batch, CompileOptions::default(), configuration.seed);
        let values = values.map_err(|error| error.within(|what| format!("{}: {what}", configuration.model)))?;
        Ok(Self { module: values.module, parameters: values.parameters, inputs: values.inputs })
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
    pub fn infer(&self) -> Result<Vec<Rc<Tensor>>, Refusal> {
        let mut evaluation = Evaluation::new(Rc::clone(&self.module), self.parameters.clone());
        loop {
            if let Some(results) = evaluation.step(u64::MAX, &mut Fastest, &mut Unwatched)? {
                return Ok(results);
            }
        }
    }
}
