//! Batch normalisation: with known statistics, with the batch's own, and its gradient.

use super::pick::{reals, strides};
use crate::{ArrayType, Numbers, Value, round};
use ns_base::convert::usize_to_f64;
use ns_base::{Refusal, refuse};

/// The channel of each element.
struct Channels {
    step: usize,
    size: usize,
}

impl Channels {
    fn of(x: &Value, feature: u32) -> Result<Self, Refusal> {
        let d = feature as usize;
        let none = || refuse!("{} has no dimension {d}", x.ty);
        let size = *x.ty.dims.get(d).ok_or_else(none)?;
        let step = usize::try_from(strides(&x.ty.dims)[d]).unwrap_or(1);
        Ok(Self { step: step.max(1), size: usize::try_from(size).unwrap_or(1).max(1) })
    }

    const fn of_element(&self, i: usize) -> usize {
        i / self.step % self.size
    }

    /// The mean over each channel of `f`, applied to its elements.
    fn mean(&self, n: usize, f: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.size];
        for i in 0..n {
            sums[self.of_element(i)] += f(i);
        }
        let each = usize_to_f64((n / self.size).max(1));
        sums.into_iter().map(|s| s / each).collect()
    }
}

fn per_channel<'a>(values: &[&'a Value], channels: &Channels) -> Result<Vec<std::borrow::Cow<'a, [f64]>>, Refusal> {
    let read = |v: &&'a Value| {
        let numbers = reals(v)?;
        if numbers.len() == channels.size {
            Ok(numbers)
        } else {
            Err(refuse!("{} is not one number for each channel", v.ty))
        }
    };
    values.iter().map(read).collect()
}

fn like(x: &Value, numbers: impl Iterator<Item = f64>) -> Value {
    let element = x.ty.element;
    Value { ty: x.ty.clone(), numbers: Numbers::Real(numbers.map(|v| round::real(element, v)).collect()) }
}

fn channel_values(x: &Value, values: Vec<f64>) -> Value {
    let element = x.ty.element;
    let ty = ArrayType::new(element, [values.len() as u64]);
    Value { ty, numbers: Numbers::Real(values.into_iter().map(|v| round::real(element, v)).collect()) }
}

pub(super) fn inference(
    x: &Value,
    scale: &Value,
    offset: &Value,
    mean: &Value,
    variance: &Value,
    epsilon: f32,
    feature: u32,
) -> Result<Value, Refusal> {
    let channels = Channels::of(x, feature)?;
    let p = per_channel(&[scale, offset, mean, variance], &channels)?;
    let v = reals(x)?;
    let one = |(i, &v): (usize, &f64)| {
        let c = channels.of_element(i);
        (v - p[2][c]) / libm::sqrt(p[3][c] + f64::from(epsilon)) * p[0][c] + p[1][c]
    };
    Ok(like(x, v.iter().enumerate().map(one)))
}

pub(super) fn training(
    x: &Value,
    scale: &Value,
    offset: &Value,
    epsilon: f32,
    feature: u32,
) -> Result<[Value; 3], Refusal> {
    let channels = Channels::of(x, feature)?;
    let v = reals(x)?;
    let mean = channels.mean(v.len(), |i| v[i]);
    let variance = channels.mean(v.len(), |i| {
        let from_mean = v[i] - mean[channels.of_element(i)];
        from_mean * from_mean
    });
    let (mean, variance) = (channel_values(scale, mean), channel_values(scale, variance));
    let result = inference(x, scale, offset, &mean, &variance, epsilon, feature)?;
    Ok([result, mean, variance])
}

/// Gradients of the operand, of the scale and of the offset.
pub(super) fn gradient(
    x: &Value,
    scale: &Value,
    mean: &Value,
    variance: &Value,
    gradient: &Value,
    epsilon: f32,
    feature: u32,
) -> Result<[Value; 3], Refusal> {
    let channels = Channels::of(x, feature)?;
    let p = per_channel(&[scale, mean, variance], &channels)?;
    let (v, g) = (reals(x)?, reals(gradient)?);
    if v.len() != g.len() {
        return Err(refuse!("{} is not a gradient of {}", gradient.ty, x.ty));
    }
    let inverse: Vec<f64> = p[2].iter().map(|s| 1.0 / libm::sqrt(s + f64::from(epsilon))).collect();
    let normal = |i: usize| (v[i] - p[1][channels.of_element(i)]) * inverse[channels.of_element(i)];
    let mean_g = channels.mean(v.len(), |i| g[i]);
    let mean_gx = channels.mean(v.len(), |i| g[i] * normal(i));
    let one = |i: usize| {
        let c = channels.of_element(i);
        p[0][c] * inverse[c] * (g[i] - mean_g[c] - normal(i) * mean_gx[c])
    };
    let each = usize_to_f64(v.len() / channels.size);
    let total = |means: &[f64]| means.iter().map(|m| m * each).collect::<Vec<f64>>();
    Ok([like(x, (0..v.len()).map(one)), channel_values(scale, total(&mean_gx)), channel_values(scale, total(&mean_g))])
}
