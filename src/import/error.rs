//! Why a model file cannot be read.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The place of a problem in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// The whole file.
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

/// Why a model file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{place}{what}; {instead}")]
pub struct ImportError {
    /// The place.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What to do instead.
    pub instead: String,
}

impl ImportError {
    /// An error about a whole file.
    #[must_use]
    pub fn of_file(what: impl Into<String>, instead: impl Into<String>) -> Self {
        Self::at(Place::File, what, instead)
    }

    /// An error at a place.
    #[must_use]
    pub fn at(place: Place, what: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { place, what: what.into(), instead: instead.into() }
    }
}
