//! Products, convolutions, poolings, recurrent layers, attention, quantised values.

use super::{A, X, close, compute, file, floats, graph, info, ints, node, node_of, read, run};

#[test]
fn a_general_product_with_factors() {
    let arrays = [floats("w", &[2, 2], &[1.0, 2.0, 3.0, 4.0]), floats("c", &[2], &[1.0, 1.0])];
    let gemm = node("Gemm", "x w c", "y", &[A::I("transB", 1), A::F("alpha", 0.5), A::F("beta", 2.0)]);
    close(&run(17, X(&[1, 2], &[1.0, 1.0]), &arrays, gemm).1, &[3.5, 5.5]);
    let sum = node("Einsum", "x w", "y", &[A::S("equation", "ij,kj->ki")]);
    close(&run(17, X(&[1, 2], &[1.0, 1.0]), &arrays, sum).1, &[3.0, 7.0]);
}

#[test]
fn operations_of_products_are_counted() {
    let flops = |nodes: &[Vec<u8>], arrays: &[Vec<u8>], dims: &[i64]| {
        read(&file(&graph(nodes, arrays, &[info("x", 1, dims)], &["y"]), 17)).unwrap().inspection.flops
    };
    let w = [floats("w", &[3, 5], &[0.0; 15])];
    assert_eq!(flops(&[node("MatMul", "x w", "y", &[])], &w, &[2, 4, 3]), 2 * 2 * 4 * 3 * 5);
    let k = [floats("w", &[4, 1, 3, 3], &[0.0; 36])];
    let conv = node("Conv", "x w", "y", &[A::I("group", 2)]);
    assert_eq!(flops(&[conv], &k, &[1, 2, 5, 5]), 2 * 4 * 9 * 9);
    let ellipsis = node("Einsum", "x w", "y", &[A::S("equation", "...i,ij->...j")]);
    assert_eq!(flops(&[ellipsis], &w, &[2, 4, 3]), 2 * 2 * 4 * 3 * 5);
}

#[test]
fn convolutions_pad_by_themselves() {
    let x: Vec<f64> = (0..5).map(f64::from).collect();
    let w = [floats("w", &[1, 1, 2], &[1.0, 1.0])];
    let conv =
        |auto: &'static str| run(17, X(&[1, 1, 5], &x), &w, node("Conv", "x w", "y", &[A::S("auto_pad", auto)])).1;
    close(&conv("SAME_UPPER"), &[1.0, 3.0, 5.0, 7.0, 4.0]);
    close(&conv("SAME_LOWER"), &[0.0, 1.0, 3.0, 5.0, 7.0]);
    close(&conv("VALID"), &[1.0, 3.0, 5.0, 7.0]);
}

#[test]
fn transposed_convolutions_have_a_shape() {
    // The example of ONNX's operator: ones over 0..8, steps of 1.
    let x: Vec<f64> = (0..9).map(f64::from).collect();
    let w = [floats("w", &[1, 1, 3, 3], &[1.0; 9])];
    let (dims, y) = run(17, X(&[1, 1, 3, 3], &x), &w, node("ConvTranspose", "x w", "y", &[]));
    assert_eq!((dims, &y[..10]), (vec![1, 1, 5, 5], &[0.0, 1.0, 3.0, 3.0, 2.0, 3.0, 8.0, 15.0, 12.0, 7.0][..]));
    let shaped = [A::Ints("strides", &[3, 2]), A::Ints("output_shape", &[10, 8])];
    assert_eq!(run(17, X(&[1, 1, 3, 3], &x), &w, node("ConvTranspose", "x w", "y", &shaped)).0, [1, 1, 10, 8]);
    let same = [A::Ints("strides", &[2, 2]), A::S("auto_pad", "SAME_UPPER")];
    assert_eq!(run(17, X(&[1, 1, 3, 3], &x), &w, node("ConvTranspose", "x w", "y", &same)).0, [1, 1, 6, 6]);
}

