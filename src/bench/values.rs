//! A model of the zoo with values: its program, its weights and inputs, for code that really computes it.

use std::rc::Rc;

use ns_base::Refusal;
use ns_compiler::hlo::HloModule;
use ns_compiler::{CompileOptions, Pipeline, Workflow, parameter_values};
use ns_model::{InputSpec, ModelSpec, input_tensors};
use ns_tensor::Tensor;

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

impl ModelValues {
    /// The program of a model for a batch, with weights and inputs drawn from a seed. Fails when the model cannot be compiled, or
    /// is too large for the memory.
    pub fn of(spec: &ModelSpec, batch: u64, options: CompileOptions, seed: u64) -> Result<Self, Refusal> {
        let graph = Rc::new(spec.trace(batch)?);
        let pipeline = Pipeline::of_graph(Rc::clone(&graph), Workflow::Trace, options);
        let module = Rc::clone(&pipeline.optimised()?.module);
        let specs = spec.inputs(batch)?;
        let inputs = input_tensors(seed, &specs).map_err(|e| Refusal::new(e.to_string()))?;
        let parameters = parameter_values(&module, &graph, &inputs, seed)?;
        Ok(Self { module, parameters, specs, inputs })
    }
}
