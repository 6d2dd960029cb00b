//! Aten operations one by one: graphs of one node, made here, with results worked out by hand or by the definition.

mod files;
mod moves;
mod torch_values;
mod values;

use neuronscope::container::ByteSource;
use neuronscope::program::eval::evaluate;
use neuronscope::program::{ArrayType, ElementType, ImportOptions, ImportedModel, Numbers, Value};
use neuronscope::readers::read_model;
use serde_json::{Value as Json, json};

/// A tensor: sizes, numbers, torch's number of its element type (7 is f32, 5 s64, 12 bool).
type Tensor = (Vec<u64>, Vec<f64>, i64);

/// A node: its target, arguments, results by name.
type Node<'a> = (&'a str, Json, Vec<(&'a str, &'a Tensor)>);

/// A function with its target and the arguments after the operand.
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
pub(super) fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
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

fn import(bytes: &dyn ByteSource) -> ImportedModel {
    read_model("one.pt2", bytes, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs a graph and compares its results.
fn check_file(name: &str, bytes: &dyn ByteSource, inputs: &[Tensor], expected: &[&Tensor]) {
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
