//! Normalisations, activations, elementwise operators.

use super::{A, X, close, file, floats, graph, info, ints, msg, node, num, read, run};

#[test]
fn softmax_before_version_13_takes_all_dimensions_behind() {
    let x = X(&[1, 2, 2], &[0.0, 0.0, 0.0, 0.0]);
    close(&run(11, X(x.0, x.1), &[], node("Softmax", "x", "y", &[])).1, &[0.25; 4]);
    close(&run(13, X(x.0, x.1), &[], node("Softmax", "x", "y", &[A::I("axis", 1)])).1, &[0.5; 4]);
    close(&run(13, X(&[2, 2], &[1.0, 3.0, 4.0, 4.0]), &[], node("Hardmax", "x", "y", &[])).1, &[0.0, 1.0, 1.0, 0.0]);
}

#[test]
fn norms_of_groups_and_channels() {
    let x = X(&[1, 4, 1], &[1.0, 3.0, 5.0, 9.0]);
    let group = |opset: i64, n: i64, rows: [f32; 4]| {
        let arrays = [floats("g", &[n], &rows[..n as usize]), floats("b", &[n], &[0.0; 4][..n as usize])];
        let node = node("GroupNormalization", "x g b", "y", &[A::I("num_groups", 2), A::F("epsilon", 0.0)]);
        run(opset, X(x.0, x.1), &arrays, node).1
    };
    close(&group(18, 2, [1.0, 2.0, 0.0, 0.0]), &[-1.0, 1.0, -2.0, 2.0]);
    close(&group(21, 4, [1.0, 2.0, 3.0, 4.0]), &[-1.0, 2.0, -3.0, 4.0]);
    let response = node("LRN", "x", "y", &[A::I("size", 3), A::F("alpha", 3.0), A::F("beta", 1.0)]);
    close(&run(17, X(&[1, 2, 1], &[1.0, 2.0]), &[], response).1, &[1.0 / 6.0, 2.0 / 6.0]);
    let layer = node("LayerNormalization", "x g", "y m", &[A::F("epsilon", 0.0)]);
    close(&run(17, X(&[1, 2], &[1.0, 3.0]), &[floats("g", &[2], &[1.0, 2.0])], layer).1, &[-1.0, 2.0]);
}

#[test]
fn reductions_take_axes_as_attribute_and_as_operand() {
    let x = X(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let early = node("ReduceMean", "x", "y", &[A::Ints("axes", &[0]), A::I("keepdims", 0)]);
    assert_eq!(run(17, X(x.0, x.1), &[], early), (vec![2], vec![2.0, 3.0]));
    let late = node("ReduceL2", "x a", "y", &[]);
    let (dims, y) = run(18, X(x.0, x.1), &[ints("a", &[1], &[-1])], late);
    assert_eq!(dims, [2, 1]);
    close(&y, &[5f64.sqrt(), 5.0]);
    let none = node("ReduceSum", "x", "y", &[A::I("noop_with_empty_axes", 1)]);
    assert_eq!(run(18, X(x.0, x.1), &[], none).0, [2, 2]);
    close(&run(18, X(x.0, x.1), &[], node("ReduceLogSumExp", "x", "y", &[])).1, &[4.440_189_7]);
}

#[test]
fn elementwise_rules() {
    let x = X(&[3], &[-3.5, 2.5, 7.0]);
    let unary = |op: &'static str, a: &[A<'_>]| run(17, X(x.0, x.1), &[], node(op, "x", "y", a)).1;
    assert_eq!(unary("Round", &[]), [-4.0, 2.0, 7.0]);
    assert_eq!(unary("Cast", &[A::I("to", 7)]), [-3.0, 2.0, 7.0]);
    assert_eq!(unary("HardSigmoid", &[A::F("alpha", 1.0)]), [0.0, 1.0, 1.0]);
    assert_eq!(unary("LeakyRelu", &[A::F("alpha", 0.5)]), [-1.75, 2.5, 7.0]);
    assert_eq!(unary("ThresholdedRelu", &[A::F("alpha", 3.0)]), [0.0, 0.0, 7.0]);
    assert_eq!(unary("Shrink", &[A::F("lambd", 3.0), A::F("bias", 1.0)]), [-2.5, 0.0, 6.0]);
    close(&unary("Selu", &[]), &[-1.705_007, 2.626_752_5, 7.354_907]);
    close(&unary("Gelu", &[A::S("approximate", "tanh")]), &[-0.000_616_8, 2.484_915_6, 7.0]);
    let two = [floats("z", &[1], &[2.0])];
    let binary = |op: &'static str, a: &[A<'_>]| run(17, X(x.0, x.1), &two, node(op, "x z", "y", a)).1;
    assert_eq!(binary("Mod", &[A::I("fmod", 1)]), [-1.5, 0.5, 1.0]);
    assert_eq!(binary("Pow", &[]), [12.25, 6.25, 49.0]);
    assert_eq!(binary("Greater", &[]), [0.0, 1.0, 1.0]);
    assert_eq!(binary("Max", &[]), [2.0, 2.5, 7.0]);
    let early = node("Clip", "x", "y", &[A::F("min", -1.0), A::F("max", 6.0)]);
    assert_eq!(run(6, X(x.0, x.1), &[], early).1, [-1.0, 2.5, 6.0]);
}

