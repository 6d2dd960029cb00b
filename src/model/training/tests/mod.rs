//! Gradients against differences of the loss, for every rule and for a small model of every family.

use std::collections::{BTreeMap, BTreeSet};

use ns_tensor::kernels::{BinaryOp, UnaryOp};
use ns_tensor::{DType, Shape, Tensor};

use super::{Loss, Optimizer, TrainingCall, TrainingStep, training_step};
use crate::zoo::text::{
    Albert, AlbertConfig, Bert, BertConfig, DistilBert, DistilBertConfig, Gpt2, Gpt2Config, Llama, LlamaConfig, Reads,
};
use crate::zoo::vision::{ResNet, ResNetConfig, UNet, ViT, ViTConfig};
use crate::zoo::{Mlp, Nn};
use crate::{
    AtenOp, ConvArgs, Ctx, Distribution, Graph, Init, InputSpec, ModelSpec, Module, Node, Parameter, Value, evaluate,
    input_tensor, trace, weight_tensor,
};
use ns_base::{Refusal, Rng};
use ns_machine::Phase;

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
            // Long steps leave the slope or cross the kink of a ReLU; of short ones, little but the rounding of the layers is left.
            let rounding = loss_at(&loss, &inputs, None).abs() * f64::from(f32::EPSILON) * ROUNDINGS;
            let is_noise = |step_length: f64| rounding / step_length > slope.abs();
            let differences = STEPS.map(|step_length| {
                let at = |sign: f64| {
                    let moved = weight.data().iter().zip(&direction);
                    let moved =
                        moved.map(|(w, d)| (f64::from(*w) + sign * step_length / length * f64::from(*d)) as f32);
                    let moved = Tensor::new(weight.shape().clone(), moved.collect()).unwrap();
                    loss_at(&loss, &inputs, Some((path, &moved)))
                };
                (step_length, (at(1.0) - at(-1.0)) / (2.0 * step_length))
            });
            let agrees = |(step_length, difference): &(f64, f64)| {
                let counts = !is_noise(*step_length) || *step_length == STEPS[0];
                counts && (difference - slope).abs() < 0.05 * slope.abs() + rounding / step_length
            };
            assert!(
                differences.iter().any(agrees),
                "{name}: {path}: the loss changes by {differences:?}, the gradient says {slope}"
            );
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

