//! Why a call of a framework's operator cannot be built: arguments that are missing, or that are not known here.

use thiserror::Error;

use super::super::{ArrayType, ElementType};
use super::error::{BuildError, Ranks};
use super::type_error::TypeError;

/// Why a call of a framework's operator cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CallError {
    /// Fewer arguments than the operator takes.
    #[error("argument {place} of {op} is missing")]
    Absent {
        /// The argument's number.
        place: usize,
        /// The operator.
        op: String,
    },
    /// An argument of another kind.
    #[error("argument {place} of {op} is not {kind}")]
    Kind {
        /// The argument's number.
        place: usize,
        /// The operator.
        op: String,
        /// What it has to be.
        kind: &'static str,
    },
    /// An argument that is not given, or whose value is not in the file.
    #[error("argument {argument} of {op} is missing, or its value is not known")]
    Missing {
        /// The argument.
        argument: &'static str,
        /// The operator.
        op: String,
    },
    /// An argument that has to be a positive number.
    #[error("argument {argument} of {op} is not a positive number")]
    NotPositive {
        /// The argument.
        argument: &'static str,
        /// The operator.
        op: String,
    },
    /// An argument below zero.
    #[error("{argument} is {found} and must not be negative")]
    Negative {
        /// The argument.
        argument: &'static str,
        /// Its value.
        found: i64,
    },
    /// An argument outside its range.
    #[error("{argument} is {found} and must be from {least} to {most}")]
    Range {
        /// The argument.
        argument: &'static str,
        /// Its value.
        found: i64,
        /// Its least value.
        least: i64,
        /// Its largest value.
        most: i64,
    },
    /// A value of an argument that has no known meaning.
    #[error("the {argument} {found} is not known here")]
    Unknown {
        /// The argument.
        argument: &'static str,
        /// Its value.
        found: String,
    },
    /// An argument that is not one number, and not one for each dimension.
    #[error("{argument} has {given} numbers for {rank} dimensions")]
    PerDimension {
        /// The argument.
        argument: &'static str,
        /// How many numbers it has.
        given: usize,
        /// Dimensions that it is for.
        rank: usize,
    },
    /// An operand of another rank than the operator takes.
    #[error("{op} needs an operand of rank {needs}, not {found}")]
    Rank {
        /// The operator.
        op: String,
        /// Its ranks.
        needs: Ranks,
        /// The operand's rank.
        found: usize,
    },
    /// Sizes that the operator has no meaning for.
    #[error("{op} is not possible with sizes {sizes:?}")]
    Sizes {
        /// The operator.
        op: String,
        /// The sizes.
        sizes: Vec<u64>,
    },
    /// An element that a dimension does not have.
    #[error("a dimension of {size} elements has no element {index}")]
    Index {
        /// Its number.
        index: i64,
        /// Elements of the dimension.
        size: u64,
    },
    /// An element by its rank among others, where there are too few.
    #[error("a dimension of {size} elements has no element at this place of the order")]
    Order {
        /// Elements of the dimension.
        size: u64,
    },
    /// Dimensions that are not two different ones.
    #[error("dimensions {first} and {second} of {rank} have no diagonal")]
    Diagonal {
        /// The first one.
        first: usize,
        /// The second one.
        second: usize,
        /// Dimensions there are.
        rank: usize,
    },
    /// Dimensions in the wrong order.
    #[error("dimensions {first} to {last} are not a range")]
    DimensionRange {
        /// The first one.
        first: usize,
        /// The last one.
        last: usize,
    },
    /// Lists that have to be of one length.
    #[error("{sources} dimensions are moved to {destinations} places")]
    Moves {
        /// Dimensions that move.
        sources: usize,
        /// Places for them.
        destinations: usize,
    },
    /// Padding that leaves nothing, or too much.
    #[error("padding of {low} and {high} elements does not fit a dimension of {size}")]
    Edges {
        /// Elements in front.
        low: i64,
        /// Elements behind.
        high: i64,
        /// Elements of the dimension.
        size: i64,
    },
    /// A dimension cut into parts of no elements, or into too many.
    #[error("a dimension of {size} elements cannot be split into parts of {step}")]
    Parts {
        /// Elements of the dimension.
        size: u64,
        /// Elements of a part.
        step: u64,
    },
    /// Patches without elements or without a distance.
    #[error("patches have sizes {sizes:?}, steps {steps:?} and distances {distances:?}: all must be positive")]
    Patches {
        /// Elements of a patch.
        sizes: [i64; 2],
        /// Distances between patches.
        steps: [i64; 2],
        /// Distances between elements of a patch.
        distances: [i64; 2],
    },
    /// Sizes that are fewer than the operand has dimensions.
    #[error("sizes {own:?} cannot be expanded to {asked:?}")]
    Expanded {
        /// Sizes of the operand.
        own: Vec<u64>,
        /// Sizes wanted; -1 keeps the own one.
        asked: Vec<i64>,
    },
    /// A row of numbers that has no end, or whose steps lead away from it.
    #[error("a row from {start} to {end} in steps of {step} has no usable length")]
    Row {
        /// The first number.
        start: f64,
        /// What it ends in front of.
        end: f64,
        /// Distance.
        step: f64,
    },
    /// Frequencies that a transform does not have.
    #[error("{rows} frequencies are given for a transform of {size} elements")]
    Frequencies {
        /// Frequencies there are.
        rows: u64,
        /// Elements that are transformed.
        size: u64,
    },
    /// Another number of weights than the layers of a recurrent operator have.
    #[error("{weights} weights are given for {layers} layers in {directions} directions")]
    Weights {
        /// Weights there are.
        weights: usize,
        /// Layers.
        layers: usize,
        /// Directions of each layer.
        directions: usize,
    },
    /// The same bits as numbers of another width.
    #[error("{from} cannot be viewed as {to}, which has another width")]
    Width {
        /// The operand's element type.
        from: ElementType,
        /// The result's element type.
        to: ElementType,
    },
    /// An operator without a result.
    #[error("{0} has no result")]
    NoResult(String),
    /// Another number of results than the file names.
    #[error("{named} results are named and {given} are given")]
    Results {
        /// Results there are.
        given: usize,
        /// Results that the file names.
        named: usize,
    },
    /// A result of another type than the file says.
    #[error("its result is {own} and the file says {said}")]
    Result {
        /// Its type.
        own: ArrayType,
        /// The type in the file.
        said: ArrayType,
    },
    /// An operator without a known meaning that has no operand to take a type from.
    #[error("{op}, or this use of it, is not known here{}", .why.as_ref().map(|why| format!(": {why}")).unwrap_or_default())]
    Operator {
        /// The operator.
        op: String,
        /// Why its use is not known.
        why: Option<Box<BuildError>>,
    },
    /// A way to use an operator that is not translated.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A value that a graph does not give.
    #[error(transparent)]
    Value(#[from] ValueError),
}

