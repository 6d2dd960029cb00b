//! Gradients against those of PyTorch, which `gradients.py` computes in double precision and writes into `gradients.json`.

mod families;

use serde::Deserialize;

use super::tests::{Forward, Ops, conv, pointwise, shaped};
use super::{Optimizer, TrainingCall, training_step};
use crate::{AtenOp, ConvArgs, Node, Parameter, evaluate, trace, weight_tensor};
use ns_tensor::{Shape, Tensor};

#[derive(Deserialize)]
struct File {
    cases: Vec<Case>,
}

/// A function of weights `a`, `b`, `c`: their values, those of the label, the loss, and the gradient of each weight.
#[derive(Deserialize)]
struct Case {
    name: String,
    weights: Vec<Vec<f32>>,
    label: Vec<f32>,
    loss: f64,
    gradients: Vec<Vec<f64>>,
}

/// The functions of tests.rs by their names.
fn functions() -> Vec<(String, Forward, Vec<Parameter>)> {
    let shaped = shaped().into_iter().map(|(name, forward, weights)| (name.to_owned(), forward, weights));
    let windows = [(1, 1, 0, 1), (3, 1, 1, 1), (3, 2, 1, 1), (2, 2, 0, 1), (3, 2, 2, 2), (5, 3, 2, 1)];
    let convolutions = windows.map(|(size, stride, padding, dilation)| {
        let name = format!("conv of {size}, stride {stride}, padding {padding}, dilation {dilation}");
        let (forward, weights) = conv(size, ConvArgs { stride, padding, dilation, groups: 1 });
        (name, forward, weights)
    });
    pointwise().into_iter().chain(shaped).chain(convolutions).collect()
}

fn assert_near(found: &[f32], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    for (found, expected) in found.iter().zip(expected) {
        // Roundings of single precision, of the largest value that a sum has.
        let off = (f64::from(*found) - expected).abs();
        assert!(off <= 2e-6 + 2e-5 * largest, "{what}: {found} instead of {expected}");
    }
}

#[test]
fn losses_and_gradients_equal_those_of_pytorch() {
    let file: File = serde_json::from_str(include_str!("gradients.json")).unwrap();
    let functions = functions();
    let mut compared = 0;
    for case in &file.cases {
        let found = functions.iter().position(|(name, ..)| *name == case.name);
        let (_, forward, parameters) = &functions[found.unwrap_or_else(|| panic!("{} is not a test", case.name))];
        let graph = trace(&Ops(forward, parameters.clone()), &[]).unwrap();
        let step = training_step(&graph, TrainingCall::step(Optimizer::Sgd)).unwrap();
        let names: Vec<&str> = parameters.iter().map(|p| p.name).collect();
        let of = |values: &[f32], shape: &Shape| Tensor::new(shape.clone(), values.to_vec()).ok();
        let given = |node: &Node| match &node.op {
            AtenOp::Input(_) => of(&case.label, &node.shape),
            AtenOp::Weight { path, init, .. } => match names.iter().position(|name| name == path) {
                Some(i) if i < case.weights.len() => of(&case.weights[i], &node.shape),
                _ => weight_tensor(0, path, &node.shape, *init).ok(),
            },
            _ => None,
        };
        let values = evaluate(&step.graph, &given).unwrap();
        let loss = step.graph.nodes[step.graph.output].inputs[0];
        assert_near(values[loss].data(), &[case.loss], &case.name);
        for (path, gradient) in &step.gradients {
            let expected = names.iter().position(|name| name == path).and_then(|i| case.gradients.get(i));
            let expected = expected.unwrap_or_else(|| panic!("{}: {path} has no gradient in PyTorch", case.name));
            assert_near(values[*gradient].data(), expected, &format!("{}: {path}", case.name));
            compared += 1;
        }
    }
    assert!(compared > file.cases.len(), "{compared} gradients of {} cases", file.cases.len());
}
