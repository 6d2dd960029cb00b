//! What a graph computes from its own sizes, and sizes that the file leaves open.

use super::super::super::read_onnx;
use super::{A, file, graph, ints, msg, node, num, read};
use ns_program::{ImportOptions, Verdict};

/// An input whose first dimension has a name.
fn open_input() -> Vec<u8> {
    let dims = [msg(1, msg(2, "batch")), msg(1, num(1, 6))].concat();
    [msg(1, "x"), msg(2, msg(1, [num(1, 1), msg(2, dims)].concat()))].concat()
}

#[test]
fn sizes_are_computed_through_the_operators_of_exporters() {
    // As the older exporter writes `x.expand(..)`: -1 means the operand's size.
    let nodes = [
        node("Shape", "x", "s", &[]),
        node("Gather", "s zero", "b", &[]),
        node("Unsqueeze", "b axes", "b1", &[]),
        node("Concat", "b1 minus", "want", &[A::I("axis", 0)]),
        node("Shape", "want", "n", &[]),
        node("ConstantOfShape", "n", "ones", &[A::T("value", ints("", &[1], &[1]))]),
        node("Mul", "ones minus", "least", &[]),
        node("Equal", "want least", "flags", &[]),
        node("Where", "flags ones want", "shape", &[]),
        node("Expand", "x shape", "y", &[]),
    ];
    let arrays = [ints("zero", &[], &[0]), ints("axes", &[1], &[0]), ints("minus", &[1], &[-1])];
    let made = file(&graph(&nodes, &arrays, &[open_input()], &["y"]), 17);
    let mut options = ImportOptions::default();
    options.dims.insert("batch".to_owned(), 4);
    let imported = read_onnx(&made, &options).unwrap();
    assert_eq!(imported.inspection.verdict, Verdict::Import);
    assert_eq!(imported.inspection.outputs[0].shape, [4, 6]);
    assert_eq!(imported.inspection.inputs[0].open[&0], "batch");
    assert!(imported.inspection.open_dimensions[0].is_chosen);
}

#[test]
fn a_size_that_nobody_chose_is_one_and_asked_for() {
    let made = file(&graph(&[node("Relu", "x", "y", &[])], &[], &[open_input()], &["y"]), 17);
    let inspection = read(&made).unwrap().inspection;
    assert_eq!((inspection.verdict, inspection.outputs[0].shape.as_slice()), (Verdict::Partial, &[1, 6][..]));
    assert_eq!(inspection.notes, ["The size of dimension batch is open: choose one (1 was taken)."]);
}

#[test]
fn a_range_and_a_reshape_by_computed_numbers() {
    let nodes = [
        node("Shape", "x", "s", &[A::I("start", 1)]),
        node("Squeeze", "s", "n", &[]),
        node("Range", "zero n one", "r", &[]),
        node("Size", "x", "all", &[]),
        node("Unsqueeze", "all axes", "flat", &[]),
        node("Reshape", "x flat", "z", &[]),
        node("Cast", "r", "f", &[A::I("to", 1)]),
        node("Add", "f x", "y", &[]),
    ];
    let arrays = [ints("zero", &[], &[0]), ints("one", &[], &[1]), ints("axes", &[1], &[0])];
    let made = file(&graph(&nodes, &arrays, &[open_input()], &["z", "y"]), 17);
    let outputs = read(&made).unwrap().inspection.outputs;
    assert_eq!(outputs.iter().map(|o| o.shape.clone()).collect::<Vec<_>>(), [vec![6], vec![1, 6]]);
}

#[test]
fn a_size_that_is_the_sum_of_others_is_not_asked_for() {
    let with = |name: &str, dim: &str| {
        let dims = [msg(1, num(1, 1)), msg(1, msg(2, dim))].concat();
        [msg(1, name), msg(2, msg(1, [num(1, 1), msg(2, dims)].concat()))].concat()
    };
    let inputs = [with("past", "past_length"), with("new", "length"), with("mask", "past_length + length")];
    let nodes = [node("Concat", "past new", "all", &[A::I("axis", 1)]), node("Mul", "all mask", "y", &[])];
    let made = file(&graph(&nodes, &[], &inputs, &["y"]), 17);
    let mut options = ImportOptions::default();
    options.dims.insert("past_length".to_owned(), 5);
    let inspection = read_onnx(&made, &options).unwrap().inspection;
    assert_eq!(inspection.outputs[0].shape, [1, 6]);
    assert_eq!(
        inspection.open_dimensions.iter().map(|o| o.name.as_str()).collect::<Vec<_>>(),
        ["past_length", "length"]
    );
}
