//! Fourier transforms by their definition, one dimension after another: they give reference values and are not fast.

use super::pick::{count, strides};
use crate::{ArrayType, Numbers, Value, round};
use ns_base::convert::usize_to_f64;
use ns_base::{Refusal, refuse};

pub(super) fn fft(x: &Value, kind: &str, length: &[u64], ty: &ArrayType) -> Result<Value, Refusal> {
    let rank = x.ty.dims.len();
    if length.is_empty() || length.len() > rank {
        return Err(refuse!("{} has no {} last dimensions", x.ty, length.len()));
    }
    let is_inverse = kind.starts_with('I');
    let mut dims = x.ty.dims.clone();
    let mut numbers: Vec<[f64; 2]> = match &x.numbers {
        Numbers::Complex(v) => v.clone(),
        Numbers::Real(v) => v.iter().map(|&v| [v, 0.0]).collect(),
        Numbers::Whole(_) => return Err(refuse!("{} has no Fourier transform", x.ty)),
    };
    let first = rank - length.len();
    if kind == "IRFFT" {
        // All dimensions but the last go first: the last is the one whose second half is left out.
        for d in first..rank - 1 {
            numbers = along(&numbers, &dims, d, true)?;
        }
        (numbers, dims) = mirrored(&numbers, &dims, length[length.len() - 1])?;
        numbers = along(&numbers, &dims, rank - 1, true)?;
    } else {
        for d in first..rank {
            numbers = along(&numbers, &dims, d, is_inverse)?;
        }
    }
    if kind == "RFFT" {
        let (size, kept) = (count(&[dims[rank - 1]])?, count(&[ty.dims.last().copied().unwrap_or(0)])?);
        numbers = numbers.chunks(size.max(1)).flat_map(|row| row.iter().take(kept).copied()).collect();
    }
    if numbers.len() != count(&ty.dims)? {
        return Err(refuse!("the transform of {} is not {ty}", x.ty));
    }
    let part = |v: f64| round::real(ty.element, v);
    let numbers = if ty.element.is_complex() {
        Numbers::Complex(numbers.into_iter().map(|[r, i]| [part(r), part(i)]).collect())
    } else {
        Numbers::Real(numbers.into_iter().map(|[r, _]| part(r)).collect())
    };
    Ok(Value { ty: ty.clone(), numbers })
}

/// Completes rows whose second half is the conjugated mirror image of the first.
fn mirrored(numbers: &[[f64; 2]], dims: &[u64], size: u64) -> Result<(Vec<[f64; 2]>, Vec<u64>), Refusal> {
    let (half, full) = (count(&[dims.last().copied().unwrap_or(0)])?, count(&[size])?);
    let mut all = Vec::new();
    for row in numbers.chunks(half.max(1)) {
        for i in 0..full {
            let from = if i < half { row.get(i).copied() } else { row.get(full - i).map(|&[r, i]| [r, -i]) };
            all.push(from.ok_or_else(|| refuse!("the spectrum is too short"))?);
        }
    }
    let mut dims = dims.to_vec();
    if let Some(last) = dims.last_mut() {
        *last = size;
    }
    Ok((all, dims))
}

fn along(numbers: &[[f64; 2]], dims: &[u64], d: usize, is_inverse: bool) -> Result<Vec<[f64; 2]>, Refusal> {
    let size = count(&[dims[d]])?;
    let step = usize::try_from(strides(dims)[d]).unwrap_or(1).max(1);
    let sign = if is_inverse { 1.0 } else { -1.0 };
    let turn: Vec<[f64; 2]> = (0..size)
        .map(|k| {
            let angle = sign * 2.0 * std::f64::consts::PI * usize_to_f64(k) / usize_to_f64(size);
            [libm::cos(angle), libm::sin(angle)]
        })
        .collect();
    let scale = if is_inverse { 1.0 / usize_to_f64(size) } else { 1.0 };
    let mut result = vec![[0.0; 2]; numbers.len()];
    for start in (0..numbers.len()).filter(|at| (at / step).is_multiple_of(size.max(1))) {
        for k in 0..size {
            let mut sum = [0.0; 2];
            for n in 0..size {
                let ([r, i], [c, s]) = (numbers[start + n * step], turn[n * k % size]);
                sum[0] += r * c - i * s;
                sum[1] += r * s + i * c;
            }
            result[start + k * step] = [sum[0] * scale, sum[1] * scale];
        }
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ElementType;

    #[test]
    fn a_transform_and_its_inverse_are_the_identity() {
        let x: Vec<f64> = vec![1.0, -2.0, 3.5, 0.25, 7.0, 1.5];
        let value = Value { ty: ArrayType::new(ElementType::F32, [6]), numbers: Numbers::Real(x.clone()) };
        let spectrum = fft(&value, "RFFT", &[6], &ArrayType::new(ElementType::C64, [4])).unwrap();
        let back = fft(&spectrum, "IRFFT", &[6], &value.ty).unwrap();
        let Numbers::Real(back) = back.numbers else { panic!("not real") };
        assert!(back.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-5), "{back:?}");
    }
}
