//! Why the type of a result cannot be inferred: what does not fit in an operation and its operands.

use std::fmt;

use thiserror::Error;

use crate::program::{ArrayType, ElementType, Type};

/// Why the type of a result cannot be inferred, in words that follow the instruction's name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InferError {
    /// A number of operands that the operation does not take.
    #[error("it has {given} operands and takes {takes}")]
    Operands {
        /// Number of operands.
        given: usize,
        /// How many operands it takes.
        takes: Takes,
    },
    /// An operand is a tuple or a token.
    #[error("operand {operand} is {ty}, not an array")]
    NoArray {
        /// Its number.
        operand: usize,
        /// Its type.
        ty: Type,
    },
    /// The declared result is a tuple or a token.
    #[error("its result is declared as {0}")]
    Declared(Type),
    /// A list names a dimension that does not exist.
    #[error("{list} names dimension {dimension} of {rank}")]
    NoDimension {
        /// The list; "it" for the only one of an operation.
        list: &'static str,
        /// The dimension that it names.
        dimension: u32,
        /// Number of dimensions.
        rank: usize,
    },
    /// A list names a dimension twice.
    #[error("{list} names dimension {dimension} twice")]
    DimensionTwice {
        /// The list; "it" for the only one of an operation.
        list: &'static str,
        /// The dimension that it names twice.
        dimension: u32,
    },
    /// A setting whose number of dimensions differs from the operand.
    #[error("{does} {given} of {rank} dimensions")]
    PerDimension {
        /// The setting, followed by its verb.
        does: &'static str,
        /// Number of the setting's dimensions.
        given: usize,
        /// Number of the operand's dimensions.
        rank: usize,
    },
    /// Something whose number of dimensions differs from an array.
    #[error("{does} {given} dimensions and {array} has {}", array.dims.len())]
    ArrayRank {
        /// What it is, followed by its verb.
        does: &'static str,
        /// Its dimensions.
        given: usize,
        /// The array.
        array: ArrayType,
    },
    /// A side of a convolution whose number of dimensions does not fit its window.
    #[error("{side} has {rank} dimensions and its window {window}")]
    WindowRank {
        /// The side.
        side: &'static str,
        /// Its dimensions.
        rank: usize,
        /// Dimensions of the window.
        window: usize,
    },
    /// Slices whose number of dimensions differs from the positions for them in the result.
    #[error("its slices have {slices} dimensions and offset_dims has {places}")]
    Offsets {
        /// Number of dimensions that the slices keep.
        slices: usize,
        /// Number of positions for them.
        places: usize,
    },
    /// An operation that takes something the operand does not have.
    #[error("it {part} of {of}")]
    NoSuchPart {
        /// What it takes.
        part: Part,
        /// The operand.
        of: Type,
    },
    /// A range outside its dimension.
    #[error("it takes [{start}:{limit}:{stride}] of dimension {dimension}, which has {size}")]
    Range {
        /// First element.
        start: u64,
        /// One beyond the last element.
        limit: u64,
        /// The step.
        stride: u64,
        /// The dimension.
        dimension: usize,
        /// Its elements.
        size: u64,
    },
    /// Two types that have to match but do not.
    #[error("{}", .pair.told(.one, .other))]
    Unlike {
        /// The kind of the pair.
        pair: Pair,
        /// The first one.
        one: Type,
        /// The second one.
        other: Type,
    },
    /// Arrays that cannot be joined.
    #[error("it joins {one} and {other} along dimension {dimension}")]
    Join {
        /// The first one.
        one: ArrayType,
        /// The next one.
        other: ArrayType,
        /// The dimension.
        dimension: usize,
    },
    /// Updates that do not fit the array and the indices.
    #[error("it puts {update} into {array} at {indices}")]
    Scatter {
        /// The updates.
        update: ArrayType,
        /// The array that is updated.
        array: ArrayType,
        /// The indices.
        indices: ArrayType,
    },
    /// A dimension that is broadcast to a size it cannot have.
    #[error("it repeats {size} elements along a dimension of {wide}")]
    Repeat {
        /// Elements there are.
        size: u64,
        /// Elements wanted.
        wide: u64,
    },
    /// A dimension with a negative number of elements, or more than 64 bits count.
    #[error("its dimension {dimension} gets {elements} elements")]
    Padded {
        /// The dimension.
        dimension: usize,
        /// Its elements.
        elements: i128,
    },
    /// An operand that has to be one number but is not.
    #[error("it pads with {0} and takes one number")]
    PadValue(ArrayType),
    /// A number of start indices that differs from the number of dimensions.
    #[error("it has {given} start indices for {rank} dimensions")]
    Starts {
        /// Number of start indices.
        given: usize,
        /// Dimensions of the operand.
        rank: usize,
    },
    /// A start index that is not a single integer.
    #[error("a start index is {0} and must be one whole number")]
    Start(ArrayType),
    /// Indices that are not integers.
    #[error("its indices are {0} and must be whole numbers")]
    Indices(ArrayType),
    /// A dimension of the indices that does not exist.
    #[error("its index_vector_dim is {dimension} and its indices are {indices}")]
    IndexVector {
        /// The dimension.
        dimension: usize,
        /// The indices.
        indices: ArrayType,
    },
    /// An element type without a corresponding complex type.
    #[error("complex numbers are not made of {0}")]
    Complex(ElementType),
    /// An operand that does not have one value for each channel.
    #[error("its operand {operand} is {channel} and {array} has {channels} channels")]
    Channels {
        /// The operand.
        operand: usize,
        /// Its type.
        channel: ArrayType,
        /// The array with channels.
        array: ArrayType,
        /// Number of channels.
        channels: u64,
    },
    /// A product that pairs lists of different lengths.
    #[error("it pairs different numbers of dimensions")]
    PairCount,
    /// A product that pairs dimensions of different sizes.
    #[error("it pairs dimension {left} of {lhs} with dimension {right} of {rhs}")]
    Paired {
        /// Dimension of the left side.
        left: u32,
        /// The left side.
        lhs: ArrayType,
        /// Dimension of the right side.
        right: u32,
        /// The right side.
        rhs: ArrayType,
    },
    /// Groups of input channels that do not fit the kernel's channels.
    #[error("{channels} channels in {groups} groups meet a kernel of {kernel}")]
    Groups {
        /// Channels of the input.
        channels: u64,
        /// Groups.
        groups: u64,
        /// Channels of the kernel.
        kernel: u64,
    },
    /// Features or a batch that the number of groups does not divide.
    #[error("{features} features and a batch of {batch} do not divide into its groups")]
    Division {
        /// Features of the kernel.
        features: u64,
        /// Batch of the input.
        batch: u64,
    },
    /// A window whose size differs from the kernel's.
    #[error("its window has {window} elements and its kernel {kernel}")]
    Kernel {
        /// Elements of the window.
        window: u64,
        /// Elements of the kernel.
        kernel: u64,
    },
    /// A window without extent.
    #[error("its window has a size, a step or a dilation of 0")]
    EmptyWindow,
    /// A size that overflows.
    #[error("its result is beyond 64 bits")]
    TooLarge,
    /// A window whose number of positions differs from the sources.
    #[error("its window has places {places:?} and its source is {into}")]
    Places {
        /// Positions along each dimension.
        places: Vec<u64>,
        /// The source.
        into: ArrayType,
    },
    /// A called computation that does not fit.
    #[error(transparent)]
    Called(#[from] CalledError),
}

