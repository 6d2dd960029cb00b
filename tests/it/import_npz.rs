//! Arrays of NumPy's archives (`.npz`), for expected values.

use neuronscope::import::program::{ArrayType, ElementType, Numbers, Value};

/// The arrays of an archive by name, in its order.
pub fn arrays(bytes: &[u8]) -> Vec<(String, Value)> {
    let number = |at: usize, len: usize| bytes[at..at + len].iter().rev().fold(0usize, |n, &b| n << 8 | usize::from(b));
    let end = (0..=bytes.len() - 22).rev().find(|&at| bytes[at..at + 4] == *b"PK\x05\x06").expect("a zip archive");
    let (count, mut at) = (number(end + 10, 2), number(end + 16, 4));
    let mut found = Vec::new();
    for _ in 0..count {
        let (method, size) = (number(at + 10, 2), number(at + 20, 4));
        let (name_len, extra, comment, local) =
            (number(at + 28, 2), number(at + 30, 2), number(at + 32, 2), number(at + 42, 4));
        let name = String::from_utf8_lossy(&bytes[at + 46..at + 46 + name_len]).into_owned();
        let start = local + 30 + number(local + 26, 2) + number(local + 28, 2);
        let raw = &bytes[start..start + size];
        let content = match method {
            0 => raw.to_vec(),
            _ => miniz_oxide::inflate::decompress_to_vec(raw).expect("deflated content"),
        };
        found.push((name.trim_end_matches(".npy").to_owned(), array(&content)));
        at += 46 + name_len + extra + comment;
    }
    found
}

/// One array.
fn array(npy: &[u8]) -> Value {
    let long = usize::from(npy[8]) | usize::from(npy[9]) << 8;
    let header = String::from_utf8_lossy(&npy[10..10 + long]).into_owned();
    let after = |key: &str| header.split(key).nth(1).expect("a key of the header");
    assert!(after("'fortran_order':").trim_start().starts_with("False"), "{header}");
    let descr = after("'descr':").split('\'').nth(1).expect("a type").to_owned();
    let shape = after("'shape':").split(['(', ')']).nth(1).expect("sizes").to_owned();
    let dims: Vec<u64> = shape.split(',').filter_map(|d| d.trim().parse().ok()).collect();
    let element = match descr.as_str() {
        "<f4" => ElementType::F32,
        "<f8" => ElementType::F64,
        "<f2" => ElementType::F16,
        "<i8" => ElementType::S64,
        "<i4" => ElementType::S32,
        "|i1" => ElementType::S8,
        "|u1" => ElementType::U8,
        "|b1" => ElementType::Pred,
        other => panic!("an array of {other}"),
    };
    numbers(&npy[10 + long..], ArrayType::new(element, dims))
}

/// Little-endian numbers in row-major order.
pub fn numbers(bytes: &[u8], ty: ArrayType) -> Value {
    let width = (ty.element.bits() / 8) as usize;
    let count = ty.elements().unwrap() as usize;
    let word = |i: usize| bytes[i * width..(i + 1) * width].iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
    let numbers = match ty.element {
        ElementType::F32 => Numbers::Real((0..count).map(|i| f64::from(f32::from_bits(word(i) as u32))).collect()),
        ElementType::F64 => Numbers::Real((0..count).map(|i| f64::from_bits(word(i))).collect()),
        ElementType::F16 => Numbers::Real((0..count).map(|i| half::f16::from_bits(word(i) as u16).to_f64()).collect()),
        ElementType::S8 => Numbers::Whole((0..count).map(|i| i64::from(word(i) as i8)).collect()),
        ElementType::S32 => Numbers::Whole((0..count).map(|i| i64::from(word(i) as i32)).collect()),
        _ => Numbers::Whole((0..count).map(|i| word(i) as i64).collect()),
    };
    Value { ty, numbers }
}

/// The largest distance between two arrays, as a share of the largest expected number (and of 1e-3 at least).
pub fn distance(given: &Value, expected: &Value) -> f64 {
    assert_eq!(given.ty, expected.ty);
    let list = |v: &Value| match &v.numbers {
        Numbers::Real(v) => v.clone(),
        Numbers::Whole(v) => v.iter().map(|&n| n as f64).collect(),
        Numbers::Complex(v) => v.iter().flatten().copied().collect(),
    };
    let (a, b) = (list(given), list(expected));
    let most = b.iter().fold(1e-3f64, |m, n| m.max(n.abs()));
    a.iter().zip(&b).fold(0.0, |m: f64, (a, b)| m.max(if a == b { 0.0 } else { (a - b).abs() / most }))
}
