//! Operators that move elements, and those with indices.

use super::{A, X, close, file, floats, graph, info, ints, msg, node, num, run};
use ns_program::eval::evaluate;
use ns_program::{ArrayType, ElementType, ImportOptions, Numbers, Value};

const SIX: X<'_> = X(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);

#[test]
fn slices_from_the_end_and_backwards() {
    let arrays =
        [ints("s", &[2], &[-1, 10]), ints("e", &[2], &[9, -100]), ints("a", &[2], &[0, 1]), ints("t", &[2], &[1, -2])];
    let (dims, y) = run(17, SIX, &arrays, node("Slice", "x s e a t", "y", &[]));
    assert_eq!((dims, y), (vec![1, 2], vec![6.0, 4.0]));
    let early = node("Slice", "x", "y", &[A::Ints("starts", &[1]), A::Ints("ends", &[2]), A::Ints("axes", &[1])]);
    assert_eq!(run(9, SIX, &[], early), (vec![2, 1], vec![2.0, 5.0]));
}

#[test]
fn parts_are_as_even_as_they_can_be() {
    let (dims, y) = run(18, SIX, &[], node("Split", "x", "y z", &[A::I("axis", 1), A::I("num_outputs", 2)]));
    assert_eq!((dims, y), (vec![2, 2], vec![1.0, 2.0, 4.0, 5.0]));
    let (dims, y) = run(13, SIX, &[ints("p", &[2], &[1, 2])], node("Split", "x p", "a y", &[A::I("axis", 1)]));
    assert_eq!((dims, y), (vec![2, 2], vec![2.0, 3.0, 5.0, 6.0]));
}

#[test]
fn shapes_with_zero_and_minus_one() {
    let (dims, _) = run(17, SIX, &[ints("s", &[3], &[0, 1, -1])], node("Reshape", "x s", "y", &[]));
    assert_eq!(dims, [2, 1, 3]);
    assert_eq!(run(17, SIX, &[], node("Flatten", "x", "y", &[A::I("axis", 0)])).0, [1, 6]);
    assert_eq!(run(11, SIX, &[], node("Unsqueeze", "x", "y", &[A::Ints("axes", &[0, -1])])).0, [1, 2, 3, 1]);
    assert_eq!(run(17, SIX, &[ints("s", &[3], &[2, 1, 1])], node("Expand", "x s", "y", &[])).0, [2, 2, 3]);
    let (dims, y) = run(17, SIX, &[ints("r", &[2], &[1, 2])], node("Tile", "x r", "y", &[]));
    assert_eq!((dims, &y[..6]), (vec![2, 6], &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0][..]));
}

#[test]
fn padding_in_each_mode() {
    let pads = [ints("p", &[4], &[0, 2, 0, 1])];
    let row = |mode: &'static str| run(17, SIX, &pads, node("Pad", "x p", "y", &[A::S("mode", mode)])).1[..6].to_vec();
    assert_eq!(row("constant"), [0.0, 0.0, 1.0, 2.0, 3.0, 0.0]);
    assert_eq!(row("reflect"), [3.0, 2.0, 1.0, 2.0, 3.0, 2.0]);
    assert_eq!(row("edge"), [1.0, 1.0, 1.0, 2.0, 3.0, 3.0]);
    assert_eq!(row("wrap"), [2.0, 3.0, 1.0, 2.0, 3.0, 1.0]);
}

#[test]
fn space_becomes_depth_and_back() {
    let x: Vec<f64> = (0..16).map(f64::from).collect();
    let (dims, y) = run(17, X(&[1, 1, 4, 4], &x), &[], node("SpaceToDepth", "x", "y", &[A::I("blocksize", 2)]));
    assert_eq!((dims, &y[..8]), (vec![1, 4, 2, 2], &[0.0, 2.0, 8.0, 10.0, 1.0, 3.0, 9.0, 11.0][..]));
    let back = node("DepthToSpace", "x", "y", &[A::I("blocksize", 2)]);
    assert_eq!(run(17, X(&[1, 4, 2, 2], &y), &[], back), (vec![1, 1, 4, 4], x.clone()));
    let other = node("DepthToSpace", "x", "y", &[A::I("blocksize", 2), A::S("mode", "CRD")]);
    assert_eq!(run(17, X(&[1, 4, 2, 2], &y), &[], other).1, x);
}

