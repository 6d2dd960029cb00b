//! Why a value cannot be built: operands that do not fit, or sizes that are too large.

use std::fmt;

use thiserror::Error;

use super::super::compose::ComposeError;
use super::super::{ArrayType, Binary, DotDims, Type, WindowDim};
use super::call_error::CallError;

/// Why a value cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The program is too large.
    #[error("the program has more than {most} instructions")]
    TooManyInstructions {
        /// The largest number of instructions.
        most: usize,
    },
    /// An operand from another computation than the one under construction.
    #[error("operand {0} is not of this computation")]
    ForeignOperand(usize),
    /// An array whose size in bytes overflows.
    #[error("{0} has more bytes than 64 bits count")]
    TooManyBytes(ArrayType),
    /// Sizes of parts whose sum overflows.
    #[error("sizes add up beyond 64 bits")]
    SumTooLarge,
    /// A dimension with more elements than a signed index can count.
    #[error("{what} of {elements} elements is longer than 63 bits count")]
    TooLong {
        /// What is too long.
        what: &'static str,
        /// Its elements.
        elements: u64,
    },
    /// More elements than the operation is built for.
    #[error("{what} of sizes {sizes:?} is too large: the limit is {most}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its sizes.
        sizes: Vec<u64>,
        /// The largest number of elements, of all dimensions or of one, as the operation says.
        most: u64,
    },
    /// A tuple or a token in the place of an array.
    #[error("an array is wanted, not {0}")]
    NoArray(Type),
    /// A number of constants that differs from the array's elements.
    #[error("{numbers} numbers do not make {ty}")]
    Numbers {
        /// How many there are.
        numbers: usize,
        /// The array.
        ty: ArrayType,
    },
    /// A part that the tuple does not have.
    #[error("{ty} has no part {part}")]
    NoPart {
        /// The tuple.
        ty: Type,
        /// Number of the missing part.
        part: usize,
    },
    /// A dimension that the array does not have.
    #[error("an array of rank {rank} has no dimension {dimension}")]
    Dimension {
        /// The dimension; a negative one counts from the end.
        dimension: i64,
        /// Number of dimensions.
        rank: usize,
    },
    /// A dimension that an array does not have.
    #[error("{ty} has no dimension {dimension}")]
    NoDimension {
        /// The array.
        ty: ArrayType,
        /// The dimension.
        dimension: usize,
    },
    /// A dimension without elements, from which one is taken.
    #[error("{ty} has no element along dimension {dimension}")]
    NoElement {
        /// The array.
        ty: ArrayType,
        /// The dimension.
        dimension: usize,
    },
    /// An operand whose rank the operation does not take.
    #[error("{what} needs an operand of rank {needs}, not {found}")]
    Rank {
        /// The operation.
        what: &'static str,
        /// The ranks that the operation takes.
        needs: Ranks,
        /// The operand's rank.
        found: usize,
    },
    /// A number of settings that differs from the array's dimensions.
    #[error("{given} {what} are given for {ty}")]
    Count {
        /// The settings, as a plural.
        what: &'static str,
        /// Number of settings.
        given: usize,
        /// The array.
        ty: Type,
    },
    /// An order that is not a permutation of the array's dimensions.
    #[error("{permutation:?} is not an order of the dimensions of {ty}")]
    Permutation {
        /// The order.
        permutation: Vec<usize>,
        /// The array.
        ty: ArrayType,
    },
    /// A range outside its dimension.
    #[error("{start}..{limit} by {step} is not a range of dimension {dimension} of {ty}")]
    Range {
        /// First element.
        start: u64,
        /// One beyond the last element.
        limit: u64,
        /// The step.
        step: u64,
        /// The dimension.
        dimension: usize,
        /// The array.
        ty: ArrayType,
    },
    /// Parts that do not add up to a dimension.
    #[error("parts of {sizes:?} do not make up a dimension of {size}")]
    Parts {
        /// Elements of the parts.
        sizes: Vec<u64>,
        /// Elements of the dimension.
        size: u64,
    },
    /// A request for more of the largest elements than there are.
    #[error("{ty} does not have {k} elements in its last dimension")]
    Largest {
        /// The array.
        ty: ArrayType,
        /// How many are wanted.
        k: u64,
    },
    /// No operand, or no element, for an operation to combine.
    #[error("there is nothing to {0}")]
    Nothing(&'static str),
    /// A function without an initial value for a reduction.
    #[error("an array cannot be reduced with {0:?}")]
    Reducer(Binary),
    /// An operand whose element type the operation does not take.
    #[error("{what} needs {needs}, not {found}")]
    Elements {
        /// The operation.
        what: &'static str,
        /// The required kind of elements, as a plural.
        needs: &'static str,
        /// The operand.
        found: Type,
    },
    /// Two types that do not fit each other.
    #[error("{}", .pair.told(.one, .other))]
    Unlike {
        /// The kind of the pair.
        pair: Pair,
        /// The first one.
        one: Type,
        /// The second one.
        other: Type,
    },
    /// An array and sizes that do not fit each other.
    #[error("{}", .misfit.told(.ty, .sizes))]
    Sizes {
        /// How they do not fit.
        misfit: Misfit,
        /// The array.
        ty: Type,
        /// The sizes.
        sizes: Vec<u64>,
    },
    /// Sizes without a common shape by numpy's rules.
    #[error("sizes {one:?} and {other:?} do not fit each other")]
    Broadcast {
        /// Sizes of the first array.
        one: Vec<u64>,
        /// Sizes of the second array.
        other: Vec<u64>,
    },
    /// Arrays that differ in a dimension other than the one along which they are joined.
    #[error("{one} and {other} cannot be joined along dimension {dimension}")]
    Join {
        /// The first one.
        one: ArrayType,
        /// An array that differs from it.
        other: ArrayType,
        /// The dimension.
        dimension: usize,
    },
    /// Updates that do not fit the array and the places.
    #[error("{updates} at {indices} cannot be scattered into {ty}")]
    Scatter {
        /// The updates.
        updates: ArrayType,
        /// The indices.
        indices: Type,
        /// The array that is updated.
        ty: ArrayType,
    },
    /// Sides of a product that do not fit each other.
    #[error(
        "{left} and {right} cannot be multiplied along dimensions {:?} and {:?} with batch dimensions {:?} and {:?}",
        dims.lhs_contracting, dims.rhs_contracting, dims.lhs_batch, dims.rhs_batch
    )]
    Product {
        /// The left side.
        left: ArrayType,
        /// The right side.
        right: ArrayType,
        /// The dimensions that are multiplied.
        dims: Box<DotDims>,
    },
    /// Settings of a convolution that do not have one number for each spatial dimension, or a number of groups that is 0.
    #[error(
        "a convolution over {spatial} dimensions has {strides} strides, {padding} paddings, {dilation} dilations and {groups} groups"
    )]
    Convolution {
        /// Spatial dimensions of the operand.
        spatial: usize,
        /// How many strides there are.
        strides: usize,
        /// How many paddings there are.
        padding: usize,
        /// How many dilations there are.
        dilation: usize,
        /// Groups of channels.
        groups: u64,
    },
    /// A window that does not fit in a dimension.
    #[error(
        "a window of {} elements (stride {}, dilation {}, padding {} and {}) does not fit a dimension of {size}",
        window.size, window.stride, window.window_dilation, window.pad_low, window.pad_high
    )]
    Window {
        /// The window.
        window: Box<WindowDim>,
        /// Elements of the dimension.
        size: u64,
    },
    /// Negative padding that removes more elements than there are.
    #[error("padding {edges:?} takes more than {ty} has")]
    Padding {
        /// Elements added in front, behind and in between, for each dimension.
        edges: Vec<(i64, i64, u64)>,
        /// The array.
        ty: ArrayType,
    },
    /// A family of operators that is composed of several operations.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// A call of a framework's operator.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl BuildError {
    /// An error for a window that does not fit in a dimension of `size` elements.
    pub(in crate::program) fn window(window: &WindowDim, size: u64) -> Self {
        Self::Window { window: Box::new(*window), size }
    }

    /// An error for two arrays that do not fit each other.
    pub(super) fn unlike(pair: Pair, one: &ArrayType, other: &ArrayType) -> Self {
        Self::Unlike { pair, one: Type::Array(one.clone()), other: Type::Array(other.clone()) }
    }

    /// An error for an array that does not fit sizes.
    pub(super) fn sizes(misfit: Misfit, ty: &ArrayType, sizes: &[u64]) -> Self {
        Self::Sizes { misfit, ty: Type::Array(ty.clone()), sizes: sizes.to_vec() }
    }
}

