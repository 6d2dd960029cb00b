//! Why a model file cannot be read.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::lexer::TextError;

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

/// Why a model file cannot be read: the place and the problem. [`ImportError::instead`] says what to do.
///
/// Its JSON holds the place, the words and the advice, because on the page the program with the readers sends it to another program. That
/// program receives [`ImportErrorKind::Told`].
#[derive(Clone, Debug, PartialEq, Error, Serialize, Deserialize)]
#[error("{place}{kind}; {}", .kind.instead())]
#[serde(from = "Words", into = "Words")]
pub struct ImportError {
    pub place: Place,
    pub kind: Box<ImportErrorKind>,
}

impl ImportError {
    /// An error about a whole file.
    #[must_use]
    pub fn of_file(kind: impl Into<ImportErrorKind>) -> Self {
        Self::at(Place::File, kind)
    }

    #[must_use]
    pub fn at(place: Place, kind: impl Into<ImportErrorKind>) -> Self {
        Self { place, kind: Box::new(kind.into()) }
    }

    /// What is wrong, without the place and without what to do.
    #[must_use]
    pub fn what(&self) -> String {
        self.kind.to_string()
    }

    /// What to do instead.
    #[must_use]
    pub fn instead(&self) -> Cow<'_, str> {
        self.kind.instead()
    }
}

/// A refusal that says where by itself.
impl From<ns_base::Refusal> for ImportError {
    fn from(refusal: ns_base::Refusal) -> Self {
        Self::of_file(refusal)
    }
}

/// What is wrong with a file: the error of the reader, or of the part of a reader, that met it.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ImportErrorKind {
    /// The syntax of HLO or MLIR text.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A sentence with its advice.
    #[error(transparent)]
    Refusal(#[from] ns_base::Refusal),
    /// The words that another program of the page sent. Only this kind holds text.
    #[error("{what}")]
    Told {
        what: String,
        /// What to do instead.
        instead: String,
    },
}

impl ImportErrorKind {
    /// What to do instead.
    #[must_use]
    pub fn instead(&self) -> Cow<'_, str> {
        match self {
            Self::Text(error) => error.instead().into(),
            Self::Refusal(error) => error.instead().into(),
            Self::Told { instead, .. } => instead.into(),
        }
    }
}

/// An [`ImportError`] as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename = "ImportError")]
struct Words {
    place: Place,
    what: String,
    instead: String,
}

impl From<ImportError> for Words {
    fn from(error: ImportError) -> Self {
        Self { what: error.what(), instead: error.instead().into_owned(), place: error.place }
    }
}

impl From<Words> for ImportError {
    fn from(Words { place, what, instead }: Words) -> Self {
        Self::at(place, ImportErrorKind::Told { what, instead })
    }
}

#[cfg(test)]
mod tests {
    use super::super::TextError;
    use super::*;
    use ns_base::refuse;

    fn errors() -> Vec<ImportError> {
        let gone = ns_container::unreadable(ns_base::refuse!("it \"moved\""));
        let constant = ns_base::refuse!(instead = "export the text again", "a constant of f32[2] holds 3 numbers");
        vec![
            ImportError::of_file(gone),
            ImportError::of_file(refuse!(instead = "give a number with --dim b=8", "a size is a symbol (b)")),
            ImportError::at(Place::Line(3, 7), constant),
            ImportError::at(Place::Byte(12), TextError::CutOff),
            ImportError::at(Place::Node("add".to_owned()), refuse!("complex numbers")),
            ImportError::at(
                Place::Entry("a/b".to_owned()),
                refuse!(instead = "save it again", "it is packed by method 9"),
            ),
        ]
    }

    #[test]
    fn an_error_is_written_as_place_words_and_advice() {
        for error in errors() {
            let place = serde_json::to_string(&error.place).unwrap();
            let text = |text: &str| serde_json::to_string(text).unwrap();
            let wanted =
                format!(r#"{{"place":{place},"what":{},"instead":{}}}"#, text(&error.what()), text(&error.instead()));
            assert_eq!(serde_json::to_string(&error).unwrap(), wanted);
            let words = postcard::to_allocvec(&(&error.place, error.what(), error.instead())).unwrap();
            assert_eq!(postcard::to_allocvec(&error).unwrap(), words);
        }
        let refusal =
            ns_base::refuse!(instead = "unpack it by hand, or pack it again", "the gzip file has a damaged header");
        let one = serde_json::to_string(&ImportError::at(Place::Byte(12), refusal)).unwrap();
        let text = r#"{"place":{"Byte":12},"what":"the gzip file has a damaged header","instead":"unpack it by hand, or pack it again"}"#;
        assert_eq!(one, text);
    }

    #[test]
    fn an_error_that_was_read_back_says_the_same() {
        for error in errors() {
            let back: ImportError = serde_json::from_str(&serde_json::to_string(&error).unwrap()).unwrap();
            assert!(matches!(&*back.kind, ImportErrorKind::Told { .. }), "{back:?}");
            assert_eq!(
                (back.to_string(), back.what(), back.instead()),
                (error.to_string(), error.what(), error.instead())
            );
            let again: ImportError = serde_json::from_str(&serde_json::to_string(&back).unwrap()).unwrap();
            assert_eq!(again, back);
        }
    }

    #[test]
    fn place_words_and_advice_are_one_sentence() {
        let error = ImportError::at(Place::Line(3, 7), TextError::ClosesNothing(')'));
        assert_eq!(error.to_string(), "line 3, column 7: ')' closes nothing; look at the brackets before it");
    }
}
