//! One instruction, computed by the reference kernels.

use std::rc::Rc;

use super::evaluation::no_operand;
use crate::hlo::{Elementwise, HloInstruction, Opcode, ReduceKind};
use ns_base::{Refusal, refuse};
use ns_kernel::{ModelKernel, TABLE_GRADIENT, TABLE_KERNEL};
use ns_program::Comparison;
use ns_tensor::kernels::{
    Accumulation, BinaryOp, ReduceOp, UnaryOp, binary, broadcast_in_dim, concatenate, convert, convolution_in, dot_in,
    dynamic_update_slice, gather_rows, max_window_gradient, reduce, reduce_window, scatter_add_rows, slice, transpose,
    unary,
};
use ns_tensor::{Tensor, TensorError};

/// The value of an instruction. For a product, the operands are already as the arithmetic's products read them.
pub(super) fn compute(
    instruction: &HloInstruction,
    operands: &[Rc<Tensor>],
    order: Accumulation,
) -> Result<Tensor, Refusal> {
    let operands: Vec<&Tensor> = operands.iter().map(Rc::as_ref).collect();
    let shape = &instruction.shape;
    let result = match (&instruction.opcode, operands.as_slice()) {
        (Opcode::Constant(literal), []) => Tensor::splat(shape.clone(), literal.0),
        (Opcode::Dot(d), [lhs, rhs]) => dot_in(order, lhs, rhs, d.batch, d.lhs_contracting, d.rhs_contracting),
        (Opcode::Transpose { permutation }, [x]) => transpose(x, permutation),
        (Opcode::Broadcast { dimensions }, [x]) => broadcast_in_dim(x, shape, dimensions),
        (Opcode::Reshape, [x]) => (*x).clone().reshaped(shape.clone()),
        (Opcode::Convert, [x]) => convert(x, shape.dtype),
        (Opcode::Reduce { kind, dimensions }, [x]) => reduce(reduce_op(*kind), x, dimensions),
        (Opcode::ReduceWindow { kind, window }, [x]) => reduce_window(reduce_op(*kind), x, window),
        (Opcode::Convolution { window, feature_group_count }, [x, weight]) => {
            convolution_in(order, x, weight, window, *feature_group_count)
        }
        (Opcode::Gather, [table, indices]) => gather_rows(table, indices),
        (Opcode::Concatenate { dimension }, operands) => concatenate(operands, *dimension),
        (Opcode::Slice { ranges }, [x]) => slice(x, ranges),
        (Opcode::DynamicUpdateSlice, [x, update, starts @ ..]) => {
            let starts: Vec<f32> = starts.iter().filter_map(|s| s.data().first().copied()).collect();
            dynamic_update_slice(x, update, &starts)
        }
        (Opcode::SelectAndScatter { window }, [x, gradient]) => max_window_gradient(x, gradient, window),
        (Opcode::Scatter, [table, indices, rows]) => scatter_add_rows(table, indices, rows),
        (Opcode::Copy { .. }, [x]) => Ok((*x).clone()),
        (Opcode::Elementwise(Elementwise::Compare(Comparison::Gt)), [a, b]) => binary(BinaryOp::Greater, a, b),
        (Opcode::Elementwise(Elementwise::Compare(Comparison::Eq)), [a, b]) => binary(BinaryOp::Equal, a, b),
        (Opcode::CustomCall { target }, [x]) if target == TABLE_KERNEL => unary(UnaryOp::ReluKernel, x),
        (Opcode::CustomCall { target }, [gradient, x]) if target == TABLE_GRADIENT => threshold(gradient, x),
        (Opcode::CustomCall { target }, operands) => {
            let fail = |source| refuse!("instruction %{}: {source}", instruction.name);
            let kernel = ModelKernel::find(target).map_err(fail)?;
            let numbers: Vec<&[f32]> = operands.iter().map(|x| x.data()).collect();
            Tensor::new(shape.clone(), kernel.values(&shape.dims, &numbers).map_err(fail)?)
        }
        (Opcode::Elementwise(_) | Opcode::Work(_), _) => {
            let (name, opcode) = (instruction.name.clone(), instruction.opcode.name());
            return Err(refuse!(
                "instruction %{name}: {opcode} is not computed on a simulated device; the model's own program computes it"
            ));
        }
        (op, [x]) => match unary_op(op) {
            Some(op) => unary(op, x),
            None => return Err(no_operand(&instruction.name)),
        },
        (op, [a, b]) => match binary_op(op) {
            Some(op) => binary(op, a, b),
            None => return Err(no_operand(&instruction.name)),
        },
        _ => return Err(no_operand(&instruction.name)),
    };
    result.map_err(|e| refuse!("instruction %{}: {e}", instruction.name))
}

/// The custom operator `relu_backward`: the gradient where the operand is above zero.
fn threshold(gradient: &Tensor, x: &Tensor) -> Result<Tensor, TensorError> {
    let zeros = Tensor::splat(x.shape().clone(), 0.0)?;
    binary(BinaryOp::Mul, gradient, &binary(BinaryOp::Greater, x, &zeros)?)
}

const fn reduce_op(kind: ReduceKind) -> ReduceOp {
    match kind {
        ReduceKind::Sum => ReduceOp::Sum,
        ReduceKind::Max => ReduceOp::Max,
        ReduceKind::Min => ReduceOp::Min,
        ReduceKind::Product => ReduceOp::Product,
    }
}

const fn unary_op(op: &Opcode) -> Option<UnaryOp> {
    Some(match op {
        Opcode::Negate => UnaryOp::Neg,
        Opcode::Exponential => UnaryOp::Exp,
        Opcode::Log => UnaryOp::Log,
        Opcode::Tanh => UnaryOp::Tanh,
        Opcode::Sqrt => UnaryOp::Sqrt,
        Opcode::Rsqrt => UnaryOp::Rsqrt,
        Opcode::Gelu => UnaryOp::Gelu,
        Opcode::GeluDerivative => UnaryOp::GeluDerivative,
        Opcode::Logistic => UnaryOp::Logistic,
        _ => return None,
    })
}

const fn binary_op(op: &Opcode) -> Option<BinaryOp> {
    Some(match op {
        Opcode::Add => BinaryOp::Add,
        Opcode::Subtract => BinaryOp::Sub,
        Opcode::Multiply => BinaryOp::Mul,
        Opcode::Divide => BinaryOp::Div,
        Opcode::Maximum => BinaryOp::Maximum,
        Opcode::Minimum => BinaryOp::Minimum,
        _ => return None,
    })
}
