//! Fourier transforms. ONNX keeps real and imaginary parts in the last dimension, so that a transform is one product with a matrix of
//! cosines and sines, as NeuronCores need it.

use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::u64_to_f64;
use ns_base::refuse;
use ns_program::OperatorKind::Product;
use ns_program::builder::ConvolutionSpec;
use ns_program::{ArrayType, Numbers, Value};

use super::Operator;

/// Most numbers of a transform's matrix.
const MOST_NUMBERS: u64 = 1 << 23;

/// Fourier transforms.
pub(super) const OPS: &[Operator] = &[("DFT", Product, transform), ("STFT", Product, short_time)];

/// A transform of one dimension.
struct Transform {
    /// Elements of the whole signal, which the angles are parts of.
    length: u64,
    /// Elements before and after.
    elements: [u64; 2],
    /// Parts of an element before and after: one of a real number, two of a complex one.
    parts: [u64; 2],
    is_inverse: bool,
}

impl Transform {
    /// A forward transform of a signal of `parts`; of a real signal, half of the spectrum may do.
    const fn forward(length: u64, parts: u64, is_half: bool) -> Self {
        let bins = if is_half { length / 2 + 1 } else { length };
        Self { length, elements: [length, bins], parts: [parts, 2], is_inverse: false }
    }

    /// Whether half a spectrum becomes a real signal.
    const fn is_to_real(&self) -> bool {
        self.parts[1] == 1
    }

    /// What the part `from` of element `i` adds to the part `to` of element `k`.
    fn factor(&self, [i, from]: [u64; 2], [k, to]: [u64; 2]) -> f64 {
        // Whole turns are left out first: sines of large angles are less exact.
        let turn = u64_to_f64(i * k % self.length) / u64_to_f64(self.length);
        let angle = std::f64::consts::TAU * if self.is_inverse { turn } else { -turn };
        let part = match (from, to) {
            (0, 0) | (1, 1) => libm::cos(angle),
            (0, _) => libm::sin(angle),
            _ => -libm::sin(angle),
        };
        // The other half of the spectrum mirrors this one.
        let is_mirrored = self.is_to_real() && i > 0 && 2 * i != self.length;
        let copies = if is_mirrored { 2.0 } else { 1.0 };
        part * copies / if self.is_inverse { u64_to_f64(self.length) } else { 1.0 }
    }

    /// Rows and columns of the matrix: elements times parts.
    fn sizes(&self) -> [u64; 2] {
        [0, 1].map(|i| self.elements[i].saturating_mul(self.parts[i]))
    }

    /// The matrix, row by row: a row for each part of an element of the signal.
    fn matrix(&self, site: &Site<'_, '_>) -> Result<Vec<f64>, Failure> {
        let [rows, columns] = self.sizes();
        if self.length == 0 {
            return Err(site.fault(refuse!("makes no elements")));
        }
        if rows.saturating_mul(columns) > MOST_NUMBERS {
            return Err(
                site.fault(refuse!("transforms {} elements, too many for a product with a matrix", self.length))
            );
        }
        let of = |at: u64, parts: u64| [at / parts, at % parts];
        let row = |at: u64| (0..columns).map(move |to| self.factor(of(at, self.parts[0]), of(to, self.parts[1])));
        Ok((0..rows).flat_map(row).collect())
    }
}

/// Number of parts of the last dimension: one of real numbers, two of complex ones.
fn parts(site: &Site<'_, '_>, dims: &[u64]) -> Result<u64, Failure> {
    match dims {
        [_, .., parts @ (1 | 2)] => Ok(*parts),
        _ => Err(site.fault(refuse!("does not take {dims:?}"))),
    }
}

/// A number that is an operand, if there is one.
fn optional_length(site: &Site<'_, '_>, at: usize) -> Result<Option<u64>, Failure> {
    let Some(_) = site.option(at) else { return Ok(None) };
    let given = site.known_ints(at)?.first().copied().unwrap_or(0);
    u64::try_from(given)
        .ok()
        .filter(|&n| n > 0)
        .map(Some)
        .ok_or_else(|| site.fault(refuse!("makes a window of {given} numbers")))
}