/// A small model of a family, with its inputs and the loss that it is trained with.
pub(super) type Case = (&'static str, Box<dyn Module>, Vec<InputSpec>, Loss);
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

fn image(dims: [u64; 4]) -> InputSpec {
    InputSpec { shape: Shape::f32(dims), distribution: Distribution::Normal }
}

fn tokens(batch: u64, seq: u64, vocab: u32, with_types: bool) -> Vec<InputSpec> {
    let input = |distribution| InputSpec { shape: Shape::new(DType::S32, [batch, seq]), distribution };
    let mut all = vec![input(Distribution::Below(vocab)), input(Distribution::Constant(1))];
    all.extend(with_types.then(|| input(Distribution::Below(2))));
    all
}

pub(super) const BERT: BertConfig = BertConfig {
    prefix: "Bert",
    vocab: 13,
    hidden: 8,
    layers: 1,
    heads: 2,
    intermediate: 12,
    positions: 6,
    position_offset: 0,
    types: 2,
    eps: 1e-12,
    pooler: true,
};

fn loss_of(module: &dyn Module, inputs: &[InputSpec]) -> Loss {
    let shapes: Vec<Shape> = inputs.iter().map(|i| i.shape.clone()).collect();
    Loss::of(&trace(module, &shapes).unwrap())
}

/// Small models of text.
pub(super) fn families_of_text() -> Vec<Case> {
    let albert =
        AlbertConfig { vocab: 11, embedding: 4, hidden: 8, layers: 2, heads: 2, intermediate: 12, positions: 6 };
    let distilbert = DistilBertConfig { vocab: 11, dim: 8, layers: 1, heads: 2, hidden: 12, positions: 6 };
    let gpt2 = Gpt2Config { vocab: 11, hidden: 8, layers: 1, heads: 2, positions: 6 };
    let llama = LlamaConfig {
        vocab: 11,
        hidden: 16,
        layers: 1,
        heads: 4,
        kv_heads: 2,
        intermediate: 12,
        theta: 10_000.0,
        context: 3,
        reads: Reads::Sequence,
    };
    let ids = vec![tokens(2, 3, 11, false).remove(0)];
    let masked = Loss::MaskedLanguageModel;
    vec![
        ("bert", Box::new(Bert::new(&BERT)), tokens(2, 3, 13, true), masked),
        ("albert", Box::new(Albert::new(&albert)), tokens(2, 3, 11, true), masked),
        ("distilbert", Box::new(DistilBert::new(&distilbert)), tokens(2, 3, 11, false), masked),
        ("gpt2", Box::new(Gpt2::new(&gpt2)), ids.clone(), Loss::CrossEntropy),
        ("llama", Box::new(Llama::new(&llama)), ids, Loss::CrossEntropy),
    ]
}

#[test]
fn every_family_of_text_models_trains_with_its_loss() {
    for (name, module, inputs, loss) in families_of_text() {
        assert_eq!(loss_of(&*module, &inputs), loss, "{name}");
        let step = check(name, &*module, &inputs, Optimizer::AdamW);
        let trained: BTreeSet<&str> = step.gradients.iter().map(|(path, _)| path.as_str()).collect();
        let own = step.graph.weights().into_iter().filter(|(_, w)| !w.buffer).map(|(path, _)| path);
        let idle: Vec<String> = own.filter(|path| !trained.contains(path.as_str())).collect();
        assert!(idle.is_empty(), "{name}: {idle:?}");
    }
}

/// Small models of images and of rows of numbers.
pub(super) fn families_of_images() -> Vec<Case> {
    let resnet = |bottleneck| ResNetConfig { blocks: [1, 1, 1, 1], width: 64, bottleneck, classes: 3 };
    let vit = ViTConfig { image: 8, patch: 4, hidden: 8, layers: 1, heads: 2, intermediate: 12, classes: 3 };
    let mse = Loss::MeanSquaredError;
    let matrix = |rows, columns| InputSpec { shape: Shape::f32([rows, columns]), distribution: Distribution::Normal };
    vec![
        (
            "resnet of basic blocks",
            Box::new(ResNet::new(&resnet(false))),
            vec![image([4, 3, 64, 64])],
            Loss::CrossEntropy,
        ),
        (
            "resnet of bottlenecks",
            Box::new(ResNet::new(&resnet(true))),
            vec![image([4, 3, 64, 64])],
            Loss::CrossEntropy,
        ),
        ("vit", Box::new(ViT::new(&vit)), vec![image([2, 3, 8, 8])], Loss::CrossEntropy),
        ("unet", Box::new(UNet::new(3, 2, 2)), vec![image([2, 3, 64, 64])], mse),
        ("mlp", Box::new(Mlp::new(9, [7, 6], 4)), vec![matrix(5, 9)], Loss::NegativeLogLikelihood),
        ("nn", Box::new(Nn::new()), vec![matrix(4, 4)], mse),
    ]
}

#[test]
fn every_family_of_vision_models_trains_with_its_loss() {
    // Few values in a channel make a batch norm steep, so the image is large enough for the last stage.
    let resnet = ResNetConfig { blocks: [1, 1, 1, 1], width: 4, bottleneck: true, classes: 3 };
    let mut cases = families_of_images();
    cases.retain(|(name, ..)| !name.starts_with("resnet"));
    cases.push(("resnet", Box::new(ResNet::new(&resnet)), vec![image([3, 3, 96, 96])], Loss::CrossEntropy));
    for (name, module, inputs, loss) in cases {
        assert_eq!(loss_of(&*module, &inputs), loss, "{name}");
        let step = check(name, &*module, &inputs, Optimizer::Sgd);
        let parameters = step.graph.weights().values().filter(|w| !w.buffer).count();
        assert_eq!(step.gradients.len(), parameters, "{name}");
    }
}

/// `softmax(x W^T + b)` has a gradient that everybody knows: the probabilities less one for the class, divided by the rows.
#[test]
fn the_gradient_of_a_classifier_is_probability_less_label() {
    let module = Ops(|cx: &mut Ctx, v: &[Value]| cx.linear(&v[2], &v[0], Some(&v[1])), weights(&[&[3, 4], &[3]]));
    let input = InputSpec { shape: Shape::f32([5, 4]), distribution: Distribution::Normal };
    let step = check("classifier", &module, std::slice::from_ref(&input), Optimizer::Sgd);
    let inputs = [input, step.labels[0].clone()];
    let given = |node: &Node| value(node, &inputs, None);
    let values = evaluate(&step.graph, &given).unwrap();
    let find = |path: &str| step.gradients.iter().find(|(p, _)| p == path).map(|(_, id)| &values[*id]).unwrap();
    let (x, label) = (input_tensor(SEED, 0, &inputs[0]).unwrap(), input_tensor(SEED, 1, &inputs[1]).unwrap());
    let weight = |path: &str, dims: &[u64]| {
        weight_tensor(SEED, path, &Shape::f32(dims), Init::Range { low: 0.3, high: 1.3 }).unwrap().data().to_vec()
    };
    let (w, b) = (weight("a", &[3, 4]), weight("b", &[3]));
    let mut expected = [0.0f64; 3];
    for (row, class) in x.data().chunks(4).zip(label.data()) {
        let scores: Vec<f64> = (0..3)
            .map(|c| f64::from(b[c]) + (0..4).map(|k| f64::from(row[k]) * f64::from(w[c * 4 + k])).sum::<f64>())
            .collect();
        let total: f64 = scores.iter().map(|s| libm::exp(*s)).sum();
        for c in 0..3 {
            expected[c] += (libm::exp(scores[c]) / total - if *class as usize == c { 1.0 } else { 0.0 }) / 5.0;
        }
    }
    for (found, expected) in find("b").data().iter().zip(expected) {
        assert!((f64::from(*found) - expected).abs() < 1e-6, "{found} instead of {expected}");
    }
}

/// The first step of both optimizers, by their definition.
#[test]
fn optimizers_change_weights_as_defined() {
    let module = Ops(|cx: &mut Ctx, v: &[Value]| cx.scalar(BinaryOp::Mul, &v[0], 2.0), weights(&[&[2, 3]]));
    for optimizer in Optimizer::ALL {
        let step = training_step(&trace(&module, &[]).unwrap(), TrainingCall::step(optimizer)).unwrap();
        let given = |node: &Node| value(node, &step.labels, None);
        let values = evaluate(&step.graph, &given).unwrap();
        let gradient = values[step.gradients[0].1].data().to_vec();
        let assigned = |path: &str| {
            let found = step
                .graph
                .nodes
                .iter_enumerated()
                .find(|(_, n)| matches!(&n.op, AtenOp::Assign { path: p } if p == path));
            values[found.unwrap().0].data().to_vec()
        };
        let old = weight_tensor(SEED, "a", &Shape::f32([2, 3]), Init::Range { low: 0.3, high: 1.3 }).unwrap();
        for ((new, old), g) in assigned("a").iter().zip(old.data()).zip(&gradient) {
            let expected = match optimizer {
                Optimizer::Sgd => old - 0.01 * g,
                // In the first step both corrected means are the gradient and its square.
                Optimizer::AdamW => old * (1.0 - 1e-5) - 1e-3 * g / (g.abs() + 1e-8),
            };
            assert!((new - expected).abs() < 1e-6, "{optimizer}: {new} instead of {expected}");
        }
        let state = if optimizer == Optimizer::Sgd { "a.momentum_buffer" } else { "a.exp_avg" };
        assert_eq!(assigned(state).len(), 6);
    }
}

#[test]
fn ops_are_in_the_scopes_of_their_part() {
    let step = check(
        "nn",
        &Nn::new(),
        &[InputSpec { shape: Shape::f32([4, 4]), distribution: Distribution::Normal }],
        Optimizer::AdamW,
    );
    let paths: Vec<String> = step.graph.nodes.iter().map(Node::path).collect();
    for path in [
        "Training[step]/NN[forward]/Linear[layer1]/aten__addmm",
        "Training[step]/NN[forward]/MSELoss[loss]/aten__sum",
        "Training[step]/NN[backward]/Linear[layer2]/addmm_backward/aten__mm",
        "Training[step]/NN[backward]/ReLU[nl1]/threshold_backward/aten__gt",
        "Training[step]/AdamW[update]/layer1.weight/aten__sqrt",
    ] {
        assert!(paths.iter().any(|p| p == path), "{path} is not in {paths:?}");
    }
    let mut phases: Vec<Option<Phase>> = paths.iter().map(|path| Phase::of_path(path)).collect();
    phases.dedup();
    let root = phases.pop();
    assert_eq!((phases.as_slice(), root), (Phase::ALL.map(Some).as_slice(), Some(None)));
}

#[test]
fn a_model_that_can_not_be_trained_says_why() {
    let into_cache = Ops(
        |cx: &mut Ctx, v: &[Value]| {
            let new = cx.scalar(BinaryOp::Mul, &v[0], 2.0)?;
            cx.index_copy(&v[0], 0, &v[1], &new)
        },
        weights(&[&[1, 2]]),
    );
    let graph = trace(&into_cache, &[Shape::new(DType::S32, [1])]).unwrap();
    let cache = training_step(&graph, TrainingCall::step(Optimizer::AdamW)).unwrap_err().to_string();
    assert!(cache.starts_with("aten::index_copy in Training[step]/"), "{cache}");
    assert!(cache.contains("has no backward rule") && cache.contains("leave --training out"), "{cache}");
    let constant = Ops(|cx: &mut Ctx, v: &[Value]| cx.relu(&v[0]), Vec::new());
    let graph = trace(&constant, &[Shape::f32([2])]).unwrap();
    let nothing = training_step(&graph, TrainingCall::step(Optimizer::Sgd)).unwrap_err().to_string();
    assert!(nothing.starts_with("Ops has no parameter that its result depends on"), "{nothing}");
}

#[test]
fn a_specification_says_that_a_call_is_a_training_step() {
    let spec: ModelSpec = "mlp:hidden1=24,training=SGD,hidden2=20".parse().unwrap();
    assert_eq!(
        (spec.training(), spec.to_string().as_str()),
        (Some(TrainingCall::step(Optimizer::Sgd)), "mlp:hidden1=24,hidden2=20,training=sgd")
    );
    assert_eq!(
        spec.inputs(3).unwrap().iter().map(|i| i.shape.clone()).collect::<Vec<_>>(),
        [Shape::f32([3, 784]), Shape::new(DType::S32, [3])]
    );
    assert_ne!(spec, spec.clone().with_training(None));
    let error = |text: &str| text.parse::<ModelSpec>().unwrap_err().to_string();
    assert_eq!(
        error("nn:training=adam"),
        "model nn: training=adam is not possible: use adamw, sgd, accumulate or none"
    );
    assert_eq!("nn:training=none".parse::<ModelSpec>().unwrap().to_string(), "nn");
    assert_eq!(error("nn:training=sgd,training=sgd"), "model nn: parameter training is given twice");
    assert_eq!(error("matmult:n=3,n=4"), "model matmult: parameter n is given twice");
}

#[test]
fn a_specification_says_how_many_micro_batches_a_step_adds_up() {
    let text = |text: &str| text.parse::<ModelSpec>().unwrap().to_string();
    assert_eq!(text("nn:accumulate=8,training=adamw"), "nn:training=adamw,accumulate=8");
    assert_eq!(text("nn:training=sgd,accumulate=1"), "nn:training=sgd");
    assert_eq!(text("nn:training=accumulate"), "nn:training=accumulate");
    let error = |text: &str| text.parse::<ModelSpec>().unwrap_err().to_string();
    assert_eq!(
        error("nn:accumulate=8"),
        "model nn: accumulate=8 needs a training step: add training=adamw or training=sgd"
    );
    assert_eq!(
        error("nn:training=accumulate,accumulate=8"),
        "model nn: accumulate=8 needs an update: use training=adamw or training=sgd with it"
    );
    for bad in ["0", "65537", "-1", "many"] {
        assert_eq!(
            error(&format!("nn:training=sgd,accumulate={bad}")),
            format!("model nn: accumulate={bad} is not possible: use a number of micro-batches from 1 to 65536")
        );
    }
}

/// A micro-batch adds its gradient to the buffer; the step takes the mean and leaves zeros there.
#[test]
fn gradients_of_micro_batches_are_added_up_and_averaged() {
    let module = Ops(|cx: &mut Ctx, v: &[Value]| cx.scalar(BinaryOp::Mul, &v[0], 2.0), weights(&[&[2, 3]]));
    let graph = trace(&module, &[]).unwrap();
    let buffer = Tensor::new(Shape::f32([2, 3]), vec![0.5; 6]).unwrap();
    let results = |call: TrainingCall| {
        let step = training_step(&graph, call).unwrap();
        let given = |node: &Node| value(node, &step.labels, Some(("a.grad", &buffer)));
        let values = evaluate(&step.graph, &given).unwrap();
        let assigned = step.graph.nodes.iter_enumerated().filter_map(|(id, node)| match &node.op {
            AtenOp::Assign { path } => Some((path.clone(), values[id].data().to_vec())),
            _ => None,
        });
        (values[step.gradients[0].1].data().to_vec(), assigned.collect::<BTreeMap<_, _>>())
    };
    let (gradient, micro) = results(TrainingCall::MicroBatch);
    assert_eq!(micro.keys().collect::<Vec<_>>(), ["a.grad"]);
    let total: Vec<f32> = gradient.iter().map(|g| g + 0.5).collect();
    assert_eq!(micro["a.grad"], total);
    let call = TrainingCall::Step { optimizer: Optimizer::Sgd, micro_batches: 4 };
    let (_, last) = results(call);
    assert_eq!(last["a.grad"], [0.0; 6]);
    let mean: Vec<f32> = total.iter().map(|g| g * 0.25).collect();
    assert_eq!(last["a.momentum_buffer"], mean);
}
