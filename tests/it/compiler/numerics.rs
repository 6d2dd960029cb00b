//! A model run eagerly, its HLO, and its HLO after the passes compute the same bits: all three use the same kernels in
//! the same order, and no pass reorders arithmetic.

use neuronscope::compiler::hlo::evaluate;
use neuronscope::compiler::passes::optimize;
use neuronscope::compiler::{Workflow, lower, parameter_values};
use neuronscope::model::nn::{Linear, LogSoftmax, ReLU, Sequential, Tanh};
use neuronscope::model::zoo::Mlp;
use neuronscope::model::{Distribution, InputSpec, ModelSpec, Module, input_tensor, input_tensors, run_eager, trace};
use neuronscope::tensor::{Shape, Tensor};

pub(super) fn check(module: &dyn Module, inputs: &[InputSpec], seed: u64) -> Tensor {
    let shapes: Vec<Shape> = inputs.iter().map(|i| i.shape.clone()).collect();
    let graph = trace(module, &shapes).unwrap();
    let inputs = input_tensors(seed, inputs).unwrap();
    let eager = run_eager(module, inputs.iter().map(|t| t.as_ref().clone()).collect(), seed).unwrap();

    let before = lower(&graph, Workflow::Trace).unwrap();
    let parameters = parameter_values(&before, &graph, &inputs, seed).unwrap();
    let results = evaluate(&before, &parameters).unwrap();
    assert!(!results.is_empty());
    assert!(results[0].same_bits(&eager), "lowering: {:?} instead of {eager:?}", results[0]);

    let (after, _) = optimize(before).unwrap();
    let parameters = parameter_values(&after, &graph, &inputs, seed).unwrap();
    let results = evaluate(&after, &parameters).unwrap();
    assert!(results[0].same_bits(&eager), "passes: {:?} instead of {eager:?}", results[0]);
    eager
}

#[test]
fn every_model_of_the_zoo_computes_the_same_bits_before_and_after_the_passes() {
    for text in [
        "nn",
        "matmult:n=8,loop_count=5",
        "matmult:n=17,loop_count=3,add_bias=false",
        "matmult:n=8,loop_count=4,chained=false",
        "mlp:hidden1=24,hidden2=20",
    ] {
        let spec: ModelSpec = text.parse().unwrap();
        for (batch, seed) in [(1, 0), (3, 7)] {
            let result = check(&*spec.module(), &spec.inputs(batch).unwrap(), seed);
            assert!(result.data().iter().all(|v| v.is_finite()), "{text}: {result:?}");
            assert!(result.data().iter().any(|v| *v != 0.0), "{text}: {result:?}");
        }
    }
}

#[test]
fn layers_in_sequence_and_three_dimensions() {
    let model = Sequential::new()
        .then(Linear::new(6, 9))
        .then(Tanh)
        .then(Sequential::new().then(Linear::with_bias(9, 5, false)).then(ReLU))
        .then(LogSoftmax::new(2));
    let input = InputSpec { shape: Shape::f32([2, 3, 6]), distribution: Distribution::Normal };
    let result = check(&model, &[input], 11);
    assert_eq!(result.dims(), [2, 3, 5]);
}

#[test]
fn nn_gives_what_its_formula_says() {
    // An independent calculation in double precision, from the weights themselves.
    let spec: ModelSpec = "nn".parse().unwrap();
    let module = spec.module();
    let result = check(&*module, &spec.inputs(1).unwrap(), 3);
    let w = |path: &str| {
        let (_, p) = neuronscope::model::named_parameters(&*module).into_iter().find(|(n, _)| n == path).unwrap();
        neuronscope::model::weight_tensor(3, path, &p.shape, p.init).unwrap().into_data()
    };
    let x = input_tensor(3, 0, &spec.inputs(1).unwrap()[0]).unwrap();
    let layer = |x: &[f64], w: &[f32], b: &[f32]| -> Vec<f64> {
        b.iter()
            .enumerate()
            .map(|(o, b)| f64::from(*b) + x.iter().enumerate().map(|(i, v)| v * f64::from(w[o * 4 + i])).sum::<f64>())
            .collect()
    };
    for (row, out) in x.data().chunks(4).zip(result.data().chunks(2)) {
        let row: Vec<f64> = row.iter().map(|v| f64::from(*v)).collect();
        let hidden: Vec<f64> = layer(&row, &w("layer1.weight"), &w("layer1.bias")).iter().map(|v| v.max(0.0)).collect();
        for (y, expected) in out.iter().zip(layer(&hidden, &w("layer2.weight"), &w("layer2.bias"))) {
            assert!((f64::from(*y) - libm::tanh(expected)).abs() < 1e-6);
        }
    }
}

#[test]
fn log_softmax_rows_sum_to_one() {
    let mlp = Mlp::new(16, [32, 8], 10);
    let input = InputSpec { shape: Shape::f32([5, 16]), distribution: Distribution::Uniform };
    let result = check(&mlp, &[input], 1);
    for row in result.data().chunks(10) {
        let total: f64 = row.iter().map(|v| libm::exp(f64::from(*v))).sum();
        assert!((total - 1.0).abs() < 1e-5, "{total}");
    }
}