/// Ranks that an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranks {
    /// One rank.
    Exactly(usize),
    /// This rank and all above it.
    AtLeast(usize),
}

impl fmt::Display for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(n) => write!(f, "{n}"),
            Self::AtLeast(n) => write!(f, "{n} or more"),
        }
    }
}

/// Two types that have to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// Operands of different element types.
    Elements,
    /// A loop's state before and after a turn.
    LoopState,
    /// Arrays that are joined.
    Joined,
    /// A part, and the array that it is written to.
    Update,
    /// An array, and the array of its indices.
    Indexed,
    /// An operand and a kernel.
    Convolution,
    /// An operand and a kernel with different numbers of channels.
    Channels {
        /// Groups of channels.
        groups: u64,
    },
    /// Matrices, and the right sides of their equations.
    RightSide,
    /// A picture, and the places where it is sampled.
    Sampled,
}

impl Pair {
    fn told(self, one: &Type, other: &Type) -> String {
        match self {
            Self::Elements => format!("{one} and {other} have different element types"),
            Self::LoopState => format!("a loop's state {one} becomes {other}"),
            Self::Joined => format!("{one} and {other} cannot be joined"),
            Self::Update => format!("{one} cannot be put into {other}"),
            Self::Indexed => format!("{one} is not indexed by {other}"),
            Self::Convolution => format!("{one} cannot be convolved with a kernel of {other}"),
            Self::Channels { groups } => {
                format!("{one} does not have the channels of a kernel {other} in {groups} groups")
            }
            Self::RightSide => format!("{one} has no right side {other}"),
            Self::Sampled => format!("a picture {one} is not sampled at places {other}"),
        }
    }
}

/// How an array does not fit sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// Sizes that it cannot be broadcast to.
    Repeated,
    /// Sizes with another number of elements.
    Reshaped,
    /// Sizes of an array that is sorted along with it.
    Sorted,
    /// Sizes of its indices.
    Indexed,
    /// Sizes of a part that is larger than the array.
    Part,
    /// Sizes that it cannot be pooled to.
    Pooled,
    /// Sizes of the array that its elements are put back into.
    Unpooled,
}

impl Misfit {
    fn told(self, ty: &Type, sizes: &[u64]) -> String {
        match self {
            Self::Repeated => format!("{ty} cannot be repeated to sizes {sizes:?}"),
            Self::Reshaped => format!("{ty} does not have the elements of sizes {sizes:?}"),
            Self::Sorted => format!("{ty} is not sorted along with sizes {sizes:?}"),
            Self::Indexed => format!("{ty} is not indexed by sizes {sizes:?}"),
            Self::Part => format!("{ty} has no part of sizes {sizes:?}"),
            Self::Pooled => format!("{ty} cannot be pooled to {sizes:?}"),
            Self::Unpooled => format!("{ty} cannot be put back into sizes {sizes:?}"),
        }
    }
}
