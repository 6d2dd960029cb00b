//! Gradients against differences of the loss, for every rule; the modules below have the families and the whole step.

mod families;
mod step;

use std::collections::BTreeSet;

use ns_tensor::kernels::{BinaryOp, UnaryOp};
use ns_tensor::{DType, Shape, Tensor};

use super::{Optimizer, TrainingCall, TrainingStep, training_step};
use crate::{
    AtenOp, ConvArgs, Ctx, Distribution, Graph, Init, InputSpec, Module, Node, Parameter, Value, evaluate,
    input_tensor, trace, weight_tensor,
};
use ns_base::{Refusal, Rng};

pub(super) use families::{BERT, Case, families_of_images, families_of_text};

const SEED: u64 = 11;

/// A module of one function of its weights `a`, `b` and `c`.
pub(super) struct Ops<F>(pub F, pub Vec<Parameter>);

impl<F: Fn(&mut Ctx, &[Value]) -> Result<Value, Refusal>> Module for Ops<F> {
    fn class(&self) -> &str {
        "Ops"
    }
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let mut values = Vec::new();
        for parameter in &self.1 {
            values.push(cx.weight(parameter)?);
        }
        values.extend_from_slice(inputs);
        (self.0)(cx, &values)
    }
}

fn value(node: &Node, inputs: &[InputSpec], moved: Option<(&str, &Tensor)>) -> Option<Tensor> {
    match &node.op {
        AtenOp::Input(n) => input_tensor(SEED, *n, &inputs[*n as usize]).ok(),
        AtenOp::Weight { path, .. } if moved.is_some_and(|(to, _)| to == path) => moved.map(|(_, value)| value.clone()),
        AtenOp::Weight { path, init, .. } => weight_tensor(SEED, path, &node.shape, *init).ok(),
        _ => None,
    }
}

/// The step up to its loss.
fn up_to_loss(step: &TrainingStep) -> Graph {
    let loss = step.graph.nodes[step.graph.output].inputs[0];
    let nodes = step.graph.nodes.iter_enumerated().take_while(|(id, _)| *id <= loss).map(|(_, node)| node.clone());
    Graph { nodes: nodes.collect(), output: loss, ..step.graph.clone() }
}

fn loss_at(graph: &Graph, inputs: &[InputSpec], moved: Option<(&str, &Tensor)>) -> f64 {
    let values = evaluate(graph, &|node| value(node, inputs, moved)).unwrap();
    f64::from(values[graph.output].data()[0])
}

/// Slopes below this are lost in the rounding of the loss.
const TOO_FLAT: f64 = 1e-3;
/// Lengths of the steps along a direction, the longest first.
const STEPS: [f64; 5] = [4e-3, 1e-3, 2.5e-4, 6e-5, 1.5e-5];
/// Roundings of a loss in single precision that add up on the way through the layers.
const ROUNDINGS: f64 = 8.0;

/// Compares each gradient with the difference of the loss along it and, of a few, along a random direction. Returns the step.
fn check(name: &str, module: &dyn Module, inputs: &[InputSpec], optimizer: Optimizer) -> TrainingStep {
    let shapes: Vec<Shape> = inputs.iter().map(|i| i.shape.clone()).collect();
    let step = training_step(&trace(module, &shapes).unwrap(), TrainingCall::step(optimizer)).unwrap();
    let inputs: Vec<InputSpec> = inputs.iter().chain(&step.labels).cloned().collect();
    let values = evaluate(&step.graph, &|node| value(node, &inputs, None)).unwrap();
    let loss = up_to_loss(&step);
    let unmoved = f64::from(values[loss.output].data()[0]);
    let few = step.gradients.len() <= 8;
    let mut rng = Rng::new(SEED, 1);
    let mut flat = 0;
    for (path, gradient) in &step.gradients {
        let gradient = &values[*gradient];
        let weight = step
            .graph
            .nodes
            .iter_enumerated()
            .find(|(_, n)| matches!(&n.op, AtenOp::Weight { path: p, .. } if p == path));
        let weight = &values[weight.unwrap().0];
        assert_eq!(gradient.shape(), weight.shape(), "{name}: {path}");
        let norm = |v: &[f32]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        let random: Vec<f32> = (0..gradient.data().len()).map(|_| rng.normal_f64() as f32).collect();
        for direction in [gradient.data().to_vec()].into_iter().chain(few.then_some(random)) {
            let length = norm(&direction);
            if length == 0.0 {
                continue;
            }
            let product: f64 = gradient.data().iter().zip(&direction).map(|(g, d)| f64::from(*g) * f64::from(*d)).sum();
            let slope = product / length;
            if slope.abs() < TOO_FLAT {
                flat += 1;
                continue;
            }
            let rounding = unmoved.abs() * f64::from(f32::EPSILON) * ROUNDINGS;
            let is_noise = |step_length: f64| rounding / step_length > slope.abs();
            let moved_by = |distance: f64| {
                let moved = weight.data().iter().zip(&direction);
                let moved = moved.map(|(w, d)| (f64::from(*w) + distance / length * f64::from(*d)) as f32);
                let moved = Tensor::new(weight.shape().clone(), moved.collect()).unwrap();
                loss_at(&loss, &inputs, Some((path, &moved)))
            };
            // Long steps leave the slope or cross the kink of a ReLU; of short ones, little but the rounding of the layers is left.
            let mut differences = Vec::new();
            let agrees = STEPS.into_iter().any(|step_length| {
                let difference = (moved_by(step_length) - moved_by(-step_length)) / (2.0 * step_length);
                differences.push((step_length, difference));
                let counts = !is_noise(step_length) || step_length == STEPS[0];
                counts && (difference - slope).abs() < 0.05 * slope.abs() + rounding / step_length
            });
            assert!(agrees, "{name}: {path}: the loss changes by {differences:?}, the gradient says {slope}");
        }
    }
    assert!(flat * 2 <= step.gradients.len(), "{name}: {flat} gradients are too small to compare");
    step
}