#[test]
fn gathers_count_from_the_end() {
    let (dims, y) = run(17, SIX, &[ints("i", &[2], &[-1, 0])], node("Gather", "x i", "y", &[A::I("axis", 1)]));
    assert_eq!((dims, y), (vec![2, 2], vec![3.0, 1.0, 6.0, 4.0]));
    let (_, y) = run(17, SIX, &[ints("i", &[2, 1], &[2, -3])], node("GatherElements", "x i", "y", &[A::I("axis", 1)]));
    assert_eq!(y, [3.0, 4.0]);
    let (dims, y) = run(17, SIX, &[ints("i", &[2, 2], &[0, -1, 1, 0])], node("GatherND", "x i", "y", &[]));
    assert_eq!((dims, y), (vec![2], vec![3.0, 4.0]));
    let batched = node("GatherND", "x i", "y", &[A::I("batch_dims", 1)]);
    assert_eq!(run(17, SIX, &[ints("i", &[2, 1], &[1, 2])], batched), (vec![2], vec![2.0, 6.0]));
}

#[test]
fn sequences_are_reversed_as_far_as_they_go() {
    // Two sequences of three, of which the second is two long.
    let x = X(&[3, 2], &[1.0, 10.0, 2.0, 20.0, 3.0, 30.0]);
    let (dims, y) = run(10, x, &[ints("l", &[2], &[3, 2])], node("ReverseSequence", "x l", "y", &[]));
    assert_eq!((dims, y), (vec![3, 2], vec![3.0, 20.0, 2.0, 10.0, 1.0, 30.0]));
}

