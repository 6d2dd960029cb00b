//! Functions of layers against references written here in double precision from their formulas.
#![allow(clippy::result_large_err, reason = "forwards return the model's own error")]

use neuronscope::base::Refusal;
use neuronscope::model::{AtenOp, ConvArgs, Ctx, Init, Module, Parameter, Value, run_eager, trace, weight_tensor};
use neuronscope::tensor::kernels::BinaryOp;
use neuronscope::tensor::{Shape, Tensor};

type Forward = fn(&mut Ctx, &[Value]) -> Result<Value, Refusal>;

struct Function(Forward);

impl Module for Function {
    fn class(&self) -> &str {
        "Function"
    }
    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        (self.0)(cx, inputs)
    }
}

fn random(dims: &[u64], seed: u64) -> Tensor {
    weight_tensor(seed, "t", &Shape::f32(dims), Init::Normal { std: 1.0 }).unwrap()
}

fn run(inputs: &[&Tensor], forward: Forward) -> Tensor {
    run_eager(&Function(forward), inputs.iter().map(|t| (*t).clone()).collect(), 0).unwrap()
}

fn error(shapes: &[&[u64]], forward: Forward) -> String {
    let shapes: Vec<Shape> = shapes.iter().map(|d| Shape::f32(*d)).collect();
    trace(&Function(forward), &shapes).unwrap_err().to_string()
}

fn close(found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!((f64::from(*f) - e).abs() < 2e-5 * (1.0 + e.abs()), "{f} instead of {e}");
    }
}

#[test]
fn attention_is_its_formula() {
    let (heads, queries, keys, size) = (3usize, 4usize, 5usize, 6usize);
    let dims = |n: usize| [1, heads as u64, n as u64, size as u64];
    let [q, k, v] = [(queries, 1), (keys, 2), (keys, 3)].map(|(n, seed)| random(&dims(n), seed));
    let mask = random(&[1, 1, 1, keys as u64], 4);
    let found =
        run(&[&q, &k, &v, &mask], |cx, x| cx.attention([&x[0], &x[1], &x[2]], Some((BinaryOp::Mul, 0.3)), Some(&x[3])));
    let at = |t: &Tensor, rows: usize, h: usize, r: usize, c: usize| f64::from(t.data()[(h * rows + r) * size + c]);
    let mut expected = Vec::new();
    for h in 0..heads {
        for i in 0..queries {
            let score = |j: usize| {
                let product: f64 = (0..size).map(|c| at(&q, queries, h, i, c) * at(&k, keys, h, j, c)).sum();
                product * 0.3 + f64::from(mask.data()[j])
            };
            let weights: Vec<f64> = (0..keys).map(|j| libm::exp(score(j))).collect();
            let total: f64 = weights.iter().sum();
            expected.extend(
                (0..size)
                    .map(|c| weights.iter().enumerate().map(|(j, w)| w / total * at(&v, keys, h, j, c)).sum::<f64>()),
            );
        }
    }
    close(found.data(), &expected);
}

#[test]
fn activations_are_their_formulas() {
    let x = random(&[50], 7);
    let check = |forward: Forward, formula: fn(f64) -> f64| {
        let expected: Vec<f64> = x.data().iter().map(|v| formula(f64::from(*v))).collect();
        close(run(&[&x], forward).data(), &expected);
    };
    check(|cx, x| cx.gelu(&x[0]), |v| v * 0.5 * (1.0 + libm::erf(v / std::f64::consts::SQRT_2)));
    check(|cx, x| cx.sigmoid(&x[0]), |v| 1.0 / (1.0 + libm::exp(-v)));
    check(|cx, x| cx.silu(&x[0]), |v| v / (1.0 + libm::exp(-v)));
    check(|cx, x| cx.rsub(1.5, &x[0]), |v| 1.5 - v);
    let new_gelu: Forward = |cx, x| neuronscope::model::nn::NewGelu.forward(cx, x);
    check(new_gelu, |v| {
        0.5 * v * (1.0 + libm::tanh((2.0 / std::f64::consts::PI).sqrt() * (v + 0.044_715 * v * v * v)))
    });
    let quick_gelu: Forward = |cx, x| neuronscope::model::nn::QuickGelu.forward(cx, x);
    check(quick_gelu, |v| v / (1.0 + libm::exp(-1.702 * v)));
}

#[test]
fn rms_norm_is_its_formula() {
    let (x, weight) = (random(&[2, 3, 8], 1), random(&[8], 2));
    let found = run(&[&x, &weight], |cx, x| cx.rms_norm(&x[0], &x[1], 1e-5));
    let mut expected = Vec::new();
    for row in x.data().chunks(8) {
        let square: f64 = row.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>() / 8.0;
        let scale = 1.0 / (square + 1e-5).sqrt();
        expected.extend(row.iter().zip(weight.data()).map(|(v, w)| f64::from(*v) * scale * f64::from(*w)));
    }
    close(found.data(), &expected);
}

