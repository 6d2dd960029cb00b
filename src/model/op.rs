//! The ops of the framework's graph.

use ns_tensor::DType;
use ns_tensor::kernels::{BinaryOp, UnaryOp, WindowDim};

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
        /// Whether it is a buffer: state that comes with the model but is not a parameter.
        buffer: bool,
    },
    /// Permutes dimensions: result dimension `i` is operand dimension `dims[i]`.
    Permute { dims: Vec<u32> },
    /// The same elements with other dimensions.
    View,
    /// `x @ weight + bias`; operands in this order: `[m,k]`, `[k,n]`, `[n]`.
    Addmm,
    /// `x @ weight` of two matrices.
    Mm,
    /// Products of the last two dimensions, for each index of equal leading dimensions.
    Matmul,
    /// Convolution of images with weights and, as a third operand, a bias.
    Convolution {
        /// How the window moves, height first.
        window: [WindowDim; 2],
        /// Groups of channels.
        groups: u64,
        /// Whether the weights are `[in, out, ..]`, the layout of a transposed convolution.
        transposed: bool,
    },
    /// Maximum over a window.
    MaxPool2d {
        /// How it moves, height first.
        window: [WindowDim; 2],
    },
    /// Mean over a window; padding counts as zeros.
    AvgPool2d {
        /// How it moves, height first.
        window: [WindowDim; 2],
    },
    /// Batch normalisation at inference; operands `x`, weight, bias, running mean, running variance.
    BatchNorm {
        /// Added to the variance.
        eps: f32,
    },
    /// Layer normalisation of the last dimension; operands `x`, weight, bias.
    LayerNorm {
        /// Added to the variance.
        eps: f32,
    },
    /// Sum along dimensions.
    SumDims {
        /// Ascending.
        dims: Vec<u32>,
        /// Whether they remain, with size one.
        keepdim: bool,
    },
    /// Mean along dimensions.
    MeanDims {
        /// Ascending.
        dims: Vec<u32>,
        /// Whether they remain, with size one.
        keepdim: bool,
    },
    /// Softmax along a dimension.
    Softmax { dim: u32 },
    /// `x * sigmoid(x)`
    Silu,
    /// An elementwise function of the operand and a number.
    Scalar {
        op: BinaryOp,
        value: f32,
        /// Whether the number comes first: `1 - x`.
        reversed: bool,
    },
    /// Rows of a table; operands table and indices.
    Embedding,
    /// Operands joined along a dimension.
    Cat { dim: u32 },
    /// A range of one dimension.
    Slice {
        dim: u32,
        /// First element.
        start: u64,
        /// One beyond the last.
        end: u64,
    },
    /// Repeats dimensions of size one.
    Expand,
    /// Another element type.
    To(DType),
    /// A buffer with a part replaced; operands buffer, update, position (one integer).
    IndexCopy {
        /// The dimension that the position refers to.
        dim: u32,
    },
    /// Several results.
    Tuple,
    /// A number in every element; the shape is the node's.
    Full(f32),
    /// The gradient of [`Self::MaxPool2d`]; operands the gradient of its result, and its operand.
    MaxPool2dBackward {
        /// The window of the maximum.
        window: [WindowDim; 2],
    },
    /// The gradient of a table of [`Self::Embedding`]; operands the gradient of its result, and the indices.
    EmbeddingBackward {
        /// Rows of the table.
        rows: u64,
    },
    /// The gradient of [`Self::Custom`] from the user's own library; operands the gradient of its result, and its operand.
    CustomBackward {
        /// Name in the framework, `my_ops::relu_backward`.
        name: String,
        /// The kernel's name in the library.
        target: String,
    },
    /// A new value for the weight at this path; the next step reads it.
    Assign { path: String },
    /// `maximum(x, 0)`.
    Relu,
    /// Logarithm of the softmax along a dimension.
    LogSoftmax { dim: u32 },
    /// Mean of all elements.
    Mean,
    /// An elementwise function of one operand.
    Unary(UnaryOp),
    /// An elementwise function of two operands, broadcasting.
    Binary(BinaryOp),
    /// An elementwise operator of the user's own library, run on the GPSIMD engine.
    Custom {
        /// Name in the framework, `my_ops::relu`.
        name: String,
        /// The kernel's name in the library: the HLO custom call's target.
        target: String,
    },
}

