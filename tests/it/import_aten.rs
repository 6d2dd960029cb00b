//! Aten operations one by one: graphs of one node, made here, with results worked out by hand or by the definition.

use neuronscope::import::eval::evaluate;
use neuronscope::import::program::{ArrayType, ElementType, Numbers, Value};
use neuronscope::import::{ImportOptions, Imported, ModelBytes, read_model};
use serde_json::{Value as Json, json};

/// A tensor: sizes, numbers, torch's number of its element type (7 is f32, 5 s64, 12 bool).
type Tensor = (Vec<u64>, Vec<f64>, i64);

/// A node: its target, arguments, results by name.
type Node<'a> = (&'a str, Json, Vec<(&'a str, &'a Tensor)>);

/// A function with its target and the arguments behind the operand.
type Case<'a> = (&'a str, Json, fn(f64) -> f64);

/// A tensor of f32.
fn f(dims: &[u64], numbers: &[f64]) -> Tensor {
    (dims.to_vec(), numbers.to_vec(), 7)
}

/// A tensor of s64.
fn i(dims: &[u64], numbers: &[f64]) -> Tensor {
    (dims.to_vec(), numbers.to_vec(), 5)
}

/// 0, 1, 2 .. as f32.
fn count(dims: &[u64]) -> Tensor {
    let n = dims.iter().product::<u64>();
    (dims.to_vec(), (0..n).map(|i| i as f64).collect(), 7)
}

/// A stored zip archive.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let (at, size, names) = (out.len() as u32, content.len() as u32, name.len() as u16);
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        common.extend(size.to_le_bytes());
        common.extend(size.to_le_bytes());
        common.extend(names.to_le_bytes());
        common.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(*content);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (at, size, n) = (out.len() as u32, directory.len() as u32, entries.len() as u16);
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([n.to_le_bytes(), n.to_le_bytes()].concat());
    out.extend(size.to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0, 0]);
    out
}

fn meta(dims: &[u64], dtype: i64) -> Json {
    let sizes: Vec<Json> = dims.iter().map(|n| json!({ "as_int": n })).collect();
    json!({"dtype": dtype, "sizes": sizes, "strides": [], "requires_grad": false, "layout": 7})
}

