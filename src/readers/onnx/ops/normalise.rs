//! Normalisations and softmax.

use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::{f64_to_f32, i64_to_f64, u64_to_f64, u64_to_i64, usize_to_i64};
use ns_base::refuse;
use ns_program::OperatorKind::Norm;
use ns_program::compose::{
    Affine, arg_extreme, batch_norm, group_norm, layer_norm, log_softmax, lp_normalise, one_hot, rms_norm, softmax,
};
use ns_program::{ArrayType, Binary, Builder, Built, InstructionId, Op, Type, Unary, WindowDim};

use super::Operator;

pub(super) const OPS: &[Operator] = &[
    ("Softmax", Norm, |site| shares(site, softmax)),
    ("LogSoftmax", Norm, |site| shares(site, log_softmax)),
    ("Hardmax", Norm, |site| shares(site, hardmax)),
    ("BatchNormalization", Norm, batch),
    ("LayerNormalization", Norm, layer),
    ("RMSNormalization", Norm, root_mean_square),
    ("SimplifiedLayerNormalization", Norm, root_mean_square),
    ("InstanceNormalization", Norm, instance),
    ("GroupNormalization", Norm, group),
    ("LRN", Norm, local_response),
    ("LpNormalization", Norm, lp),
    ("MeanVarianceNormalization", Norm, mean_variance),
];

/// Before version 13 all dimensions from the axis on are flattened into one.
fn shares(site: &mut Site<'_, '_>, share: fn(&mut Builder, InstructionId, usize) -> Built) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let is_early = site.opset < 13;
    let axis = site.int("axis", if is_early { 1 } else { -1 })?;
    if is_early && axis == usize_to_i64(dims.len()) {
        return Err(site.fault(refuse!("normalises over no dimension of {dims:?}")));
    }
    let axis = site.axis(axis, dims.len())?;
    if !is_early || axis + 1 == dims.len() {
        return Ok(vec![share(site.b(), x, axis)?]);
    }
    let product = |part: &[u64]| part.iter().fold(1u64, |n, &d| n.saturating_mul(d));
    let flat = site.b().reshape(x, &[product(&dims[..axis]), product(&dims[axis..])])?;
    let result = share(site.b(), flat, 1)?;
    Ok(vec![site.b().reshape(result, &dims)?])
}

/// 1 where the largest element is, else 0.
fn hardmax(b: &mut Builder, x: InstructionId, axis: usize) -> Built {
    let (dims, element) = (b.dims(x), b.element(x));
    let place = arg_extreme(b, x, axis, true, false)?;
    let flags = one_hot(b, place, dims[axis])?;
    let last = dims.len() - 1;
    let order: Vec<usize> = (0..axis).chain([last]).chain(axis..last).collect();
    let flags = b.transpose(flags, &order)?;
    b.convert(flags, element)
}

fn batch(site: &mut Site<'_, '_>) -> Results {
    let [x, weight, bias, mean, variance] = [site.x(0)?, site.x(1)?, site.x(2)?, site.x(3)?, site.x(4)?];
    let epsilon = site.float("epsilon", 1e-5)?;
    if site.int("training_mode", 0)? != 0 {
        return batch_by_itself(site, [x, weight, bias], [mean, variance], epsilon);
    }
    let affine = Affine { weight: Some(weight), bias: Some(bias) };
    Ok(vec![batch_norm(site.b(), x, affine, mean, variance, epsilon)?])
}

/// A batch norm with the batch's own mean and variance, as used for weight standardisation; then the updated running statistics.
fn batch_by_itself(
    site: &mut Site<'_, '_>,
    [x, weight, bias]: [InstructionId; 3],
    running: [InstructionId; 2],
    epsilon: f64,
) -> Results {
    let momentum = site.float("momentum", 0.9)?;
    let ty = site.ty(x)?;
    let Some(&channels) = ty.dims.get(1) else {
        return Err(site.fault(refuse!("does not take {:?}", ty.dims)));
    };
    let b = site.b();
    let row = Type::Array(ArrayType::new(ty.element, [channels]));
    let (scale, offset) = (b.convert(weight, ty.element)?, b.convert(bias, ty.element)?);
    let op = Op::BatchNormTraining { epsilon: f64_to_f32(epsilon), feature: 1 };
    let result = Type::Tuple(vec![Type::Array(ty), row.clone(), row]);
    let all = b.push(op, vec![x, scale, offset], vec![], result)?;
    let mut results = vec![b.get(all, 0)?];
    for (at, old) in running.into_iter().enumerate() {
        let new = b.get(all, at + 1)?;
        let new = b.convert(new, b.element(old))?;
        let new = b.with_number(Binary::Mul, new, 1.0 - momentum)?;
        let kept = b.with_number(Binary::Mul, old, momentum)?;
        results.push(b.add(kept, new)?);
    }
    Ok(results)
}