#[test]
fn rotary_tables_hold_the_angles() {
    let shape = Shape::f32([5, 8]);
    for sine in [false, true] {
        let table = weight_tensor(0, "t", &shape, Init::Rotary { theta: 100.0, sine }).unwrap();
        for (i, found) in table.data().iter().enumerate() {
            let (position, column) = ((i / 8) as f64, i % 4);
            let angle = position / libm::pow(100.0, 2.0 * column as f64 / 8.0);
            let expected = if sine { libm::sin(angle) } else { libm::cos(angle) };
            assert!((f64::from(*found) - expected).abs() < 1e-6);
        }
    }
}

#[test]
fn pooling_to_a_size_averages_its_parts() {
    let x = Tensor::from_fn(Shape::f32([1, 1, 4, 6]), |i| i as f32).unwrap();
    let two = run(&[&x], |cx, x| cx.adaptive_avg_pool2d(&x[0], 2));
    assert_eq!((two.dims(), two.data()), (&[1, 1, 2, 2][..], &[4.0, 7.0, 16.0, 19.0][..]));
    let one = run(&[&x], |cx, x| cx.adaptive_avg_pool2d(&x[0], 1));
    assert_eq!((one.dims(), one.data()), (&[1, 1, 1, 1][..], &[11.5][..]));
    let padded = run(&[&x], |cx, x| cx.avg_pool2d(&x[0], 2, 2, 1));
    assert_eq!(padded.data()[0], 0.0);
    assert_eq!(padded.data()[5], (7.0 + 8.0 + 13.0 + 14.0) / 4.0);
}

#[test]
fn shape_errors_name_op_and_shapes() {
    let e = error(&[&[1, 3, 8, 8], &[4, 2, 3, 3]], |cx, x| cx.conv2d(&x[0], &x[1], None, ConvArgs::default()));
    assert_eq!(
        e,
        "aten::convolution in Function[model]: input [1,3,8,8] does not match weight [4,2,3,3]: \
         3 input and 4 output channels do not make 1 groups of 2"
    );
    let e = error(&[&[1, 3, 8, 8]], |cx, x| cx.adaptive_avg_pool2d(&x[0], 3));
    assert!(e.contains("expected an image whose sides are multiples of 3"), "{e}");
    let e = error(&[&[2, 3, 4], &[3, 4, 5]], |cx, x| cx.matmul(&x[0], &x[1]));
    assert!(e.contains("expected the first 1 dimensions to be equal"), "{e}");
    let e = error(&[&[2, 3], &[4]], |cx, x| cx.layer_norm(&x[0], &x[1], &x[1], 1e-5));
    assert!(e.ends_with("input [2,3] does not match weight [4]: expected [3]"), "{e}");
    let e = error(&[&[2, 3], &[2, 3]], |cx, x| cx.embedding(&x[0], &x[1]));
    assert!(e.contains("expected s32, not f32"), "{e}");
    let e = error(&[&[2, 3]], |cx, x| cx.slice(&x[0], 1, 2, 4));
    assert!(e.ends_with("it has no elements 2..4 in dimension 1"), "{e}");
    let e = error(&[&[2, 3]], |cx, x| cx.transpose(&x[0], 0, 2));
    assert!(e.contains("does not name each of its dimensions once"), "{e}");
    let e = error(&[&[2, 3]], |cx, x| cx.expand(&x[0], &[2, 4]));
    assert!(e.contains("aten::expand"), "{e}");
    let e = error(&[&[1, 2, 3, 3], &[2, 2, 2, 2]], |cx, x| cx.conv_transpose2d(&x[0], &x[1], None, 2, 2));
    assert!(e.contains("needs a larger kernel"), "{e}");
}

#[test]
fn buffers_are_not_parameters() {
    struct Buffered([Parameter; 2]);
    impl Module for Buffered {
        fn class(&self) -> &str {
            "Buffered"
        }
        fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
            let (weight, mask) = (cx.weight(&self.0[0])?, cx.weight(&self.0[1])?);
            let x = cx.mul(&inputs[0], &weight)?;
            cx.add(&x, &mask)
        }
    }
    let module = Buffered([
        Parameter::new("weight", [3, 3], Init::Constant(2.0)),
        Parameter::buffer("mask", [3, 3], Init::CausalMask),
    ]);
    let graph = trace(&module, &[Shape::f32([3, 3])]).unwrap();
    assert_eq!((graph.parameter_count(), graph.weight_bytes()), (9, 72));
    assert!(graph.nodes.iter().any(|n| matches!(n.op, AtenOp::Weight { buffer: true, .. })));
    let ones = Tensor::splat(Shape::f32([3, 3]), 1.0).unwrap();
    let seen: Vec<bool> = run_eager(&module, vec![ones], 0).unwrap().data().iter().map(|v| *v == 2.0).collect();
    assert_eq!(seen, [true, false, false, true, true, false, true, true, true]);
}
