//! Operations that need only their operands: no computation that they call, and nothing from outside of the program.

use super::{convolution, custom, elementwise, fourier, indexing, layout, normalise, product};
use crate::{ArrayType, Numbers, Op, Value};
use ns_base::{Refusal, refuse};

/// The result of an operation that needs only its operands. Fails when the operands do not fit, or when the operation needs more: a
/// computation that it calls, other cores, random numbers.
pub fn value_of(op: &Op, operands: &[&Value], ty: &ArrayType) -> Result<Value, Refusal> {
    let operand = |n: usize| operands.get(n).copied().ok_or_else(|| refuse!("operand {n} is missing"));
    match op {
        Op::Constant(value) => Ok(value.as_ref().clone()),
        Op::ElidedConstant => Err(refuse!("the file leaves the numbers of this constant out")),
        Op::Iota { dimension } => layout::iota(ty, *dimension),
        Op::Unary(function) => elementwise::unary(*function, operand(0)?, ty),
        Op::Binary(function) => elementwise::binary(*function, operand(0)?, operand(1)?, ty),
        Op::Compare(comparison) => elementwise::compare(*comparison, operand(0)?, operand(1)?),
        Op::Select => elementwise::select(operand(0)?, operand(1)?, operand(2)?),
        Op::Clamp => elementwise::clamp(operand(0)?, operand(1)?, operand(2)?),
        Op::Convert => elementwise::convert(operand(0)?, ty),
        Op::BitcastConvert => elementwise::bitcast(operand(0)?, ty),
        Op::ReducePrecision { exponent_bits, mantissa_bits } => {
            elementwise::reduce_precision(operand(0)?, *exponent_bits, *mantissa_bits)
        }
        Op::Broadcast { dimensions } => layout::broadcast(operand(0)?, dimensions, ty),
        Op::Reshape => layout::reshape(operand(0)?, ty),
        Op::Transpose { permutation } => layout::transpose(operand(0)?, permutation, ty),
        Op::Reverse { dimensions } => layout::reverse(operand(0)?, dimensions),
        Op::Slice { starts, limits: _, strides } => layout::slice(operand(0)?, starts, strides, ty),
        Op::Pad { low, high: _, interior } => layout::pad(operand(0)?, operand(1)?, low, interior, ty),
        Op::Concatenate { dimension } => layout::concatenate(operands, *dimension, ty),
        Op::DynamicSlice { sizes } => layout::dynamic_slice(operand(0)?, &operands[1..], sizes, ty),
        Op::DynamicUpdateSlice => {
            let update = operand(1)?;
            layout::dynamic_update_slice(operand(0)?, update, &operands[2..])
        }
        Op::Gather(dims) => indexing::gather(operand(0)?, operand(1)?, dims, ty),
        Op::Dot(dims) => product::dot(operand(0)?, operand(1)?, dims, ty),
        Op::Convolution { window, dims, feature_group_count, batch_group_count } => {
            let groups = (*feature_group_count, *batch_group_count);
            convolution::convolution(operand(0)?, operand(1)?, window, dims, groups, ty)
        }
        Op::BatchNormInference { epsilon, feature } => {
            let (x, scale, offset) = (operand(0)?, operand(1)?, operand(2)?);
            normalise::inference(x, scale, offset, operand(3)?, operand(4)?, *epsilon, *feature)
        }
        Op::Fft { kind, length } => fourier::fft(operand(0)?, kind, length, ty),
        Op::GetDimensionSize { dimension } => {
            let size = operand(0)?.ty.dims.get(*dimension as usize).copied().unwrap_or(0);
            Ok(Value { ty: ty.clone(), numbers: Numbers::Whole(vec![i64::try_from(size).unwrap_or(i64::MAX)]) })
        }
        Op::CustomCall(call) => custom::call(call, operands, ty),
        Op::Opaque(what) => Err(refuse!("{} has no known meaning", what.name)),
        Op::Collective(what) => Err(refuse!("{} needs several cores", what.name)),
        Op::Rng { distribution } => Err(refuse!("random numbers ({distribution}) are not the same twice")),
        Op::RngBitGenerator { algorithm } => Err(refuse!("random bits ({algorithm}) are not computed")),
        _ => Err(refuse!("the operation has no value of its own")),
    }
}
