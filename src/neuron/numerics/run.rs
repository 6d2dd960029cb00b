//! A comparison, run in bounded steps.

use std::rc::Rc;

use super::{DeviceArithmetic, Exceptions, NumericsReport, NumericsSpec, OutputComparison, compare};
use ns_base::{Refusal, refuse};
use ns_compiler::hlo::{Evaluation, HloModule, InstrId, Opcode, Reference};
use ns_compiler::{Pipeline, Workflow, parameter_values};
use ns_kernel::{ModelKernel, TABLE_KERNEL};
use ns_machine::arch::{Instance, NEURONCORE_V2, features, known_instance};
use ns_model::{Graph, ModelSpec, input_tensors};
use ns_tensor::Tensor;

/// How large a model may be for its values to be computed twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeLimits {
    /// Operations of the model's products, in millions.
    pub mflop: u64,
    /// Elements of weights and buffers, 4 bytes each, in addition to the casts of those in use.
    pub weights: u64,
}

impl SizeLimits {
    /// Above these a comparison in a browser takes minutes, or half a gigabyte.
    pub const BROWSER: Self = Self { mflop: 8_000, weights: 128 << 20 };
    /// Above these a program of its own takes many minutes, or two gigabytes.
    pub const NATIVE: Self = Self { mflop: 500_000, weights: 512 << 20 };
    /// Those of this program.
    pub const HERE: Self = if cfg!(target_arch = "wasm32") { Self::BROWSER } else { Self::NATIVE };
}

/// Rows of the array in every documented generation: a tile of the contracted dimension.
const ARRAY_ROWS: u32 = NEURONCORE_V2.partitions;

/// The progress of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum NumericsProgress {
    /// There is more to do.
    More {
        /// Instructions evaluated so far, for both sides together.
        done: u64,
        /// Instructions of both sides.
        total: u64,
    },
    Done(Box<NumericsReport>),
}

/// A comparison in progress. The reference runs first, then the device.
pub struct NumericsRun {
    spec: NumericsSpec,
    core: &'static str,
    graph: Rc<Graph>,
    inputs: Vec<Rc<Tensor>>,
    reference: Rc<HloModule>,
    device: Rc<HloModule>,
    flops: u64,
    expected: Option<(Vec<Rc<Tensor>>, Exceptions)>,
    stage: Option<Stage>,
    seen: Exceptions,
}

enum Stage {
    Reference(Evaluation<Rc<HloModule>>),
    Device(Evaluation<Rc<HloModule>>, Box<DeviceArithmetic>),
}

/// The module as a framework would compute it: a kernel that calls itself a ReLU is computed as a ReLU, so that a wrong
/// kernel shows in the comparison.
fn reference_module(mut module: HloModule) -> HloModule {
    for instruction in module.instructions.iter_mut() {
        if let Opcode::CustomCall { target } = &mut instruction.opcode
            && ModelKernel::find(target).is_ok_and(|kernel| kernel.is_relu())
        {
            TABLE_KERNEL.clone_into(target);
        }
    }
    module
}

impl NumericsRun {
    /// Traces and compiles the model and draws its inputs. Fails when the specification cannot be used or the model is above the
    /// limits.
    pub fn new(spec: NumericsSpec, limits: SizeLimits) -> Result<Self, Refusal> {
        let size = checked_instance(&spec)?;
        let model: ModelSpec = spec.model.parse()?;
        let batch = spec.batch_size.map_or(model.info().default_batch_size, u64::from);
        let graph = Rc::new(model.trace(batch)?);
        let flops = graph.flops();
        let weights = graph.weights().values().fold(0u64, |n, w| n.saturating_add(w.shape.elements()));
        if flops / 1_000_000 > limits.mflop || weights > limits.weights {
            let (model, mflop, SizeLimits { mflop: most, weights: most_weights }) =
                (&spec.model, flops / 1_000_000, limits);
            return Err(refuse!(
                "{model} takes {mflop} MFLOP and has {weights} weights; values are computed for models of at most {most} MFLOP and {most_weights} weights. Use a smaller size, as in --model matmult:n=64,loop_count=100, or a smaller batch"
            ));
        }
        let named = |e: &dyn std::fmt::Display| refuse!("{}: {e}", spec.model);
        let compile = |e| named(&e);
        let pipeline = Pipeline::of_graph(Rc::clone(&graph), Workflow::Trace, spec.options);
        let lowered = (*pipeline.lowered().map_err(compile)?.module).clone();
        let device = Rc::clone(&pipeline.optimised().map_err(compile)?.module);
        let inputs = input_tensors(spec.seed, &model.inputs(batch)?).map_err(|e| named(&e))?;
        let core = features(size.core_version).map_or("NeuronCore", |f| f.name);
        let reference = Rc::new(reference_module(lowered));
        let (expected, stage, seen) = (None, None, Exceptions::default());
        Ok(Self { spec, core, graph, inputs, reference, device, flops, expected, stage, seen })
    }

