//! Aten operations that compute: expected values by definition, or worked out by hand.

use serde_json::{Value as Json, json};

use super::{Case, Tensor, check, count, f, flag, float, i, int, ints, x};

#[test]
fn activations() {
    let rows = f(&[4], &[-2.0, -0.5, 0.0, 3.0]);
    let cases: [Case<'_>; 14] = [
        ("relu.default", json!([]), |x| x.max(0.0)),
        ("silu.default", json!([]), |x| x / (1.0 + libm::exp(-x))),
        ("gelu.default", json!([]), |x| 0.5 * x * (1.0 + libm::erf(x / 2f64.sqrt()))),
        ("gelu.default", json!([["approximate", {"as_string": "tanh"}]]), |x| {
            0.5 * x * (1.0 + libm::tanh(0.797_884_560_802_865_4 * (x + 0.044_715 * x * x * x)))
        }),
        ("mish.default", json!([]), |x| x * libm::tanh(libm::log1p(libm::exp(x)))),
        ("softplus.default", json!([["beta", {"as_float": 2.0}]]), |x| libm::log1p(libm::exp(2.0 * x)) / 2.0),
        ("elu.default", json!([["alpha", {"as_float": 0.5}]]), |x| if x > 0.0 { x } else { 0.5 * libm::expm1(x) }),
        ("hardswish.default", json!([]), |x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0),
        ("hardtanh.default", json!([]), |x| x.clamp(-1.0, 1.0)),
        ("leaky_relu.default", json!([]), |x| if x > 0.0 { x } else { 0.01 * x }),
        ("log_sigmoid.default", json!([]), |x| -libm::log1p(libm::exp(-x))),
        ("softshrink.default", json!([]), |x| {
            if x > 0.5 {
                x - 0.5
            } else if x < -0.5 {
                x + 0.5
            } else {
                0.0
            }
        }),
        ("trunc.default", json!([]), f64::trunc),
        ("pow.Tensor_Scalar", json!([["exponent", {"as_int": 3}]]), |x| x * x * x),
    ];
    for (target, more, function) in cases {
        let mut arguments = vec![json!(["self", x(0)])];
        arguments.extend(more.as_array().unwrap().iter().cloned());
        let want: Vec<f64> = rows.1.iter().map(|&x| function(x)).collect();
        check(target, std::slice::from_ref(&rows), json!(arguments), &[f(&[4], &want)]);
    }
    check("glu.default", &[f(&[1, 4], &[1.0, 2.0, 0.0, 0.0])], json!([["self", x(0)]]), &[f(&[1, 2], &[0.5, 1.0])]);
}

#[test]
fn quotients_and_comparisons() {
    let (a, b) = (i(&[4], &[7.0, -7.0, 7.0, -7.0]), i(&[4], &[2.0, 2.0, -2.0, -2.0]));
    let both = [a.clone(), b];
    let two = json!([["self", x(0)], ["other", x(1)]]);
    check("floor_divide.default", &both, two.clone(), &[i(&[4], &[3.0, -4.0, -4.0, 3.0])]);
    check("remainder.Tensor", &both, two.clone(), &[i(&[4], &[1.0, 1.0, -1.0, -1.0])]);
    check("fmod.Tensor", &both, two.clone(), &[i(&[4], &[1.0, -1.0, 1.0, -1.0])]);
    check("div.Tensor", &both, two, &[f(&[4], &[3.5, -3.5, -3.5, 3.5])]);
    let trunc = json!([["self", x(0)], ["other", x(1)], ["rounding_mode", {"as_string": "trunc"}]]);
    check("div.Tensor_mode", &both, trunc, &[i(&[4], &[3.0, -3.0, -3.0, 3.0])]);
    // A whole tensor and a number with a fraction are compared as floats.
    check(
        "gt.Scalar",
        &[a],
        json!([["self", x(0)], ["other", float(6.5)]]),
        &[(vec![4], vec![1.0, 0.0, 1.0, 0.0], 12)],
    );
    let alpha = json!([["self", x(0)], ["other", x(1)], ["alpha", int(2)]]);
    check(
        "sub.Tensor",
        &[f(&[2, 1], &[1.0, 2.0]), f(&[2], &[1.0, 3.0])],
        alpha,
        &[f(&[2, 2], &[-1.0, -5.0, 0.0, -4.0])],
    );
}

