//! Why a program cannot be evaluated.

use thiserror::Error;

use crate::program::{ArrayType, Binary, ElementType, Unary};

/// Why a program cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EvalError {
    /// An operation cannot be computed.
    #[error("{instruction} ({computation}): {what}")]
    At {
        /// The instruction.
        instruction: String,
        /// The computation it is in.
        computation: String,
        /// What is wrong.
        what: Box<ComputeError>,
    },
    /// A number of inputs that differs from the program's parameters.
    #[error("the program takes {takes} arrays and {given} are given")]
    Inputs {
        /// Number of parameters.
        takes: usize,
        /// Number of inputs.
        given: usize,
    },
    /// An input whose type differs from its parameter.
    #[error("{name} is {takes} and the value given is {given}")]
    Input {
        /// The parameter.
        name: String,
        /// Its type.
        takes: ArrayType,
        /// The type of the input.
        given: ArrayType,
    },
    /// A computation that calls itself.
    #[error("{computation} calls itself: calls are nested {depth} deep")]
    TooDeep {
        /// Its name.
        computation: String,
        /// The depth of the calls.
        depth: u32,
    },
    /// A computation without a computed result.
    #[error("{computation} has no result")]
    NoResult {
        /// Its name.
        computation: String,
    },
    /// The program needs more operations than the budget.
    #[error("the program needs more than {0} operations: choose smaller inputs")]
    Budget(u64),
}

/// An operation that cannot be computed, without its place.
pub(super) type OpResult<T> = Result<T, ComputeError>;

