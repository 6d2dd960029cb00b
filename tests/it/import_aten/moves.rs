//! Aten operations that move elements: sizes, windows, indices, writes through views.

use serde_json::{Value as Json, json};

use super::{Tensor, check, check_file, count, f, file, flag, float, i, int, ints, x};

#[test]
fn shapes() {
    let m = count(&[2, 3]);
    let one = |t: &str, a: Json, want: Tensor| check(t, std::slice::from_ref(&m), a, &[want]);
    one(
        "permute.default",
        json!([["self", x(0)], ["dims", ints(&[1, 0])]]),
        f(&[3, 2], &[0.0, 3.0, 1.0, 4.0, 2.0, 5.0]),
    );
    one(
        "repeat.default",
        json!([["self", x(0)], ["repeats", ints(&[2, 1])]]),
        f(&[4, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
    );
    one(
        "repeat_interleave.self_int",
        json!([["self", x(0)], ["repeats", int(2)], ["dim", int(0)]]),
        f(&[4, 3], &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 3.0, 4.0, 5.0]),
    );
    one(
        "roll.default",
        json!([["self", x(0)], ["shifts", ints(&[1])], ["dims", ints(&[1])]]),
        f(&[2, 3], &[2.0, 0.0, 1.0, 5.0, 3.0, 4.0]),
    );
    one("flip.default", json!([["self", x(0)], ["dims", ints(&[-1])]]), f(&[2, 3], &[2.0, 1.0, 0.0, 5.0, 4.0, 3.0]));
    one(
        "slice.Tensor",
        json!([["self", x(0)], ["dim", int(1)], ["start", int(-2)], ["end", int(i64::MAX)]]),
        f(&[2, 2], &[1.0, 2.0, 4.0, 5.0]),
    );
    one(
        "slice.Tensor",
        json!([["self", x(0)], ["dim", int(1)], ["start", int(0)], ["end", int(3)], ["step", int(2)]]),
        f(&[2, 2], &[0.0, 2.0, 3.0, 5.0]),
    );
    one(
        "constant_pad_nd.default",
        json!([["self", x(0)], ["pad", ints(&[1, -1])], ["value", float(9.0)]]),
        f(&[2, 3], &[9.0, 0.0, 1.0, 9.0, 3.0, 4.0]),
    );
    one(
        "reflection_pad1d.default",
        json!([["self", x(0)], ["padding", ints(&[2, 1])]]),
        f(&[2, 6], &[2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 5.0, 4.0, 3.0, 4.0, 5.0, 4.0]),
    );
    one("tril.default", json!([["self", x(0)]]), f(&[2, 3], &[0.0, 0.0, 0.0, 3.0, 4.0, 0.0]));
    one("triu.default", json!([["self", x(0)], ["diagonal", int(1)]]), f(&[2, 3], &[0.0, 1.0, 2.0, 0.0, 0.0, 5.0]));
    one("diff.default", json!([["self", x(0)]]), f(&[2, 2], &[1.0; 4]));
    one("unbind.int", json!([["self", x(0)], ["dim", int(1)]]), f(&[2], &[0.0, 3.0]));
    let shuffled = f(&[1, 2, 2], &[0.0, 1.0, 2.0, 3.0]);
    check(
        "pixel_shuffle.default",
        &[f(&[4, 1, 1], &[0.0, 1.0, 2.0, 3.0])],
        json!([["self", x(0)], ["upscale_factor", int(2)]]),
        &[shuffled],
    );
    check(
        "select.int",
        &[count(&[2, 3])],
        json!([["self", x(0)], ["dim", int(1)], ["index", int(-1)]]),
        &[f(&[2], &[2.0, 5.0])],
    );
    check(
        "cat.default",
        &[count(&[1, 2]), i(&[1, 1], &[7.0])],
        json!([["tensors", {"as_tensors": [{"name": "x0"}, {"name": "x1"}]}], ["dim", int(-1)]]),
        &[f(&[1, 3], &[0.0, 1.0, 7.0])],
    );
}

#[test]
fn pooling_and_resizing() {
    let image = count(&[1, 1, 5]);
    let one = |t: &str, a: Json, want: &[Tensor]| check(t, std::slice::from_ref(&image), a, want);
    one(
        "adaptive_avg_pool1d.default",
        json!([["self", x(0)], ["output_size", ints(&[3])]]),
        &[f(&[1, 1, 3], &[0.5, 2.0, 3.5])],
    );
    one(
        "avg_pool1d.default",
        json!([
            ["self", x(0)],
            ["kernel_size", ints(&[3])],
            ["stride", ints(&[2])],
            ["padding", ints(&[1])],
            ["count_include_pad", flag(false)]
        ]),
        &[f(&[1, 1, 3], &[0.5, 2.0, 3.5])],
    );
    one(
        "avg_pool1d.default",
        json!([["self", x(0)], ["kernel_size", ints(&[2])], ["stride", ints(&[2])], ["ceil_mode", flag(true)]]),
        &[f(&[1, 1, 3], &[0.5, 2.5, 4.0])],
    );
    one(
        "max_pool1d.default",
        json!([["self", x(0)], ["kernel_size", ints(&[3])], ["stride", ints(&[2])], ["padding", ints(&[1])]]),
        &[f(&[1, 1, 3], &[1.0, 3.0, 4.0])],
    );
    let square = f(&[1, 1, 2, 3], &[1.0, 5.0, 5.0, 2.0, 0.0, 7.0]);
    check(
        "max_pool2d_with_indices.default",
        &[square],
        json!([["self", x(0)], ["kernel_size", ints(&[2, 2])], ["stride", ints(&[1, 1])]]),
        &[f(&[1, 1, 1, 2], &[5.0, 7.0]), i(&[1, 1, 1, 2], &[1.0, 5.0])],
    );
    let pair = f(&[1, 1, 2], &[0.0, 3.0]);
    let resized = |t: &str, a: Json, want: &[f64]| {
        check(t, std::slice::from_ref(&pair), a, &[f(&[1, 1, want.len() as u64], want)])
    };
    resized("upsample_nearest1d.default", json!([["self", x(0)], ["output_size", ints(&[3])]]), &[0.0, 0.0, 3.0]);
    resized("upsample_nearest1d.default", json!([["self", x(0)], ["output_size", ints(&[4])]]), &[0.0, 0.0, 3.0, 3.0]);
    resized(
        "upsample_linear1d.default",
        json!([["self", x(0)], ["output_size", ints(&[4])], ["align_corners", flag(true)]]),
        &[0.0, 1.0, 2.0, 3.0],
    );
    resized(
        "upsample_linear1d.default",
        json!([["self", x(0)], ["output_size", ints(&[4])], ["align_corners", flag(false)]]),
        &[0.0, 0.75, 2.25, 3.0],
    );
}

#[test]
fn indices() {
    let m = count(&[3, 2]);
    let picked = json!([["self", x(0)], ["indices", {"as_tensors": [{"name": "x1"}, {"name": "x2"}]}]]);
    check("index.Tensor", &[m.clone(), i(&[2], &[2.0, -3.0]), i(&[2], &[1.0, 0.0])], picked, &[f(&[2], &[5.0, 0.0])]);
    let second = json!([["self", x(0)], ["indices", {"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x1"}}]}]]);
    check("index.Tensor", &[m.clone(), i(&[1], &[1.0])], second, &[f(&[3, 1], &[1.0, 3.0, 5.0])]);
    let put = json!([["self", x(0)], ["indices", {"as_tensors": [{"name": "x1"}]}], ["values", x(2)], ["accumulate", flag(true)]]);
    check(
        "index_put.default",
        &[m.clone(), i(&[2], &[1.0, 1.0]), f(&[2], &[10.0, 20.0])],
        put,
        &[f(&[3, 2], &[0.0, 1.0, 22.0, 43.0, 4.0, 5.0])],
    );
    let gather = json!([["self", x(0)], ["dim", int(1)], ["index", x(1)]]);
    check("gather.default", &[m.clone(), i(&[2, 1], &[1.0, 0.0])], gather, &[f(&[2, 1], &[1.0, 2.0])]);
    let scatter = json!([["self", x(0)], ["dim", int(0)], ["index", x(1)], ["src", x(2)]]);
    check(
        "scatter.src",
        &[m.clone(), i(&[1, 2], &[2.0, 0.0]), f(&[1, 2], &[8.0, 9.0])],
        scatter,
        &[f(&[3, 2], &[0.0, 9.0, 2.0, 3.0, 8.0, 5.0])],
    );
    let part =
        json!([["self", x(0)], ["src", x(1)], ["dim", int(0)], ["start", int(1)], ["end", int(3)], ["step", int(2)]]);
    check("slice_scatter.default", &[m, f(&[1, 2], &[8.0, 9.0])], part, &[f(&[3, 2], &[0.0, 1.0, 8.0, 9.0, 4.0, 5.0])]);
}