#[test]
fn norms() {
    let s = 1.5f64.sqrt();
    let rows = f(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 6.0, 8.0]);
    let eps = |e: f64| json!(["eps", float(e)]);
    let want = f(&[2, 3], &[-s, 0.0, s, -s, 0.0, s]);
    check(
        "layer_norm.default",
        std::slice::from_ref(&rows),
        json!([["input", x(0)], ["normalized_shape", ints(&[3])], eps(0.0)]),
        std::slice::from_ref(&want),
    );
    // Two groups of channels of one image, each over its own channel and pixels.
    let image = f(&[1, 2, 3], &[1.0, 2.0, 3.0, 4.0, 6.0, 8.0]);
    let weights = [image, f(&[2], &[1.0, 2.0]), f(&[2], &[0.0, 1.0])];
    let arguments = json!([["input", x(0)], ["num_groups", int(2)], ["weight", x(1)], ["bias", x(2)], eps(0.0)]);
    check(
        "group_norm.default",
        &weights,
        arguments,
        &[f(&[1, 2, 3], &[-s, 0.0, s, 1.0 - 2.0 * s, 1.0, 1.0 + 2.0 * s])],
    );
    let r = (14.0f64 / 3.0).sqrt();
    check(
        "rms_norm.default",
        &[f(&[1, 3], &[1.0, 2.0, 3.0])],
        json!([["input", x(0)], ["normalized_shape", ints(&[3])], eps(0.0)]),
        &[f(&[1, 3], &[1.0 / r, 2.0 / r, 3.0 / r])],
    );
    check(
        "var.correction",
        std::slice::from_ref(&rows),
        json!([["self", x(0)], ["dim", ints(&[1])], ["correction", int(1)]]),
        &[f(&[2], &[1.0, 4.0])],
    );
    check(
        "std.correction",
        std::slice::from_ref(&rows),
        json!([["self", x(0)], ["dim", ints(&[1])], ["keepdim", flag(true)]]),
        &[f(&[2, 1], &[1.0, 2.0])],
    );
    check(
        "linalg_vector_norm.default",
        &[f(&[2], &[3.0, -4.0])],
        json!([["self", x(0)], ["ord", float(2.0)]]),
        &[f(&[], &[5.0])],
    );
}

#[test]
fn reductions_and_orders() {
    let m = f(&[2, 3], &[3.0, 1.0, 2.0, 5.0, 9.0, 9.0]);
    let one = |t: &str, a: Json, want: &[Tensor]| check(t, std::slice::from_ref(&m), a, want);
    let dim = json!([["self", x(0)], ["dim", int(1)]]);
    one("max.dim", dim.clone(), &[f(&[2], &[3.0, 9.0]), i(&[2], &[0.0, 1.0])]);
    one("argmin.default", dim.clone(), &[i(&[2], &[1.0, 0.0])]);
    one("cumsum.default", dim.clone(), &[f(&[2, 3], &[3.0, 4.0, 6.0, 5.0, 14.0, 23.0])]);
    one(
        "logsumexp.default",
        json!([["self", x(0)], ["dim", ints(&[0, 1])]]),
        &[f(&[], &[9.0 + libm::log(2.0 + libm::exp(-4.0) + libm::exp(-6.0) + libm::exp(-7.0) + libm::exp(-8.0))])],
    );
    one(
        "topk.default",
        json!([["self", x(0)], ["k", int(2)]]),
        &[f(&[2, 2], &[3.0, 2.0, 9.0, 9.0]), i(&[2, 2], &[0.0, 2.0, 1.0, 2.0])],
    );
    one(
        "sort.default",
        json!([["self", x(0)], ["dim", int(0)], ["descending", flag(true)]]),
        &[f(&[2, 3], &[5.0, 9.0, 9.0, 3.0, 1.0, 2.0]), i(&[2, 3], &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0])],
    );
    one("any.dim", dim, &[(vec![2], vec![1.0, 1.0], 12)]);
    one("mean.default", json!([["self", x(0)]]), &[f(&[], &[29.0 / 6.0])]);
    let e = libm::exp(-1.0);
    check(
        "softmax.int",
        &[f(&[1, 2], &[1.0, 0.0])],
        json!([["self", x(0)], ["dim", int(-1)]]),
        &[f(&[1, 2], &[1.0 / (1.0 + e), e / (1.0 + e)])],
    );
}