#[test]
fn scatters_put_in_and_add() {
    let arrays = [ints("i", &[2, 1], &[1, -2]), floats("u", &[2, 3], &[1.0; 6])];
    let (_, y) = run(18, SIX, &arrays, node("ScatterND", "x i u", "y", &[A::S("reduction", "add")]));
    // Index -2 is row 0.
    assert_eq!(y, [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let arrays = [ints("i", &[1, 3], &[1, 0, 1]), floats("u", &[1, 3], &[7.0, 8.0, 9.0])];
    let (_, y) = run(18, SIX, &arrays, node("ScatterElements", "x i u", "y", &[A::I("axis", 0)]));
    assert_eq!(y, [1.0, 8.0, 3.0, 7.0, 5.0, 9.0]);
}

#[test]
fn searches_and_sums() {
    let x = X(&[4], &[3.0, 1.0, 3.0, 2.0]);
    let k = [ints("k", &[1], &[2])];
    assert_eq!(run(17, X(x.0, x.1), &k, node("TopK", "x k", "y i", &[])).1, [3.0, 3.0]);
    assert_eq!(run(17, X(x.0, x.1), &k, node("TopK", "x k", "v y", &[A::I("largest", 0)])).1, [1.0, 3.0]);
    assert_eq!(run(17, X(x.0, x.1), &[], node("ArgMax", "x", "y", &[A::I("keepdims", 0)])).1, [0.0]);
    assert_eq!(run(17, X(x.0, x.1), &[], node("ArgMax", "x", "y", &[A::I("select_last_index", 1)])).1, [2.0]);
    let axis = [ints("a", &[], &[0])];
    let sum = |attributes: &[A<'_>]| run(17, X(x.0, x.1), &axis, node("CumSum", "x a", "y", attributes)).1;
    assert_eq!(sum(&[]), [3.0, 4.0, 7.0, 9.0]);
    assert_eq!(sum(&[A::I("exclusive", 1)]), [0.0, 3.0, 4.0, 7.0]);
    assert_eq!(sum(&[A::I("reverse", 1), A::I("exclusive", 1)]), [6.0, 5.0, 2.0, 0.0]);
}

#[test]
fn one_hot_and_triangles() {
    let arrays = [ints("d", &[], &[3]), floats("v", &[2], &[0.5, 2.0])];
    let (dims, y) = run(17, X(&[2], &[1.0, -1.0]), &arrays, node("OneHot", "x d v", "y", &[A::I("axis", 0)]));
    assert_eq!((dims, y), (vec![3, 2], vec![0.5, 0.5, 2.0, 0.5, 0.5, 2.0]));
    assert_eq!(run(17, SIX, &[ints("k", &[], &[1])], node("Trilu", "x k", "y", &[])).1, [0.0, 2.0, 3.0, 0.0, 0.0, 6.0]);
    let lower = node("Trilu", "x", "y", &[A::I("upper", 0)]);
    assert_eq!(run(17, SIX, &[], lower).1, [1.0, 0.0, 0.0, 4.0, 5.0, 0.0]);
}

#[test]
fn resizing_by_each_rule() {
    let x = X(&[1, 1, 1, 4], &[1.0, 2.0, 3.0, 4.0]);
    let half = [floats("s", &[4], &[1.0, 1.0, 1.0, 0.6])];
    let twice = [floats("s", &[4], &[1.0, 1.0, 1.0, 2.0])];
    // Before operator set 11 the next element is taken for a smaller result, the one before for a larger.
    close(&run(10, X(x.0, x.1), &half, node("Resize", "x s", "y", &[])).1, &[1.0, 3.0]);
    close(&run(10, X(x.0, x.1), &twice, node("Resize", "x s", "y", &[])).1, &[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
    let run = |arrays: &[Vec<u8>], a: &[A<'_>]| run(17, X(x.0, x.1), arrays, node("Resize", "x _ s", "y", a)).1;
    close(&run(&half, &[A::S("mode", "linear")]), &[4.0 / 3.0, 3.0]);
    close(&run(&twice, &[]), &[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
    close(&run(&twice, &[A::S("mode", "linear")]), &[1.0, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4.0]);
    let corners = [A::S("mode", "linear"), A::S("coordinate_transformation_mode", "align_corners")];
    close(&run(&twice, &corners), &[1.0, 10.0 / 7.0, 13.0 / 7.0, 16.0 / 7.0, 19.0 / 7.0, 22.0 / 7.0, 25.0 / 7.0, 4.0]);
    let cubic = run(&twice, &[A::S("mode", "cubic")]);
    close(&cubic[..2], &[0.894_531_25, 1.191_406_25]);
}

#[test]
fn casts_to_8_bits_saturate_unless_the_node_says_otherwise() {
    let x = [1e6f32, -f32::INFINITY, f32::NAN, 0.3];
    let through = |node: Vec<u8>, arrays: &[Vec<u8>]| {
        let back = super::node("Cast", "q", "y", &[A::I("to", 1)]);
        let graph = graph(&[node, back], arrays, &[info("x", 1, &[4])], &["y"]);
        let ty = ArrayType::new(ElementType::F32, [4]);
        let program = crate::read_onnx(&file(&graph, 19), &ImportOptions::default()).unwrap().program;
        let value = Value { ty, numbers: Numbers::Real(x.map(f64::from).to_vec()) };
        let Numbers::Real(numbers) = evaluate(&program, vec![value], 1 << 20).unwrap().outputs.remove(0).numbers else {
            unreachable!()
        };
        numbers
    };
    // `float8_e4m3fn` is 17, `float8_e5m2` 19.
    for (to, largest, beyond) in [(17, 448.0, f64::NAN), (19, 57_344.0, f64::INFINITY)] {
        let zero = [num(2, to), msg(8, "z"), msg(9, [0u8])].concat();
        let one = floats("one", &[], &[1.0]);
        let saturated = [
            through(node("Cast", "x", "q", &[A::I("to", to)]), &[]),
            through(node("CastLike", "x z", "q", &[]), std::slice::from_ref(&zero)),
            through(node("QuantizeLinear", "x one z", "q", &[]), &[one, zero]),
        ];
        for found in saturated {
            assert_eq!(found[..2], [largest, -largest]);
            assert!(found[2].is_nan() && (found[3] - 0.3).abs() < 0.02, "{found:?}");
        }
        let plain = through(node("Cast", "x", "q", &[A::I("to", to), A::I("saturate", 0)]), &[]);
        assert!(plain[0] == beyond || plain[0].is_nan() && beyond.is_nan(), "{plain:?}");
    }
}
