//! How many parameters a model had before its exporter changed them.

use super::{A, file, floats, graph, info, msg, node, read};

/// A node with a name, and with a note of PyTorch's newer exporter if there is one.
fn named(node: Vec<u8>, name: &str, note: &str) -> Vec<u8> {
    let note =
        if note.is_empty() { Vec::new() } else { msg(9, [msg(1, "pkg.torch.onnx.fx_node"), msg(2, note)].concat()) };
    [node, msg(3, name), note].concat()
}

fn parameters(nodes: &[Vec<u8>], arrays: &[Vec<u8>]) -> u64 {
    let graph = graph(nodes, arrays, &[info("x", 1, &[2, 3])], &["y"]);
    read(&file(&graph, 17)).unwrap().inspection.parameters
}

#[test]
fn a_module_that_is_called_twice_has_one_weight() {
    let weight = floats("onnx::MatMul_7", &[3, 3], &[0.5; 9]);
    let model = |second: &str| {
        let nodes = [
            node("Identity", "onnx::MatMul_7", "onnx::MatMul_9", &[]),
            named(node("MatMul", "x onnx::MatMul_7", "h", &[]), "/mlp/fc/MatMul", ""),
            named(node("MatMul", "h onnx::MatMul_9", "y", &[]), second, ""),
        ];
        parameters(&nodes, std::slice::from_ref(&weight))
    };
    assert_eq!(model("/mlp/fc_1/MatMul"), 9);
    // Another module with the same numbers, as copies of a layer have before they are trained.
    assert_eq!(model("/mlp/gate/MatMul"), 18);
}

#[test]
fn two_arrays_that_hold_one_parameter_count_once() {
    let arrays = [floats("val_1", &[3, 3], &[0.5; 9]), floats("val_2", &[3, 3], &[0.5; 9])];
    let linear = |x: &str, p: &str| format!("call_function[target=aten.linear](args = (%{x}, %p_{p}_weight))");
    let model = |second: &str| {
        let nodes = [
            named(node("MatMul", "x val_1", "h", &[]), "n0", &linear("x", "fc")),
            named(node("MatMul", "h val_2", "y", &[]), "n1", &linear("h", second)),
        ];
        parameters(&nodes, &arrays)
    };
    assert_eq!((model("fc"), model("fc2")), (9, 18));
}

#[test]
fn a_norm_that_tf2onnx_folded_into_a_convolution_is_counted() {
    let arrays = [floats("w", &[3, 2, 1, 1], &[0.5; 6]), floats("b", &[3], &[0.5; 3])];
    let model = |reads: &str, gives: &str| {
        let graph = graph(&[node("Conv", reads, gives, &[])], &arrays, &[info("x", 1, &[1, 2, 4, 4])], &[gives]);
        read(&file(&graph, 17)).unwrap().inspection.parameters
    };
    assert_eq!(model("x w b", "conv/BiasAdd:0"), 6 + 3);
    assert_eq!(model("x w b", "bn/batchnorm/add_1:0"), 6 + 2 * 3);
    assert_eq!(model("x w", "bn/batchnorm/mul_1:0"), 6 + 2 * 3);
}

#[test]
fn a_bias_of_relative_positions_counts_as_its_table() {
    // A window of 2 x 2 pixels and 2 heads: 3 x 3 distances for each head.
    let patches = floats("k", &[3, 3, 1, 1], &[0.5; 9]);
    let input = [info("x", 1, &[1, 3, 4, 4]), info("scores", 1, &[1, 2, 4, 4])];
    let model = |op: &str, arrays: &[Vec<u8>]| {
        let nodes = [
            node(op, "x k", "patches", &[]),
            node("Identity", "bias", "bias_1", &[]),
            node("Add", "scores bias", "a", &[]),
            node("Add", "a bias_1", "y", &[]),
        ];
        read(&file(&graph(&nodes, arrays, &input, &["patches", "y"]), 17)).unwrap().inspection.parameters
    };
    let bias = floats("bias", &[1, 2, 4, 4], &[0.0; 32]);
    assert_eq!(model("Conv", &[patches, bias.clone()]), 9 + 2 * (2 * 9));
    // Without a convolution the model has no pictures.
    assert_eq!(model("MatMul", &[floats("k", &[4, 4], &[0.5; 16]), bias]), 16 + 2 * 32);
}

#[test]
fn factors_of_one_in_a_group_norm_are_no_parameters() {
    let one = node("Constant", "", "/norm/Constant_output_0", &[A::T("value", floats("", &[32], &[1.0; 32]))]);
    let zero = node("Constant", "", "/norm/Constant_1_output_0", &[A::T("value", floats("", &[32], &[0.0; 32]))]);
    let norm = node("InstanceNormalization", "x /norm/Constant_output_0 /norm/Constant_1_output_0", "n", &[]);
    let nodes = [one, zero, norm, node("Mul", "n norm.weight", "y", &[])];
    let weight = floats("norm.weight", &[32, 1], &[0.5; 32]);
    let graph = graph(&nodes, &[weight], &[info("x", 1, &[1, 32, 9])], &["y"]);
    assert_eq!(read(&file(&graph, 17)).unwrap().inspection.parameters, 32);
}

#[test]
fn class_tokens_and_scales_of_layers_that_were_computed_ahead_are_counted() {
    let arrays = [
        floats("k", &[3, 3, 1, 1], &[0.5; 9]),
        floats("view", &[1, 3, 1, 1], &[0.1; 3]),
        floats("expand", &[1, 1, 3], &[0.2; 3]),
    ];
    let conv = "call_function[target=aten.conv2d](args = (%x, %p_k))";
    let inputs = [info("x", 1, &[1, 3, 4, 4]), info("t", 1, &[1, 4, 3])];
    let model = |note: &str| {
        let nodes = [
            named(node("Conv", "x k", "c", &[]), "n0", note),
            node("Mul", "c view", "c1", &[]),
            node("Mul", "c1 view", "y", &[]),
            node("Concat", "expand t", "z", &[A::I("axis", 1)]),
        ];
        read(&file(&graph(&nodes, &arrays, &inputs, &["y", "z"]), 17)).unwrap().inspection.parameters
    };
    // Two layers with equal scales, and one token.
    assert_eq!(model(conv), 9 + 2 * 3 + 3);
}
