//! Why a call of a framework's operator cannot be built: arguments that are missing, or whose values are not known here.

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
    /// An argument of the wrong kind.
    #[error("argument {place} of {op} is not {kind}")]
    Kind {
        /// The argument's number.
        place: usize,
        /// The operator.
        op: String,
        /// The required kind.
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
    /// A negative argument.
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
        /// Its smallest allowed value.
        least: i64,
        /// Its largest allowed value.
        most: i64,
    },
    /// An argument with an unknown value.
    #[error("the {argument} {found} is not known here")]
    Unknown {
        /// The argument.
        argument: &'static str,
        /// Its value.
        found: String,
    },
    /// An argument that has neither one number nor one for each dimension.
    #[error("{argument} has {given} numbers for {rank} dimensions")]
    PerDimension {
        /// The argument.
        argument: &'static str,
        /// How many numbers it has.
        given: usize,
        /// The dimensions that it is for.
        rank: usize,
    },
    /// An operand whose rank the operator does not take.
    #[error("{op} needs an operand of rank {needs}, not {found}")]
    Rank {
        /// The operator.
        op: String,
        /// The ranks that the operator takes.
        needs: Ranks,
        /// The operand's rank.
        found: usize,
    },
    /// Sizes for which the operator is not defined.
    #[error("{op} is not possible with sizes {sizes:?}")]
    Sizes {
        /// The operator.
        op: String,
        /// The sizes.
        sizes: Vec<u64>,
    },
    /// An index beyond the end of a dimension.
    #[error("a dimension of {size} elements has no element {index}")]
    Index {
        /// Its number.
        index: i64,
        /// Elements of the dimension.
        size: u64,
    },
    /// A rank among the elements of a dimension that has too few elements.
    #[error("a dimension of {size} elements has no element at this place of the order")]
    Order {
        /// Elements of the dimension.
        size: u64,
    },
    /// Two dimensions that are outside the array or are the same.
    #[error("dimensions {first} and {second} of {rank} have no diagonal")]
    Diagonal {
        /// The first one.
        first: usize,
        /// The second one.
        second: usize,
        /// Number of dimensions.
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
    /// Two lists whose lengths must be equal.
    #[error("{sources} dimensions are moved to {destinations} places")]
    Moves {
        /// Number of dimensions that move.
        sources: usize,
        /// Number of places for them.
        destinations: usize,
    },
    /// Padding that leaves no elements, or adds too many.
    #[error("padding of {low} and {high} elements does not fit a dimension of {size}")]
    Edges {
        /// Elements in front.
        low: i64,
        /// Elements behind.
        high: i64,
        /// Elements of the dimension.
        size: i64,
    },
    /// A dimension that is split into parts without elements, or into too many parts.
    #[error("a dimension of {size} elements cannot be split into parts of {step}")]
    Parts {
        /// Elements of the dimension.
        size: u64,
        /// Elements of a part.
        step: u64,
    },
    /// Patches without elements or with a distance of zero.
    #[error("patches have sizes {sizes:?}, steps {steps:?} and distances {distances:?}: all must be positive")]
    Patches {
        /// Elements of a patch.
        sizes: [i64; 2],
        /// Distances between patches.
        steps: [i64; 2],
        /// Distances between elements of a patch.
        distances: [i64; 2],
    },
    /// Fewer sizes than the operand has dimensions.
    #[error("sizes {own:?} cannot be expanded to {asked:?}")]
    Expanded {
        /// Sizes of the operand.
        own: Vec<u64>,
        /// Sizes wanted; -1 keeps the operand's size.
        asked: Vec<i64>,
    },
    /// A range that does not end, or whose steps lead away from its end.
    #[error("a row from {start} to {end} in steps of {step} has no usable length")]
    Row {
        /// The first number.
        start: f64,
        /// The end, which is not included.
        end: f64,
        /// The step.
        step: f64,
    },
    /// More or fewer frequencies than the transform has.
    #[error("{rows} frequencies are given for a transform of {size} elements")]
    Frequencies {
        /// Number of frequencies.
        rows: u64,
        /// Elements that are transformed.
        size: u64,
    },
    /// A number of weights that does not fit the layers of a recurrent operator.
    #[error("{weights} weights are given for {layers} layers in {directions} directions")]
    Weights {
        /// Number of weights.
        weights: usize,
        /// Layers.
        layers: usize,
        /// Directions of each layer.
        directions: usize,
    },
    /// A bit cast between types of different widths.
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
    /// A number of results that differs from the file's.
    #[error("{named} results are named and {given} are given")]
    Results {
        /// Number of results.
        given: usize,
        /// Number of results in the file.
        named: usize,
    },
    /// A result whose type differs from the type in the file.
    #[error("its result is {own} and the file says {said}")]
    Result {
        /// The result's type.
        own: ArrayType,
        /// The type in the file.
        said: ArrayType,
    },
    /// An operator of unknown meaning without an operand that would give the type of the result.
    #[error("{op}, or this use of it, is not known here{}", .why.as_ref().map(|why| format!(": {why}")).unwrap_or_default())]
    Operator {
        /// The operator.
        op: String,
        /// Why this use of the operator is not known.
        why: Option<Box<BuildError>>,
    },
    /// A use of an operator that is not translated.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A value that the graph does not define.
    #[error(transparent)]
    Value(#[from] ValueError),
}

/// A use of an operator that is not translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unsupported {
    /// Sequences of different lengths.
    #[error("sequences of packed lengths are not translated")]
    PackedSequences,
    /// Dropout between layers.
    #[error("dropout between layers in training is not translated")]
    TrainingDropout,
    /// A write to a value whose elements share memory.
    #[error("a value that repeats elements cannot be written in place")]
    RepeatedWrite,
    /// A write to several elements that are not adjacent.
    #[error("more than a million elements that lie apart cannot be written in place")]
    LongWrite,
    /// A view of memory in another order.
    #[error("the strides are not the strides of the sizes")]
    Strides,
    /// A view of memory outside the operand.
    #[error("the strides reach beyond the operand")]
    StridesBeyond,
    /// A size that is the largest number in the operand, and so depends on data.
    #[error("the number of classes of one_hot depends on data")]
    ClassesInData,
}

/// A value that the graph names but does not define: the file is damaged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ValueError {
    /// A value that is used before the node that defines it.
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
