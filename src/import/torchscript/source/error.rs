//! What is wrong with a source.

use thiserror::Error;

/// What is wrong with a line of a source.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SyntaxError {
    /// Something else than what should be there.
    #[error("{wanted} is wanted and {found} is there")]
    Unexpected {
        /// What should be there.
        wanted: Wanted,
        /// What is there.
        found: String,
    },
    /// A character that no word or sign has.
    #[error("the character {0:?} is not known")]
    Character(char),
    /// A number that is not read.
    #[error("`{0}` is not a number that is read here")]
    Number(String),
    /// A text up to the end of the file.
    #[error("a string has no end")]
    EndlessText,
    /// Spaces in front of a line that no block has.
    #[error("its indentation does not match any block around it")]
    Indentation,
    /// A place that nothing can be assigned to.
    #[error("something other than a name or a field is assigned")]
    Target,
    /// Blocks and brackets within their like, beyond a limit.
    #[error("more than {0} levels are nested")]
    TooDeep(usize),
    /// Fields, calls and operators in a row, beyond a limit.
    #[error("more than {0} fields, calls or operators follow each other")]
    TooLong(usize),
}

/// What should be at a place of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Wanted {
    /// A part of the language.
    #[error("{0}")]
    Part(&'static str),
    /// A sign or a word.
    #[error("`{0}`")]
    Sign(&'static str),
    /// A comma, or the sign that ends a list.
    #[error("`,` or `{0}`")]
    CommaOr(&'static str),
}
