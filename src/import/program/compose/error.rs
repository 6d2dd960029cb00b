//! Why an operator that is composed of several operations cannot be built.

use thiserror::Error;

use super::super::Type;

/// Why an operator that is composed of several operations cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ComposeError {
    /// A dimension that is resized from or to no elements, or is too large.
    #[error("a dimension of {from} elements cannot be resized to {to}")]
    Resize {
        /// Its elements.
        from: u64,
        /// Elements wanted.
        to: u64,
    },
    /// Patches that do not fit their image.
    #[error("patches {patches:?} with a kernel of {kernel:?} do not make up an image of {image:?}")]
    Patches {
        /// Sizes of the patches.
        patches: Vec<u64>,
        /// Sizes of one patch.
        kernel: Vec<u64>,
        /// Spatial sizes of the image.
        image: Vec<u64>,
    },
    /// A sampling grid without elements, with too many, or with other than two or three dimensions.
    #[error("a grid of sizes {0:?} is empty, too large, or not of 2 or 3 spatial dimensions")]
    Grid(Vec<u64>),
    /// Queries, keys and values of different ranks, or without matrices.
    #[error(
        "queries, keys and values of attention have ranks {queries}, {keys} and {values}: they need the same rank, 2 or more"
    )]
    Attention {
        /// Rank of the queries.
        queries: usize,
        /// Rank of the keys.
        keys: usize,
        /// Rank of the values.
        values: usize,
    },
    /// A summation whose number of operands differs from its equation.
    #[error("{equation} takes {takes} operands and {given} are given")]
    EquationOperands {
        /// The equation.
        equation: String,
        /// Number of operands in the equation.
        takes: usize,
        /// Number of operands given.
        given: usize,
    },
    /// A summation whose result has letters that no operand has.
    #[error("the result of {0} has letters that no operand has")]
    EquationResult(String),
    /// An operand whose rank differs from its number of letters.
    #[error("the letters {letters} do not fit {ty}")]
    EquationLetters {
        /// The letters.
        letters: String,
        /// The operand.
        ty: Type,
    },
    /// A letter used for dimensions of different sizes.
    #[error("the letter {letter} stands for sizes {one} and {other}")]
    LetterSizes {
        /// The letter.
        letter: char,
        /// One of its sizes.
        one: u64,
        /// A different size.
        other: u64,
    },
    /// A recurrent layer with no steps or too many.
    #[error("a recurrent layer has {steps} steps: 1 to {most} are unrolled")]
    Steps {
        /// Its steps.
        steps: u64,
        /// The largest number of steps.
        most: u64,
    },
    /// Weights of a recurrent layer whose rows do not divide into gates.
    #[error("weights of {rows} rows do not divide into {gates} gates")]
    Gates {
        /// Rows of the weights.
        rows: u64,
        /// Gates of a cell.
        gates: u64,
    },
    /// A long short-term memory without its initial cell.
    #[error("a long short-term memory needs a first cell")]
    FirstCell,
    /// A statistic over more dimensions than the array has.
    #[error("an array of rank {rank} does not have {last} last dimensions")]
    LastDimensions {
        /// Number of dimensions wanted.
        last: usize,
        /// Number of dimensions of the array.
        rank: usize,
    },
    /// A number of channels that the number of groups does not divide.
    #[error("{channels} channels do not divide into {groups} groups")]
    Groups {
        /// Channels of the array.
        channels: u64,
        /// Groups.
        groups: u64,
    },
    /// A statistic or a weight for a different number of channels.
    #[error("{ty} does not have one number for each of {channels} channels")]
    Channels {
        /// Its type.
        ty: Type,
        /// Channels of the array.
        channels: u64,
    },
    /// A matrix that is not square, has no rows, is too large, or is not of floating point numbers.
    #[error("{ty} is not a square matrix of 1 to {most} rows")]
    Square {
        /// Its type.
        ty: Type,
        /// The largest number of rows.
        most: u64,
    },
    /// A sort of two arrays that does not return two.
    #[error("a sort of two arrays gives {0}")]
    Sorted(usize),
    /// Settings of a pooling that do not have one number for each spatial dimension.
    #[error("a pooling of {ty} has {sizes} sizes, {strides} strides, {padding} paddings and {dilation} dilations")]
    Pool {
        /// The operand.
        ty: Type,
        /// How many sizes there are.
        sizes: usize,
        /// How many strides there are.
        strides: usize,
        /// How many paddings there are.
        padding: usize,
        /// How many dilations there are.
        dilation: usize,
    },
    /// A boolean mask as an index.
    #[error("an index of booleans gives a size that depends on data")]
    BooleanIndex,
}