fn transform(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let (rank, parts) = (dims.len(), parts(site, &dims)?);
    // The dimension is an attribute before version 20, and an operand since.
    let axis = match site.option(2) {
        Some(_) => site.known_ints(2)?.first().copied().unwrap_or(-2),
        None => site.int("axis", if site.opset < 20 { 1 } else { -2 })?,
    };
    let at = site.axis(axis, rank)?;
    if at + 1 == rank {
        return Err(site.fault(refuse!("has axis {axis} and its operand {rank} dimensions")));
    }
    let (is_inverse, is_half) = (site.int("inverse", 0)? != 0, site.int("onesided", 0)? != 0);
    let given = optional_length(site, 1)?;
    let how = match (is_inverse, is_half) {
        (false, _) if is_half && parts == 2 => {
            return Err(site.fault(refuse!("with half the spectrum of complex numbers is not known")));
        }
        (false, _) => Transform::forward(given.unwrap_or(dims[at]), parts, is_half),
        (true, false) => {
            let length = given.unwrap_or(dims[at]);
            Transform { length, elements: [length; 2], parts: [parts, 2], is_inverse }
        }
        (true, true) => {
            let length = given.unwrap_or_else(|| 2 * dims[at].saturating_sub(1));
            Transform { length, elements: [length / 2 + 1, length], parts: [parts, 1], is_inverse }
        }
    };
    let numbers = how.matrix(site)?;
    let element = site.element(x);
    let matrix = Value { ty: ArrayType::new(element, how.sizes()), numbers: Numbers::Real(numbers) };
    let fitted = site.b().resize_dim(x, at, how.elements[0])?;
    let order: Vec<usize> = (0..rank - 1).filter(|&d| d != at).chain([at, rank - 1]).collect();
    let turned = site.b().transpose(fitted, &order)?;
    let mut sizes = site.dims(turned);
    sizes.truncate(rank - 2);
    let rows = site.b().reshape(turned, &[sizes.as_slice(), &[how.sizes()[0]]].concat())?;
    let matrix = site.b().constant(matrix)?;
    let product = site.b().matmul(rows, matrix)?;
    let apart = site.b().reshape(product, &[sizes.as_slice(), &[how.elements[1], how.parts[1]]].concat())?;
    let mut back = vec![0; rank];
    order.iter().enumerate().for_each(|(i, &d)| back[d] = i);
    Ok(vec![site.b().transpose(apart, &back)?])
}

/// Spectra of a window that moves along the signal: a convolution whose kernels are the rows of a transform, each times the window.
fn short_time(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let parts = parts(site, &dims)?;
    let &[batch, length, _] = dims.as_slice() else { return Err(site.fault(refuse!("does not take {dims:?}"))) };
    let step = optional_length(site, 1)?.ok_or_else(|| site.fault(refuse!("needs the step of its window")))?;
    let window = site.option(2);
    let size = match (optional_length(site, 3)?, window) {
        (Some(size), _) => size,
        (None, Some(window)) => site.dims(window).first().copied().unwrap_or(0),
        (None, None) => length,
    };
    if size == 0 || size > length {
        return Err(site.fault(refuse!("makes a window of {size} numbers")));
    }
    let is_half = site.int("onesided", 1)? != 0 && parts == 1;
    let how = Transform::forward(size, parts, is_half);
    let matrix = Value { ty: ArrayType::new(site.element(x), how.sizes()), numbers: Numbers::Real(how.matrix(site)?) };
    let matrix = site.b().constant(matrix)?;
    let columns = how.sizes()[1];
    let apart = site.b().reshape(matrix, &[size, parts, columns])?;
    let mut kernels = site.b().transpose(apart, &[2, 1, 0])?;
    if let Some(window) = window {
        kernels = site.b().mul(kernels, window)?;
    }
    let signal = site.b().transpose(x, &[0, 2, 1])?;
    let spec = ConvolutionSpec {
        strides: vec![step],
        padding: vec![(0, 0)],
        dilation: vec![1],
        groups: 1,
        ..ConvolutionSpec::default()
    };
    let made = site.b().convolution(signal, kernels, None, &spec)?;
    let frames = site.b().size(made, 2)?;
    let spectra = site.b().transpose(made, &[0, 2, 1])?;
    Ok(vec![site.b().reshape(spectra, &[batch, frames, how.elements[1], 2])?])
}
