//! Graphs that treat samples one by one, and graphs that do not.

use super::rebatch;
use crate::{
    ArrayType, Binary, Builder, DotDims, ElementType, InstructionId, Numbers, Program, ProgramParameter, Role, Type,
    Value, WeightData,
};

fn f32(dims: &[u64]) -> ArrayType {
    ArrayType::new(ElementType::F32, dims)
}

fn parameter(b: &mut Builder, name: &str, role: Role, dims: &[u64]) -> InstructionId {
    b.parameter(ProgramParameter { name: name.to_owned(), role, ty: f32(dims), data: WeightData::Absent }).unwrap()
}

/// A program of one input of [8, 4].
fn program(body: impl FnOnce(&mut Builder, InstructionId) -> InstructionId) -> Program {
    let mut b = Builder::new();
    let x = parameter(&mut b, "x", Role::Input, &[8, 4]);
    let root = body(&mut b, x);
    b.finish("test", &[root]).unwrap()
}

fn refusal(program: &Program) -> String {
    rebatch(program, 8, 3).unwrap_err().to_string()
}

#[test]
fn a_product_with_weights_takes_any_number_of_samples() {
    let program = program(|b, x| {
        let dims = DotDims { lhs_contracting: vec![1], rhs_contracting: vec![0], ..DotDims::default() };
        let w = parameter(b, "w", Role::Weight, &[4, 5]);
        b.dot(x, w, dims).unwrap()
    });
    let three = rebatch(&program, 8, 3).unwrap();
    assert_eq!(three.result_type().to_string(), "f32[3,5]");
    assert_eq!(rebatch(&three, 3, 8).unwrap(), program);
}

#[test]
fn what_mixes_samples_is_refused_by_its_name() {
    let sum = program(|b, x| b.reduce(Binary::Add, x, &[0], false).unwrap());
    assert!(refusal(&sum).contains("a reduction") && refusal(&sum).ends_with("it mixes samples"), "{}", refusal(&sum));
    let gram = program(|b, x| {
        let dims = DotDims { lhs_contracting: vec![0], rhs_contracting: vec![0], ..DotDims::default() };
        b.dot(x, x, dims).unwrap()
    });
    assert!(refusal(&gram).contains("it sums over samples"), "{}", refusal(&gram));
    let opaque = program(|b, x| b.opaque("my::op", "", &[x], Type::Array(f32(&[8, 4]))).unwrap());
    assert!(refusal(&opaque).contains("my::op") && refusal(&opaque).contains("is not known"), "{}", refusal(&opaque));
    assert!(rebatch(&sum, 7, 3).unwrap_err().to_string().contains("no input has 7 samples"));
}

#[test]
fn a_constant_of_equal_samples_is_made_longer() {
    let with = |numbers: Vec<f64>| {
        program(|b, x| {
            let c = b.constant(Value { ty: f32(&[8, 4]), numbers: Numbers::Real(numbers) }).unwrap();
            b.binary(Binary::Add, x, c).unwrap()
        })
    };
    let equal = with([1.0, 2.0, 3.0, 4.0].repeat(8));
    assert_eq!(rebatch(&equal, 8, 3).unwrap().result_type().to_string(), "f32[3,4]");
    let unequal = with((0..32).map(f64::from).collect());
    assert!(refusal(&unequal).contains("other numbers for each sample"), "{}", refusal(&unequal));
}
