//! Models of a few nodes, written byte by byte, then read and evaluated.

mod back;
mod damaged;
mod errors;
mod graphs;
mod layout;
mod norms;
mod products;
mod regions;
mod shapes;
mod spectral;
mod weights;

use super::super::read_onnx;
use ns_program::eval::evaluate;
use ns_program::{ArrayType, ElementType, ImportError, ImportOptions, ImportedModel, Numbers, Value};

/// A number of variable length.
pub fn varint(mut n: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

/// A field that is a number.
pub fn num(field: u64, n: i64) -> Vec<u8> {
    [varint(field << 3), varint(n as u64)].concat()
}

/// A field that is bytes, text or a message.
pub fn msg(field: u64, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

/// Name and type of a value: element type by ONNX's number.
pub fn info(name: &str, element: i64, dims: &[i64]) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|&d| msg(1, num(1, d))).collect();
    let array = [num(1, element), msg(2, dims)].concat();
    [msg(1, name), msg(2, msg(1, array))].concat()
}

/// An array of single-precision numbers.
pub fn floats(name: &str, dims: &[i64], numbers: &[f32]) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|&d| num(1, d)).collect();
    let raw: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    [dims, num(2, 1), msg(8, name), msg(9, raw)].concat()
}

/// An array of whole numbers of 64 bits.
pub fn ints(name: &str, dims: &[i64], numbers: &[i64]) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|&d| num(1, d)).collect();
    let raw: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    [dims, num(2, 7), msg(8, name), msg(9, raw)].concat()
}

pub enum A<'a> {
    I(&'a str, i64),
    F(&'a str, f32),
    S(&'a str, &'a str),
    Ints(&'a str, &'a [i64]),
    G(&'a str, Vec<u8>),
    T(&'a str, Vec<u8>),
    Ref(&'a str, &'a str),
}

impl A<'_> {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::I(name, n) => [msg(1, name), num(3, *n), num(20, 2)].concat(),
            Self::F(name, n) => [msg(1, name), vec![0x15], n.to_le_bytes().to_vec(), num(20, 1)].concat(),
            Self::S(name, text) => [msg(1, name), msg(4, text), num(20, 3)].concat(),
            Self::Ints(name, all) => {
                let list: Vec<u8> = all.iter().flat_map(|&n| num(8, n)).collect();
                [msg(1, name), list, num(20, 7)].concat()
            }
            Self::G(name, graph) => [msg(1, name), msg(6, graph), num(20, 5)].concat(),
            Self::T(name, tensor) => [msg(1, name), msg(5, tensor), num(20, 4)].concat(),
            Self::Ref(name, of) => [msg(1, name), msg(21, of), num(20, 2)].concat(),
        }
    }
}

/// A node of ONNX's own domain; names are separated by blanks, `_` is a value that is left out.
pub fn node(op: &str, reads: &str, gives: &str, attributes: &[A<'_>]) -> Vec<u8> {
    node_of("", op, reads, gives, attributes)
}

/// A node of any domain.
pub fn node_of(domain: &str, op: &str, reads: &str, gives: &str, attributes: &[A<'_>]) -> Vec<u8> {
    let names = |field: u64, list: &str| -> Vec<u8> {
        list.split_whitespace().flat_map(|n| msg(field, if n == "_" { "" } else { n })).collect()
    };
    let attributes: Vec<u8> = attributes.iter().flat_map(|a| msg(5, a.bytes())).collect();
    [names(1, reads), names(2, gives), msg(4, op), msg(7, domain), attributes].concat()
}

pub fn graph(nodes: &[Vec<u8>], arrays: &[Vec<u8>], inputs: &[Vec<u8>], outputs: &[&str]) -> Vec<u8> {
    let part = |field: u64, all: &[Vec<u8>]| -> Vec<u8> { all.iter().flat_map(|one| msg(field, one)).collect() };
    let outputs: Vec<u8> = outputs.iter().flat_map(|name| msg(12, msg(1, name))).collect();
    [part(1, nodes), msg(2, "g"), part(5, arrays), part(11, inputs), outputs].concat()
}

/// A file of a graph whose operators have version `opset`.
pub fn file(graph: &[u8], opset: i64) -> Vec<u8> {
    [num(1, 9), msg(7, graph), msg(8, num(2, opset))].concat()
}

pub fn read(file: &[u8]) -> Result<ImportedModel, ImportError> {
    read_onnx(&file.to_vec(), &ImportOptions::default())
}

pub struct X<'a>(pub &'a [u64], pub &'a [f64]);

/// Numbers of the first result of one operator, applied to `x` and to arrays of the file, and the sizes of the result.
pub fn run(opset: i64, x: X<'_>, arrays: &[Vec<u8>], node: Vec<u8>) -> (Vec<u64>, Vec<f64>) {
    let dims: Vec<i64> = x.0.iter().map(|&d| d as i64).collect();
    let graph = graph(&[node], arrays, &[info("x", 1, &dims)], &["y"]);
    compute(&file(&graph, opset), &[x])
}

/// Numbers and sizes of the first result of a file; its weights are those in the file.
pub fn compute(file: &[u8], inputs: &[X<'_>]) -> (Vec<u64>, Vec<f64>) {
    let imported = read(file).unwrap();
    let mut inputs = inputs.iter();
    let parameters = imported
        .program
        .parameters
        .iter()
        .map(|p| match &p.data {
            ns_program::WeightData::Inline(value) => Value::clone(value),
            _ => {
                let X(dims, numbers) = inputs.next().unwrap();
                Value { ty: ArrayType::new(ElementType::F32, *dims), numbers: Numbers::Real(numbers.to_vec()) }
            }
        })
        .collect();
    let outputs = evaluate(&imported.program, parameters, 1 << 24).unwrap().outputs;
    let numbers = match &outputs[0].numbers {
        Numbers::Real(v) => v.clone(),
        Numbers::Whole(v) => v.iter().map(|&n| n as f64).collect(),
        Numbers::Complex(_) => Vec::new(),
    };
    (outputs[0].ty.dims.clone(), numbers)
}

/// Whether numbers are the same within 1e-5.
pub fn close(given: &[f64], expected: &[f64]) {
    assert_eq!(given.len(), expected.len(), "{given:?}, expected {expected:?}");
    for (a, b) in given.iter().zip(expected) {
        assert!((a - b).abs() < 1e-5 * b.abs().max(1.0), "{given:?}, expected {expected:?}");
    }
}