#[test]
fn products() {
    let (a, b) = (count(&[2, 2]), f(&[2, 2], &[1.0, 0.0, 0.0, 2.0]));
    let sum = |equation: &str| json!([["equation", {"as_string": equation}], ["operands", {"as_tensors": [{"name": "x0"}, {"name": "x1"}]}]]);
    let both = [a, b];
    check("einsum.default", &both, sum("ij,jk->ik"), &[f(&[2, 2], &[0.0, 2.0, 2.0, 6.0])]);
    check("einsum.default", &both, sum("...ij,...kj->...ki"), &[f(&[2, 2], &[0.0, 2.0, 2.0, 6.0])]);
    check("einsum.default", &both, sum("ij,kl->"), &[f(&[], &[18.0])]);
    check(
        "addmm.default",
        &[f(&[2], &[1.0, 1.0]), both[0].clone(), both[1].clone()],
        json!([["self", x(0)], ["mat1", x(1)], ["mat2", x(2)], ["beta", int(2)]]),
        &[f(&[2, 2], &[2.0, 4.0, 4.0, 8.0])],
    );
    // A transposed convolution places the kernel at every second position; two groups of one channel each.
    let kernel = f(&[2, 1, 2], &[1.0, 10.0, 2.0, 20.0]);
    let arguments = json!([["input", x(0)], ["weight", x(1)], ["bias", {"as_none": true}], ["stride", ints(&[2])], ["padding", ints(&[0])], ["output_padding", ints(&[1])], ["groups", int(2)]]);
    check(
        "conv_transpose1d.default",
        &[f(&[1, 2, 2], &[1.0, 2.0, 3.0, 4.0]), kernel],
        arguments,
        &[f(&[1, 2, 5], &[1.0, 10.0, 2.0, 20.0, 0.0, 6.0, 60.0, 8.0, 80.0, 0.0])],
    );
    // Queries see keys up to their own position; four heads of queries share two heads of keys.
    let (q, k) = (f(&[1, 4, 2, 1], &[0.0; 8]), f(&[1, 2, 2, 1], &[0.0; 4]));
    let v = f(&[1, 2, 2, 1], &[1.0, 3.0, 10.0, 30.0]);
    let arguments =
        json!([["query", x(0)], ["key", x(1)], ["value", x(2)], ["is_causal", flag(true)], ["enable_gqa", flag(true)]]);
    check(
        "scaled_dot_product_attention.default",
        &[q, k, v],
        arguments,
        &[f(&[1, 4, 2, 1], &[1.0, 2.0, 1.0, 2.0, 10.0, 20.0, 10.0, 20.0])],
    );
}

#[test]
fn running_extremes_with_their_places() {
    let x0 = f(&[5], &[1.0, 3.0, 3.0, 2.0, 5.0]);
    let along = json!([["self", x(0)], ["dim", int(0)]]);
    let want = [f(&[5], &[1.0, 3.0, 3.0, 3.0, 5.0]), i(&[5], &[0.0, 1.0, 2.0, 2.0, 4.0])];
    check("cummax.default", std::slice::from_ref(&x0), along.clone(), &want);
    let want = [f(&[5], &[1.0; 5]), i(&[5], &[0.0; 5])];
    check("cummin.default", &[x0], along, &want);
}

#[test]
fn distances_between_rows() {
    let rows = [f(&[2, 2], &[0.0, 0.0, 3.0, 4.0]), f(&[1, 2], &[3.0, 0.0])];
    let by = |p: f64| json!([["x1", x(0)], ["x2", x(1)], ["p", float(p)]]);
    check("cdist.default", &rows, by(2.0), &[f(&[2, 1], &[3.0, 4.0])]);
    check("cdist.default", &[rows[0].clone(), f(&[1, 2], &[1.0, 1.0])], by(1.0), &[f(&[2, 1], &[2.0, 5.0])]);
}

