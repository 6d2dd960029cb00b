//! Operations of modules with open sizes (`tensor<?x32xf32>`), as JAX exports them with shape polymorphism.
//!
//! The sizes of main's arguments are filled in first. Shape computations then fold to constants as they are read, functions are converted
//! for each call with its sizes, and every operation that takes sizes as operands becomes the operation with fixed sizes.

use super::known::{self, Instructions};
use super::ops::convolution;
use super::syntax::Operation;
use crate::attribute::AttributeError;
use crate::program::{ArrayType, ElementType, InstructionId, Op, Type, WindowDim};

/// An operation, its operands, and its result's type if that does not follow from them.
pub(super) type FixedOp = (Op, Vec<InstructionId>, Option<Type>);

/// The operation with fixed sizes for an operation that takes sizes as operands, with its remaining operands.
///
/// `None` for any other operation; an error if sizes depend on data.
pub(super) fn with_fixed_sizes(
    operation: &Operation<'_>,
    instructions: &Instructions,
    operands: &[InstructionId],
    declared: &Type,
) -> Result<Option<FixedOp>, AttributeError> {
    let numbers = |i: usize| -> Result<Vec<i64>, AttributeError> {
        let found = operands.get(i).and_then(|&o| known::numbers(instructions, o));
        found.ok_or(AttributeError::ShapeOfData(i))
    };
    let sizes = |i: usize| numbers(i).and_then(|n| super::attributes::sizes(&n));
    let element = declared.array().map_or(ElementType::F32, |a| a.element);
    let array = |dims: Vec<u64>| Some(Type::Array(ArrayType::new(element, dims)));
    let first = operands.first().map(|&o| vec![o]).unwrap_or_default();
    let name = operation.name.split_once('.').map_or("", |(_, name)| name);
    Ok(Some(match name {
        "dynamic_broadcast_in_dim" => {
            let short = operation.attribute("dims").is_some();
            let dimensions = operation.naturals(if short { "dims" } else { "broadcast_dimensions" })?;
            (Op::Broadcast { dimensions }, first, array(sizes(1)?))
        }
        "dynamic_reshape" => (Op::Reshape, first, array(sizes(1)?)),
        "dynamic_iota" => {
            let short = operation.attribute("dim").is_some();
            let dimension = operation.number(if short { "dim" } else { "iota_dimension" })?;
            (Op::Iota { dimension }, Vec::new(), array(sizes(0)?))
        }
        "dynamic_pad" => {
            let interior = super::attributes::sizes(&numbers(4)?)?;
            (
                Op::Pad { low: numbers(2)?, high: numbers(3)?, interior },
                operands.get(..2).unwrap_or_default().to_vec(),
                None,
            )
        }
        "real_dynamic_slice" => {
            let (starts, limits, strides) = (sizes(1)?, sizes(2)?, sizes(3)?);
            (Op::Slice { starts, limits, strides }, first, None)
        }
        "dynamic_gather" => {
            let dims = super::attributes::gather_dims(operation, sizes(2)?)?;
            (Op::Gather(dims), operands.get(..2).unwrap_or_default().to_vec(), None)
        }
        "dynamic_conv" => {
            let types: Vec<&Type> = operands.iter().map(|&o| &instructions[o].ty).collect();
            let mut convolution = convolution(operation, &types)?;
            if let Op::Convolution { window, .. } = &mut convolution {
                pad(window, &numbers(2)?)?;
            }
            (convolution, operands.get(..2).unwrap_or_default().to_vec(), None)
        }
        _ => return Ok(None),
    }))
}

/// Whether an operation gives a dimension the size that it has: TensorFlow marks results of fixed sizes in this way.
pub(super) fn sets_full_size(
    operation: &Operation<'_>,
    instructions: &Instructions,
    operands: &[InstructionId],
) -> Result<bool, AttributeError> {
    let [array, size] = operands else { return Ok(false) };
    let short = operation.attribute("dim").is_some();
    let dimension: u32 = operation.number(if short { "dim" } else { "dimension" })?;
    let has = instructions[*array].ty.array().and_then(|ty| ty.dims.get(dimension as usize).copied());
    let given = known::numbers(instructions, *size).and_then(|n| u64::try_from(*n.first()?).ok());
    Ok(has.is_some() && has == given)
}

/// Sets the paddings of a window: low and high alternate.
fn pad(window: &mut [WindowDim], pads: &[i64]) -> Result<(), AttributeError> {
    let (given, rank) = (pads.len(), window.len());
    if given != 2 * rank {
        return Err(AttributeError::Window { list: "paddings", given, rank });
    }
    for (dim, pads) in window.iter_mut().zip(pads.chunks_exact(2)) {
        (dim.pad_low, dim.pad_high) = (pads[0], pads[1]);
    }
    Ok(())
}

/// The operation that JAX writes as a custom call because its sizes are operands.
///
/// `None` for a call of another name; an error if sizes depend on data.
pub(super) fn called_with_sizes(
    target: &str,
    instructions: &Instructions,
    operands: &[InstructionId],
) -> Result<Option<FixedOp>, AttributeError> {
    let numbers = |i: usize| -> Result<Vec<i64>, AttributeError> {
        let found = operands.get(i).and_then(|&o| known::numbers(instructions, o));
        found.ok_or(AttributeError::ShapeOfData(i))
    };
    let first = |n: usize| operands.get(..n).unwrap_or_default().to_vec();
    Ok(Some(match target {
        "stablehlo.dynamic_reduce_window" => {
            // Arrays, their initial values, and five vectors.
            let arrays = operands.len().saturating_sub(5);
            let sizes = |i: usize| numbers(arrays + i).and_then(|n| super::attributes::sizes(&n));
            let (under, strides, base, dilations) = (sizes(0)?, sizes(1)?, sizes(2)?, sizes(3)?);
            let rank = under.len();
            for (list, given) in
                [("strides", strides.len()), ("base dilations", base.len()), ("window dilations", dilations.len())]
            {
                if given != rank {
                    return Err(AttributeError::Window { list, given, rank });
                }
            }
            let dim = |i: usize| WindowDim {
                size: under[i],
                stride: strides[i],
                base_dilation: base[i],
                window_dilation: dilations[i],
                ..WindowDim::ONE
            };
            let mut window: Vec<WindowDim> = (0..rank).map(dim).collect();
            pad(&mut window, &numbers(arrays + 4)?)?;
            (Op::ReduceWindow { window }, first(arrays), None)
        }
        "stablehlo.dynamic_top_k" => {
            let k = super::attributes::sizes(&numbers(1)?)?.first().copied().unwrap_or(1);
            (Op::TopK { k, is_largest: true }, first(1), None)
        }
        _ => return Ok(None),
    }))
}

/// Whether an operation takes its sizes as operands.
#[cfg(test)]
pub(super) fn is_known(operation: &Operation<'_>) -> bool {
    !matches!(with_fixed_sizes(operation, &Instructions::new(), &[], &Type::Token), Ok(None))
}