/// A graph of nodes `(target, arguments, results)` over inputs `x0`, `x1` .. whose results are those of the last node.
fn file(inputs: &[Tensor], nodes: &[Node<'_>]) -> Vec<u8> {
    let mut tensors = serde_json::Map::new();
    let mut specs = Vec::new();
    for (at, (dims, _, dtype)) in inputs.iter().enumerate() {
        tensors.insert(format!("x{at}"), meta(dims, *dtype));
        specs.push(json!({"user_input": {"arg": {"as_tensor": {"name": format!("x{at}")}}}}));
    }
    let mut made = Vec::new();
    for (target, arguments, results) in nodes {
        let inputs: Vec<Json> =
            arguments.as_array().unwrap().iter().map(|a| json!({"name": a[0], "arg": a[1], "kind": 1})).collect();
        let outputs: Vec<Json> = results.iter().map(|(name, _)| json!({"as_tensor": {"name": name}})).collect();
        for (name, (dims, _, dtype)) in results {
            tensors.insert((*name).to_owned(), meta(dims, *dtype));
        }
        made.push(
            json!({"target": format!("torch.ops.aten.{target}"), "inputs": inputs, "outputs": outputs, "metadata": {}}),
        );
    }
    let last: Vec<Json> =
        nodes.last().unwrap().2.iter().map(|(name, _)| json!({"as_tensor": {"name": name}})).collect();
    let outputs: Vec<Json> = last.iter().map(|arg| json!({"user_output": {"arg": arg}})).collect();
    let inputs: Vec<Json> = specs.iter().map(|s| s["user_input"]["arg"].clone()).collect();
    let graph =
        json!({"inputs": inputs, "outputs": last, "nodes": made, "tensor_values": tensors, "sym_int_values": {}});
    let program = json!({
        "graph_module": {"graph": graph, "signature": {"input_specs": specs, "output_specs": outputs}},
        "range_constraints": {}, "schema_version": {"major": 8, "minor": 14}, "torch_version": "2.9.1",
    });
    archive(&[("m/models/model.json", program.to_string().as_bytes())])
}

fn value((dims, numbers, dtype): &Tensor) -> Value {
    let element = match dtype {
        5 => ElementType::S64,
        12 => ElementType::Pred,
        _ => ElementType::F32,
    };
    let numbers = match element {
        ElementType::F32 => Numbers::Real(numbers.clone()),
        _ => Numbers::Whole(numbers.iter().map(|&n| n as i64).collect()),
    };
    Value { ty: ArrayType::new(element, dims.clone()), numbers }
}

fn import(bytes: &dyn ModelBytes) -> Imported {
    read_model("one.pt2", bytes, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs a graph and compares what it gives.
fn check_file(name: &str, bytes: &dyn ModelBytes, inputs: &[Tensor], expected: &[&Tensor]) {
    let imported = import(bytes);
    assert!(imported.inspection.unsupported.is_empty(), "{name}: {:?}", imported.inspection.notes);
    let given = evaluate(&imported.program, inputs.iter().map(value).collect(), 10_000_000).unwrap().outputs;
    for (given, want) in given.iter().zip(expected) {
        let want = value(want);
        assert_eq!(given.ty, want.ty, "{name}");
        let distance = super::import_npz::distance(given, &want);
        assert!(distance < 2e-6, "{name}: {:?}, not {:?}", given.numbers, want.numbers);
    }
}

/// One node: its arguments are JSON, tensors in them `x0`, `x1` ..
fn check(target: &str, inputs: &[Tensor], arguments: Json, expected: &[Tensor]) {
    let names = ["y0", "y1", "y2"];
    let results: Vec<(&str, &Tensor)> = names.into_iter().zip(expected).collect();
    let bytes = file(inputs, &[(target, arguments, results)]);
    check_file(target, &bytes, inputs, &expected.iter().collect::<Vec<_>>());
}

fn x(at: usize) -> Json {
    json!({"as_tensor": {"name": format!("x{at}")}})
}

fn ints(all: &[i64]) -> Json {
    json!({ "as_ints": all })
}

fn int(n: i64) -> Json {
    json!({ "as_int": n })
}

fn float(n: f64) -> Json {
    json!({ "as_float": n })
}

fn flag(v: bool) -> Json {
    json!({ "as_bool": v })
}

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
fn shapes() {
    let m = count(&[2, 3]);
    let one = |t: &str, a: Json, want: Tensor| check(t, std::slice::from_ref(&m), a, &[want]);
    one(
        "permute.default",
        json!([["self", x(0)], ["dims", ints(&[1, 0])]]),
        f(&[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]),
    );
    one(
        "repeat.default",
        json!([["self", x(0)], ["repeats", ints(&[2, 1])]]),
        f(&[4, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
    );
    one(
        "repeat_interleave.self_int",
        json!([["self", x(0)], ["repeats", int(2)], ["dim", int(0)]]),
        f(&[4, 3], &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 3.0, 4.0, 5.0]),
    );
    one(
        "roll.default",
        json!([["self", x(0)], ["shifts", ints(&[1])], ["dims", ints(&[1])]]),
        f(&[2, 3], &[2.0, 0.0, 1.0, 5.0, 3.0, 4.0]),
    );
    one("flip.default", json!([["self", x(0)], ["dims", ints(&[-1])]]), f(&[2, 3], &[2.0, 1.0, 0.0, 5.0, 4.0, 3.0]));
    one(
        "slice.Tensor",
        json!([["self", x(0)], ["dim", int(1)], ["start", int(-2)], ["end", int(i64::MAX)]]),
        f(&[2, 2], &[1.0, 2.0, 4.0, 5.0]),
    );
    one(
        "slice.Tensor",
        json!([["self", x(0)], ["dim", int(1)], ["start", int(0)], ["end", int(3)], ["step", int(2)]]),
        f(&[2, 2], &[0.0, 2.0, 3.0, 5.0]),
    );
    one(
        "constant_pad_nd.default",
        json!([["self", x(0)], ["pad", ints(&[1, -1])], ["value", float(9.0)]]),
        f(&[2, 3], &[9.0, 0.0, 1.0, 9.0, 3.0, 4.0]),
    );
    one(
        "reflection_pad1d.default",
        json!([["self", x(0)], ["padding", ints(&[2, 1])]]),
        f(&[2, 6], &[2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 5.0, 4.0, 3.0, 4.0, 5.0, 4.0]),
    );
    one("tril.default", json!([["self", x(0)]]), f(&[2, 3], &[0.0, 0.0, 0.0, 3.0, 4.0, 0.0]));
    one("triu.default", json!([["self", x(0)], ["diagonal", int(1)]]), f(&[2, 3], &[0.0, 1.0, 2.0, 0.0, 0.0, 5.0]));
    one("diff.default", json!([["self", x(0)]]), f(&[2, 2], &[1.0; 4]));
    one("unbind.int", json!([["self", x(0)], ["dim", int(1)]]), f(&[2], &[0.0, 3.0]));
    let shuffled = f(&[1, 2, 2], &[0.0, 1.0, 2.0, 3.0]);
    check(
        "pixel_shuffle.default",
        &[f(&[4, 1, 1], &[0.0, 1.0, 2.0, 3.0])],
        json!([["self", x(0)], ["upscale_factor", int(2)]]),
        &[shuffled],
    );
    check(
        "select.int",
        &[count(&[2, 3])],
        json!([["self", x(0)], ["dim", int(1)], ["index", int(-1)]]),
        &[f(&[2], &[2.0, 5.0])],
    );
    check(
        "cat.default",
        &[count(&[1, 2]), i(&[1, 1], &[7.0])],
        json!([["tensors", {"as_tensors": [{"name": "x0"}, {"name": "x1"}]}], ["dim", int(-1)]]),
        &[f(&[1, 3], &[0.0, 1.0, 7.0])],
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
fn pooling_and_resizing() {
    let image = count(&[1, 1, 5]);
    let one = |t: &str, a: Json, want: &[Tensor]| check(t, std::slice::from_ref(&image), a, want);
    one(
        "adaptive_avg_pool1d.default",
        json!([["self", x(0)], ["output_size", ints(&[3])]]),
        &[f(&[1, 1, 3], &[0.5, 2.0, 3.5])],
    );
    one(
        "avg_pool1d.default",
        json!([
            ["self", x(0)],
            ["kernel_size", ints(&[3])],
            ["stride", ints(&[2])],
            ["padding", ints(&[1])],
            ["count_include_pad", flag(false)]
        ]),
        &[f(&[1, 1, 3], &[0.5, 2.0, 3.5])],
    );
    one(
        "avg_pool1d.default",
        json!([["self", x(0)], ["kernel_size", ints(&[2])], ["stride", ints(&[2])], ["ceil_mode", flag(true)]]),
        &[f(&[1, 1, 3], &[0.5, 2.5, 4.0])],
    );
    one(
        "max_pool1d.default",
        json!([["self", x(0)], ["kernel_size", ints(&[3])], ["stride", ints(&[2])], ["padding", ints(&[1])]]),
        &[f(&[1, 1, 3], &[1.0, 3.0, 4.0])],
    );
    let square = f(&[1, 1, 2, 3], &[1.0, 5.0, 5.0, 2.0, 0.0, 7.0]);
    check(
        "max_pool2d_with_indices.default",
        &[square],
        json!([["self", x(0)], ["kernel_size", ints(&[2, 2])], ["stride", ints(&[1, 1])]]),
        &[f(&[1, 1, 1, 2], &[5.0, 7.0]), i(&[1, 1, 1, 2], &[1.0, 5.0])],
    );
    let pair = f(&[1, 1, 2], &[0.0, 3.0]);
    let resized = |t: &str, a: Json, want: &[f64]| {
        check(t, std::slice::from_ref(&pair), a, &[f(&[1, 1, want.len() as u64], want)])
    };
    resized("upsample_nearest1d.default", json!([["self", x(0)], ["output_size", ints(&[3])]]), &[0.0, 0.0, 3.0]);
    resized("upsample_nearest1d.default", json!([["self", x(0)], ["output_size", ints(&[4])]]), &[0.0, 0.0, 3.0, 3.0]);
    resized(
        "upsample_linear1d.default",
        json!([["self", x(0)], ["output_size", ints(&[4])], ["align_corners", flag(true)]]),
        &[0.0, 1.0, 2.0, 3.0],
    );
    resized(
        "upsample_linear1d.default",
        json!([["self", x(0)], ["output_size", ints(&[4])], ["align_corners", flag(false)]]),
        &[0.0, 0.75, 2.25, 3.0],
    );
}

#[test]
fn indices() {
    let m = count(&[3, 2]);
    let picked = json!([["self", x(0)], ["indices", {"as_tensors": [{"name": "x1"}, {"name": "x2"}]}]]);
    check("index.Tensor", &[m.clone(), i(&[2], &[2.0, -3.0]), i(&[2], &[1.0, 0.0])], picked, &[f(&[2], &[5.0, 0.0])]);
    let second = json!([["self", x(0)], ["indices", {"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x1"}}]}]]);
    check("index.Tensor", &[m.clone(), i(&[1], &[1.0])], second, &[f(&[3, 1], &[1.0, 3.0, 5.0])]);
    let put = json!([["self", x(0)], ["indices", {"as_tensors": [{"name": "x1"}]}], ["values", x(2)], ["accumulate", flag(true)]]);
    check(
        "index_put.default",
        &[m.clone(), i(&[2], &[1.0, 1.0]), f(&[2], &[10.0, 20.0])],
        put,
        &[f(&[3, 2], &[0.0, 1.0, 22.0, 43.0, 4.0, 5.0])],
    );
    let gather = json!([["self", x(0)], ["dim", int(1)], ["index", x(1)]]);
    check("gather.default", &[m.clone(), i(&[2, 1], &[1.0, 0.0])], gather, &[f(&[2, 1], &[1.0, 2.0])]);
    let scatter = json!([["self", x(0)], ["dim", int(0)], ["index", x(1)], ["src", x(2)]]);
    check(
        "scatter.src",
        &[m.clone(), i(&[1, 2], &[2.0, 0.0]), f(&[1, 2], &[8.0, 9.0])],
        scatter,
        &[f(&[3, 2], &[0.0, 9.0, 2.0, 3.0, 8.0, 5.0])],
    );
    let part =
        json!([["self", x(0)], ["src", x(1)], ["dim", int(0)], ["start", int(1)], ["end", int(3)], ["step", int(2)]]);
    check("slice_scatter.default", &[m, f(&[1, 2], &[8.0, 9.0])], part, &[f(&[3, 2], &[0.0, 1.0, 8.0, 9.0, 4.0, 5.0])]);
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
    // A transposed convolution puts the kernel down at every second place; two groups of one channel each.
    let kernel = f(&[2, 1, 2], &[1.0, 10.0, 2.0, 20.0]);
    let arguments = json!([["input", x(0)], ["weight", x(1)], ["bias", {"as_none": true}], ["stride", ints(&[2])], ["padding", ints(&[0])], ["output_padding", ints(&[1])], ["groups", int(2)]]);
    check(
        "conv_transpose1d.default",
        &[f(&[1, 2, 2], &[1.0, 2.0, 3.0, 4.0]), kernel],
        arguments,
        &[f(&[1, 2, 5], &[1.0, 10.0, 2.0, 20.0, 0.0, 6.0, 60.0, 8.0, 80.0, 0.0])],
    );
    // Queries see keys up to their own place; four heads of queries share two of keys.
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
fn writes_through_views_reach_the_whole() {
    // y = x; y[:, ::2] *= 10 through a transposed view; the result is all of y.
    let input = count(&[2, 3]);
    let (whole, turned, part) = (count(&[2, 3]), count(&[3, 2]), count(&[2, 2]));
    let want = f(&[2, 3], &[0.0, 1.0, 20.0, 30.0, 4.0, 50.0]);
    let name = |n: &str| json!({"as_tensor": {"name": n}});
    let nodes = [
        ("clone.default", json!([["self", x(0)]]), vec![("y", &whole)]),
        ("permute.default", json!([["self", name("y")], ["dims", ints(&[1, 0])]]), vec![("t", &turned)]),
        (
            "slice.Tensor",
            json!([["self", name("t")], ["dim", int(0)], ["start", int(0)], ["end", int(3)], ["step", int(2)]]),
            vec![("p", &part)],
        ),
        ("mul_.Tensor", json!([["self", name("p")], ["other", int(10)]]), vec![("m", &part)]),
        ("alias.default", json!([["self", name("y")]]), vec![("out", &whole)]),
    ];
    check_file("writes", &file(std::slice::from_ref(&input), &nodes), std::slice::from_ref(&input), &[&want]);
}

#[test]
fn bare_infinities_of_python_are_read() {
    let input = f(&[2], &[1.0, 2.0]);
    let mask: Tensor = (vec![2], vec![1.0, 0.0], 12);
    let want = f(&[2], &[-7.0, 2.0]);
    let arguments = json!([["self", x(0)], ["mask", x(1)], ["value", float(-7.0)]]);
    let bytes = file(&[input.clone(), mask.clone()], &[("masked_fill.Scalar", arguments, vec![("y", &want)])]);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let at = text.find("\"as_float\":-7.0").unwrap();
    assert!(at > 0);
    let start = bytes.windows(4).position(|w| w == b"-7.0").unwrap();
    // The archive's sizes change with the text: only the JSON is taken.
    let begin = bytes.iter().position(|&b| b == b'{').unwrap();
    let end = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    let json = [&bytes[begin..start], b"-Infinity", &bytes[start + 4..end]].concat();
    let bytes = archive(&[("m/models/model.json", &json)]);
    let imported = import(&bytes);
    let given = evaluate(&imported.program, vec![value(&input), value(&mask)], 1000).unwrap().outputs;
    assert_eq!(given[0].numbers, Numbers::Real(vec![f64::NEG_INFINITY, 2.0]));
}

#[test]
fn large_graphs_and_long_names_are_read_within_bounds() {
    let input = count(&[2]);
    let kind = meta(&[2], 7);
    let (mut nodes, mut values) = (Vec::new(), vec![format!("\"x0\":{kind}")]);
    let mut before = "x0".to_owned();
    for at in 0..100_000 {
        let (from, to) =
            (format!(r#"{{"as_tensor":{{"name":"{before}"}}}}"#), format!(r#"{{"as_tensor":{{"name":"v{at}"}}}}"#));
        nodes.push(format!(
            r#"{{"target":"torch.ops.aten.relu_.default","inputs":[{{"name":"self","arg":{from}}}],"outputs":[{to}],"metadata":{{}}}}"#
        ));
        values.push(format!("\"v{at}\":{kind}"));
        before = format!("v{at}");
    }
    let (nodes, values) = (nodes.join(","), values.join(","));
    let (first, last) = (r#"{"as_tensor":{"name":"x0"}}"#, format!(r#"{{"as_tensor":{{"name":"{before}"}}}}"#));
    let text = format!(
        r#"{{"graph_module":{{"graph":{{"inputs":[{first}],"outputs":[{last}],"nodes":[{nodes}],"tensor_values":{{{values}}}}},
        "signature":{{"input_specs":[{{"user_input":{{"arg":{first}}}}}],"output_specs":[{{"user_output":{{"arg":{last}}}}}]}}}},
        "schema_version":{{"major":8,"minor":14}}}}"#
    );
    let imported = import(&archive(&[("m/models/model.json", text.as_bytes())]));
    assert_eq!(imported.inspection.ops["torch.ops.aten.relu_.default"], 100_000);
    let long = "n".repeat(1 << 20);
    let nodes = [("nosuch.default", json!([["self", x(0)]]), vec![(long.as_str(), &input)])];
    let imported = import(&file(std::slice::from_ref(&input), &nodes));
    assert!(imported.inspection.unsupported[0].first.len() <= 200);
}

#[test]
fn archives_packed_again_are_read_and_bombs_are_not() {
    let input = count(&[2]);
    let plain = file(std::slice::from_ref(&input), &[("relu.default", json!([["self", x(0)]]), vec![("y", &input)])]);
    let deflated = |content: &[u8], claimed: u32| {
        let packed = miniz_oxide::deflate::compress_to_vec(content, 6);
        let mut bytes = archive(&[("m/models/model.json", &packed)]);
        for (at, from) in [(0, b"PK\x03\x04"), (6, b"PK\x01\x02")] {
            let header = bytes.windows(4).rposition(|w| w == from).unwrap() + usize::from(at == 6) * 2;
            bytes[header + 8..header + 10].copy_from_slice(&[8, 0]);
            bytes[header + 22..header + 26].copy_from_slice(&claimed.to_le_bytes());
        }
        bytes
    };
    let begin = plain.iter().position(|&b| b == b'{').unwrap();
    let end = plain.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    let json = &plain[begin..end];
    assert_eq!(import(&deflated(json, json.len() as u32)).inspection.ops.len(), 1);
    // Blanks said to be four gigabytes, or a hundred bytes.
    let bomb = vec![b' '; 1 << 20];
    for claimed in [u32::MAX - 1, 100] {
        let error = read_model("bomb.pt2", &deflated(&bomb, claimed), &ImportOptions::default()).unwrap_err();
        assert!(error.to_string().contains("bytes"), "{error}");
    }
}
