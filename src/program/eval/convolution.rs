//! Convolutions of any number of spatial dimensions.

use super::pick::{count, for_each_index, reals, strides};
use super::windows::place;
use crate::{ArrayType, ConvolutionDims, Numbers, Value, WindowDim, round};
use ns_base::convert::{self, i64_to_u64};
use ns_base::{Refusal, refuse};

/// Dimensions of one side: batch or input features, features, spatial ones.
type Side = (u32, u32, Vec<u32>);

/// Checks that every side has the dimensions that are named.
fn check_sides(spatial: usize, sides: [(&ArrayType, &Side); 3]) -> Result<(), Refusal> {
    for (side, named) in sides {
        let all = [named.0, named.1].into_iter().chain(named.2.iter().copied());
        if named.2.len() != spatial
            || side.dims.len() != spatial + 2
            || all.into_iter().any(|d| d as usize >= spatial + 2)
        {
            return Err(refuse!("{side} does not have the dimensions that the convolution names"));
        }
    }
    Ok(())
}

/// Distance between neighbours along each dimension of an array.
fn steps(ty: &ArrayType) -> Vec<usize> {
    strides(&ty.dims).into_iter().map(|step| convert::u64_to_usize(i64_to_u64(step))).collect()
}

pub(super) fn convolution(
    x: &Value,
    kernel: &Value,
    window: &[WindowDim],
    dims: &ConvolutionDims,
    (feature_groups, batch_groups): (u64, u64),
    ty: &ArrayType,
) -> Result<Value, Refusal> {
    let spatial = window.len();
    check_sides(spatial, [(&x.ty, &dims.input), (&kernel.ty, &dims.kernel), (ty, &dims.output)])?;
    let size = |ty: &ArrayType, d: u32| ty.dims[d as usize];
    let (channels, outputs) = (size(&kernel.ty, dims.kernel.0), size(&kernel.ty, dims.kernel.1));
    let (batch, groups) = (size(ty, dims.output.0), feature_groups.max(1));
    let batch_groups = batch_groups.max(1);
    let is_whole = channels.checked_mul(groups) == Some(size(&x.ty, dims.input.1))
        && outputs == size(ty, dims.output.1)
        && outputs.is_multiple_of(groups)
        && outputs.is_multiple_of(batch_groups)
        && batch.checked_mul(batch_groups) == Some(size(&x.ty, dims.input.0));
    if !is_whole {
        return Err(refuse!("{} and {} have no convolution {ty} in {groups} groups", x.ty, kernel.ty));
    }
    let (sx, sk, so) = (steps(&x.ty), steps(&kernel.ty), steps(ty));
    let (xs, ks) = (reals(x)?, reals(kernel)?);
    let mut result = vec![0.0; count(&ty.dims)?];
    let places: Vec<u64> = dims.output.2.iter().map(|&d| size(ty, d)).collect();
    let kernel_sizes: Vec<u64> = window.iter().map(|w| w.size).collect();
    let input_sizes: Vec<u64> = dims.input.2.iter().map(|&d| size(&x.ty, d)).collect();
    let step = |steps: &[usize], d: u32| steps[d as usize];
    let [channels, outputs, batch] = [channels, outputs, batch].map(convert::u64_to_usize);
    let (of_group, of_batch) = (outputs / convert::u64_to_usize(groups), outputs / convert::u64_to_usize(batch_groups));
    // Pairs of input and kernel elements that are multiplied at each position of the result; the same for all channels.
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for_each_index::<Refusal>(&places, |_, at| {
        pairs.clear();
        for_each_index::<Refusal>(&kernel_sizes, |_, inside| {
            let (mut from, mut with) = (0, 0);
            for i in 0..spatial {
                let Some(p) = place(&window[i], at[i], inside[i], input_sizes[i]) else { return Ok(()) };
                let k = if window[i].is_reversed { kernel_sizes[i] - 1 - inside[i] } else { inside[i] };
                from += convert::u64_to_usize(i64_to_u64(p)) * step(&sx, dims.input.2[i]);
                with += convert::u64_to_usize(k) * step(&sk, dims.kernel.2[i]);
            }
            pairs.push((from, with));
            Ok(())
        })?;
        let to: usize = (0..spatial).map(|i| convert::u64_to_usize(at[i]) * step(&so, dims.output.2[i])).sum();
        for n in 0..batch {
            for o in 0..outputs {
                let image = n + batch * (o / of_batch);
                let x0 = image * step(&sx, dims.input.0) + (o / of_group * channels) * step(&sx, dims.input.1);
                let k0 = o * step(&sk, dims.kernel.1);
                let mut sum = 0.0;
                for c in 0..channels {
                    let (xc, kc) = (x0 + c * step(&sx, dims.input.1), k0 + c * step(&sk, dims.kernel.0));
                    for &(from, with) in &pairs {
                        sum += xs[xc + from] * ks[kc + with];
                    }
                }
                result[to + n * step(&so, dims.output.0) + o * step(&so, dims.output.1)] = sum;
            }
        }
        Ok(())
    })?;
    Ok(rounded(&result, ty))
}

fn rounded(sums: &[f64], ty: &ArrayType) -> Value {
    let numbers = if ty.element.is_float() {
        Numbers::Real(sums.iter().map(|&v| round::real(ty.element, v)).collect())
    } else {
        Numbers::Whole(sums.iter().map(|&v| round::truncated(ty.element, v)).collect())
    };
    Value { ty: ty.clone(), numbers }
}
