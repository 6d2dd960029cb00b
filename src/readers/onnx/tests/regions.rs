//! Regions of pictures, and rows of caches.

use super::{A, X, close, file, floats, graph, info, ints, node, read, run};

/// A picture of 4 x 4 pixels, each twice as bright as its column is far.
const COLUMNS: [f64; 16] = [0.0, 2.0, 4.0, 6.0, 0.0, 2.0, 4.0, 6.0, 0.0, 2.0, 4.0, 6.0, 0.0, 2.0, 4.0, 6.0];

fn picture() -> X<'static> {
    X(&[1, 1, 4, 4], &COLUMNS)
}

fn align(more: Option<A<'_>>) -> Vec<u8> {
    let mut attributes = vec![A::I("output_width", 2), A::I("output_height", 1), A::I("sampling_ratio", 2)];
    attributes.extend(more);
    node("RoiAlign", "x regions pictures", "y", &attributes)
}

#[test]
fn a_region_is_the_mean_of_its_samples() {
    let arrays = [floats("regions", &[1, 4], &[0.0, 0.0, 3.0, 4.0]), ints("pictures", &[1], &[0])];
    // Before version 16 a region begins in the middle of its pixel: the samples are at 0.375, 1.125, 1.875 and 2.625.
    let (dims, y) = run(10, picture(), &arrays, align(None));
    assert_eq!(dims, [1, 1, 1, 2]);
    close(&y, &[1.5, 4.5]);
    // Since then it begins half a pixel earlier: the first sample, at -0.125, is moved to the edge.
    close(&run(16, picture(), &arrays, align(None)).1, &[0.625, 3.5]);
    let older = align(Some(A::S("coordinate_transformation_mode", "output_half_pixel")));
    close(&run(22, picture(), &arrays, older).1, &[1.5, 4.5]);
}

#[test]
fn samples_outside_of_the_picture_are_nothing() {
    let arrays = [floats("regions", &[1, 4], &[3.0, 0.0, 11.0, 4.0]), ints("pictures", &[1], &[0])];
    // The samples are at 4, 6, 8 and 10: the first is a pixel away from the last column.
    close(&run(10, picture(), &arrays, align(None)).1, &[3.0, 0.0]);
}

#[test]
fn regions_that_cannot_be_sampled_are_refused() {
    let error = |attributes: &[A<'_>]| {
        let arrays = [floats("regions", &[1, 4], &[0.0; 4]), ints("pictures", &[1], &[0])];
        let made = node("RoiAlign", "x regions pictures", "y", attributes);
        read(&file(&graph(&[made], &arrays, &[info("x", 1, &[1, 1, 4, 4])], &["y"]), 16)).unwrap_err().to_string()
    };
    assert!(error(&[]).contains("(sampling_ratio 0)"), "{}", error(&[]));
    let maximum = [A::I("sampling_ratio", 1), A::S("mode", "max")];
    assert!(error(&maximum).contains("the maximum of samples"), "{}", error(&maximum));
}

#[test]
fn rows_are_written_into_a_cache() {
    let cache = || X(&[2, 3, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let arrays = [floats("rows", &[2, 2, 1], &[7.0, 8.0, 9.0, 10.0]), ints("starts", &[2], &[0, 1])];
    let (dims, y) = run(24, cache(), &arrays, node("TensorScatter", "x rows starts", "y", &[]));
    assert_eq!(dims, [2, 3, 1]);
    close(&y, &[7.0, 8.0, 3.0, 4.0, 9.0, 10.0]);
    close(&run(24, cache(), &arrays, node("TensorScatter", "x rows", "y", &[])).1, &[7.0, 8.0, 3.0, 9.0, 10.0, 6.0]);
    // The second sample's last row goes to the front.
    let arrays = [arrays[0].clone(), ints("starts", &[2], &[0, 2])];
    let circular = node("TensorScatter", "x rows starts", "y", &[A::S("mode", "circular")]);
    close(&run(24, cache(), &arrays, circular).1, &[7.0, 8.0, 3.0, 10.0, 5.0, 9.0]);
}

#[test]
fn rows_that_do_not_fit_a_cache_are_refused() {
    let arrays = [floats("rows", &[2, 4, 1], &[0.0; 8])];
    let made = node("TensorScatter", "x rows", "y", &[]);
    let error = read(&file(&graph(&[made], &arrays, &[info("x", 1, &[2, 3, 1])], &["y"]), 24)).unwrap_err().to_string();
    assert!(error.contains("[2, 4, 1]") && error.contains("[2, 3, 1]"), "{error}");
}
