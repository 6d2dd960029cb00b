//! The network around a custom operator: linear layers with the operator between each two, log-softmax at the end.

use std::rc::Rc;

use super::spec::Workload;
use crate::sim::{NoObserver, SimProgress, Simulator};
use ns_base::{Refusal, SimTime, refuse};
use ns_compiler::{CompileOptions, Pipeline, Workflow};
use ns_machine::Executable;
use ns_machine::cost::CostTable;
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

/// The device time of a step without the kernels, in parts: the network is compiled and simulated with kernels that take no
/// time.
///
/// A training step takes three times the products of inference, and streams each parameter three times for its update:
/// no training graph is compiled.
pub(super) struct NetworkRun {
    widths: Vec<u64>,
    batch: u64,
    workload: Workload,
    costs: CostTable,
    simulator: Option<Simulator<Rc<Executable>, Rc<CostTable>>>,
}

impl NetworkRun {
    /// A network of these widths, not compiled yet.
    pub fn new(widths: &[u64], batch: u64, workload: Workload, costs: &CostTable) -> Self {
        Self { widths: widths.to_vec(), batch, workload, costs: costs.clone(), simulator: None }
    }

    /// Compiles the network, or simulates about this many more events; returns the device time when that was the last
    /// part.
    ///
    /// # Errors
    /// When the network cannot be compiled for one core.
    pub fn advance(&mut self, events: u64) -> Result<Option<SimTime>, Refusal> {
        let Some(simulator) = &mut self.simulator else {
            let executable = self.compiled()?;
            let mut bare = self.costs.clone();
            bare.engine.custom_element_ps = 0;
            self.simulator = Some(Simulator::new(executable, Rc::new(bare)));
            return Ok(None);
        };
        let progress = simulator.step(events, &mut NoObserver).map_err(|e| failed(&e))?;
        let window = simulator.outcome().window;
        Ok((progress == SimProgress::Done).then(|| self.step_time(window)))
    }

    fn compiled(&self) -> Result<Rc<Executable>, Refusal> {
        let input = self.widths.first().copied().unwrap_or(1);
        let graph = trace(&Network::new(&self.widths), &[Shape::f32([self.batch, input])]).map_err(|e| failed(&e))?;
        let pipeline = Pipeline::of_graph(Rc::new(graph), Workflow::MarkStep, CompileOptions::default());
        pipeline.executable(&self.costs).map(Rc::clone).map_err(|e| failed(&e))
    }

    fn step_time(&self, window: SimTime) -> SimTime {
        match self.workload {
            Workload::Inference => window,
            Workload::Training => {
                let sizes = self.widths.windows(2).map(|w| w[0].saturating_mul(w[1]).saturating_add(w[1]));
                let bytes = sizes.sum::<u64>().saturating_mul(PARAMETER_BYTES * UPDATE_PASSES);
                let stream_ns = bytes.saturating_mul(1_000) / self.costs.dma.aggregate_bytes_per_us.max(1);
                SimTime(window.0 * TRAINING_PRODUCTS) + SimTime::from_ns(stream_ns)
            }
        }
    }
}

fn failed(e: &dyn std::fmt::Display) -> Refusal {
    refuse!("the network cannot be simulated: {e}")
}
