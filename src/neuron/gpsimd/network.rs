//! The network around a custom operator: linear layers with the operator between each two, log-softmax at the end.

use std::rc::Rc;

use super::spec::Workload;
use crate::sim::{NoObserver, SimProgress, Simulator};
use crate::step::StepCosts;
use ns_base::{Refusal, SimTime, refuse};
use ns_compiler::{CompileOptions, Pipeline, Workflow};
use ns_machine::Executable;
use ns_machine::cost::{CostTable, training_ops};
use ns_machine::isa::{Engine, Op};
use ns_model::nn::{CustomRelu, Linear};
use ns_model::{Child, Ctx, Entry, Module, Value, trace};
use ns_tensor::Shape;

/// Products of a training step for each product of the forward pass: the product itself, and those for the gradients of
/// weight and input.
const TRAINING_PRODUCTS: u64 = 3;
/// Passes of a parameter over device memory in an update: weight and gradient are read, the weight is written.
const UPDATE_PASSES: u64 = 3;
/// Bytes of a parameter in training.
const PARAMETER_BYTES: u64 = 4;

struct Network {
    layers: Vec<Child<Linear>>,
}

impl Network {
    fn new(widths: &[u64]) -> Self {
        let layer = |(i, w): (usize, &[u64])| {
            let (from, to) = (w.first().copied().unwrap_or(1), w.last().copied().unwrap_or(1));
            Child::new(format!("fc{}", i + 1), Linear::new(from, to))
        };
        Self { layers: widths.windows(2).enumerate().map(layer).collect() }
    }
}

impl Module for Network {
    fn class(&self) -> &str {
        "MLP"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let mut x = cx.one_input(inputs)?.clone();
        for (i, layer) in self.layers.iter().enumerate() {
            if i > 0 {
                x = CustomRelu::default().apply(cx, &x)?;
            }
            x = layer.call(cx, &x)?;
        }
        cx.log_softmax(&x, 1)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        self.layers.iter().map(Child::entry).collect()
    }
}

/// A step of the network: compiled, and simulated with the times of its kernels.
///
/// A training step takes three times the products of inference, and streams each parameter three times for its update:
/// no training graph is compiled.
pub(super) struct NetworkRun {
    widths: Vec<u64>,
    batch: u64,
    workload: Workload,
    workflow: Workflow,
    costs: CostTable,
    stage: Stage,
}

enum Stage {
    Compile,
    /// It waits for the times of the kernels.
    Compiled(Box<CompiledNetwork>),
    Simulate(Box<CompiledNetwork>, Box<Simulator<Rc<Executable>, Rc<CostTable>>>),
}

struct CompiledNetwork {
    executable: Rc<Executable>,
    recorded_ops: u64,
}

impl NetworkRun {
    /// A network of these widths, not compiled yet.
    pub fn new(widths: &[u64], batch: u64, workload: Workload, workflow: Workflow, costs: &CostTable) -> Self {
        Self { widths: widths.to_vec(), batch, workload, workflow, costs: costs.clone(), stage: Stage::Compile }
    }

    pub const fn workflow(&self) -> Workflow {
        self.workflow
    }

    pub const fn is_compiled(&self) -> bool {
        !matches!(self.stage, Stage::Compile)
    }

    /// Compiles the network. Fails when it cannot be compiled for one core.
    pub fn compile(&mut self) -> Result<(), Refusal> {
        let input = self.widths.first().copied().unwrap_or(1);
        let graph = trace(&Network::new(&self.widths), &[Shape::f32([self.batch, input])]).map_err(|e| failed(&e))?;
        let pipeline = Pipeline::of_graph(Rc::new(graph), self.workflow, CompileOptions::default());
        let executable = pipeline.executable(&self.costs).map(Rc::clone).map_err(|e| failed(&e))?;
        let recorded_ops = match self.workload {
            Workload::Inference => pipeline.recorded_ops(),
            Workload::Training => training_ops(self.widths.len().saturating_sub(1) as u64),
        };
        self.stage = Stage::Compiled(Box::new(CompiledNetwork { executable, recorded_ops }));
        Ok(())
    }

    /// Simulates about this many more events of the network, whose kernels take these times; returns the step when that was
    /// the last part. Fails when it cannot be simulated.
    pub fn advance(&mut self, events: u64, kernels: &KernelTimes) -> Result<Option<StepCosts>, Refusal> {
        match std::mem::replace(&mut self.stage, Stage::Compile) {
            Stage::Compile => self.compile().map(|()| None),
            Stage::Compiled(compiled) => {
                let times = match self.workload {
                    Workload::Inference => kernels.forward_ps.as_slice(),
                    // The kernels of forward and backward are added to three passes without them.
                    Workload::Training => &[],
                };
                let executable = Rc::new(with_kernels(&compiled.executable, times, self.costs.core.gpsimd_mhz));
                let simulator = Simulator::new(executable, Rc::new(self.costs.clone()));
                self.stage = Stage::Simulate(compiled, Box::new(simulator));
                Ok(None)
            }
            Stage::Simulate(compiled, mut simulator) => {
                let progress = simulator.step(events, &mut NoObserver).map_err(|e| failed(&e))?;
                let window = self.window(simulator.outcome().window, kernels);
                let (workflow, ops) = (self.workflow, compiled.recorded_ops);
                let step = StepCosts::of(&compiled.executable, &self.costs, window, workflow, ops);
                self.stage = Stage::Simulate(compiled, simulator);
                Ok((progress == SimProgress::Done).then_some(step))
            }
        }
    }

    fn window(&self, simulated: SimTime, kernels: &KernelTimes) -> SimTime {
        match self.workload {
            Workload::Inference => simulated,
            Workload::Training => {
                let sizes = self.widths.windows(2).map(|w| w[0].saturating_mul(w[1]).saturating_add(w[1]));
                let bytes = sizes.sum::<u64>().saturating_mul(PARAMETER_BYTES * UPDATE_PASSES);
                let stream_ns = bytes.saturating_mul(1_000) / self.costs.dma.aggregate_bytes_per_us.max(1);
                simulated.times(TRAINING_PRODUCTS) + SimTime::from_ns(stream_ns) + SimTime(kernels.total_ps)
            }
        }
    }
}

/// Times of the kernels of a step, picoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct KernelTimes {
    /// Each call of the forward pass.
    pub forward_ps: Vec<u64>,
    /// All calls together.
    pub total_ps: u64,
}

/// The same program with these times for its custom operators, in their order; the others take no time.
fn with_kernels(executable: &Executable, times_ps: &[u64], mhz: u32) -> Executable {
    let mut with = executable.clone();
    let mut times = times_ps.iter().copied();
    for (engine, stream) in Engine::ALL.into_iter().zip(&mut with.engines) {
        for instruction in stream {
            if let Op::CustomElementwise { elements } = with.ops.op(instruction.op) {
                let kernel = Op::CustomKernel { elements, time_ps: times.next().unwrap_or(0), mhz };
                instruction.op = with.ops.id_of(engine, kernel);
            }
        }
    }
    with
}

fn failed(e: &dyn std::fmt::Display) -> Refusal {
    refuse!("the network cannot be simulated: {e}")
}
