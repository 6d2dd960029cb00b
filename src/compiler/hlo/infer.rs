//! Shapes: the result of each opcode for given operands.

use ns_base::Order;
use ns_base::convert::usize_to_u32;
use ns_tensor::kernels::{
    WindowDim, concatenate_shape, convolution_shape, dot_shape, gather_rows_shape, reduce_window_shape, slice_shape,
    update_fits,
};
use ns_tensor::{DType, Shape};

use super::{HloInstruction, Opcode};

/// What is wrong with an instruction's operands or result.
pub(super) type Problem = String;

/// Checks number and shapes of operands against the result's shape. `operands` of a fusion are checked by its members.
pub(super) fn check(instruction: &HloInstruction, operands: &[&Shape]) -> Result<(), Problem> {
    let result = &instruction.shape;
    if result.checked_elements().is_none() {
        return Err(format!("{result} has more elements than 64 bits can count"));
    }
    let expected = match (&instruction.opcode, operands) {
        (Opcode::Parameter { .. } | Opcode::Constant(_), []) => return Ok(()),
        (Opcode::Fusion(_), _) => return Ok(()),
        (Opcode::Tuple, [first, ..]) => (*first).clone(),
        (Opcode::Dot(d), [lhs, rhs]) => {
            dot_shape(lhs, rhs, d.batch, d.lhs_contracting, d.rhs_contracting).map_err(|e| e.to_string())?
        }
        (Opcode::Transpose { permutation }, [x]) => transposed(x, permutation)?,
        (Opcode::Broadcast { dimensions }, [x]) => return check_broadcast(x, result, dimensions),
        (Opcode::Reshape, [x]) => {
            if x.checked_elements() != result.checked_elements() {
                return Err(format!("{x} and {result} do not have the same number of elements"));
            }
            Shape::new(x.dtype, result.dims.clone())
        }
        (Opcode::Convert, [x]) => Shape::new(result.dtype, x.dims.clone()),
        (Opcode::Reduce { dimensions, .. }, [x]) => reduced(x, dimensions)?,
        (Opcode::Convolution { window, feature_group_count }, [x, weight]) => {
            convolution_shape(x, weight, window, *feature_group_count).map_err(|e| e.to_string())?
        }
        (Opcode::ReduceWindow { window, .. }, [x]) => reduce_window_shape(x, window).map_err(|e| e.to_string())?,
        (Opcode::Gather, [table, indices]) => {
            integers(indices)?;
            gather_rows_shape(table, indices).map_err(|e| e.to_string())?
        }
        (Opcode::Concatenate { dimension }, all @ [_, ..]) => {
            concatenate_shape(all, *dimension).map_err(|e| e.to_string())?
        }
        (Opcode::Slice { ranges }, [x]) => slice_shape(x, ranges).map_err(|e| e.to_string())?,
        (Opcode::DynamicUpdateSlice, [x, update, starts @ ..]) => {
            update_fits(x, update, starts.len()).map_err(|e| e.to_string())?;
            starts.iter().try_for_each(|start| scalar_start(start))?;
            (*x).clone()
        }
        (Opcode::SelectAndScatter { window }, [x, gradient]) => select_and_scatter(x, gradient, window)?,
        (Opcode::Scatter, [table, indices, rows]) => scatter(table, indices, rows)?,
        (Opcode::Copy { .. }, [x]) => (*x).clone(),
        (Opcode::CustomCall { .. }, [x, others @ ..]) if others.iter().all(|other| x == other) => (*x).clone(),
        // The element types of a comparison, and the operands of an operation with a cost only, are checked by the
        // reader.
        (Opcode::Work(_), [_, ..]) => return Ok(()),
        (Opcode::Elementwise(function), all) if all.len() == function.arity() => return same_dimensions(all, result),
        (op, [x]) if op.is_elementwise() && arity(op) == Some(1) => (*x).clone(),
        (op, [a, b]) if op.is_elementwise() && arity(op) == Some(2) => {
            if a != b {
                return Err(format!("operands {a} and {b} must have the same shape"));
            }
            (*a).clone()
        }
        (op, operands) => return Err(wrong_number(op, operands.len())),
    };
    if *result != expected {
        return Err(format!("the result is declared {result}, its operands give {expected}"));
    }
    Ok(())
}