fn weights(dims: &[&[u64]]) -> Vec<Parameter> {
    let names = ["a", "b", "c", "d", "e"];
    let all = dims.iter().zip(names);
    all.map(|(dims, name)| Parameter::new(name, dims.to_vec(), Init::Range { low: 0.3, high: 1.3 })).collect()
}

pub(super) type Forward = Box<dyn Fn(&mut Ctx, &[Value]) -> Result<Value, Refusal>>;

pub(super) fn pointwise() -> Vec<(String, Forward, Vec<Parameter>)> {
    let mut all: Vec<(String, Forward, Vec<Parameter>)> = Vec::new();
    for op in [
        UnaryOp::Neg,
        UnaryOp::Exp,
        UnaryOp::Log,
        UnaryOp::Tanh,
        UnaryOp::Sqrt,
        UnaryOp::Rsqrt,
        UnaryOp::Gelu,
        UnaryOp::Logistic,
        UnaryOp::ReluKernel,
    ] {
        let forward: Forward = Box::new(move |cx, v| cx.unary(op, &v[0]));
        all.push((format!("{op:?}"), forward, weights(&[&[3, 5]])));
    }
    for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Maximum, BinaryOp::Minimum] {
        let forward: Forward = Box::new(move |cx, v| cx.binary(op, &v[0], &v[1]));
        all.push((format!("{op:?}"), forward, weights(&[&[2, 3, 1], &[4]])));
        let forward: Forward = Box::new(move |cx, v| cx.scalar(op, &v[0], 0.8));
        all.push((format!("{op:?} of a number"), forward, weights(&[&[3, 4]])));
        let (name, op) = (format!("{op:?}"), AtenOp::Scalar { op, value: 0.8, reversed: true });
        let forward: Forward = Box::new(move |cx, v| cx.apply(op.clone(), &[&v[0]], None));
        all.push((format!("a number and {name}"), forward, weights(&[&[3, 4]])));
    }
    all
}

