//! Why a model file cannot be read.

use std::fmt;

use ns_base::Refusal;
use serde::{Deserialize, Serialize};

/// The place of a problem in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    #[default]
    File,
    /// A line and a column of text, from 1.
    Line(u64, u64),
    /// An offset in bytes, from 0.
    Byte(u64),
    /// A node, an instruction or a value, by name.
    Node(String),
    /// An entry of an archive.
    Entry(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line, column) => write!(f, "line {line}, column {column}: "),
            Self::Byte(byte) => write!(f, "byte {byte}: "),
            Self::Node(name) => write!(f, "{name}: "),
            Self::Entry(name) => write!(f, "entry {name}: "),
        }
    }
}

/// Why a model file cannot be read: the place and the problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportError {
    pub place: Place,
    pub refusal: Refusal,
}

impl ImportError {
    pub const fn at(place: Place, refusal: Refusal) -> Self {
        Self { place, refusal }
    }
}

/// The place, what is wrong and what to do instead, as one sentence.
impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place, self.refusal)
    }
}

impl std::error::Error for ImportError {}

/// A refusal of the whole file, or one that says where by itself.
impl From<Refusal> for ImportError {
    fn from(refusal: Refusal) -> Self {
        Self::at(Place::File, refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::refuse;

    #[test]
    fn an_error_crosses_to_another_program_as_place_words_and_advice() {
        let damaged = refuse!(instead = "unpack it by hand, or pack it again", "the gzip file has a damaged header");
        for error in [
            ImportError::at(Place::Byte(12), damaged),
            ImportError::at(Place::Line(3, 7), refuse!(instead = "export the text again", "a \"word\" is missing")),
            ImportError::at(Place::Node("add".to_owned()), refuse!("complex numbers")),
            refuse!(instead = "give a number with --dim b=8", "a size is a symbol (b)").into(),
        ] {
            let bytes = postcard::to_allocvec(&error).unwrap();
            let words = (&error.place, error.refusal.what(), error.refusal.instead());
            assert_eq!(bytes, postcard::to_allocvec(&words).unwrap());
            assert_eq!(postcard::from_bytes::<ImportError>(&bytes), Ok(error));
        }
    }

    #[test]
    fn place_words_and_advice_are_one_sentence() {
        let refusal = refuse!(instead = "look at the brackets before it", "')' closes nothing");
        let error = ImportError::at(Place::Line(3, 7), refusal);
        assert_eq!(error.to_string(), "line 3, column 7: ')' closes nothing; look at the brackets before it");
        assert_eq!(ImportError::at(Place::Byte(2), refuse!("it is cut")).to_string(), "byte 2: it is cut");
    }
}
