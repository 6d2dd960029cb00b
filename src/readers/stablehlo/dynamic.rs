//! Operations of modules with open sizes (`tensor<?x32xf32>`), as JAX exports them with shape polymorphism.
//!
//! The sizes of main's arguments are filled in first. Shape computations then fold to constants as they are read, functions are converted
//! for each call with its sizes, and every operation that takes sizes as operands becomes the operation with fixed sizes.

use super::attributes::window_length;
use super::known::{self, Instructions};
use super::ops::{convolution, dimension, either};
use super::syntax::Operation;
use ns_base::{Refusal, refuse};
use ns_program::{ArrayType, ElementType, InstructionId, Op, OperatorKind as Kind, Type, WindowDim};

/// An operation, its operands, and its result's type if that does not follow from them.
pub(super) type FixedOp = (Op, Vec<InstructionId>, Option<Type>);

/// An operation that takes sizes as operands.
pub(super) struct SizedOperation<'c, 'a> {
    operation: &'c Operation<'a>,
    instructions: &'c Instructions,
    operands: &'c [InstructionId],
    declared: &'c Type,
}

impl SizedOperation<'_, '_> {
    fn numbers(&self, i: usize) -> Result<Vec<i64>, Refusal> {
        known_operand(self.instructions, self.operands, i)
    }

    fn sizes(&self, i: usize) -> Result<Vec<u64>, Refusal> {
        super::attributes::sizes(&self.numbers(i)?)
    }

    fn first(&self, n: usize) -> Vec<InstructionId> {
        self.operands.get(..n).unwrap_or_default().to_vec()
    }

    fn result(&self, dims: Vec<u64>) -> Option<Type> {
        let element = self.declared.array().map_or(ElementType::F32, |a| a.element);
        Some(Type::Array(ArrayType::new(element, dims)))
    }
}

/// Makes the operation with fixed sizes.
type Fix = fn(&SizedOperation<'_, '_>) -> Result<FixedOp, Refusal>;

/// Operations that take sizes as operands.
pub(super) const OPS: &[(&str, Kind, Fix)] = &[
    ("dynamic_broadcast_in_dim", Kind::Movement, |s| {
        let dimensions = either(s.operation, "dims", "broadcast_dimensions")?;
        Ok((Op::Broadcast { dimensions }, s.first(1), s.result(s.sizes(1)?)))
    }),
    ("dynamic_conv", Kind::Product, |s| {
        let types: Vec<&Type> = s.operands.iter().map(|&o| &s.instructions[o].ty).collect();
        let mut convolution = convolution(s.operation, &types)?;
        if let Op::Convolution { window, .. } = &mut convolution {
            pad(window, &s.numbers(2)?)?;
        }
        Ok((convolution, s.first(2), None))
    }),
    ("dynamic_gather", Kind::Indexing, |s| {
        let dims = super::attributes::gather_dims(s.operation, s.sizes(2)?)?;
        Ok((Op::Gather(dims), s.first(2), None))
    }),
    ("dynamic_iota", Kind::Creation, |s| {
        let dimension = dimension(s.operation, &["iota_dimension", "dim"])?;
        Ok((Op::Iota { dimension }, Vec::new(), s.result(s.sizes(0)?)))
    }),
    ("dynamic_pad", Kind::Movement, |s| {
        let interior = s.sizes(4)?;
        Ok((Op::Pad { low: s.numbers(2)?, high: s.numbers(3)?, interior }, s.first(2), None))
    }),
    ("dynamic_reshape", Kind::Movement, |s| Ok((Op::Reshape, s.first(1), s.result(s.sizes(1)?)))),
    ("real_dynamic_slice", Kind::Indexing, |s| {
        let (starts, limits, strides) = (s.sizes(1)?, s.sizes(2)?, s.sizes(3)?);
        Ok((Op::Slice { starts, limits, strides }, s.first(1), None))
    }),
];

/// The operation with fixed sizes for an operation that takes sizes as operands, with its remaining operands.
///
/// `None` for any other operation; an error if sizes depend on data.
pub(super) fn with_fixed_sizes(
    operation: &Operation<'_>,
    instructions: &Instructions,
    operands: &[InstructionId],
    declared: &Type,
) -> Result<Option<FixedOp>, Refusal> {
    let name = operation.name.split_once('.').map_or("", |(_, name)| name);
    let found = OPS.iter().find(|(known, ..)| *known == name);
    found.map(|(.., fix)| fix(&SizedOperation { operation, instructions, operands, declared })).transpose()
}

/// The numbers of an operand, which must be known.
fn known_operand(instructions: &Instructions, operands: &[InstructionId], i: usize) -> Result<Vec<i64>, Refusal> {
    let numbers = operands.get(i).and_then(|&o| known::numbers(instructions, o));
    numbers.ok_or_else(|| refuse!("its operand {i} is a shape that depends on data"))
}

/// Whether an operation gives a dimension the size that it has: TensorFlow marks results of fixed sizes in this way.
pub(super) fn sets_full_size(
    operation: &Operation<'_>,
    instructions: &Instructions,
    operands: &[InstructionId],
) -> Result<bool, Refusal> {
    let [array, size] = operands else { return Ok(false) };
    let dimension = dimension(operation, &["dimension", "dim"])?;
    let has = instructions[*array].ty.array().and_then(|ty| ty.dims.get(dimension as usize).copied());
    let given = known::numbers(instructions, *size).and_then(|n| u64::try_from(*n.first()?).ok());
    Ok(has.is_some() && has == given)
}

/// Sets the paddings of a window: low and high alternate.
fn pad(window: &mut [WindowDim], pads: &[i64]) -> Result<(), Refusal> {
    let (given, rank) = (pads.len(), window.len());
    if given != 2 * rank {
        return Err(window_length("paddings", given, rank));
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
) -> Result<Option<FixedOp>, Refusal> {
    let numbers = |i: usize| known_operand(instructions, operands, i);
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
                    return Err(window_length(list, given, rank));
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
