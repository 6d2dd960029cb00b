//! Why attributes of an operation, in HLO or StableHLO, are not those that it needs.

use thiserror::Error;

use super::program::{ArrayType, ElementType};

/// What is wrong with an attribute, in words that follow the operation's name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AttributeError {
    /// It is not there.
    #[error("it has no {0}")]
    Missing(&'static str),
    /// A number outside the attribute's range.
    #[error("its {name} is {found}")]
    Number {
        /// The attribute.
        name: &'static str,
        /// The number.
        found: i64,
    },
    /// A text that is not one of the attribute's values.
    #[error("its {name} is {text:?}")]
    Text {
        /// The attribute.
        name: &'static str,
        /// How it is written.
        text: String,
    },
    /// A dimension without a number.
    #[error("it names dimension {0}")]
    Dimension(i64),
    /// A dimension or a count that is negative or has more than 32 bits.
    #[error("it has the dimension or count {0}")]
    Natural(i64),
    /// A size that is negative.
    #[error("it has the size or bound {0}")]
    Size(i64),
    /// Dimensions of a convolution that are not understood.
    #[error("its dimension numbers are {0:?}")]
    DimensionNumbers(String),
    /// A list of a window whose length is not the number of its dimensions.
    #[error("its window has {given} {list} for {rank} dimensions")]
    Window {
        /// The list.
        list: &'static str,
        /// Its length.
        given: usize,
        /// Dimensions of the window.
        rank: usize,
    },
    /// A comparison that does not exist.
    #[error("it compares by {0:?}, which is none of EQ, NE, GE, GT, LE and LT")]
    Direction(String),
    /// A floating point format that is not understood.
    #[error("its format has {0:?} bits")]
    Format(String),
    /// A sort along a dimension that does not exist.
    #[error("it sorts along dimension {0}")]
    SortDimension(i64),
    /// A product of a single number.
    #[error("its left side is one number")]
    NumberOnTheLeft,
    /// A shape that is only known from data.
    #[error("its operand {0} is a shape that depends on data")]
    ShapeOfData(usize),
}

/// What is wrong with the text of a constant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConstantError {
    /// It is not `dense<..>`.
    #[error("its value is {0:?}")]
    Form(String),
    /// Another number of numbers than its type has elements.
    #[error("a constant of {ty} holds {found} numbers")]
    Count {
        /// Its type.
        ty: ArrayType,
        /// How many numbers it has.
        found: u64,
    },
    /// Digits that are not those of bytes.
    #[error("its value is not a hexadecimal number of whole bytes")]
    Hexadecimal,
    /// Bytes that do not make numbers.
    #[error("its {bytes} bytes are not numbers of {element}")]
    Bytes {
        /// How many there are.
        bytes: usize,
        /// What they should be.
        element: ElementType,
    },
    /// A word that is not a number.
    #[error("{word:?} is not a number of {element}")]
    Word {
        /// How it begins.
        word: String,
        /// What it should be.
        element: ElementType,
    },
}