#[test]
fn poolings_round_up_and_count_padding() {
    let x: Vec<f64> = (1..=16).map(f64::from).collect();
    let x = || X(&[1, 1, 4, 4], &x);
    let kernel = A::Ints("kernel_shape", &[3, 3]);
    let up = node(
        "MaxPool",
        "x",
        "y",
        &[A::Ints("kernel_shape", &[3, 3]), A::Ints("strides", &[2, 2]), A::I("ceil_mode", 1)],
    );
    assert_eq!(run(17, x(), &[], up), (vec![1, 1, 2, 2], vec![11.0, 12.0, 15.0, 16.0]));
    let places = node("MaxPool", "x", "v y", &[A::Ints("kernel_shape", &[2, 2]), A::Ints("strides", &[2, 2])]);
    assert_eq!(run(17, x(), &[], places).1, [5.0, 7.0, 13.0, 15.0]);
    let pads = A::Ints("pads", &[1, 1, 1, 1]);
    let mean = node("AveragePool", "x", "y", &[kernel, pads]);
    close(&run(17, x(), &[], mean).1[..2], &[3.5, 4.0]);
    let counted = [A::Ints("kernel_shape", &[3, 3]), A::Ints("pads", &[1, 1, 1, 1]), A::I("count_include_pad", 1)];
    close(&run(17, x(), &[], node("AveragePool", "x", "y", &counted)).1[..1], &[14.0 / 9.0]);
    assert_eq!(run(17, x(), &[], node("GlobalAveragePool", "x", "y", &[])).1, [8.5]);
}

#[test]
fn recurrent_layers_of_both_directions() {
    // One unit, all weights 1: every gate gets the sum of input and state.
    let arrays = |gates: i64| {
        [
            floats("w", &[2, gates, 1], &vec![1.0; 2 * gates as usize]),
            floats("r", &[2, gates, 1], &vec![1.0; 2 * gates as usize]),
        ]
    };
    let sigmoid = |x: f64| 1.0 / (1.0 + libm::exp(-x));
    let lstm = node("LSTM", "x w r", "y h c", &[A::I("hidden_size", 1), A::S("direction", "bidirectional")]);
    let (dims, y) = run(17, X(&[2, 1, 1], &[1.0, -1.0]), &arrays(4), lstm);
    let step = |x: f64, (h, c): (f64, f64)| {
        let s = x + h;
        let c = sigmoid(s) * c + sigmoid(s) * libm::tanh(s);
        (sigmoid(s) * libm::tanh(c), c)
    };
    let first = step(1.0, (0.0, 0.0));
    let last = step(-1.0, (0.0, 0.0));
    assert_eq!(dims, [2, 2, 1, 1]);
    close(&y, &[first.0, step(1.0, last).0, step(-1.0, first).0, last.0]);
    let gru = node("GRU", "x w r", "y h", &[A::I("hidden_size", 1), A::S("direction", "bidirectional")]);
    let (_, y) = run(17, X(&[2, 1, 1], &[1.0, -1.0]), &arrays(3), gru);
    let step = |x: f64, h: f64| {
        let z = sigmoid(x + h);
        (1.0 - z) * libm::tanh(x + z * h) + z * h
    };
    close(&y, &[step(1.0, 0.0), step(1.0, step(-1.0, 0.0)), step(-1.0, step(1.0, 0.0)), step(-1.0, 0.0)]);
}

#[test]
fn fused_operators_of_onnxruntime() {
    let arrays = [floats("s", &[2], &[1.0, -1.0]), floats("g", &[2], &[2.0, 2.0]), floats("b", &[2], &[1.0, 1.0])];
    let skip = node_of("com.microsoft", "SkipLayerNormalization", "x s g b", "y", &[A::F("epsilon", 0.0)]);
    close(&run(17, X(&[1, 1, 2], &[1.0, 5.0]), &arrays, skip).1, &[-1.0, 3.0]);
    let product = node_of("com.microsoft", "FusedMatMul", "x x", "y", &[A::I("transB", 1), A::F("alpha", 0.5)]);
    close(&run(17, X(&[1, 2], &[3.0, 4.0]), &[], product).1, &[12.5]);
    // Two rows in front of a batch of two: one product of a row with the other row for each sample.
    let how = [A::I("transBatchA", 1), A::I("transBatchB", 1), A::I("transB", 1)];
    let batch = node_of("com.microsoft", "FusedMatMul", "x x", "y", &how);
    let (dims, y) = run(17, X(&[2, 2, 1], &[1.0, 2.0, 3.0, 4.0]), &[], batch);
    assert_eq!(dims, [2, 2, 2]);
    close(&y, &[1.0, 3.0, 3.0, 9.0, 4.0, 8.0, 8.0, 16.0]);
    let quick = node_of("com.microsoft", "QuickGelu", "x", "y", &[]);
    close(&run(17, X(&[1], &[1.0]), &[], quick).1, &[0.845_795_5]);
}

