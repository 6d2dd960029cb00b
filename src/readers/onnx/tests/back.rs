//! Inverses of windows, and window functions: expected values come from onnx's own reference evaluator (onnx 1.23).

use super::{A, X, close, floats, ints, node, run};

fn count(n: usize) -> Vec<f64> {
    (1..=n).map(|i| i as f64).collect()
}

#[test]
fn columns_become_the_image_that_they_are_patches_of() {
    let numbers = count(24);
    let image = |dims: &[i64]| [ints("i", &[2], dims), ints("k", &[2], &[2, 2])];
    let (dims, y) = run(18, X(&[1, 4, 6], &numbers), &image(&[3, 4]), node("Col2Im", "x i k", "y", &[]));
    assert_eq!(dims, [1, 1, 3, 4]);
    close(&y, &[1.0, 9.0, 11.0, 9.0, 17.0, 48.0, 52.0, 33.0, 16.0, 39.0, 41.0, 24.0]);
    let padded = node("Col2Im", "x i k", "y", &[A::Ints("pads", &[1, 0, 0, 0]), A::Ints("strides", &[1, 1])]);
    let (dims, y) = run(18, X(&[1, 4, 6], &numbers), &image(&[3, 3]), padded);
    assert_eq!(dims, [1, 1, 3, 3]);
    close(&y, &[16.0, 46.0, 30.0, 20.0, 54.0, 34.0, 17.0, 41.0, 24.0]);
}

#[test]
fn largest_elements_go_back_to_their_places() {
    let places = ints("i", &[1, 2, 1, 2], &[1, 6, 9, 15]);
    let how = [A::Ints("kernel_shape", &[2, 2]), A::Ints("strides", &[2, 2])];
    let (dims, y) = run(11, X(&[1, 2, 1, 2], &count(4)), &[places], node("MaxUnpool", "x i", "y", &how));
    assert_eq!(dims, [1, 2, 2, 4]);
    close(&y, &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0]);
}

#[test]
fn grids_are_moved_by_a_matrix() {
    let theta = X(&[1, 2, 3], &[1.0, 0.5, 0.25, 0.0, 2.0, -1.0]);
    let size = [ints("s", &[4], &[1, 1, 2, 3])];
    let (dims, y) = run(20, theta, &size, node("AffineGrid", "x s", "y", &[]));
    assert_eq!(dims, [1, 2, 3, 2]);
    let third = 2.0 / 3.0;
    close(&y, &[-third, -2.0, 0.0, -2.0, third, -2.0, 0.5 - third, 0.0, 0.5, 0.0, 0.5 + third, 0.0]);
    let theta = X(&[1, 2, 3], &[1.0, 0.5, 0.25, 0.0, 2.0, -1.0]);
    let (_, y) = run(20, theta, &size, node("AffineGrid", "x s", "y", &[A::I("align_corners", 1)]));
    close(&y, &[-1.25, -3.0, -0.25, -3.0, 0.75, -3.0, -0.25, 1.0, 0.75, 1.0, 1.75, 1.0]);
}

#[test]
fn running_products_forth_and_back() {
    let axis = [ints("a", &[], &[1])];
    let (_, y) = run(26, X(&[2, 3], &count(6)), &axis, node("CumProd", "x a", "y", &[]));
    close(&y, &[1.0, 2.0, 6.0, 4.0, 20.0, 120.0]);
    let how = [A::I("exclusive", 1), A::I("reverse", 1)];
    let (_, y) = run(26, X(&[2, 3], &count(6)), &axis, node("CumProd", "x a", "y", &how));
    close(&y, &[6.0, 3.0, 1.0, 30.0, 6.0, 1.0]);
}

#[test]
fn windows_rise_to_the_middle() {
    let size = [ints("n", &[], &[4])];
    let of = |name: &str, periodic: i64| {
        run(17, X(&[1], &[0.0]), &size, node(name, "n", "y", &[A::I("periodic", periodic)])).1
    };
    close(&of("HannWindow", 1), &[0.0, 0.5, 1.0, 0.5]);
    close(&of("HannWindow", 0), &[0.0, 0.75, 0.75, 0.0]);
    close(&of("HammingWindow", 1), &[0.086_957, 0.543_478, 1.0, 0.543_478]);
    close(&of("HammingWindow", 0), &[0.086_957, 0.771_739, 0.771_739, 0.086_957]);
    close(&of("BlackmanWindow", 0), &[0.0, 0.63, 0.63, 0.0]);
}

#[test]
fn random_numbers_have_the_sizes_that_are_asked_for() {
    let nodes = [
        node("RandomNormalLike", "x", "y", &[]),
        node("RandomUniformLike", "x", "y", &[A::F("high", 2.0)]),
        node("RandomNormal", "", "y", &[A::Ints("shape", &[2, 3])]),
    ];
    for one in nodes {
        let graph = super::graph(&[one], &[floats("w", &[1], &[1.0])], &[super::info("x", 1, &[2, 3])], &["y"]);
        let imported = super::read(&super::file(&graph, 17)).unwrap();
        assert_eq!(imported.inspection.outputs[0].shape, [2, 3]);
        assert!(imported.inspection.unsupported.is_empty(), "{:?}", imported.inspection.unsupported);
    }
}
