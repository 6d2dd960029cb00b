//! The bytes of a model file, by slices.

use thiserror::Error;

use super::ImportError;

/// Why bytes of a file cannot be read: the message of the medium.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{said}")]
pub struct MediumError {
    /// The message: for example, that the file was removed, was changed, or must not be read.
    pub said: String,
}

impl MediumError {
    /// An error with the medium's message.
    #[must_use]
    pub fn new(said: impl Into<String>) -> Self {
        Self { said: said.into() }
    }
}

/// Why a file is not read at all, whatever it holds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The medium gives no bytes.
    #[error("the file cannot be read: {0}")]
    Medium(#[from] MediumError),
    /// More bytes than a graph of the format has.
    #[error("the file has {size} bytes and a graph of this format has at most {most}")]
    TooLong {
        /// Its bytes.
        size: u64,
        /// How many it may have.
        most: u64,
    },
    /// No bytes at all.
    #[error("the file is empty")]
    Empty,
    /// Bytes that are no text, in a format of text.
    #[error("the text is not UTF-8")]
    NotUtf8,
}

impl FileError {
    /// What to do instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::Medium(_) => "choose it again",
            Self::TooLong { .. } => "export the graph without its weights",
            Self::Empty => "copy or download it again",
            Self::NotUtf8 => "export the graph again",
        }
    }
}

/// Random access to the bytes of a file: natively a file on disk, in the page a `File`, in tests bytes in memory.
pub trait ModelBytes {
    /// Size in bytes.
    fn size(&self) -> u64;

    /// Bytes from `offset` on: `len` of them, or fewer at the end of the file.
    ///
    /// # Errors
    /// When the medium cannot be read.
    fn slice(&self, offset: u64, len: usize) -> Result<Vec<u8>, MediumError>;
}

impl ModelBytes for [u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn slice(&self, offset: u64, len: usize) -> Result<Vec<u8>, MediumError> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len());
        Ok(self[start..self.len().min(start.saturating_add(len))].to_vec())
    }
}

impl ModelBytes for Vec<u8> {
    fn size(&self) -> u64 {
        self.as_slice().size()
    }

    fn slice(&self, offset: u64, len: usize) -> Result<Vec<u8>, MediumError> {
        self.as_slice().slice(offset, len)
    }
}

/// The whole file, if it is not longer than `limit` bytes.
///
/// # Errors
/// When it is longer, or when it cannot be read.
pub fn read_all(bytes: &dyn ModelBytes, limit: u64) -> Result<Vec<u8>, ImportError> {
    let size = bytes.size();
    if size > limit {
        return Err(ImportError::of_file(FileError::TooLong { size, most: limit }));
    }
    let len = usize::try_from(size).unwrap_or(usize::MAX);
    bytes.slice(0, len).map_err(|e| ImportError::of_file(FileError::Medium(e)))
}