#[test]
fn windows_become_dimensions() {
    check(
        "unfold.default",
        &[count(&[5])],
        json!([["self", x(0)], ["dimension", int(0)], ["size", int(3)], ["step", int(2)]]),
        &[f(&[2, 3], &[0.0, 1.0, 2.0, 2.0, 3.0, 4.0])],
    );
    let columns = json!([
        ["self", x(0)],
        ["kernel_size", ints(&[2, 2])],
        ["dilation", ints(&[1, 1])],
        ["padding", ints(&[0, 0])],
        ["stride", ints(&[1, 1])]
    ]);
    // Each row is one element of the kernel over the patches 0 1 3 4 and 1 2 4 5 of two rows of three.
    check(
        "im2col.default",
        &[count(&[1, 1, 2, 3])],
        columns,
        &[f(&[1, 4, 2], &[0.0, 1.0, 1.0, 2.0, 3.0, 4.0, 4.0, 5.0])],
    );
}

#[test]
fn numbers_are_put_between_boundaries() {
    let both = [f(&[2, 2], &[0.5, 1.0, 2.5, 9.0]), f(&[3], &[1.0, 2.0, 3.0])];
    let plain = json!([["self", x(0)], ["boundaries", x(1)]]);
    check("bucketize.Tensor", &both, plain, &[i(&[2, 2], &[0.0, 0.0, 2.0, 3.0])]);
    let right = json!([["self", x(0)], ["boundaries", x(1)], ["right", flag(true)]]);
    check("bucketize.Tensor", &both, right, &[i(&[2, 2], &[0.0, 1.0, 2.0, 3.0])]);
}

#[test]
fn writes_through_views_reach_the_whole() {
    // y = x; y[:, ::2] *= 10 through a transposed view; the result is all of y.
    let input = count(&[2, 3]);
    let (whole, turned, part) = (count(&[2, 3]), count(&[3, 2]), count(&[2, 2]));
    let want = f(&[2, 3], &[0.0, 1.0, 20.0, 30.0, 4.0, 50.0]);
    let name = |n: &str| json!({"as_tensor": {"name": n}});
    let nodes = [
        ("clone.default", json!([["self", x(0)]]), vec![("y", &whole)]),
        ("permute.default", json!([["self", name("y")], ["dims", ints(&[1, 0])]]), vec![("t", &turned)]),
        (
            "slice.Tensor",
            json!([["self", name("t")], ["dim", int(0)], ["start", int(0)], ["end", int(3)], ["step", int(2)]]),
            vec![("p", &part)],
        ),
        ("mul_.Tensor", json!([["self", name("p")], ["other", int(10)]]), vec![("m", &part)]),
        ("alias.default", json!([["self", name("y")]]), vec![("out", &whole)]),
    ];
    check_file("writes", &file(std::slice::from_ref(&input), &nodes), std::slice::from_ref(&input), &[&want]);
}
