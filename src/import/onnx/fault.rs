//! What is wrong with a node that breaks the rules of its operator.

use thiserror::Error;

use super::super::program::{ArrayType, Type};

/// What is wrong with a node, in words that follow its operator's name.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Fault {
    /// A missing operand.
    #[error("needs operand {at} and the node has {count}")]
    Operands {
        /// The operand's number.
        at: usize,
        /// Number of operands.
        count: usize,
    },
    /// Another missing part.
    #[error("needs {0}")]
    Needs(&'static str),
    /// An array where one number is needed.
    #[error("needs one number and has {0}")]
    Scalar(ArrayType),
    /// An array with fewer than two dimensions where a matrix is needed.
    #[error("needs a matrix and has {0:?}")]
    Matrix(Vec<u64>),
    /// An array where a list is needed.
    #[error("needs a list and has {0}")]
    List(Type),
    /// An operand with the wrong rank, by its sizes.
    #[error("does not take {0:?}")]
    Takes(Vec<u64>),
    /// An operand without spatial dimensions, by its sizes.
    #[error("has the operand {0:?}, which has no spatial dimensions")]
    NoSpatial(Vec<u64>),
    /// No operands.
    #[error("has no operands")]
    NoOperands,
    /// A dimension that the operand does not have.
    #[error("has axis {axis} and its operand {rank} dimensions")]
    Axis {
        /// The dimension; a negative one counts from the end.
        axis: i64,
        /// Number of the operand's dimensions.
        rank: usize,
    },
    /// An unknown value of an attribute.
    #[error("has the unknown {attribute} {value:?}")]
    Value {
        /// The attribute.
        attribute: &'static str,
        /// Its value.
        value: String,
    },
    /// Activations that recurrent layers do not support here.
    #[error("with the activations {0:?} is not known")]
    Activations(Vec<String>),
    /// An unknown use.
    #[error("with {0} is not known")]
    With(&'static str),
    /// An attribute that is missing or outside its range.
    #[error("has no usable attribute {0}")]
    Attribute(&'static str),
    /// Weights with an unknown number of bits.
    #[error("of {0} bits is not known")]
    Bits(u64),
    /// A list whose length differs from the number of dimensions.
    #[error("has {list} {given:?} for {rank} dimensions")]
    PerDimension {
        /// The list.
        list: &'static str,
        /// Its numbers.
        given: Vec<i64>,
        /// The dimensions that it is for.
        rank: usize,
    },
    /// Factors that do not have one positive number for each dimension.
    #[error("has the scales {scales:?} for {rank} dimensions")]
    Scales {
        /// The factors.
        scales: Vec<f64>,
        /// The dimensions that they are for.
        rank: usize,
    },
    /// Negative padding for an operator that cannot remove elements.
    #[error("has negative pads")]
    NegativePads,
    /// A negative number of groups.
    #[error("has {0} groups")]
    Groups(i64),
    /// A number of classes outside its range.
    #[error("has the depth {0}")]
    Depth(f64),
    /// A number of parts outside its range.
    #[error("makes no parts")]
    NoParts,
    /// An empty result.
    #[error("makes no elements")]
    NoElements,
    /// A window whose number of elements is outside its range.
    #[error("makes a window of {0} numbers")]
    WindowLength(i64),
    /// A Fourier transform whose matrix would be too large.
    #[error("transforms {0} elements, too many for a product with a matrix")]
    TransformLength(u64),
    /// Text as a result.
    #[error("gives text, which no NeuronCore has")]
    GivesText,
    /// A constant of an unsupported kind.
    #[error("holds text, nothing, or few elements of a large array")]
    Constant,
    /// Sizes that cannot be divided into parts.
    #[error("cannot divide {dims:?} into {count} {parts}")]
    Divide {
        /// The sizes.
        dims: Vec<u64>,
        /// The number of parts, or their size.
        count: i64,
        /// What the parts are.
        parts: &'static str,
    },
    /// Features that the number of heads does not divide.
    #[error("cannot divide {width} features into {heads} and {shared} heads")]
    Heads {
        /// Features.
        width: u64,
        /// Heads of the queries.
        heads: i64,
        /// Heads of the keys and of the values.
        shared: i64,
    },
    /// Something that does not fit its array.
    #[error("cannot apply {what} of {sizes:?} to {to:?}")]
    Apply {
        /// What it is.
        what: &'static str,
        /// Its sizes.
        sizes: Vec<u64>,
        /// Sizes of the array.
        to: Vec<u64>,
    },
    /// Weights of a recurrent layer that do not fit its input.
    #[error("cannot apply weights {input:?} and {state:?} to {to:?}")]
    RecurrentWeights {
        /// Sizes of the weights of the input.
        input: Vec<u64>,
        /// Sizes of the weights of the state.
        state: Vec<u64>,
        /// Sizes of the input.
        to: Vec<u64>,
    },
    /// A direction that does not match the number of directions of the weights.
    #[error("is {direction} and has weights of {directions} directions")]
    Direction {
        /// The direction.
        direction: String,
        /// Directions of the weights.
        directions: u64,
    },
    /// More rotary pairs than features.
    #[error("turns {pairs} pairs of {size} features")]
    Pairs {
        /// Pairs.
        pairs: u64,
        /// Features.
        size: u64,
    },
    /// Fewer rotary positions than tokens.
    #[error("has {places} places for {length} tokens behind {past}")]
    Places {
        /// Number of positions.
        places: u64,
        /// Tokens.
        length: u64,
        /// Tokens of earlier calls.
        past: u64,
    },
    /// A mask with an unsupported shape.
    #[error("has a mask of {dims:?} for {keys} keys")]
    Mask {
        /// Sizes of the mask.
        dims: Vec<u64>,
        /// Number of keys.
        keys: u64,
    },
    /// Operands of a product that are not matrices.
    #[error("multiplies matrices, not {left:?} and {right:?}")]
    Matrices {
        /// Sizes of the left side.
        left: Vec<u64>,
        /// Sizes of the right side.
        right: Vec<u64>,
    },
    /// Indices that do not fit the array.
    #[error("cannot index {dims:?} with indices {indices:?}")]
    Index {
        /// Sizes of the array.
        dims: Vec<u64>,
        /// Sizes of the indices.
        indices: Vec<u64>,
    },
    /// Updates whose sizes do not match their indices.
    #[error("puts {given:?} where {wanted:?} belong")]
    Updates {
        /// Sizes of the updates.
        given: Vec<u64>,
        /// Sizes wanted.
        wanted: Vec<u64>,
    },
    /// A dimension that should keep its size but does not exist.
    #[error("keeps a dimension that is not there")]
    KeptDimension,
    /// A reshape to a different number of elements.
    #[error("cannot reshape {dims:?} to {to:?}")]
    Reshape {
        /// Sizes of the operand.
        dims: Vec<u64>,
        /// Sizes wanted, as the file has them.
        to: Vec<i64>,
    },
    /// Sizes to which the operand cannot be broadcast.
    #[error("cannot expand {dims:?} to {to:?}")]
    Expand {
        /// Sizes of the operand.
        dims: Vec<u64>,
        /// Sizes wanted.
        to: Vec<u64>,
    },
    /// Repetitions whose number differs from the number of dimensions.
    #[error("repeats {dims:?} {times:?} times")]
    Tile {
        /// Sizes of the operand.
        dims: Vec<u64>,
        /// Repetitions.
        times: Vec<u64>,
    },
    /// A dimension that should have size one.
    #[error("takes away dimension {dimension}, which has the size {size}")]
    Squeeze {
        /// The dimension.
        dimension: usize,
        /// Its size.
        size: u64,
    },
    /// Lists of different lengths.
    #[error("has {starts} starts, {ends} ends, {axes} axes and {steps} steps")]
    Slice {
        /// First elements.
        starts: usize,
        /// One beyond the last elements.
        ends: usize,
        /// Dimensions.
        axes: usize,
        /// Steps.
        steps: usize,
    },
    /// A range with step zero.
    #[error("has the step 0")]
    ZeroStep,
    /// A range without an end, or too long.
    #[error("goes from {start} to {limit} by {step}")]
    Range {
        /// The first number.
        start: f64,
        /// The end, which is not included.
        limit: f64,
        /// The step.
        step: f64,
    },
    /// An index that the list does not have.
    #[error("names place {at} of a list of {count}")]
    Place {
        /// The index; a negative one counts from the end.
        at: i64,
        /// Length of the list.
        count: usize,
    },
    /// A split into empty parts or too many.
    #[error("cannot split {size} elements by {by:?}")]
    Sequence {
        /// Elements of the dimension.
        size: u64,
        /// Sizes of the parts.
        by: Vec<u64>,
    },
    /// An array that is put back into one with another batch size or other channels.
    #[error("cannot put {dims:?} back into {into:?}")]
    Unpool {
        /// Sizes of the array.
        dims: Vec<u64>,
        /// Sizes of the array that it is put back into.
        into: Vec<u64>,
    },
    /// A dimension that is resized from or to no elements, or is too large.
    #[error("cannot change {from} elements to {to}")]
    Resize {
        /// Its elements.
        from: u64,
        /// Elements wanted.
        to: u64,
    },
    /// Padding that removes more elements than there are.
    #[error("takes ({low}, {high}) away from {size} elements")]
    Cut {
        /// Padding in front.
        low: i64,
        /// Padding behind.
        high: i64,
        /// Elements of the dimension.
        size: u64,
    },
    /// A dimension that is padded further than the mode allows.
    #[error("continues {kept} elements by ({low}, {high}) with the mode {mode}")]
    Continued {
        /// Elements of the dimension.
        kept: u64,
        /// Elements in front.
        low: u64,
        /// Elements behind.
        high: u64,
        /// The mode.
        mode: String,
    },
    /// A norm over no dimensions, by the operand's sizes.
    #[error("normalises over no dimension of {0:?}")]
    OverNothing(Vec<u64>),
}
