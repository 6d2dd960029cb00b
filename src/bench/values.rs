//! A model of the zoo with values: its program, its weights and inputs, for code that really computes it.

use std::rc::Rc;

use thiserror::Error;

use ns_compiler::hlo::{EvalError, HloModule};
use ns_compiler::{CompileOptions, Pipeline, StageError, Workflow, parameter_values};
use ns_model::{InputSpec, ModelSpec, input_tensor};
use ns_tensor::{Tensor, TensorError};

/// A model that can be computed.
pub(super) struct ModelValues {
    /// Its program after the passes.
    pub module: Rc<HloModule>,
    /// Values of the program's parameters: weights drawn from the seed, and the inputs.
    pub parameters: Vec<Rc<Tensor>>,
    /// The inputs that the model takes.
    pub specs: Vec<InputSpec>,
    /// Inputs drawn from the seed.
    pub inputs: Vec<Rc<Tensor>>,
}

/// Why a model cannot be computed.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{model}: {error}")]
pub struct ValuesError {
    /// The model, as its configuration names it.
    pub model: String,
    /// The error of the step that failed.
    pub error: Box<ValuesStepError>,
}

/// The error of a step between a model and its values.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ValuesStepError {
    /// The model cannot be traced at this batch size, or cannot be compiled.
    #[error(transparent)]
    Compile(#[from] StageError),
    /// An input is not a tensor, or too large.
    #[error(transparent)]
    Input(#[from] TensorError),
    /// The program cannot be computed, or its weights cannot be drawn.
    #[error(transparent)]
    Evaluation(#[from] EvalError),
}

impl ValuesStepError {
    /// The error together with the model's name.
    pub(super) fn of(self, model: &str) -> ValuesError {
        ValuesError { model: model.to_owned(), error: Box::new(self) }
    }
}

impl ModelValues {
    /// The program of a model for a batch, with weights and inputs drawn from a seed.
    ///
    /// # Errors
    /// When the model cannot be compiled, or is too large for the memory.
    pub fn of(spec: &ModelSpec, batch: u64, options: CompileOptions, seed: u64) -> Result<Self, ValuesStepError> {
        let graph = Rc::new(spec.trace(batch).map_err(StageError::from)?);
        let pipeline = Pipeline::of_graph(Rc::clone(&graph), Workflow::Trace, options);
        let module = Rc::clone(&pipeline.optimised()?.module);
        let specs = spec.inputs(batch).map_err(StageError::from)?;
        let drawn = (0u32..).zip(&specs).map(|(i, input)| input_tensor(seed, i, input).map(Rc::new));
        let inputs: Vec<Rc<Tensor>> = drawn.collect::<Result<_, _>>()?;
        let parameters = parameter_values(&module, &graph, &inputs, seed)?;
        Ok(Self { module, parameters, specs, inputs })
    }
}