#[test]
fn rotary_places_turn_pairs_of_features() {
    // Two tokens of one head of four features. A pair is formed by the two halves, or by two neighbours. The first token is not
    // rotated, the second by a quarter turn: (a, b) becomes (-b, a).
    let tables = [floats("c", &[2, 2], &[1.0, 1.0, 0.0, 0.0]), floats("s", &[2, 2], &[0.0, 0.0, 1.0, 1.0])];
    let places = ints("p", &[1, 2], &[0, 1]);
    let x = || X(&[1, 1, 2, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let arrays = [tables[0].clone(), tables[1].clone(), places];
    let (dims, y) = run(23, x(), &arrays, node("RotaryEmbedding", "x c s p", "y", &[]));
    assert_eq!(dims, [1, 1, 2, 4]);
    close(&y, &[1.0, 2.0, 3.0, 4.0, -7.0, -8.0, 5.0, 6.0]);
    let (_, y) = run(23, x(), &arrays, node("RotaryEmbedding", "x c s p", "y", &[A::I("interleaved", 1)]));
    close(&y, &[1.0, 2.0, 3.0, 4.0, -6.0, 5.0, -8.0, 7.0]);
    // onnxruntime's operator has another order of operands; one number is the position of the first token. Heads lie side by side.
    let first = [ints("p", &[1], &[1]), tables[0].clone(), tables[1].clone()];
    let (dims, y) = run(
        17,
        X(&[1, 1, 8], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
        &first,
        node_of("com.microsoft", "RotaryEmbedding", "x p c s", "y", &[]),
    );
    assert_eq!(dims, [1, 1, 8]);
    close(&y, &[-3.0, -4.0, 1.0, 2.0, -7.0, -8.0, 5.0, 6.0]);
}

#[test]
fn attention_takes_keys_of_earlier_calls() {
    // One head of size 1: the query meets an earlier key of 0 and its own of 1; values are 5 and 7.
    let arrays = [
        floats("k", &[1, 1, 1], &[1.0]),
        floats("v", &[1, 1, 1], &[7.0]),
        floats("pk", &[1, 1, 1, 1], &[0.0]),
        floats("pv", &[1, 1, 1, 1], &[5.0]),
    ];
    let node = node_of("com.microsoft", "MultiHeadAttention", "x k v _ _ _ pk pv", "y nk nv", &[A::I("num_heads", 1)]);
    let (dims, y) = run(17, X(&[1, 1, 1], &[1.0]), &arrays, node);
    let own = libm::exp(1.0);
    assert_eq!(dims, [1, 1, 1]);
    close(&y, &[(5.0 + 7.0 * own) / (1.0 + own)]);
}

#[test]
fn attention_of_packed_weights_is_that_of_its_parts() {
    // One head of size 1; the weights take queries, keys and values from one number: 1, 1 and 2 times it.
    let arrays = [floats("w", &[1, 3], &[1.0, 1.0, 2.0]), floats("b", &[3], &[0.0; 3])];
    let attention =
        node_of("com.microsoft", "Attention", "x w b", "y", &[A::I("num_heads", 1), A::I("unidirectional", 1)]);
    let (dims, y) = run(17, X(&[1, 2, 1], &[1.0, 2.0]), &arrays, attention);
    let shares = [libm::exp(2.0), libm::exp(4.0)];
    let second = (2.0 * shares[0] + 4.0 * shares[1]) / (shares[0] + shares[1]);
    assert_eq!(dims, [1, 2, 1]);
    close(&y, &[2.0, second]);
}

#[test]
fn quantised_values_keep_their_steps() {
    let zero = |name: &str, code: i64, n: u8| [super::num(2, code), super::msg(8, name), super::msg(9, [n])].concat();
    let arrays = [floats("s", &[], &[0.5]), zero("z", 2, 10)];
    let nodes = [node("QuantizeLinear", "x s z", "q", &[]), node("DequantizeLinear", "q s z", "y", &[])];
    let made = file(&graph(&nodes, &arrays, &[info("x", 1, &[4])], &["y"]), 17);
    close(&compute(&made, &[X(&[4], &[0.25, 0.6, -100.0, 1000.0])]).1, &[0.0, 0.5, -5.0, 122.5]);
    let inspection = read(&made).unwrap().inspection;
    assert!(inspection.notes[0].contains("single precision"), "{:?}", inspection.notes);
}

/// An array of bytes.
fn bytes(name: &str, dims: &[i64], numbers: &[u8]) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|&d| super::num(1, d)).collect();
    [dims, super::num(2, 2), super::msg(8, name), super::msg(9, numbers)].concat()
}

#[test]
fn scales_of_columns_follow_a_turned_weight() {
    let arrays = [
        bytes("w", &[2, 3], &[1, 2, 3, 4, 5, 6]),
        floats("one", &[], &[1.0]),
        bytes("zero", &[], &[0]),
        floats("s", &[2], &[1.0, 10.0]),
        bytes("z", &[2], &[0, 0]),
    ];
    let quantise = node("QuantizeLinear", "x one zero", "q", &[]);
    let product = node_of("com.microsoft", "QGemm", "q one zero w s z", "y", &[A::I("transB", 1)]);
    let made = file(&graph(&[quantise, product], &arrays, &[info("x", 1, &[1, 3])], &["y"]), 17);
    close(&compute(&made, &[X(&[1, 3], &[1.0, 2.0, 3.0])]).1, &[14.0, 320.0]);
    // The weight counts, and its scales and zero points do not.
    assert_eq!(read(&made).unwrap().inspection.parameters, 6);
}

#[test]
fn weights_of_four_bits_are_unpacked_by_blocks() {
    // Two columns, one block of four numbers each, the lower half of a byte first; the zero point is 8 if none is given.
    let packed = bytes("w", &[2, 1, 2], &[0x98, 0xba, 0x78, 0x56]);
    let arrays = [packed, floats("s", &[2], &[1.0, 0.5])];
    let sizes = || vec![A::I("K", 4), A::I("N", 2), A::I("bits", 4), A::I("block_size", 4)];
    let product = node_of("com.microsoft", "MatMulNBits", "x w s", "y", &sizes());
    // Columns 0 1 2 3 and 0 -1 -2 -3 halved.
    close(&run(17, X(&[1, 4], &[1.0, 10.0, 100.0, 1000.0]), &arrays, product).1, &[3210.0, -1605.0]);
    let zeros = [arrays[0].clone(), arrays[1].clone(), bytes("z", &[2], &[0x07, 0x09])];
    let product = node_of("com.microsoft", "MatMulNBits", "x w s z", "y", &sizes());
    close(&run(17, X(&[1, 4], &[1.0, 0.0, 0.0, 0.0]), &zeros, product).1, &[1.0, -0.5]);
}

#[test]
fn heads_of_queries_share_keys_and_see_those_before_them() {
    // Two query heads of one feature and one key head; the values of earlier calls come first.
    let arrays = [
        floats("k", &[1, 2, 1], &[0.0, 0.0]),
        floats("v", &[1, 2, 1], &[6.0, 9.0]),
        floats("pk", &[1, 1, 1, 1], &[0.0]),
        floats("pv", &[1, 1, 1, 1], &[3.0]),
    ];
    let heads = |window: i64| {
        let attributes = [A::I("num_heads", 2), A::I("kv_num_heads", 1), A::I("local_window_size", window)];
        node_of("com.microsoft", "GroupQueryAttention", "x k v pk pv", "y a b", &attributes)
    };
    let x = || X(&[1, 2, 2], &[1.0, 1.0, 1.0, 1.0]);
    // All scores are equal: means of 3 6, then of 3 6 9.
    close(&run(17, x(), &arrays, heads(-1)).1, &[4.5, 4.5, 6.0, 6.0]);
    close(&run(17, x(), &arrays, heads(1)).1, &[6.0, 6.0, 9.0, 9.0]);
    let standard = node(
        "Attention",
        "x k v _ pk pv",
        "y a b",
        &[A::I("q_num_heads", 2), A::I("kv_num_heads", 1), A::I("is_causal", 1)],
    );
    close(&run(23, x(), &arrays, standard).1, &[4.5, 4.5, 6.0, 6.0]);
}

#[test]
fn a_picture_is_sampled_between_its_elements() {
    let picture = X(&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0]);
    // The middle, the upper left element, one beyond the right edge.
    let places = [floats("g", &[1, 1, 3, 2], &[0.0, 0.0, -0.5, -0.5, 1.5, -0.5])];
    let sample =
        |attributes: &[A<'_>]| run(17, X(picture.0, picture.1), &places, node("GridSample", "x g", "y", attributes)).1;
    close(&sample(&[]), &[2.5, 1.0, 0.0]);
    close(&sample(&[A::S("padding_mode", "border")]), &[2.5, 1.0, 2.0]);
    close(&sample(&[A::S("padding_mode", "reflection")]), &[2.5, 1.0, 2.0]);
    close(&sample(&[A::S("mode", "nearest")])[1..2], &[1.0]);
    close(&sample(&[A::I("align_corners", 1)]), &[2.5, 1.75, 1.875]);
}
