//! Normalisations.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::Refusal;
use ns_base::convert::{f64_to_f32, u64_to_f64};
use ns_program::OperatorKind::Norm;
use ns_program::compose::{Affine, batch_norm, group_norm, layer_norm, rms_norm};
use ns_program::{ArrayType, Binary, ElementType, InstructionId, Op, Type};

/// Normalisations.
pub const OPS: &[Row] = &[
    (&["layer_norm", "native_layer_norm"], Norm, |c| {
        let last = c.ints("normalized_shape").map_or(1, |s| s.len());
        let (affine, epsilon) = (affine(c)?, c.float_or("eps", 1e-5));
        let x = c.x(0)?;
        let results = layer_norm(c.b(), x, last, affine, epsilon)?;
        all_or_first(c, results)
    }),
    (&["rms_norm", "_fused_rms_norm"], Norm, |c| {
        let last = c.ints("normalized_shape").map_or(1, |s| s.len());
        let weight = c.tensor("weight")?;
        let x = c.x(0)?;
        // Without a number torch uses the element type's machine epsilon.
        let step = match c.b().element(x) {
            ElementType::F64 => f64::EPSILON,
            ElementType::F16 => 9.765_625e-4,
            ElementType::Bf16 => 7.812_5e-3,
            _ => f64::from(f32::EPSILON),
        };
        let epsilon = c.float_or("eps", step);
        let value = rms_norm(c.b(), x, last, weight, epsilon)?;
        Ok(OpResult::Many(vec![Some(value), None]))
    }),
    (&["group_norm", "native_group_norm"], Norm, |c| {
        let groups = c.int("num_groups").or_else(|| c.int("group")).unwrap_or(0);
        let groups = u64::try_from(groups).unwrap_or(0);
        let (affine, epsilon) = (affine(c)?, c.float_or("eps", 1e-5));
        let x = c.x(0)?;
        let results = group_norm(c.b(), x, groups, affine, epsilon)?;
        all_or_first(c, results)
    }),
    (&["instance_norm"], Norm, |c| {
        let (affine, epsilon) = (affine(c)?, c.float_or("eps", 1e-5));
        let x = c.x(0)?;
        if !c.flag_or("use_input_stats", true) {
            return with_running_values(c, x, affine, epsilon);
        }
        let channels = c.b().size(x, 1)?;
        let [value, ..] = group_norm(c.b(), x, channels, affine, epsilon)?;
        one(value)
    }),
    (&["batch_norm", "native_batch_norm", "cudnn_batch_norm"], Norm, whole_batch_norm),
    (&["_native_batch_norm_legit", "_native_batch_norm_legit_no_training"], Norm, whole_batch_norm),
    (&["_batch_norm_no_update"], Norm, whole_batch_norm),
];

/// A batch norm in training or outside it.
fn whole_batch_norm(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (affine, epsilon) = (affine(c)?, c.float("eps").or_else(|| c.float("epsilon")).unwrap_or(1e-5));
    let x = c.x(0)?;
    if c.flag_or("training", false) || c.flag_or("train", false) {
        return with_own_values(c, x, affine, epsilon);
    }
    with_running_values(c, x, affine, epsilon)
}

fn affine(c: &mut Call<'_, '_, '_>) -> Result<Affine, Refusal> {
    Ok(Affine { weight: c.tensor("weight")?, bias: c.tensor("bias")? })
}

/// The result alone, or with the mean and the reciprocal of the deviation.
fn all_or_first(c: &mut Call<'_, '_, '_>, results: [InstructionId; 3]) -> CallOutcome {
    if !c.op.starts_with("native") {
        return one(results[0]);
    }
    let types = c.results()?;
    let mut values = Vec::new();
    for (value, ty) in results.into_iter().zip(types) {
        let has_all = c.b().array(value)?.elements() == ty.elements();
        values.push(if has_all { Some(c.b().reshape(value, &ty.dims)?) } else { None });
    }
    Ok(OpResult::Many(values))
}

/// A batch norm with known mean and variance.
fn with_running_values(c: &mut Call<'_, '_, '_>, x: InstructionId, affine: Affine, epsilon: f64) -> CallOutcome {
    let mean = c.tensor("running_mean")?.ok_or_else(|| c.missing("running_mean"))?;
    let variance = c.tensor("running_var")?.ok_or_else(|| c.missing("running_var"))?;
    let value = batch_norm(c.b(), x, affine, mean, variance, epsilon)?;
    // Results that only training uses are empty.
    let types = c.results()?;
    let mut values = vec![Some(value)];
    for ty in &types[1.min(types.len())..] {
        values.push(if ty.elements() == Some(0) { Some(c.b().full(ty.element, &ty.dims, 0.0)?) } else { None });
    }
    Ok(OpResult::Many(values))
}

/// A batch norm with the batch's own mean and variance, which also updates the running ones.
fn with_own_values(c: &mut Call<'_, '_, '_>, x: InstructionId, affine: Affine, epsilon: f64) -> CallOutcome {
    let ty = c.b().array(x)?.clone();
    let channels = c.b().size(x, 1)?;
    let row = Type::Array(ArrayType::new(ty.element, [channels]));
    let scale = match affine.weight {
        Some(weight) => c.b().convert(weight, ty.element)?,
        None => c.b().full(ty.element, &[channels], 1.0)?,
    };
    let offset = match affine.bias {
        Some(bias) => c.b().convert(bias, ty.element)?,
        None => c.b().full(ty.element, &[channels], 0.0)?,
    };
    let op = Op::BatchNormTraining { epsilon: f64_to_f32(epsilon), feature: 1 };
    let result = Type::Tuple(vec![Type::Array(ty.clone()), row.clone(), row]);
    let all = c.b().push(op, vec![x, scale, offset], vec![], result)?;
    let (value, mean, variance) = (c.b().get(all, 0)?, c.b().get(all, 1)?, c.b().get(all, 2)?);
    let count = u64_to_f64(ty.elements().unwrap_or(0)) / u64_to_f64(channels.max(1));
    let unbiased = c.b().with_number(Binary::Mul, variance, count / (count - 1.0).max(1.0))?;
    let momentum = c.float_or("momentum", 0.1);
    for (name, new) in [("running_mean", mean), ("running_var", unbiased)] {
        let Some(super::super::argument::Argument::Tensor(running)) = c.arg(name) else { continue };
        let view = c.t.view_named(running.get())?;
        let old = c.t.views.get(&mut c.t.b, view)?;
        let new = c.b().with_number(Binary::Mul, new, momentum)?;
        let kept = c.b().with_number(Binary::Mul, old, 1.0 - momentum)?;
        let next = c.b().add(kept, new)?;
        c.t.views.set(&mut c.t.b, view, next)?;
    }
    let sum = c.b().with_number(Binary::Add, variance, epsilon)?;
    let factor = c.b().unary(ns_program::Unary::Rsqrt, sum)?;
    Ok(OpResult::Many(vec![Some(value), Some(mean), Some(factor)]))
}