#[test]
fn losses() {
    let both = [f(&[3], &[0.0, 1.0, 4.0]), f(&[3], &[0.0, 0.5, 1.0])];
    let two = |how: i64| json!([["self", x(0)], ["target", x(1)], ["reduction", int(how)]]);
    check("mse_loss.default", &both, two(2), &[f(&[], &[9.25])]);
    check("l1_loss.default", &both, two(0), &[f(&[3], &[0.0, 0.5, 3.0])]);
    check("smooth_l1_loss.default", &both, two(0), &[f(&[3], &[0.0, 0.125, 2.5])]);
    let huber = json!([["self", x(0)], ["target", x(1)], ["reduction", int(0)], ["delta", float(2.0)]]);
    check("huber_loss.default", &both, huber, &[f(&[3], &[0.0, 0.125, 4.0])]);
    let halves = [f(&[2, 2], &[0.0, 0.0, 0.0, 0.0]), i(&[2], &[1.0, -100.0])];
    check("cross_entropy_loss.default", &halves, two(1), &[f(&[], &[libm::log(2.0)])]);
    let shares = [f(&[2, 2], &[-1.0, -2.0, -3.0, -4.0]), i(&[2], &[1.0, 0.0])];
    check("nll_loss_nd.default", &shares, two(1), &[f(&[], &[2.5])]);
    let certain = [f(&[2], &[0.0, 2.0]), f(&[2], &[1.0, 0.0])];
    let want = f(&[2], &[libm::log(2.0), 2.0 + libm::log1p(libm::exp(-2.0))]);
    check("binary_cross_entropy_with_logits.default", &certain, two(0), &[want]);
}

#[test]
fn a_picture_at_places_between_its_elements() {
    let picture = [f(&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0]), f(&[1, 1, 2, 2], &[0.0, 0.0, 1.5, -0.5])];
    let by = |mode: i64, padding: i64, aligned: bool| {
        json!([
            ["input", x(0)],
            ["grid", x(1)],
            ["interpolation_mode", int(mode)],
            ["padding_mode", int(padding)],
            ["align_corners", flag(aligned)]
        ])
    };
    check("grid_sampler.default", &picture, by(0, 0, false), &[f(&[1, 1, 1, 2], &[2.5, 0.0])]);
    check("grid_sampler_2d.default", &picture, by(0, 1, false), &[f(&[1, 1, 1, 2], &[2.5, 2.0])]);
}

#[test]
fn the_place_of_the_largest_is_the_first_nan() {
    let x0 = f(&[4], &[1.0, f64::NAN, 3.0, f64::NAN]);
    for target in ["argmax.default", "argmin.default"] {
        check(target, std::slice::from_ref(&x0), json!([["self", x(0)], ["dim", int(0)]]), &[i(&[], &[1.0])]);
    }
    let rows = f(&[2, 2], &[1.0, 2.0, f64::NAN, 9.0]);
    check("argmax.default", &[rows], json!([["self", x(0)], ["dim", int(1)]]), &[i(&[2], &[1.0, 0.0])]);
}

#[test]
fn a_bilinear_layer_is_two_products() {
    // x W y for two W: 1*3 + 2*4, and 1*4 + 2*3.
    let inputs =
        [f(&[1, 2], &[1.0, 2.0]), f(&[2, 2, 2], &[1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]), f(&[1, 2], &[3.0, 4.0])];
    let lists = [("expand1", [1, 3].as_slice()), ("expand2", &[0]), ("expand3", &[1, 2]), ("sumdim", &[2, 3])];
    let mut arguments = vec![json!(["i1", x(0)]), json!(["i2", x(1)]), json!(["i3", x(2)])];
    arguments.extend(lists.iter().map(|(name, dims)| json!([name, ints(dims)])));
    let y = f(&[1, 2], &[11.0, 10.0]);
    check("_trilinear.default", &inputs, json!(arguments), std::slice::from_ref(&y));
    let bytes = super::file(&inputs, &[("_trilinear.default", json!(arguments), vec![("y0", &y)])]);
    // 2 x 2 x 2 multiply-adds with the weights, 2 x 2 with the second input.
    assert_eq!(neuronscope::program::flops(&super::import(&bytes).program).count, 2 * (8 + 4));
}
