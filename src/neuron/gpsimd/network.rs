//! The network around a custom operator: linear layers with the operator between two, log-softmax at the end.

use super::spec::{CustomOpError, Workload};
use crate::base::SimTime;
use crate::compiler::passes::PassManager;
use crate::compiler::{CompileOptions, Workflow, codegen, lower};
use crate::machine::cost::CostTable;
use crate::model::nn::{CustomRelu, Linear};
use crate::model::{Child, Ctx, Entry, ModelError, Module, Value, trace};
use crate::neuron::sim::{NoObserver, simulate};
use crate::tensor::Shape;

/// Products of a training step for each of the forward pass: that one, and those for the gradients of weight and input.
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

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, ModelError> {
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

/// Device time of a step without the kernels: the network is compiled and simulated with kernels that take no time.
///
/// A training step takes three times the products of inference, and streams each parameter three times for its update:
/// no training graph is compiled.
///
/// # Errors
/// When the network cannot be compiled for one core.
pub(super) fn device_time(
    widths: &[u64],
    batch: u64,
    workload: Workload,
    costs: &CostTable,
) -> Result<SimTime, CustomOpError> {
    let fail = |e: &dyn std::fmt::Display| CustomOpError::Network { reason: e.to_string() };
    let input = widths.first().copied().unwrap_or(1);
    let graph = trace(&Network::new(widths), &[Shape::f32([batch, input])]).map_err(|e| fail(&e))?;
    let module = lower(&graph, Workflow::MarkStep).map_err(|e| fail(&e))?;
    let options = CompileOptions::default();
    let (module, _) = PassManager::of_level(options.opt_level).run(module).map_err(|e| fail(&e))?;
    let executable = codegen::generate_with(&module, costs, &options).map_err(|e| fail(&e))?;
    let mut bare = costs.clone();
    bare.engine.custom_element_ps = 0;
    let window = simulate(&executable, &bare, &mut NoObserver).map_err(|e| fail(&e))?.window;
    Ok(match workload {
        Workload::Inference => window,
        Workload::Training => {
            let parameters: u64 = widths.windows(2).map(|w| w[0].saturating_mul(w[1]).saturating_add(w[1])).sum();
            let bytes = parameters.saturating_mul(PARAMETER_BYTES * UPDATE_PASSES);
            let stream_ns = bytes.saturating_mul(1_000) / costs.dma.aggregate_bytes_per_us.max(1);
            SimTime(window.0 * TRAINING_PRODUCTS) + SimTime::from_ns(stream_ns)
        }
    })
}