#[test]
fn a_batch_norm_may_take_the_batch_itself() {
    // Values of onnx's reference evaluator.
    let x = X(&[2, 2, 2], &[1.0, 2.0, 3.0, 5.0, -1.0, 0.0, 4.0, 2.0]);
    let rows = [[2.0, 1.0], [0.5, -1.0], [1.0, 2.0], [1.0, 3.0]];
    let names = ["s", "b", "m", "v"];
    let arrays: Vec<Vec<u8>> = names.iter().zip(&rows).map(|(name, row)| floats(name, &[2], row)).collect();
    let how = [A::I("training_mode", 1), A::F("epsilon", 0.1), A::F("momentum", 0.8)];
    let of = |gives: &str| run(15, X(x.0, x.1), &arrays, node("BatchNormalization", "x s b m v", gives, &how)).1;
    close(
        &of("y m1 v1"),
        &[1.360_663, 3.081_989, -1.430_331, 0.290_994, -2.081_989, -0.360_663, -0.569_669, -2.290_994],
    );
    close(&of("y1 y v1"), &[0.9, 2.3]);
    close(&of("y1 m1 y"), &[1.05, 2.65]);
}

#[test]
fn a_norm_that_was_folded_counts_where_its_convolution_is_quantised() {
    let bytes = |name: &str, dims: &[i64]| {
        let sizes: Vec<u8> = dims.iter().flat_map(|&d| num(1, d)).collect();
        let count = dims.iter().product::<i64>();
        [sizes, num(2, 3), msg(8, name), msg(9, (0..count).map(|_| 1).collect::<Vec<u8>>())].concat()
    };
    let arrays = |weight: &str| {
        let bias = floats("bias", &[4], &[0.5; 4]);
        vec![bytes(weight, &[4, 3, 1, 1]), bias, floats("scale", &[], &[0.1]), bytes("zero", &[])]
    };
    let count = |weight: &str| {
        let nodes =
            [node("DequantizeLinear", &format!("{weight} scale zero"), "w", &[]), node("Conv", "x w bias", "y", &[])];
        let found = read(&file(&graph(&nodes, &arrays(weight), &[info("x", 1, &[1, 3, 2, 2])], &["y"]), 13));
        found.unwrap().inspection.parameters
    };
    // The exporter renames a weight that it changed: this one was multiplied with a factor for each channel.
    assert_eq!((count("conv.weight_quantized"), count("onnx::Conv_5_quantized")), (16, 20));
}

#[test]
fn a_mean_that_is_stored_as_a_bias_is_no_parameter() {
    let nodes = [
        node("Identity", "bias", "bn.running_mean", &[]),
        node("Identity", "weight", "bn.running_var", &[]),
        node("BatchNormalization", "x weight bias bn.running_mean bn.running_var", "y", &[]),
    ];
    let arrays = [floats("weight", &[3], &[1.0, 2.0, 3.0]), floats("bias", &[3], &[0.5; 3])];
    let found = read(&file(&graph(&nodes, &arrays, &[info("x", 1, &[1, 3, 2, 2])], &["y"]), 15)).unwrap();
    assert_eq!(found.inspection.parameters, 6);
}

#[test]
fn what_an_optimiser_computed_is_no_parameter_and_rows_that_modules_share_count_for_each() {
    let named = |bytes: Vec<u8>, name: &str| [bytes, msg(3, name)].concat();
    let norm = |reads: &str, gives: &str| node("LayerNormalization", reads, gives, &[]);
    let arrays = |mask: &str| {
        vec![
            floats("norm.weight", &[2], &[1.0; 2]),
            floats("norm.bias", &[2], &[0.0; 2]),
            floats(mask, &[1, 2], &[0.0, 1.0]),
        ]
    };
    let count = |mask: &str, modules: [&str; 2]| {
        let nodes = [
            node("Add", &format!("x {mask}"), "a", &[]),
            named(norm("a norm.weight norm.bias", "b"), modules[0]),
            named(norm("b norm.weight norm.bias", "y"), modules[1]),
        ];
        let found = read(&file(&graph(&nodes, &arrays(mask), &[info("x", 1, &[1, 2])], &["y"]), 17));
        found.unwrap().inspection.parameters
    };
    let same = ["/block/norm/LayerNormalization", "/block/norm/LayerNormalization_1"];
    assert_eq!((count("/Where_output_0", same), count("position", same)), (4, 6));
    // The second call of a module.
    assert_eq!(count("/Where_output_0", [same[0], "/block_1/norm/LayerNormalization"]), 4);
    assert_eq!(count("/Where_output_0", [same[0], "/other/norm/LayerNormalization"]), 8);
}

#[test]
fn scales_of_quantised_weights_are_no_parameters() {
    let arrays = [
        floats("w_scale", &[2], &[0.1, 0.2]),
        floats("w_quantized", &[2, 2], &[1.0; 4]),
        floats("b_scale", &[2], &[1.0; 2]),
    ];
    let nodes = [
        node("MatMul", "x w_quantized", "a", &[]),
        node("Mul", "a w_scale", "b", &[]),
        node("Mul", "b b_scale", "y", &[]),
    ];
    let found = read(&file(&graph(&nodes, &arrays, &[info("x", 1, &[1, 2])], &["y"]), 17)).unwrap();
    assert_eq!(found.inspection.parameters, 6);
}
