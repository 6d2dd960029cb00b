//! Values of aten ops, by the reference kernels. The order of operations is the one lowering gives the compiler, so that
//! evaluating the compiled program gives the same bits.

use crate::tensor::kernels::{BinaryOp, UnaryOp, binary, log_softmax, matmul, mean, transpose, unary};
use crate::tensor::{Shape, Tensor, TensorError};

use super::AtenOp;

/// The result of an op whose operands have been checked to fit.
pub(super) fn compute(op: &AtenOp, inputs: &[&Tensor], result: &Shape) -> Result<Tensor, TensorError> {
    match (op, inputs) {
        (AtenOp::Permute { dims }, [x]) => transpose(x, dims),
        (AtenOp::View, [x]) => (*x).clone().reshaped(result.clone()),
        (AtenOp::Mm, [x, weight]) => matmul(x, weight),
        (AtenOp::Addmm, [x, weight, bias]) => binary(BinaryOp::Add, &matmul(x, weight)?, bias),
        (AtenOp::Relu, [x]) => binary(BinaryOp::Maximum, x, &Tensor::splat(Shape::new(x.shape().dtype, []), 0.0)?),
        (AtenOp::LogSoftmax { dim }, [x]) => log_softmax(x, *dim),
        (AtenOp::Mean, [x]) => mean(x),
        (AtenOp::Unary(op), [x]) => unary(*op, x),
        (AtenOp::Binary(op), [a, b]) => binary(*op, a, b),
        (AtenOp::Custom { .. }, [x]) => unary(UnaryOp::ReluKernel, x),
        // Inputs and weights are made by `Ctx`; every other op has the operands matched above.
        (_, _) => Tensor::splat(result.clone(), f32::NAN),
    }
}
