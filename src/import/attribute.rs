//! Problems with the attributes of an operation, in HLO or StableHLO.

use thiserror::Error;

use super::program::{ArrayType, ElementType};

/// What is wrong with an attribute, in words that follow the operation's name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AttributeError {
    /// A missing attribute.
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
    /// A value that the attribute does not have.
    #[error("its {name} is {text:?}")]
    Text {
        /// The attribute.
        name: &'static str,
        /// The value as written.
        text: String,
    },
    /// A dimension name that is not a number.
    #[error("it names dimension {0}")]
    Dimension(i64),
    /// A dimension or a count that is negative or does not fit in 32 bits.
    #[error("it has the dimension or count {0}")]
    Natural(i64),
    /// A negative size.
    #[error("it has the size or bound {0}")]
    Size(i64),
    /// Dimensions of a convolution that cannot be parsed.
    #[error("its dimension numbers are {0:?}")]
    DimensionNumbers(String),
    /// A window attribute whose length differs from the number of dimensions.
    #[error("its window has {given} {list} for {rank} dimensions")]
    Window {
        /// The attribute.
        list: &'static str,
        /// Its length.
        given: usize,
        /// Dimensions of the window.
        rank: usize,
    },
    /// An unknown comparison.
    #[error("it compares by {0:?}, which is none of EQ, NE, GE, GT, LE and LT")]
    Direction(String),
    /// An unsupported floating point format.
    #[error("its format has {0:?} bits")]
    Format(String),
    /// A sort along a dimension that does not exist.
    #[error("it sorts along dimension {0}")]
    SortDimension(i64),
    /// A product with an operand that is a single number.
    #[error("its left side is one number")]
    NumberOnTheLeft,
    /// A shape that depends on data.
    #[error("its operand {0} is a shape that depends on data")]
    ShapeOfData(usize),
}

/// What is wrong with the text of a constant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConstantError {
    /// It is not `dense<..>`.
    #[error("its value is {0:?}")]
    Form(String),
    /// A number of values that differs from the type's elements.
    #[error("a constant of {ty} holds {found} numbers")]
    Count {
        /// Its type.
        ty: ArrayType,
        /// Number of values.
        found: u64,
    },
    /// Invalid hexadecimal digits.
    #[error("its value is not a hexadecimal number of whole bytes")]
    Hexadecimal,
    /// Bytes that do not fit the type.
    #[error("its {bytes} bytes are not numbers of {element}")]
    Bytes {
        /// Number of bytes.
        bytes: usize,
        /// Expected number of bytes.
        element: ElementType,
    },
    /// A word that is not a number.
    #[error("{word:?} is not a number of {element}")]
    Word {
        /// The beginning of the word.
        word: String,
        /// The expected kind of number.
        element: ElementType,
    },
}
