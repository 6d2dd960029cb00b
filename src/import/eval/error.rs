//! Why a program cannot be evaluated.

use thiserror::Error;

use crate::import::program::{ArrayType, Binary, ElementType, Unary};

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
    /// Another number of inputs than the program has parameters.
    #[error("the program takes {takes} arrays and {given} are given")]
    Inputs {
        /// How many it takes.
        takes: usize,
        /// How many there are.
        given: usize,
    },
    /// An input of another type than its parameter.
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
        /// How deep calls are nested.
        depth: u32,
    },
    /// A computation whose result is not computed.
    #[error("{computation} has no result")]
    NoResult {
        /// Its name.
        computation: String,
    },
    /// The program needs more operations than were granted.
    #[error("the program needs more than {0} operations: choose smaller inputs")]
    Budget(u64),
}

/// An operation that cannot be computed, without its place.
pub(super) type OpResult<T> = Result<T, ComputeError>;

/// Why an operation cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ComputeError {
    /// An operation without values that could be computed.
    #[error(transparent)]
    NoValue(#[from] NoValue),
    /// What an operation is given is incomplete.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// An array that does not fit a browser's memory.
    #[error("an array of {0:?} elements is too large to compute")]
    TooLarge(Vec<u64>),
    /// A dimension with more elements than memory has places.
    #[error("the dimension is too long")]
    TooLong,
    /// A window whose reach has more than 63 bits.
    #[error("a window is too large")]
    WindowTooLarge,
    /// A place that is not in its array.
    #[error("{0} lies outside")]
    Outside(&'static str),
    /// Fewer elements than the shape says.
    #[error("{0} is too short")]
    TooShort(&'static str),
    /// Operands of several kinds of numbers, where one is wanted.
    #[error("{0} another element type")]
    OtherElement(&'static str),
    /// Operands of a product that are of another kind.
    #[error("the operands are not {0} numbers")]
    Operands(&'static str),
    /// An array of another kind of numbers than is wanted.
    #[error("{ty} holds {holds}")]
    Holds {
        /// The array.
        ty: ArrayType,
        /// What it holds.
        holds: &'static str,
    },
    /// A function of one number that an element type does not have.
    #[error("{0:?} has no meaning for {1}")]
    Unary(Unary, ElementType),
    /// A function of two numbers that an element type does not have.
    #[error("{0:?} has no meaning for {1}")]
    Binary(Binary, ElementType),
    /// Another number of numbers than an array has.
    #[error("{numbers} numbers do not make {ty}")]
    Numbers {
        /// How many there are.
        numbers: usize,
        /// The array.
        ty: ArrayType,
    },
    /// A result of another size than declared.
    #[error("the result is {ty} and {made} elements were made")]
    Made {
        /// What is declared.
        ty: ArrayType,
        /// Elements that were made.
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
    /// A permutation of other dimensions than the operand has.
    #[error("the permutation names a dimension that is not there")]
    Permutation,
    /// A reversal of a dimension that the operand does not have.
    #[error("a dimension to turn around is not there")]
    Reversal,
    /// Settings of another number of dimensions than the operand has.
    #[error("the {0} has another number of dimensions than its operand")]
    Rank(&'static str),
    /// A window of another number of dimensions than its operand has.
    #[error("the window has {window} dimensions and {ty} has {}", ty.dims.len())]
    WindowRank {
        /// Dimensions of the window.
        window: usize,
        /// The operand.
        ty: ArrayType,
    },
    /// A window with other places than there are sources.
    #[error("the window has {places:?} places and the source is {ty}")]
    WindowPlaces {
        /// Places along each dimension.
        places: Vec<u64>,
        /// The source.
        ty: ArrayType,
    },
    /// Another number of indices than dimensions.
    #[error("{given} indices are given for {rank} dimensions")]
    Indices {
        /// How many there are.
        given: usize,
        /// Dimensions of the operand.
        rank: usize,
    },
    /// Arrays that differ in more than the dimension they are joined along.
    #[error("arrays cannot be joined along dimension {0}")]
    Join(u32),
    /// Arrays of several kinds of numbers that are joined.
    #[error("arrays of several types are joined")]
    JoinTypes,
    /// The largest of one number.
    #[error("one number has no largest ones")]
    LargestOfOne,
    /// More of the largest than there are.
    #[error("{ty} does not have {k} elements in its last dimension")]
    Largest {
        /// The array.
        ty: ArrayType,
        /// How many are wanted.
        k: u64,
    },
    /// An order of complex numbers.
    #[error("complex numbers have no order")]
    ComplexOrder,
    /// A side of a convolution without the dimensions that it names.
    #[error("{0} does not have the dimensions that the convolution names")]
    ConvolutionSide(ArrayType),
    /// A transform of whole numbers.
    #[error("{0} has no Fourier transform")]
    NoTransform(ArrayType),
    /// A statistic of another number of channels.
    #[error("{0} is not one number for each channel")]
    Channels(ArrayType),
    /// A floating point format that does not exist.
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
        /// In what way.
        misfit: Two,
        /// The first one.
        one: ArrayType,
        /// The other one.
        other: ArrayType,
    },
    /// Three arrays that do not fit each other.
    #[error("{}", .misfit.told(.types))]
    Three {
        /// In what way.
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
    /// An array, and what its bits are to be read as.
    Bits,
    /// An array, and what it is to be repeated to along a dimension.
    Repeated(u32),
    /// An array, and what its transform is to be.
    Transform,
    /// A gradient, and what it is to be of.
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
    /// A condition, and what it chooses between.
    Choice,
    /// A lower and an upper bound, and what they bound.
    Bounds,
    /// Two operands, and what their product is to be.
    Product,
    /// An operand and a kernel, and what their convolution in so many groups is to be.
    Convolution {
        /// How many.
        groups: u64,
    },
    /// An array, its slices, and the places of them.
    Slices,
    /// Updates, what they are put into, and the places of them.
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

/// An operation without values that could be computed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoValue {
    /// A constant whose numbers are not in the file.
    #[error("the file leaves the numbers of this constant out")]
    Elided,
    /// An operation that is not known.
    #[error("{0} has no known meaning")]
    Opaque(String),
    /// A custom call that is not known.
    #[error("the custom call {0} has no known meaning")]
    CustomCall(String),
    /// An operation between cores.
    #[error("{0} needs several cores")]
    Collective(String),
    /// Random numbers of a distribution.
    #[error("random numbers ({0}) are not the same twice")]
    Random(String),
    /// Random bits of an algorithm.
    #[error("random bits ({0}) are not computed")]
    RandomBits(String),
    /// An operation that is computed elsewhere.
    #[error("the operation has no value of its own")]
    OfItsOwn,
}

/// What an operation lacks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Missing {
    /// An operand that is computed later.
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
    /// Another number of operands.
    #[error("it takes {takes} operands and has {given}")]
    Operands {
        /// How many it takes.
        takes: usize,
        /// How many it has.
        given: usize,
    },
    /// Another number of operands than any scatter takes.
    #[error("a scatter does not take {0} operands")]
    ScatterOperands(usize),
    /// Operands at all: of what.
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
    /// A computation that is called.
    #[error("called computation {0} is missing")]
    Called(usize),
    /// The result of a computation.
    #[error("{0} gives nothing")]
    Result(&'static str),
    /// What a loop begins with.
    #[error("the loop has no state")]
    State,
    /// What a branch is chosen by.
    #[error("the branch has no condition")]
    Condition,
    /// A whole number that a branch is chosen by.
    #[error("the branch's index is not a whole number")]
    BranchIndex,
    /// A boolean that a branch or a loop is decided by.
    #[error("the condition is not a boolean")]
    Boolean,
}
