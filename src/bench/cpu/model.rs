//! A model that computes on the processor.

use std::rc::Rc;

use thiserror::Error;

use crate::config::configuration::{Configuration, ConfigurationError};
use crate::run::error::ModelInputsError;
use crate::run::times::check_inputs;
use crate::values::{ModelValues, ValuesError};
use ns_compiler::CompileOptions;
use ns_compiler::hlo::{Arithmetic, EvalError, Evaluation, HloModule, InstrId, Unwatched};
use ns_device::{ModelKind, ModelLibrary};
use ns_model::{ModelSpec, SpecError};
use ns_tensor::Tensor;
use ns_tensor::kernels::Accumulation;

/// A loaded copy: its program, its weights and one batch of inputs.
pub struct CpuModel {
    module: Rc<HloModule>,
    parameters: Vec<Rc<Tensor>>,
    inputs: Vec<Rc<Tensor>>,
}

/// Why a copy cannot be measured on a processor. The texts say what to do.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CpuError {
    /// The configuration cannot run.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The model is given by its times.
    #[error(
        "model fixed is given by its times: there is nothing to run on a processor; name another model, such as nn"
    )]
    FixedModel,
    /// The model is a file.
    #[error(
        "device_type cpu: a model file is computed here one operation after another in double precision, to check its values, which says nothing about a processor's speed; time it in its own framework (torch.utils.benchmark, onnxruntime_perf_test), or run it with device_type neuron"
    )]
    ModelFile,
    /// A model that the zoo does not have.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The model takes other inputs.
    #[error(transparent)]
    Inputs(#[from] ModelInputsError),
    /// The model cannot be loaded.
    #[error(transparent)]
    Load(#[from] ValuesError),
    /// An inference failed, as when memory runs out.
    #[error(transparent)]
    Inference(#[from] EvalError),
    /// An inference was asked for before the model was there.
    #[error("the model was not loaded")]
    NotLoaded,
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
    pub fn load(configuration: &Configuration) -> Result<Self, CpuError> {
        configuration.check()?;
        match ModelKind::of(&configuration.model) {
            ModelKind::Fixed => return Err(CpuError::FixedModel),
            ModelKind::File => return Err(CpuError::ModelFile),
            ModelKind::Zoo => {}
        }
        let spec: ModelSpec = configuration.model.parse()?;
        check_inputs(configuration, &ModelLibrary::default())?;
        let batch = u64::from(configuration.batch_size);
        let values = ModelValues::of(&spec, batch, CompileOptions::default(), configuration.seed);
        let values = values.map_err(|error| error.of(&configuration.model))?;
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
    pub fn infer(&self) -> Result<Vec<Rc<Tensor>>, EvalError> {
        let mut evaluation = Evaluation::new(Rc::clone(&self.module), self.parameters.clone());
        loop {
            if let Some(results) = evaluation.step(u64::MAX, &mut Fastest, &mut Unwatched)? {
                return Ok(results);
            }
        }
    }
}
