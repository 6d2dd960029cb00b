//! The whole step: losses, optimizers, micro-batches, scopes, and what a specification says of it.

use std::collections::BTreeMap;

use super::super::{Optimizer, TrainingCall, training_step};
use super::{Ops, SEED, check, value, weights};
use crate::zoo::tutorial_network;
use crate::{
    AtenOp, Ctx, Distribution, Init, InputSpec, ModelSpec, Node, Value, evaluate, input_tensor, trace, weight_tensor,
};
use ns_machine::Phase;
use ns_tensor::kernels::BinaryOp;
use ns_tensor::{DType, Shape, Tensor};

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
        &tutorial_network(),
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