/// How many operands an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Exactly this many.
    Exactly(usize),
    /// This many or more.
    AtLeast(usize),
    /// Arrays, and an initial value for each.
    FirstValues,
    /// Arrays, indices, and an update for each array.
    Updates,
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(n) => write!(f, "{n}"),
            Self::AtLeast(n) => write!(f, "at least {n}"),
            Self::FirstValues => f.write_str("as many arrays as first values"),
            Self::Updates => f.write_str("as many arrays as updates, and indices"),
        }
    }
}

/// What an operation takes from an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// An element of a tuple.
    Element(u32),
    /// A range of elements along a dimension.
    Count(u32),
    /// The largest of each row.
    Largest(u64),
    /// Elements appended along a dimension.
    Join(usize),
    /// Its last dimensions, transformed.
    Transform(usize),
    /// A part of these sizes.
    Sizes(Vec<u64>),
    /// Slices of these sizes.
    Slices(Vec<u64>),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(i) => write!(f, "takes element {i}"),
            Self::Count(d) => write!(f, "counts along dimension {d}"),
            Self::Largest(k) => write!(f, "takes the {k} largest"),
            Self::Join(d) => write!(f, "joins along dimension {d}"),
            Self::Transform(n) => write!(f, "transforms {n} dimensions"),
            Self::Sizes(sizes) => write!(f, "takes a part of sizes {sizes:?}"),
            Self::Slices(sizes) => write!(f, "takes slices of sizes {sizes:?}"),
        }
    }
}

/// Two types that have to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// The operands of a function of two.
    Operands,
    /// The two values of a select.
    Choices,
    /// The condition of a select, and the values.
    Condition,
    /// A bound of a clamp, and the operand.
    Bound,
    /// An array that is reduced, and its initial value.
    FirstValue,
    /// Arrays that are sorted together.
    SortedAlong,
    /// A part, and the array that it is written to.
    Update,
    /// An array, and its new shape.
    Reshaped,
    /// An array, and elements of a type whose size does not divide into the array's bits.
    Bits,
}

impl Pair {
    fn told(self, one: &Type, other: &Type) -> String {
        match self {
            Self::Operands => format!("its operands are {one} and {other} and must be of one type"),
            Self::Choices => format!("it selects between {one} and {other}"),
            Self::Condition => format!("its condition is {one} and its values are {other}"),
            Self::Bound => format!("its bound is {one} and its value is {other}"),
            Self::FirstValue => format!("it reduces {one} from {other}"),
            Self::SortedAlong => format!("it sorts {one} along with {other}"),
            Self::Update => format!("it puts {one} into {other}"),
            Self::Reshaped => format!("{one} and {other} have different numbers of elements"),
            Self::Bits => {
                let element = other.array().map_or_else(|| other.to_string(), |a| a.element.to_string());
                format!("the bits of {one} do not fill elements of {element}")
            }
        }
    }
}