/// A way to use an operator that is not translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unsupported {
    /// Sequences of different lengths.
    #[error("sequences of packed lengths are not translated")]
    PackedSequences,
    /// Random zeros between layers.
    #[error("dropout between layers in training is not translated")]
    TrainingDropout,
    /// A write to a value whose elements share memory.
    #[error("a value that repeats elements cannot be written in place")]
    RepeatedWrite,
    /// A write to many elements that lie apart.
    #[error("more than a million elements that lie apart cannot be written in place")]
    LongWrite,
    /// A view of memory in another order.
    #[error("the strides are not the strides of the sizes")]
    Strides,
    /// A view of memory that the operand does not have.
    #[error("the strides reach beyond the operand")]
    StridesBeyond,
    /// A size that is the largest number of the operand.
    #[error("the number of classes of one_hot depends on data")]
    ClassesInData,
}

/// A value that a graph names and does not give: the file is damaged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ValueError {
    /// A value that is used before a node gives it.
    #[error("no node in front gives the value {0}")]
    Absent(String),
    /// A value without a description.
    #[error("the value {0} has no type")]
    Untyped(String),
    /// A value whose description is not a type.
    #[error("the value {name}: {fault}")]
    Type {
        /// The value.
        name: String,
        /// What is wrong with its description.
        fault: TypeError,
    },
}
