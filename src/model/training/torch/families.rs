//! A small model of each family against PyTorch and transformers, whose losses and gradients `families.py` writes into
//! `families.json`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::tests::{BERT, Case, families_of_images, families_of_text};
use crate::training::{Loss, Optimizer, TrainingCall, TrainingStep, training_step};
use crate::zoo::text::{BertConfig, bert};
use crate::zoo::vision::{Clip, ClipConfig, Tower};
use crate::{AtenOp, Distribution, InputSpec, Node, evaluate, trace, weight_tensor};
use ns_tensor::{DType, Shape, Tensor};

#[derive(Deserialize)]
struct File {
    families: Vec<Family>,
}

/// A model: its loss, and of each gradient the length and the product with a vector of [`numbers`].
#[derive(Deserialize)]
struct Family {
    name: String,
    loss: f64,
    gradients: BTreeMap<String, [f64; 2]>,
}

/// Numbers in [0, 1) by the name of a tensor and the position in it, as `families.py` has them.
fn numbers(name: &str) -> impl Iterator<Item = f64> {
    let seed = name.bytes().fold(2_166_136_261u32, |seed, byte| (seed ^ u32::from(byte)).wrapping_mul(16_777_619));
    (1u32..).map(move |i| {
        let mut x = seed.wrapping_add(i.wrapping_mul(2_654_435_761));
        x ^= x >> 16;
        x = x.wrapping_mul(2_246_822_519);
        x ^= x >> 13;
        f64::from(x) / 4_294_967_296.0
    })
}

fn tensor(name: &str, shape: &Shape, low: f64, high: f64) -> Tensor {
    let values = numbers(name).map(|x| (low + (high - low) * x) as f32).take(shape.elements() as usize);
    Tensor::new(shape.clone(), values.collect()).unwrap()
}

/// What a model reads: images by the formula, ids and classes by their position, masks of ones.
fn input(spec: &InputSpec, is_label: bool, first_id: u64) -> Tensor {
    let count = spec.shape.elements();
    let whole =
        |of: &dyn Fn(u64) -> u64| Tensor::new(spec.shape.clone(), (0..count).map(|i| of(i) as f32).collect()).unwrap();
    match spec.distribution {
        Distribution::Below(n) if is_label => whole(&|i| (i * 7 + 1) % u64::from(n)),
        Distribution::Below(n) => whole(&|i| first_id + (i * 5 + 3) % (u64::from(n).min(11) - first_id)),
        Distribution::Constant(value) => whole(&|_| u64::from(value)),
        _ => tensor(if is_label { "label" } else { "image" }, &spec.shape, -1.0, 1.0),
    }
}

fn weight(node: &Node, path: &str, is_buffer: bool) -> Option<Tensor> {
    let AtenOp::Weight { init, .. } = &node.op else { return None };
    if is_buffer {
        return weight_tensor(0, path, &node.shape, *init).ok();
    }
    let (low, high) = if node.shape.rank() == 1 && path.ends_with("weight") { (0.5, 1.5) } else { (-0.5, 0.5) };
    Some(tensor(path, &node.shape, low, high))
}

fn models() -> Vec<Case> {
    let text = |tokens, vocab| {
        let input = |distribution| InputSpec { shape: Shape::new(DType::S32, [2, tokens]), distribution };
        [input(Distribution::Below(vocab)), input(Distribution::Constant(1))]
    };
    let roberta = BertConfig { prefix: "Roberta", positions: 8, position_offset: 2, ..BERT };
    let tower = Tower { hidden: 8, layers: 1, heads: 2, intermediate: 12 };
    let clip = ClipConfig { vision: tower, text: tower, image: 8, patch: 4, vocab: 11, projection: 6 };
    let image = InputSpec { shape: Shape::f32([2, 3, 8, 8]), distribution: Distribution::Normal };
    let mut all = families_of_text();
    all.extend(families_of_images());
    all.push(("roberta", Box::new(bert(&roberta)), text(3, 13).to_vec(), Loss::MaskedLanguageModel));
    let inputs = [image].into_iter().chain(text(2, 11)).collect();
    all.push(("clip", Box::new(Clip::new(&clip)), inputs, Loss::MeanSquaredError));
    all
}

fn check(family: &Family, step: &TrainingStep, inputs: &[InputSpec]) {
    let name = &family.name;
    let first_id = if name == "roberta" { 2 } else { 0 };
    let labels = inputs.len();
    let all: Vec<&InputSpec> = inputs.iter().chain(&step.labels).collect();
    let given = |node: &Node| match &node.op {
        AtenOp::Input(n) => Some(input(all[*n as usize], *n as usize >= labels, first_id)),
        AtenOp::Weight { path, buffer, .. } => weight(node, path, *buffer),
        _ => None,
    };
    let values = evaluate(&step.graph, &given).unwrap();
    let loss = f64::from(values[step.graph.nodes[step.graph.output].inputs[0]].data()[0]);
    assert!(
        (loss - family.loss).abs() < 1e-5 * family.loss.abs().max(1.0),
        "{name}: a loss of {loss}, not {}",
        family.loss
    );
    for (path, id) in &step.gradients {
        let torch = family.gradients.get(path);
        let [length, product] = *torch.unwrap_or_else(|| panic!("{name}: PyTorch has no gradient of {path}"));
        let gradient = values[*id].data();
        let found = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        let probe = tensor(&format!("probe {path}"), &Shape::f32([gradient.len() as u64]), -1.0, 1.0);
        let along: f64 = gradient.iter().zip(probe.data()).map(|(g, p)| f64::from(*g) * f64::from(*p)).sum();
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-6 + 2e-4 * length;
        assert!(near(found, length), "{name}: the gradient of {path} is {found} long, not {length}");
        assert!(near(along, product), "{name}: the gradient of {path} gives {along}, not {product}");
    }
    assert_eq!(step.gradients.len(), family.gradients.len(), "{name}");
}

#[test]
fn every_family_has_the_gradients_of_pytorch() {
    let file: File = serde_json::from_str(include_str!("families.json")).unwrap();
    let models = models();
    assert_eq!(models.len(), file.families.len());
    for (name, module, inputs, _) in &models {
        let shapes: Vec<Shape> = inputs.iter().map(|i| i.shape.clone()).collect();
        let step = training_step(&trace(&**module, &shapes).unwrap(), TrainingCall::step(Optimizer::Sgd)).unwrap();
        let family = file.families.iter().find(|family| family.name == *name).unwrap();
        check(family, &step, inputs);
    }
}
