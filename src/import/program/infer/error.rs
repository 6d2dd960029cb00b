//! Why a result has no type: what of an operation does not fit its operands.

use std::fmt;

use thiserror::Error;

use crate::import::program::{ArrayType, ElementType, Type};

/// Why a result has no type, in words that follow the instruction's name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InferError {
    /// Another number of operands than the operation takes.
    #[error("it has {given} operands and takes {takes}")]
    Operands {
        /// How many there are.
        given: usize,
        /// How many it takes.
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
    /// A list names a dimension that is not there.
    #[error("{list} names dimension {dimension} of {rank}")]
    NoDimension {
        /// The list; "it" for the only one of an operation.
        list: &'static str,
        /// What it names.
        dimension: u32,
        /// How many there are.
        rank: usize,
    },
    /// A list names a dimension twice.
    #[error("{list} names dimension {dimension} twice")]
    DimensionTwice {
        /// The list; "it" for the only one of an operation.
        list: &'static str,
        /// What it names.
        dimension: u32,
    },
    /// A setting is of another number of dimensions than the operand.
    #[error("{does} {given} of {rank} dimensions")]
    PerDimension {
        /// The setting, with its verb.
        does: &'static str,
        /// Dimensions it is of.
        given: usize,
        /// Dimensions of the operand.
        rank: usize,
    },
    /// Something is of another number of dimensions than an array.
    #[error("{does} {given} dimensions and {array} has {}", array.dims.len())]
    ArrayRank {
        /// What, with its verb.
        does: &'static str,
        /// Its dimensions.
        given: usize,
        /// The array.
        array: ArrayType,
    },
    /// A side of a convolution is of another number of dimensions than its window asks for.
    #[error("{side} has {rank} dimensions and its window {window}")]
    WindowRank {
        /// Which side.
        side: &'static str,
        /// Its dimensions.
        rank: usize,
        /// Dimensions of the window.
        window: usize,
    },
    /// Slices with another number of dimensions than places for them in the result.
    #[error("its slices have {slices} dimensions and offset_dims has {places}")]
    Offsets {
        /// Dimensions that slices keep.
        slices: usize,
        /// Places for them.
        places: usize,
    },
    /// An operation takes what its operand does not have.
    #[error("it {part} of {of}")]
    NoSuchPart {
        /// What it takes.
        part: Part,
        /// The operand.
        of: Type,
    },
    /// A range that is not in its dimension.
    #[error("it takes [{start}:{limit}:{stride}] of dimension {dimension}, which has {size}")]
    Range {
        /// First element.
        start: u64,
        /// Element behind the last one.
        limit: u64,
        /// Distance.
        stride: u64,
        /// The dimension.
        dimension: usize,
        /// Its elements.
        size: u64,
    },
    /// Two types that have to fit each other do not.
    #[error("{}", .pair.told(.one, .other))]
    Unlike {
        /// Which two they are.
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
    /// Updates that do not fit the array and the places.
    #[error("it puts {update} into {array} at {indices}")]
    Scatter {
        /// What is put.
        update: ArrayType,
        /// Where into.
        array: ArrayType,
        /// At what places.
        indices: ArrayType,
    },
    /// Elements that are repeated along a dimension of another size.
    #[error("it repeats {size} elements along a dimension of {wide}")]
    Repeat {
        /// Elements there are.
        size: u64,
        /// Elements wanted.
        wide: u64,
    },
    /// A dimension gets a negative number of elements, or one beyond 64 bits.
    #[error("its dimension {dimension} gets {elements} elements")]
    Padded {
        /// The dimension.
        dimension: usize,
        /// Its elements.
        elements: i128,
    },
    /// An operand has to be one number and is not.
    #[error("it pads with {0} and takes one number")]
    PadValue(ArrayType),
    /// Another number of start indices than dimensions.
    #[error("it has {given} start indices for {rank} dimensions")]
    Starts {
        /// How many there are.
        given: usize,
        /// Dimensions of the operand.
        rank: usize,
    },
    /// A start index that is not one whole number.
    #[error("a start index is {0} and must be one whole number")]
    Start(ArrayType),
    /// Indices that are not whole numbers.
    #[error("its indices are {0} and must be whole numbers")]
    Indices(ArrayType),
    /// A dimension of indices that is not there.
    #[error("its index_vector_dim is {dimension} and its indices are {indices}")]
    IndexVector {
        /// What is named.
        dimension: usize,
        /// The indices.
        indices: ArrayType,
    },
    /// An element type that has no complex type.
    #[error("complex numbers are not made of {0}")]
    Complex(ElementType),
    /// A value for each channel that is of another size.
    #[error("its operand {operand} is {channel} and {array} has {channels} channels")]
    Channels {
        /// The operand.
        operand: usize,
        /// Its type.
        channel: ArrayType,
        /// The array with channels.
        array: ArrayType,
        /// How many it has.
        channels: u64,
    },
    /// A product pairs lists of different lengths.
    #[error("it pairs different numbers of dimensions")]
    PairCount,
    /// A product pairs dimensions of different sizes.
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
    /// Channels in groups that do not meet the kernel's.
    #[error("{channels} channels in {groups} groups meet a kernel of {kernel}")]
    Groups {
        /// Channels of the input.
        channels: u64,
        /// Groups.
        groups: u64,
        /// Channels of the kernel.
        kernel: u64,
    },
    /// Features or a batch that do not divide.
    #[error("{features} features and a batch of {batch} do not divide into its groups")]
    Division {
        /// Features of the kernel.
        features: u64,
        /// Batch of the input.
        batch: u64,
    },
    /// A window that is not the kernel's.
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
    /// A size that no number holds.
    #[error("its result is beyond 64 bits")]
    TooLarge,
    /// A window with other places than there are sources.
    #[error("its window has places {places:?} and its source is {into}")]
    Places {
        /// Places along each dimension.
        places: Vec<u64>,
        /// The source.
        into: ArrayType,
    },
    /// What is called does not fit.
    #[error(transparent)]
    Called(#[from] CalledError),
}

/// How many operands an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// So many.
    Exactly(usize),
    /// So many or more.
    AtLeast(usize),
    /// Arrays, and a first value for each.
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

/// What an operation takes of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// An element of a tuple.
    Element(u32),
    /// Numbers in order along a dimension.
    Count(u32),
    /// The largest of each row.
    Largest(u64),
    /// Others behind it along a dimension.
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

/// Two types that have to fit each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// The operands of a function of two.
    Operands,
    /// What a choice is between.
    Choices,
    /// The condition of a choice, and what it chooses.
    Condition,
    /// A bound, and what it bounds.
    Bound,
    /// An array that is reduced, and its first value.
    FirstValue,
    /// Arrays that are sorted together.
    SortedAlong,
    /// A part, and the array that it is put into.
    Update,
    /// An array, and the form it gets.
    Reshaped,
    /// An array, and elements of a type whose bits its own do not fill.
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
    /// Two arrays that do not fit each other.
    pub(super) fn unlike(pair: Pair, one: &ArrayType, other: &ArrayType) -> Self {
        Self::Unlike { pair, one: Type::Array(one.clone()), other: Type::Array(other.clone()) }
    }

    /// What an array does not have.
    pub(super) fn no_such(part: Part, of: &ArrayType) -> Self {
        Self::NoSuchPart { part, of: Type::Array(of.clone()) }
    }
}

/// What is wrong with the computations that an operation calls.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CalledError {
    /// Another number of computations than the operation calls.
    #[error("it calls {given} computations and takes {takes}")]
    Count {
        /// How many there are.
        given: usize,
        /// How many it calls.
        takes: usize,
    },
    /// A computation of another number of parameters than it gets values.
    #[error("{}", .by.told(*.values, *.parameters))]
    Parameters {
        /// What calls.
        by: Caller,
        /// Values or arrays.
        values: usize,
        /// Parameters of the computation.
        parameters: usize,
    },
    /// A parameter of another type than its value.
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
        /// Which one.
        computation: &'static str,
        /// What it gives.
        ty: Type,
    },
    /// A result that is not an array.
    #[error("its computation does not give a number")]
    NoNumber,
    /// A loop whose turns change the type.
    #[error("its body gives {gives} and it begins with {begins}")]
    Body {
        /// Type after a turn.
        gives: Type,
        /// Type before the first one.
        begins: Type,
    },
    /// Branches that give different types.
    #[error("its branches give {first} and {other}")]
    Branches {
        /// Of the first one.
        first: Type,
        /// Of another one.
        other: Type,
    },
    /// Another number of branches than operands of branches.
    #[error("it has {branches} branches and {operands} operands")]
    BranchOperands {
        /// Branches.
        branches: usize,
        /// Operands, the choice among them.
        operands: usize,
    },
}

/// What calls a computation.
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
