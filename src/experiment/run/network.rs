//! A model with its weights and inputs, ready to be computed on the processor in one of two ways.

use std::rc::Rc;

use super::error::RunError;
use super::suite::SuiteModel;
use ns_base::Refusal;
use ns_compiler::hlo::{Arithmetic, Evaluation, HloModule, InstrId, NoWatch};
use ns_compiler::{CompileOptions, Pipeline, Workflow, parameter_values};
use ns_model::{Graph, ModelSpec, input_tensors};
use ns_tensor::Tensor;
use ns_tensor::kernels::Accumulation;

/// A traced model and its inputs.
pub(super) struct Network {
    name: String,
    spec: ModelSpec,
    batch: u64,
    seed: u64,
    graph: Rc<Graph>,
    inputs: Vec<Rc<Tensor>>,
}

/// A program with values for its parameters.
pub(super) struct Program {
    module: Rc<HloModule>,
    parameters: Vec<Rc<Tensor>>,
    name: String,
}

/// Products in the fastest order.
struct Fastest;

impl Arithmetic for Fastest {
    fn accumulation(&self) -> Accumulation {
        Accumulation::Fastest
    }

    fn forget(&mut self, _: InstrId) {}
}

impl Network {
    /// Traces the model and draws its inputs.
    pub fn new(model: &SuiteModel, batch: Option<u32>, seed: u64) -> Result<Self, RunError> {
        let named = |e: &dyn std::fmt::Display| RunError::Model { model: model.name.clone(), reason: e.to_string() };
        let spec: ModelSpec = model.specification.parse().map_err(|e: Refusal| named(&e))?;
        let batch = batch.or(model.batch_size).map_or(spec.info().default_batch_size, u64::from);
        let graph = Rc::new(spec.trace(batch).map_err(|e| named(&e))?);
        let inputs = spec.inputs(batch).map_err(|e| named(&e))?;
        let inputs = input_tensors(seed, &inputs).map_err(|e| named(&e))?;
        Ok(Self { name: model.name.clone(), spec, batch, seed, graph, inputs })
    }

    /// Samples of one inference.
    pub fn batch(&self) -> u32 {
        u32::try_from(self.batch).unwrap_or(u32::MAX)
    }

    /// The program as lowered, one operation after another, or with fused loops.
    pub fn compile(&self, fused: bool) -> Result<Rc<HloModule>, RunError> {
        let pipeline = Pipeline::of_graph(Rc::clone(&self.graph), Workflow::Trace, CompileOptions::default());
        let module = if fused {
            pipeline.optimised().map(|optimised| &optimised.module)
        } else {
            pipeline.lowered().map(|lowered| &lowered.module)
        };
        module.map(Rc::clone).map_err(|e| self.failed(&e))
    }

    /// Records the model again, as lazy tensors do at every step.
    pub fn trace_again(&self) -> Result<(), RunError> {
        self.spec.trace(self.batch).map(|_| ()).map_err(|e| self.failed(&e))
    }

    /// The program with weights drawn from the seed.
    pub fn bind(&self, module: Rc<HloModule>) -> Result<Program, RunError> {
        let parameters =
            parameter_values(&module, &self.graph, &self.inputs, self.seed).map_err(|e| self.failed(&e))?;
        Ok(Program { module, parameters, name: self.name.clone() })
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> RunError {
        RunError::Model { model: self.name.clone(), reason: error.to_string() }
    }
}

impl Program {
    /// One inference.
    pub fn run(&self) -> Result<Vec<Rc<Tensor>>, RunError> {
        let mut evaluation = Evaluation::new(Rc::clone(&self.module), self.parameters.clone());
        loop {
            let step = evaluation.step(u64::MAX, &mut Fastest, &mut NoWatch);
            match step {
                Ok(Some(results)) => return Ok(results),
                Ok(None) => {}
                Err(e) => return Err(RunError::Model { model: self.name.clone(), reason: e.to_string() }),
            }
        }
    }
}