impl InferError {
    /// An error for two arrays that do not fit each other.
    pub(super) fn unlike(pair: Pair, one: &ArrayType, other: &ArrayType) -> Self {
        Self::Unlike { pair, one: Type::Array(one.clone()), other: Type::Array(other.clone()) }
    }

    /// An error for something that an array does not have.
    pub(super) fn no_such(part: Part, of: &ArrayType) -> Self {
        Self::NoSuchPart { part, of: Type::Array(of.clone()) }
    }
}

/// What is wrong with the computations that an operation calls.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CalledError {
    /// A number of computations that differs from what the operation calls.
    #[error("it calls {given} computations and takes {takes}")]
    Count {
        /// Number of computations.
        given: usize,
        /// How many the operation calls.
        takes: usize,
    },
    /// A computation whose number of parameters differs from the values passed to it.
    #[error("{}", .by.told(*.values, *.parameters))]
    Parameters {
        /// The caller.
        by: Caller,
        /// Number of values or arrays passed.
        values: usize,
        /// Number of the computation's parameters.
        parameters: usize,
    },
    /// A parameter whose type differs from its value.
    #[error("it gives {given} to parameter {parameter} of a computation, which is {takes}")]
    Argument {
        /// The value's type.
        given: Type,
        /// The parameter.
        parameter: usize,
        /// The parameter's type.
        takes: Type,
    },
    /// A result of a type that the operation cannot use.
    #[error("its {computation} gives {ty}")]
    Result {
        /// Which computation.
        computation: &'static str,
        /// The type of its result.
        ty: Type,
    },
    /// A result that is not an array.
    #[error("its computation does not give a number")]
    NoNumber,
    /// A loop whose body changes the type of its state.
    #[error("its body gives {gives} and it begins with {begins}")]
    Body {
        /// Type after a turn.
        gives: Type,
        /// Type before the first one.
        begins: Type,
    },
    /// Branches whose results have different types.
    #[error("its branches give {first} and {other}")]
    Branches {
        /// Type of the first branch.
        first: Type,
        /// Type of the differing branch.
        other: Type,
    },
    /// A number of branches that does not fit the operands.
    #[error("it has {branches} branches and {operands} operands")]
    BranchOperands {
        /// Number of branches.
        branches: usize,
        /// Number of operands, including the index.
        operands: usize,
    },
}

/// The caller of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A call, a loop or a branch.
    Call,
    /// A map.
    Map,
    /// A reduction.
    Reduce,
    /// A sort.
    Sort,
}

impl Caller {
    fn told(self, values: usize, parameters: usize) -> String {
        match self {
            Self::Call => format!("it calls a computation of {parameters} parameters with {values} values"),
            Self::Map => format!("it maps {values} arrays with {parameters} parameters"),
            Self::Reduce => format!("it reduces {values} arrays with a computation of {parameters} parameters"),
            Self::Sort => format!("it sorts {values} arrays with a computation of {parameters} parameters"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_names_the_types_in_the_order_of_the_sentence() {
        let array = |dims: &[u64]| ArrayType::new(ElementType::F32, dims);
        let (one, other) = (array(&[2]), array(&[3]));
        let said = [
            (InferError::unlike(Pair::FirstValue, &one, &other), "it reduces f32[2] from f32[3]"),
            (InferError::unlike(Pair::Update, &one, &other), "it puts f32[2] into f32[3]"),
            (InferError::unlike(Pair::Bits, &one, &other), "the bits of f32[2] do not fill elements of f32"),
            (InferError::no_such(Part::Slices(vec![4]), &one), "it takes slices of sizes [4] of f32[2]"),
            (InferError::no_such(Part::Largest(4), &one), "it takes the 4 largest of f32[2]"),
            (
                InferError::Operands { given: 1, takes: Takes::FirstValues },
                "it has 1 operands and takes as many arrays as first values",
            ),
            (InferError::Operands { given: 1, takes: Takes::AtLeast(2) }, "it has 1 operands and takes at least 2"),
            (
                InferError::ArrayRank { does: "it places", given: 2, array: one },
                "it places 2 dimensions and f32[2] has 1",
            ),
            (
                CalledError::Parameters { by: Caller::Call, values: 1, parameters: 2 }.into(),
                "it calls a computation of 2 parameters with 1 values",
            ),
            (
                CalledError::Parameters { by: Caller::Sort, values: 1, parameters: 3 }.into(),
                "it sorts 1 arrays with a computation of 3 parameters",
            ),
        ];
        for (error, text) in said {
            assert_eq!(error.to_string(), text);
        }
    }
}
