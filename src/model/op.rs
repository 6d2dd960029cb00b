//! The ops of the framework's graph.

use crate::tensor::kernels::{BinaryOp, UnaryOp};

use super::Init;

/// An op of the graph, named as PyTorch's dispatcher names it.
#[derive(Clone, Debug, PartialEq)]
pub enum AtenOp {
    /// The `n`-th example input.
    Input(u32),
    /// A weight of the module tree.
    Weight {
        /// Its path, `layer1.weight`.
        path: String,
        /// How it is initialised.
        init: Init,
    },
    /// Permutes dimensions: result dimension `i` is operand dimension `dims[i]`.
    Permute {
        /// The permutation.
        dims: Vec<u32>,
    },
    /// Same elements, other dimensions.
    View,
    /// `x @ weight + bias`; operands in this order: `[m,k]`, `[k,n]`, `[n]`.
    Addmm,
    /// `x @ weight` of two matrices.
    Mm,
    /// `maximum(x, 0)`.
    Relu,
    /// Logarithm of the softmax along a dimension.
    LogSoftmax {
        /// The dimension.
        dim: u32,
    },
    /// Mean of all elements.
    Mean,
    /// An elementwise function of one operand.
    Unary(UnaryOp),
    /// An elementwise function of two operands, broadcasting.
    Binary(BinaryOp),
    /// An operator of a person's own library, elementwise, run on the GPSIMD engine.
    Custom {
        /// Name in the framework, `my_ops::relu`.
        name: String,
        /// The kernel's name in the library: the HLO custom call's target.
        target: String,
    },
}

impl AtenOp {
    /// The name in the framework: `aten::addmm`, `my_ops::relu`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Input(_) | Self::Weight { .. } => "xla::device_data",
            Self::Permute { .. } => "aten::permute",
            Self::View => "aten::view",
            Self::Addmm => "aten::addmm",
            Self::Mm => "aten::mm",
            Self::Relu => "aten::relu",
            Self::LogSoftmax { .. } => "aten::log_softmax",
            Self::Mean => "aten::mean",
            Self::Unary(op) => match op {
                UnaryOp::Neg => "aten::neg",
                UnaryOp::Exp => "aten::exp",
                UnaryOp::Log => "aten::log",
                UnaryOp::Tanh => "aten::tanh",
                UnaryOp::Sqrt => "aten::sqrt",
                UnaryOp::Rsqrt => "aten::rsqrt",
                UnaryOp::Gelu => "aten::gelu",
                UnaryOp::Logistic => "aten::sigmoid",
                UnaryOp::ReluKernel => "aten::relu",
            },
            Self::Binary(op) => match op {
                BinaryOp::Add => "aten::add",
                BinaryOp::Sub => "aten::sub",
                BinaryOp::Mul => "aten::mul",
                BinaryOp::Div => "aten::div",
                BinaryOp::Maximum => "aten::maximum",
                BinaryOp::Minimum => "aten::minimum",
            },
            Self::Custom { name, .. } => name,
        }
    }

    /// The name as profiles show it: `aten__addmm`.
    #[must_use]
    pub fn profile_name(&self) -> String {
        self.name().replace("::", "__")
    }

    /// Whether the op brings a constant of its own. Profiles show such ops one level deeper, in a scope `Tensor_1`:
    /// `NN[model]/ReLU[nl1]/Tensor_1/aten__relu_maximum`.
    #[must_use]
    pub const fn makes_constant(&self) -> bool {
        matches!(self, Self::Relu | Self::Mean)
    }
}
