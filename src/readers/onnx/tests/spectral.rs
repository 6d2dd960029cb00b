//! Fourier transforms.

use super::{A, X, close, file, floats, graph, info, ints, node, read, run};

/// Spectrum of 1, 2, 3, 4.
const SPECTRUM: [f64; 8] = [10.0, 0.0, -2.0, 2.0, -2.0, 0.0, -2.0, -2.0];

#[test]
fn a_signal_and_its_spectrum_are_one_another() {
    let real = X(&[1, 4, 1], &[1.0, 2.0, 3.0, 4.0]);
    let whole = || node("DFT", "x", "y", &[]);
    for opset in [17, 20] {
        let (dims, y) = run(opset, X(real.0, real.1), &[], whole());
        assert_eq!(dims, [1, 4, 2]);
        close(&y, &SPECTRUM);
    }
    let (dims, y) = run(20, X(real.0, real.1), &[], node("DFT", "x", "y", &[A::I("onesided", 1)]));
    assert_eq!(dims, [1, 3, 2]);
    close(&y, &SPECTRUM[..6]);
    let back = node("DFT", "x", "y", &[A::I("inverse", 1)]);
    close(&run(20, X(&[1, 4, 2], &SPECTRUM), &[], back).1, &[1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0]);
    let to_real = node("DFT", "x", "y", &[A::I("inverse", 1), A::I("onesided", 1)]);
    let (dims, y) = run(20, X(&[1, 3, 2], &SPECTRUM[..6]), &[], to_real);
    assert_eq!(dims, [1, 4, 1]);
    close(&y, real.1);
}

#[test]
fn the_length_and_the_dimension_of_a_transform_are_operands() {
    let arrays = [ints("n", &[], &[2]), ints("a", &[], &[0])];
    // Each column is transformed: its first two rows.
    let x = X(&[3, 2, 1], &[1.0, 2.0, 3.0, 5.0, 8.0, 8.0]);
    let (dims, y) = run(20, x, &arrays, node("DFT", "x n a", "y", &[]));
    assert_eq!(dims, [2, 2, 2]);
    close(&y, &[4.0, 0.0, 7.0, 0.0, -2.0, 0.0, -3.0, 0.0]);
    // A short signal is filled up with zeros.
    let arrays = [ints("n", &[], &[4])];
    let x = X(&[1, 2, 1], &[1.0, 2.0]);
    close(&run(17, x, &arrays, node("DFT", "x n", "y", &[])).1, &[3.0, 0.0, 1.0, -2.0, -1.0, 0.0, 1.0, 2.0]);
}

#[test]
fn a_window_moves_along_the_signal() {
    let signal = || X(&[1, 6, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let arrays = [ints("step", &[], &[2]), ints("n", &[], &[4]), floats("w", &[4], &[0.0, 1.0, 1.0, 0.0])];
    let (dims, y) = run(17, signal(), &arrays, node("STFT", "x step _ n", "y", &[]));
    assert_eq!(dims, [1, 2, 3, 2]);
    close(&y, &[10.0, 0.0, -2.0, 2.0, -2.0, 0.0, 18.0, 0.0, -2.0, 2.0, -2.0, 0.0]);
    let (_, y) = run(17, signal(), &arrays, node("STFT", "x step w", "y", &[]));
    close(&y[..6], &[5.0, 0.0, -3.0, -2.0, 1.0, 0.0]);
    let (dims, y) = run(17, X(&[1, 4, 2], &SPECTRUM), &arrays, node("STFT", "x step _ n", "y", &[]));
    assert_eq!(dims, [1, 1, 4, 2]);
    close(&y, &[4.0, 0.0, 16.0, 0.0, 12.0, 0.0, 8.0, 0.0]);
}

#[test]
fn transforms_that_cannot_be_are_refused() {
    let error = |dims: &[i64], node: Vec<u8>| {
        let arrays = [ints("n", &[], &[1 << 20]), ints("zero", &[], &[0])];
        let made = file(&graph(&[node], &arrays, &[info("x", 1, dims)], &["y"]), 20);
        read(&made).map(|_| ()).unwrap_err().to_string()
    };
    let whole = |reads: &str| node("DFT", reads, "y", &[]);
    assert!(error(&[1, 4, 1], whole("x n")).contains("too many for a product with a matrix"));
    assert!(error(&[1, 4, 1], whole("x zero")).contains("a window of 0 numbers"));
    assert!(error(&[1, 4, 3], whole("x")).contains("does not take [1, 4, 3]"));
    let half = node("DFT", "x", "y", &[A::I("onesided", 1)]);
    assert!(error(&[1, 4, 2], half).contains("half the spectrum of complex numbers"));
    assert!(error(&[1, 4, 1], node("STFT", "x", "y", &[])).contains("needs the step of its window"));
}