fn select_and_scatter(x: &Shape, gradient: &Shape, window: &[WindowDim; 2]) -> Result<Shape, Problem> {
    let forward = reduce_window_shape(x, window).map_err(|e| e.to_string())?;
    if forward == *gradient { Ok(x.clone()) } else { Err(format!("the windows of {x} give {forward}, not {gradient}")) }
}

fn scatter(table: &Shape, indices: &Shape, rows: &Shape) -> Result<Shape, Problem> {
    integers(indices)?;
    let gathered = gather_rows_shape(table, indices).map_err(|e| e.to_string())?;
    if gathered == *rows {
        Ok(table.clone())
    } else {
        Err(format!("{indices} name rows {gathered} of {table}, not {rows}"))
    }
}

fn scalar_start(start: &Shape) -> Result<(), Problem> {
    integers(start)?;
    if start.rank() == 0 { Ok(()) } else { Err(format!("a start must be a scalar, not {start}")) }
}

fn same_dimensions(operands: &[&Shape], result: &Shape) -> Result<(), Problem> {
    if operands.iter().all(|x| x.dims == result.dims) {
        Ok(())
    } else {
        Err(format!("operands and the result {result} must have the same dimensions"))
    }
}

/// The number of operands of an opcode; `None` when it varies.
pub(super) const fn arity(op: &Opcode) -> Option<usize> {
    match op {
        Opcode::Fusion(_)
        | Opcode::Tuple
        | Opcode::Concatenate { .. }
        | Opcode::DynamicUpdateSlice
        | Opcode::CustomCall { .. }
        | Opcode::Work(_) => None,
        Opcode::Elementwise(function) => Some(function.arity()),
        Opcode::Parameter { .. } | Opcode::Constant(_) => Some(0),
        Opcode::Scatter => Some(3),
        Opcode::Dot(_)
        | Opcode::Convolution { .. }
        | Opcode::SelectAndScatter { .. }
        | Opcode::Gather
        | Opcode::Add
        | Opcode::Subtract
        | Opcode::Multiply
        | Opcode::Divide
        | Opcode::Maximum
        | Opcode::Minimum => Some(2),
        _ => Some(1),
    }
}

fn wrong_number(op: &Opcode, found: usize) -> Problem {
    match arity(op) {
        Some(n) => format!("{} takes {n} operands, it has {found}", op.name()),
        None => format!("{} takes at least one operand, it has {found}", op.name()),
    }
}

fn integers(indices: &Shape) -> Result<(), Problem> {
    if indices.dtype == DType::S32 { Ok(()) } else { Err(format!("indices must be s32, not {indices}")) }
}

fn transposed(x: &Shape, permutation: &[u32]) -> Result<Shape, Problem> {
    let mut sorted = permutation.to_vec();
    sorted.order();
    if sorted.len() != x.rank() || sorted.iter().enumerate().any(|(i, &d)| i != d as usize) {
        return Err(format!("{permutation:?} is not a permutation of the dimensions of {x}"));
    }
    Ok(Shape::new(x.dtype, permutation.iter().map(|&d| x.dims[d as usize]).collect::<Vec<_>>()))
}

fn check_broadcast(x: &Shape, result: &Shape, dimensions: &[u32]) -> Result<(), Problem> {
    let ascending = dimensions.windows(2).all(|w| w[0] < w[1]);
    let placed = dimensions.len() == x.rank()
        && dimensions.iter().zip(&x.dims).all(|(&d, size)| result.dims.get(d as usize) == Some(size));
    if !ascending || !placed || x.dtype != result.dtype {
        return Err(format!("dimensions {dimensions:?} do not place {x} in {result}"));
    }
    Ok(())
}

fn reduced(x: &Shape, dimensions: &[u32]) -> Result<Shape, Problem> {
    if dimensions.windows(2).any(|w| w[0] >= w[1]) || dimensions.iter().any(|&d| d as usize >= x.rank()) {
        return Err(format!("{dimensions:?} are not dimensions of {x}, ascending"));
    }
    let kept = (0..x.rank()).filter(|i| !dimensions.contains(&usize_to_u32(*i))).map(|i| x.dims[i]);
    Ok(Shape::new(x.dtype, kept.collect::<Vec<_>>()))
}