pub(super) fn shaped() -> Vec<(&'static str, Forward, Vec<Parameter>)> {
    vec![
        ("linear", Box::new(|cx, v| cx.linear(&v[0], &v[1], Some(&v[2]))), weights(&[&[2, 3, 4], &[5, 4], &[5]])),
        ("mm", Box::new(|cx, v| cx.mm(&v[0], &v[1])), weights(&[&[3, 4], &[4, 2]])),
        ("matmul", Box::new(|cx, v| cx.matmul(&v[0], &v[1])), weights(&[&[2, 3, 4, 5], &[2, 3, 5, 2]])),
        ("softmax", Box::new(|cx, v| cx.softmax(&v[0], 1)), weights(&[&[3, 4, 2]])),
        ("log_softmax", Box::new(|cx, v| cx.log_softmax(&v[0], 1)), weights(&[&[3, 4]])),
        ("relu", Box::new(|cx, v| cx.scalar(BinaryOp::Sub, &v[0], 0.8).and_then(|x| cx.relu(&x))), weights(&[&[4, 5]])),
        ("silu", Box::new(|cx, v| cx.silu(&v[0])), weights(&[&[4, 5]])),
        ("mean", Box::new(|cx, v| cx.mean(&v[0])), weights(&[&[4, 5]])),
        ("mean_dims", Box::new(|cx, v| cx.mean_dims(&v[0], &[0, 2], false)), weights(&[&[2, 3, 4]])),
        (
            "sum",
            Box::new(|cx, v| cx.apply(AtenOp::SumDims { dims: vec![1], keepdim: true }, &[&v[0]], None)),
            weights(&[&[2, 3]]),
        ),
        ("slice", Box::new(|cx, v| cx.slice(&v[0], 1, 1, 3)), weights(&[&[2, 5]])),
        ("cat", Box::new(|cx, v| cx.cat(&[&v[0], &v[1]], 1)), weights(&[&[2, 3], &[2, 1]])),
        ("expand", Box::new(|cx, v| cx.expand(&v[0], &[3, 2, 4])), weights(&[&[3, 1, 4]])),
        ("permute", Box::new(|cx, v| cx.permute(&v[0], &[2, 0, 1])), weights(&[&[2, 3, 4]])),
        ("to", Box::new(|cx, v| cx.apply(AtenOp::To(DType::F32), &[&v[0]], None)), weights(&[&[2, 3]])),
        ("layer_norm", Box::new(|cx, v| cx.layer_norm(&v[0], &v[1], &v[2], 1e-5)), weights(&[&[2, 3, 6], &[6], &[6]])),
        (
            "batch_norm",
            Box::new(|cx, v| cx.batch_norm(&v[0], [&v[1], &v[2], &v[3], &v[4]], 1e-5)),
            weights(&[&[4, 3, 2, 2], &[3], &[3], &[3], &[3]]),
        ),
        (
            "custom",
            Box::new(|cx, v| cx.scalar(BinaryOp::Sub, &v[0], 0.8).and_then(|x| cx.custom("my_ops::relu", "relu", &x))),
            weights(&[&[3, 4]]),
        ),
        ("max_pool", Box::new(|cx, v| cx.max_pool2d(&v[0], 3, 2, 1)), weights(&[&[2, 2, 5, 6]])),
        ("avg_pool", Box::new(|cx, v| cx.avg_pool2d(&v[0], 3, 2, 1)), weights(&[&[2, 2, 5, 6]])),
        (
            "conv_transpose",
            Box::new(|cx, v| cx.conv_transpose2d(&v[0], &v[1], Some(&v[2]), 2, 0)),
            weights(&[&[2, 3, 3, 4], &[3, 2, 2, 2], &[2]]),
        ),
    ]
}

#[test]
fn every_rule_gives_the_slope_of_the_loss() {
    for (name, forward, parameters) in pointwise() {
        check(&name, &Ops(forward, parameters), &[], Optimizer::Sgd);
    }
    for (name, forward, parameters) in shaped() {
        let step = check(name, &Ops(forward, parameters), &[], Optimizer::AdamW);
        assert!(!step.gradients.is_empty(), "{name}");
    }
    let ids = InputSpec { shape: Shape::new(DType::S32, [2, 5]), distribution: Distribution::Below(4) };
    let table = Ops(|cx: &mut Ctx, v: &[Value]| cx.embedding(&v[0], &v[1]), weights(&[&[4, 3]]));
    let step = check("embedding", &table, std::slice::from_ref(&ids), Optimizer::Sgd);
    // Rows of a table that an input names are words, so the loss has a head with five parameters.
    let trained: BTreeSet<&str> = step.gradients.iter().map(|(path, _)| path.as_str()).collect();
    assert!(trained.contains("a") && trained.len() == 6, "{trained:?}");
}

/// A convolution of a small image with a square kernel.
pub(super) fn conv(size: u64, args: ConvArgs) -> (Forward, Vec<Parameter>) {
    let forward: Forward = Box::new(move |cx, v| cx.conv2d(&v[0], &v[1], Some(&v[2]), args));
    (forward, weights(&[&[2, 3, 8, 9], &[2, 3, size, size], &[2]]))
}

#[test]
fn convolutions_of_any_stride_padding_and_dilation_have_gradients() {
    for (size, stride, padding, dilation) in
        [(1, 1, 0, 1), (3, 1, 1, 1), (3, 2, 1, 1), (2, 2, 0, 1), (3, 2, 2, 2), (5, 3, 2, 1)]
    {
        let args = ConvArgs { stride, padding, dilation, groups: 1 };
        let (forward, weights) = conv(size, args);
        let step = check(&format!("{args:?} of {size}"), &Ops(forward, weights), &[], Optimizer::Sgd);
        assert_eq!(step.gradients.len(), 3);
    }
}
