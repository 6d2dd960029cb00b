//! Small models of many operators with bytes changed: the result is an error or a model, never a panic.

use proptest::prelude::*;

use super::{A, file, floats, graph, info, ints, node, node_of, read};

/// Models of one operator each, in which every byte means something.
fn models() -> Vec<Vec<u8>> {
    let made =
        |op: Vec<u8>, arrays: &[Vec<u8>], dims: &[i64]| file(&graph(&[op], arrays, &[info("x", 1, dims)], &["y"]), 17);
    let kernel = [floats("w", &[2, 1, 2, 2], &[1.0; 8])];
    let gates =
        [floats("w", &[1, 4, 2], &[1.0; 8]), floats("r", &[1, 4, 1], &[1.0; 4]), floats("b", &[1, 8], &[1.0; 8])];
    let windows = [
        A::Ints("kernel_shape", &[2, 2]),
        A::Ints("strides", &[2, 1]),
        A::Ints("pads", &[1, 0, 1, 0]),
        A::I("ceil_mode", 1),
    ];
    let four = [A::Ints("strides", &[2, 2]), A::Ints("dilations", &[1, 2]), A::I("group", 2)];
    let image: &[i64] = &[1, 2, 5, 5];
    vec![
        made(node("Conv", "x w", "y", &four), &kernel, image),
        made(node("ConvTranspose", "x w", "y", &four), &kernel, image),
        made(node("ConvTranspose", "x w", "y", &[A::Ints("output_shape", &[9, 9]), A::I("group", 2)]), &kernel, image),
        made(node("MaxPool", "x", "y i", &windows[..3]), &[], image),
        made(node("AveragePool", "x", "y", &windows), &[], image),
        made(node("LSTM", "x w r b", "y h c", &[A::I("hidden_size", 1)]), &gates, &[3, 1, 2]),
        made(node("Slice", "x s e", "y", &[]), &[ints("s", &[2], &[1, 0]), ints("e", &[2], &[5, -1])], &[6, 6]),
        made(node("Pad", "x p", "y", &[A::S("mode", "reflect")]), &[ints("p", &[4], &[1, 2, 0, 1])], &[4, 4]),
        made(node("Resize", "x _ s", "y", &[A::S("mode", "linear")]), &[floats("s", &[2], &[2.0, 1.5])], &[4, 4]),
        made(node("Split", "x", "y z", &[A::I("axis", 1), A::I("num_outputs", 2)]), &[], &[2, 5]),
        made(node("Reshape", "x s", "y", &[]), &[ints("s", &[3], &[0, -1, 2])], &[2, 6]),
        made(node("Expand", "x s", "y", &[]), &[ints("s", &[3], &[2, 1, 4])], &[3, 1]),
        made(node("Tile", "x r", "y", &[]), &[ints("r", &[2], &[2, 3])], &[2, 3]),
        made(node("Gather", "x i", "y", &[A::I("axis", 1)]), &[ints("i", &[2], &[-1, 0])], &[2, 3]),
        made(node("GatherND", "x i", "y", &[A::I("batch_dims", 1)]), &[ints("i", &[2, 1], &[-1, 0])], &[2, 3]),
        made(
            node("ScatterND", "x i u", "y", &[]),
            &[ints("i", &[1, 1], &[1]), floats("u", &[1, 3], &[1.0; 3])],
            &[2, 3],
        ),
        made(node("TopK", "x k", "y i", &[A::I("axis", 0)]), &[ints("k", &[1], &[2])], &[4, 2]),
        made(node("OneHot", "x d v", "y", &[]), &[ints("d", &[], &[3]), floats("v", &[2], &[0.0, 1.0])], &[4]),
        made(node("Einsum", "x x", "y", &[A::S("equation", "ij,kj->ik")]), &[], &[2, 3]),
        made(node("ReduceSum", "x a", "y", &[A::I("keepdims", 0)]), &[ints("a", &[1], &[-1])], &[2, 3]),
        made(node("DepthToSpace", "x", "y", &[A::I("blocksize", 2)]), &[], &[1, 8, 2, 2]),
        made(node("LRN", "x", "y", &[A::I("size", 3)]), &[], image),
        made(
            node("GroupNormalization", "x g g", "y", &[A::I("num_groups", 1)]),
            &[floats("g", &[2], &[1.0; 2])],
            image,
        ),
        made(
            node_of("com.microsoft", "Attention", "x w b", "y", &[A::I("num_heads", 1)]),
            &[floats("w", &[2, 6], &[1.0; 12]), floats("b", &[6], &[0.0; 6])],
            &[1, 3, 2],
        ),
        made(
            node("ConstantOfShape", "s", "y", &[A::T("value", ints("", &[1], &[3]))]),
            &[ints("s", &[2], &[2, 3])],
            &[1],
        ),
        made(
            node("Range", "a b c", "y", &[]),
            &[ints("a", &[], &[0]), ints("b", &[], &[9]), ints("c", &[], &[2])],
            &[1],
        ),
        made(node("CumSum", "x a", "y", &[A::I("exclusive", 1)]), &[ints("a", &[], &[1])], &[2, 3]),
        made(node("DequantizeLinear", "x s", "y", &[A::I("axis", 1)]), &[floats("s", &[3], &[1.0; 3])], &[2, 3]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes(which in 0usize..28, edits in proptest::collection::vec((0usize..400, any::<u8>()), 1..5)) {
        let mut bytes = models().swap_remove(which);
        for (at, byte) in edits {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        if let Err(error) = read(&bytes) {
            prop_assert!(!error.refusal.what().is_empty() && !error.refusal.instead().is_empty());
        }
    }
}

#[test]
fn unchanged_models_are_read() {
    assert_eq!(models().len(), 28);
    for (n, model) in models().iter().enumerate() {
        let read = read(model);
        assert!(read.is_ok(), "{n}: {read:?}");
    }
}