fn layer(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let last = site.dims(x).len() - site.axis_of(x, -1)?;
    let affine = Affine { weight: site.option(1), bias: site.option(2) };
    let epsilon = site.float("epsilon", 1e-5)?;
    Ok(layer_norm(site.b(), x, last, affine, epsilon)?.to_vec())
}

fn root_mean_square(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let last = site.dims(x).len() - site.axis_of(x, -1)?;
    let (weight, epsilon) = (site.option(1), site.float("epsilon", 1e-5)?);
    Ok(vec![rms_norm(site.b(), x, last, weight, epsilon)?])
}

fn instance(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let Some(&channels) = dims.get(1) else {
        return Err(site.fault(refuse!("does not take {dims:?}")));
    };
    let affine = Affine { weight: site.option(1), bias: site.option(2) };
    let epsilon = site.float("epsilon", 1e-5)?;
    Ok(group_norm(site.b(), x, channels, affine, epsilon)?[..1].to_vec())
}

/// Before version 21 there is one factor and one summand for each group, since then one for each channel.
fn group(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let groups = u64::try_from(site.int("num_groups", 0)?).unwrap_or(0);
    let Some(each) = dims.get(1).and_then(|c| c.checked_div(groups)).filter(|e| dims[1] == e * groups) else {
        return Err(site.fault(refuse!("cannot divide {dims:?} into {groups} groups")));
    };
    let weight = channel_row(site, 1, groups, each)?;
    let bias = channel_row(site, 2, groups, each)?;
    let epsilon = site.float("epsilon", 1e-5)?;
    Ok(group_norm(site.b(), x, groups, Affine { weight, bias }, epsilon)?[..1].to_vec())
}

/// Values for each channel, from values for each group.
fn channel_row(
    site: &mut Site<'_, '_>,
    operand: usize,
    groups: u64,
    each: u64,
) -> Result<Option<InstructionId>, Failure> {
    let Some(row) = site.option(operand).filter(|&row| each > 1 && site.dims(row) == [groups]) else {
        return Ok(site.option(operand));
    };
    let row = site.b().unsqueeze(row, 1)?;
    let row = site.b().broadcast_to(row, &[groups, each])?;
    Ok(Some(site.b().reshape(row, &[groups.saturating_mul(each)])?))
}

/// `x / (bias + alpha/size sum(x^2))^beta`, the sum over `size` neighbouring channels.
fn local_response(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let dims = site.dims(x);
    let size = u64::try_from(site.int("size", 0)?).ok().filter(|&n| n > 0 && n < 1 << 20);
    let (Some(size), true) = (size, dims.len() >= 2) else {
        return Err(site.fault(refuse!("needs a size, and an operand of two dimensions or more")));
    };
    let (alpha, beta, bias) = (site.float("alpha", 1e-4)?, site.float("beta", 0.75)?, site.float("bias", 1.0)?);
    let b = site.b();
    let squares = b.mul(x, x)?;
    let mut window = vec![WindowDim::ONE; dims.len()];
    let before = (size - 1) / 2;
    window[1] =
        WindowDim { size, pad_low: u64_to_i64(before), pad_high: u64_to_i64(size - 1 - before), ..WindowDim::ONE };
    let sum = b.reduce_window(Binary::Add, squares, window)?;
    let scaled = b.with_number(Binary::Mul, sum, alpha / u64_to_f64(size))?;
    let base = b.with_number(Binary::Add, scaled, bias)?;
    let divisor = b.with_number(Binary::Pow, base, beta)?;
    Ok(vec![b.div(x, divisor)?])
}

fn lp(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let axis = site.axis_of(x, -1)?;
    let p = i64_to_f64(site.int("p", 2)?);
    Ok(vec![lp_normalise(site.b(), x, p, axis, 0.0)?])
}

fn mean_variance(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let axes = site.ints("axes")?.unwrap_or_else(|| vec![0, 2, 3]);
    let axes = site.axes(&axes, site.dims(x).len())?;
    let b = site.b();
    let mean = b.mean(x, &axes, true)?;
    let centred = b.sub(x, mean)?;
    let squares = b.mul(centred, centred)?;
    let variance = b.mean(squares, &axes, true)?;
    let deviation = b.unary(Unary::Sqrt, variance)?;
    let deviation = b.with_number(Binary::Add, deviation, 1e-9)?;
    Ok(vec![b.div(centred, deviation)?])
}
