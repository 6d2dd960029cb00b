//! Why a file's description of a tensor gives no type.

use thiserror::Error;

use super::super::ArrayType;

/// Why a description does not give a type.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TypeError {
    /// An unsupported element type, by torch's number.
    #[error("its element type {0} is not known")]
    Element(i64),
    /// A missing size.
    #[error("a size is neither a number nor an expression")]
    NoSize,
    /// An expression without a value.
    #[error(transparent)]
    Symbol(#[from] SymbolError),
    /// A negative size.
    #[error("its size {0} is negative")]
    Negative(i64),
    /// Sizes whose product overflows.
    #[error("it has more elements than 64 bits count: {0}")]
    TooMany(ArrayType),
}

/// Why an expression has no value. Texts are the beginning of the remaining expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SymbolError {
    /// Text after a complete expression.
    #[error("`{rest}` is not understood in the size `{size}`")]
    Rest {
        /// What.
        rest: String,
        /// The expression.
        size: String,
    },
    /// A text that cannot begin an expression.
    #[error("`{0}` is not understood in a size")]
    Unknown(String),
    /// A fraction, or a number beyond 64 bits.
    #[error("the size `{0}` is not whole")]
    NotWhole(String),
    /// Parentheses or signs that are nested too deeply.
    #[error("a size is an expression of too many levels")]
    TooDeep,
    /// A symbol without a name.
    #[error("a symbol's name is wanted at `{0}`")]
    NoName(String),
    /// A symbol or a parenthesis that is not closed.
    #[error("{0} is not closed")]
    Open(&'static str),
    /// A symbol without a value.
    #[error("the size `{0}` is not known")]
    NoValue(String),
    /// An unknown function.
    #[error("the function {name} of {arguments} numbers is not known in a size")]
    Function {
        /// Its name.
        name: String,
        /// How many arguments it gets.
        arguments: usize,
    },
    /// An intermediate number that overflows.
    #[error("a size is beyond all bounds")]
    TooLarge,
    /// A division by zero.
    #[error("a size is divided by 0")]
    DividedByZero,
    /// A power with a fractional exponent.
    #[error("a size has a root")]
    Root,
}