/// Why an operation cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ComputeError {
    /// An operation without values that can be computed.
    #[error(transparent)]
    NoValue(#[from] NoValue),
    /// Incomplete operands.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// An array that does not fit in a browser's memory.
    #[error("an array of {0:?} elements is too large to compute")]
    TooLarge(Vec<u64>),
    /// A dimension with more elements than an index can count.
    #[error("the dimension is too long")]
    TooLong,
    /// A window whose extent exceeds 63 bits.
    #[error("a window is too large")]
    WindowTooLarge,
    /// An index outside its array.
    #[error("{0} lies outside")]
    Outside(&'static str),
    /// Fewer elements than the shape says.
    #[error("{0} is too short")]
    TooShort(&'static str),
    /// Operands of different kinds of numbers, where one kind is needed.
    #[error("{0} another element type")]
    OtherElement(&'static str),
    /// Operands of a product with different kinds of numbers.
    #[error("the operands are not {0} numbers")]
    Operands(&'static str),
    /// An array with the wrong kind of numbers.
    #[error("{ty} holds {holds}")]
    Holds {
        /// The array.
        ty: ArrayType,
        /// Its kind of numbers.
        holds: &'static str,
    },
    /// A function of one operand that is not defined for the element type.
    #[error("{0:?} has no meaning for {1}")]
    Unary(Unary, ElementType),
    /// A function of two operands that is not defined for the element type.
    #[error("{0:?} has no meaning for {1}")]
    Binary(Binary, ElementType),
    /// A number of values that differs from the array's elements.
    #[error("{numbers} numbers do not make {ty}")]
    Numbers {
        /// How many there are.
        numbers: usize,
        /// The array.
        ty: ArrayType,
    },
    /// A result whose size differs from the declared one.
    #[error("the result is {ty} and {made} elements were made")]
    Made {
        /// The declared array.
        ty: ArrayType,
        /// Number of elements computed.
        made: usize,
    },
    /// A dimension that an array does not have.
    #[error("{ty} has no dimension {dimension}")]
    NoDimension {
        /// The array.
        ty: ArrayType,
        /// The dimension.
        dimension: usize,
    },
    /// Dimensions of a reduction that an array does not have.
    #[error("{ty} has no dimensions {dimensions:?} to combine")]
    NoDimensions {
        /// The array.
        ty: ArrayType,
        /// The dimensions.
        dimensions: Vec<u32>,
    },
    /// Dimensions of a transform that an array does not have.
    #[error("{ty} has no {count} last dimensions")]
    NoLast {
        /// The array.
        ty: ArrayType,
        /// How many are wanted.
        count: usize,
    },
    /// A dimension of a product that an operand does not have.
    #[error("{0} has no such dimension to multiply along")]
    NoProductDimension(ArrayType),
    /// A permutation that does not fit the operand's dimensions.
    #[error("the permutation names a dimension that is not there")]
    Permutation,
    /// A reversal of a dimension that the operand does not have.
    #[error("a dimension to turn around is not there")]
    Reversal,
    /// Settings whose number of dimensions differs from the operand.
    #[error("the {0} has another number of dimensions than its operand")]
    Rank(&'static str),
    /// A window whose number of dimensions differs from the operand.
    #[error("the window has {window} dimensions and {ty} has {}", ty.dims.len())]
    WindowRank {
        /// Number of the window's dimensions.
        window: usize,
        /// The operand.
        ty: ArrayType,
    },
    /// A window whose number of positions differs from the sources.
    #[error("the window has {places:?} places and the source is {ty}")]
    WindowPlaces {
        /// Positions along each dimension.
        places: Vec<u64>,
        /// The source.
        ty: ArrayType,
    },
    /// A number of indices that differs from the dimensions.
    #[error("{given} indices are given for {rank} dimensions")]
    Indices {
        /// Number of indices.
        given: usize,
        /// Number of the operand's dimensions.
        rank: usize,
    },
    /// Arrays that differ in a dimension other than the one along which they are joined.
    #[error("arrays cannot be joined along dimension {0}")]
    Join(u32),
    /// Arrays with different kinds of numbers that are joined.
    #[error("arrays of several types are joined")]
    JoinTypes,
    /// The `k` largest elements of a single number.
    #[error("one number has no largest ones")]
    LargestOfOne,
    /// A request for more of the largest elements than there are.
    #[error("{ty} does not have {k} elements in its last dimension")]
    Largest {
        /// The array.
        ty: ArrayType,
        /// How many are wanted.
        k: u64,
    },
    /// A sort of complex numbers.
    #[error("complex numbers have no order")]
    ComplexOrder,
    /// A side of a convolution without the dimensions that are named for it.
    #[error("{0} does not have the dimensions that the convolution names")]
    ConvolutionSide(ArrayType),
    /// A transform of integers.
    #[error("{0} has no Fourier transform")]
    NoTransform(ArrayType),
    /// A statistic with another number of channels.
    #[error("{0} is not one number for each channel")]
    Channels(ArrayType),
    /// A floating point format that is not valid.
    #[error("{exponent_bits} bits of exponent and {mantissa_bits} of mantissa are not a format")]
    Format {
        /// Bits of the exponent.
        exponent_bits: u32,
        /// Bits of the mantissa.
        mantissa_bits: u32,
    },
    /// Two arrays that do not fit each other.
    #[error("{}", .misfit.told(.one, .other))]
    Two {
        /// How they do not fit.
        misfit: Two,
        /// The first one.
        one: ArrayType,
        /// The second one.
        other: ArrayType,
    },
    /// Three arrays that do not fit each other.
    #[error("{}", .misfit.told(.types))]
    Three {
        /// How they do not fit.
        misfit: Three,
        /// The arrays.
        types: Box<[ArrayType; 3]>,
    },
}

impl ComputeError {
    pub(super) fn two(misfit: Two, one: &ArrayType, other: &ArrayType) -> Self {
        Self::Two { misfit, one: one.clone(), other: other.clone() }
    }

    pub(super) fn three(misfit: Three, types: [&ArrayType; 3]) -> Self {
        Self::Three { misfit, types: Box::new(types.map(ArrayType::clone)) }
    }
}

/// How two arrays do not fit each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Two {
    /// Operands of different shapes.
    Shapes,
    /// Operands of different kinds of numbers.
    Elements,
    /// An array, and the type that its bits are read as.
    Bits,
    /// An array, and the sizes that it is broadcast to.
    Repeated(u32),
    /// An array, and the type of its transform.
    Transform,
    /// A gradient, and the operand that it belongs to.
    Gradient,
}

impl Two {
    fn told(self, one: &ArrayType, other: &ArrayType) -> String {
        match self {
            Self::Shapes => format!("{one} and {other} have no common shape"),
            Self::Elements => format!("{one} and {other} have different element types"),
            Self::Bits => format!("the bits of {one} are not read as {other}"),
            Self::Repeated(d) => format!("{one} cannot be repeated to {other}: dimension {d}"),
            Self::Transform => format!("the transform of {one} is not {other}"),
            Self::Gradient => format!("{one} is not a gradient of {other}"),
        }
    }
}

/// How three arrays do not fit each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Three {
    /// The condition of a select, and its two values.
    Choice,
    /// A lower bound, an upper bound, and the clamped operand.
    Bounds,
    /// Two operands, and the type of their product.
    Product,
    /// An operand and a kernel, and the type of their convolution with this number of groups.
    Convolution {
        /// Number of groups.
        groups: u64,
    },
    /// An array, its slices, and their indices.
    Slices,
    /// Updates, the array that they are written to, and their indices.
    Updates,
}

impl Three {
    fn told(self, [a, b, c]: &[ArrayType; 3]) -> String {
        match self {
            Self::Choice => format!("{a}, {b} and {c} have no common shape"),
            Self::Bounds => format!("{a} and {b} do not bound {c}"),
            Self::Product => format!("{a} and {b} have no product {c}"),
            Self::Convolution { groups } => format!("{a} and {b} have no convolution {c} in {groups} groups"),
            Self::Slices => format!("{a} has no slices {b} at {c}"),
            Self::Updates => format!("{a} cannot be put into {b} at {c}"),
        }
    }
}

/// An operation without values that can be computed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoValue {
    /// A constant whose numbers are not in the file.
    #[error("the file leaves the numbers of this constant out")]
    Elided,
    /// An unknown operation.
    #[error("{0} has no known meaning")]
    Opaque(String),
    /// An unknown custom call.
    #[error("the custom call {0} has no known meaning")]
    CustomCall(String),
    /// An operation between cores.
    #[error("{0} needs several cores")]
    Collective(String),
    /// Random numbers.
    #[error("random numbers ({0}) are not the same twice")]
    Random(String),
    /// Random bits.
    #[error("random bits ({0}) are not computed")]
    RandomBits(String),
    /// An operation that another part of the evaluator computes.
    #[error("the operation has no value of its own")]
    OfItsOwn,
}

/// A missing part of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Missing {
    /// An operand that comes later in the computation.
    #[error("an operand comes later")]
    Later,
    /// An operand.
    #[error("operand {0} is missing")]
    Operand(usize),
    /// An operand of a custom call.
    #[error("operand {operand} of {call} is missing")]
    CallOperand {
        /// Its number.
        operand: usize,
        /// The call.
        call: String,
    },
    /// A wrong number of operands.
    #[error("it takes {takes} operands and has {given}")]
    Operands {
        /// Number of operands that it takes.
        takes: usize,
        /// Number of operands that it has.
        given: usize,
    },
    /// A number of operands that no scatter takes.
    #[error("a scatter does not take {0} operands")]
    ScatterOperands(usize),
    /// All operands of this operation.
    #[error("there is nothing to {0}")]
    Nothing(&'static str),
    /// An operand or a result that is a tuple or a token.
    #[error("{0} is not an array")]
    Array(&'static str),
    /// The value of a parameter.
    #[error("parameter {0} has no value")]
    Parameter(u32),
    /// A part of a tuple.
    #[error("the operand has no part {0}")]
    Part(u32),
    /// The called computation.
    #[error("called computation {0} is missing")]
    Called(usize),
    /// The result of a computation.
    #[error("{0} gives nothing")]
    Result(&'static str),
    /// The initial state of a loop.
    #[error("the loop has no state")]
    State,
    /// The value that selects a branch.
    #[error("the branch has no condition")]
    Condition,
    /// The integer that selects a branch.
    #[error("the branch's index is not a whole number")]
    BranchIndex,
    /// The boolean that decides a branch or a loop.
    #[error("the condition is not a boolean")]
    Boolean,
}