    /// Evaluates about `budget` operations. Fails when a weight is missing or memory runs out.
    pub fn step(&mut self, budget: u64) -> Result<NumericsProgress, Refusal> {
        if self.stage.is_none() {
            self.stage = Some(Stage::Reference(self.start(&self.reference)?));
            return Ok(self.progress());
        }
        let finished = match &mut self.stage {
            None => Ok(None),
            Some(Stage::Reference(evaluation)) => evaluation.step(budget, &mut Reference, &mut self.seen),
            Some(Stage::Device(evaluation, device)) => evaluation.step(budget, device.as_mut(), &mut self.seen),
        };
        let finished = finished.map_err(|source| refuse!("{}: {source}", self.spec.model))?;
        match (finished, self.expected.take()) {
            (Some(results), None) => self.start_device(results)?,
            (Some(results), Some((expected, seen))) => {
                return Ok(NumericsProgress::Done(Box::new(self.report(&expected, &results, seen))));
            }
            (None, expected) => self.expected = expected,
        }
        Ok(self.progress())
    }

    fn start(&self, module: &Rc<HloModule>) -> Result<Evaluation<Rc<HloModule>>, Refusal> {
        let parameters = parameter_values(module, &self.graph, &self.inputs, self.spec.seed)
            .map_err(|source| refuse!("{}: {source}", self.spec.model))?;
        Ok(Evaluation::new(Rc::clone(module), parameters))
    }

    fn start_device(&mut self, expected: Vec<Rc<Tensor>>) -> Result<(), Refusal> {
        self.expected = Some((expected, std::mem::take(&mut self.seen)));
        // The reference's weights are freed before the device's are drawn.
        self.stage = None;
        let s = &self.spec;
        let device = DeviceArithmetic::new(&self.device, &s.options, ARRAY_ROWS, s.rounding, s.seed);
        self.stage = Some(Stage::Device(self.start(&self.device)?, Box::new(device)));
        Ok(())
    }

    fn progress(&self) -> NumericsProgress {
        let lengths = [&self.reference, &self.device].map(|m| m.instructions.len() as u64);
        let done = match &self.stage {
            None => 0,
            Some(Stage::Reference(e)) => e.progress().0,
            Some(Stage::Device(e, _)) => lengths[0] + e.progress().0,
        };
        NumericsProgress::More { done, total: lengths[0] + lengths[1] }
    }

    fn report(&mut self, expected: &[Rc<Tensor>], results: &[Rc<Tensor>], reference: Exceptions) -> NumericsReport {
        let device = std::mem::take(&mut self.seen);
        let paths = output_paths(&self.device);
        let outputs: Vec<OutputComparison> = expected
            .iter()
            .zip(results)
            .zip(0..)
            .map(|((a, b), index)| {
                let path = paths.get(index as usize).map_or("", String::as_str);
                compare(index, path, a, b, self.spec.tolerance)
            })
            .collect();
        let passed = outputs.iter().all(|o| o.passed);
        let notes = super::notes::notes(&self.spec, &device, &reference);
        NumericsReport {
            spec: self.spec.clone(),
            core: self.core.to_owned(),
            status: if passed { "PASS" } else { "FAIL" }.to_owned(),
            outputs,
            first_nan: device.nan,
            first_inf: device.inf,
            first_underflow: device.underflow,
            reference_nan: reference.nan,
            reference_inf: reference.inf,
            reference_underflow: reference.underflow,
            notes,
            flops: self.flops,
            metrics: Vec::new(),
        }
    }
}

/// The instance of a question, which can be answered apart from its model. Fails when the instance is not known or does not support
/// the options, or the tolerance is not a number above zero.
pub fn checked_instance(spec: &NumericsSpec) -> Result<&'static Instance, Refusal> {
    let size = known_instance(&spec.instance)?;
    spec.options.check(size, spec.rounding)?;
    if !(spec.tolerance > 0.0 && spec.tolerance.is_finite()) {
        return Err(refuse!("tolerance {} is not possible; use a number above 0, as in 0.02 for 2 %", spec.tolerance));
    }
    Ok(size)
}

/// Framework paths of a module's results.
fn output_paths(module: &HloModule) -> Vec<String> {
    let path = |id: InstrId| module.instructions[id].metadata.op_name.clone();
    let root = &module.instructions[module.root];
    match root.opcode {
        Opcode::Tuple => root.operands.iter().map(|o| path(*o)).collect(),
        _ => vec![path(module.root)],
    }
}