impl AtenOp {
    /// Whether the result has the shape of the first operand. Each op stands here, so that a new one does not compile without an answer.
    pub(crate) const fn keeps_shape(&self) -> bool {
        match self {
            Self::Input(_)
            | Self::Weight { .. }
            | Self::Tuple
            | Self::CustomBackward { .. }
            | Self::Relu
            | Self::Silu
            | Self::Unary(_)
            | Self::Scalar { .. }
            | Self::Custom { .. }
            | Self::Assign { .. } => true,
            Self::Permute { .. }
            | Self::View
            | Self::Mm
            | Self::Addmm
            | Self::LogSoftmax { .. }
            | Self::Softmax { .. }
            | Self::Mean
            | Self::Binary(_)
            | Self::Matmul
            | Self::Convolution { .. }
            | Self::MaxPool2d { .. }
            | Self::AvgPool2d { .. }
            | Self::BatchNorm { .. }
            | Self::LayerNorm { .. }
            | Self::MeanDims { .. }
            | Self::SumDims { .. }
            | Self::Full(_)
            | Self::MaxPool2dBackward { .. }
            | Self::EmbeddingBackward { .. }
            | Self::Embedding
            | Self::Cat { .. }
            | Self::Slice { .. }
            | Self::Expand
            | Self::To(_)
            | Self::IndexCopy { .. } => false,
        }
    }

    /// The name in the framework: `aten::addmm`, `my_ops::relu`.
    pub fn name(&self) -> &str {
        match self {
            Self::Input(_) | Self::Weight { .. } => "xla::device_data",
            Self::Permute { .. } => "aten::permute",
            Self::View => "aten::view",
            Self::Addmm => "aten::addmm",
            Self::Mm => "aten::mm",
            Self::Matmul => "aten::matmul",
            Self::Convolution { .. } => "aten::convolution",
            Self::MaxPool2d { .. } => "aten::max_pool2d",
            Self::AvgPool2d { .. } => "aten::avg_pool2d",
            Self::BatchNorm { .. } => "aten::batch_norm",
            Self::LayerNorm { .. } => "aten::layer_norm",
            Self::Softmax { .. } => "aten::softmax",
            Self::Silu => "aten::silu",
            Self::Scalar { op: BinaryOp::Sub, reversed: true, .. } => "aten::rsub",
            Self::Embedding => "aten::embedding",
            Self::Cat { .. } => "aten::cat",
            Self::Slice { .. } => "aten::slice",
            Self::Expand => "aten::expand",
            Self::To(_) => "aten::to",
            Self::IndexCopy { .. } => "aten::index_copy",
            Self::Tuple => "prim::TupleConstruct",
            Self::Full(_) => "aten::full",
            Self::SumDims { .. } => "aten::sum",
            Self::MaxPool2dBackward { .. } => "aten::max_pool2d_with_indices_backward",
            Self::EmbeddingBackward { .. } => "aten::embedding_dense_backward",
            Self::Assign { .. } => "aten::copy_",
            Self::Relu => "aten::relu",
            Self::LogSoftmax { .. } => "aten::log_softmax",
            Self::Mean | Self::MeanDims { .. } => "aten::mean",
            Self::Unary(op) => match op {
                UnaryOp::Neg => "aten::neg",
                UnaryOp::Exp => "aten::exp",
                UnaryOp::Log => "aten::log",
                UnaryOp::Tanh => "aten::tanh",
                UnaryOp::Sqrt => "aten::sqrt",
                UnaryOp::Rsqrt => "aten::rsqrt",
                UnaryOp::Gelu => "aten::gelu",
                UnaryOp::GeluDerivative => "aten::gelu_backward",
                UnaryOp::Logistic => "aten::sigmoid",
                UnaryOp::ReluKernel => "aten::relu",
            },
            Self::Binary(op) | Self::Scalar { op, .. } => match op {
                BinaryOp::Add => "aten::add",
                BinaryOp::Sub => "aten::sub",
                BinaryOp::Mul => "aten::mul",
                BinaryOp::Div => "aten::div",
                BinaryOp::Maximum => "aten::maximum",
                BinaryOp::Minimum => "aten::minimum",
                BinaryOp::Greater => "aten::gt",
                BinaryOp::Equal => "aten::eq",
            },
            Self::Custom { name, .. } | Self::CustomBackward { name, .. } => name,
        }
    }

    /// The name as shown in profiles: `aten__addmm`.
    pub fn profile_name(&self) -> String {
        self.name().replace("::", "__")
    }

    /// Whether the op brings its own constant. Profiles show these ops one level deeper, in a scope `Tensor_1`:
    /// `NN[model]/ReLU[nl1]/Tensor_1/aten__relu_maximum`.
    pub const fn makes_constant(&self) -> bool {
        matches!(self, Self::Relu | Self::Mean)
    }
}
