//! Gzip around a model file: caches and dumps are often packed by the user.

use thiserror::Error;

use super::zip::{UnpackError, unpack};
use super::{ImportError, ModelBytes, read_all};

/// Most bytes of a packed file.
const MAX_PACKED: u64 = 512 << 20;

/// Most bytes of a file after unpacking.
const MAX_UNPACKED: usize = 1 << 30;

/// Why a gzip file is not unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GzipError {
    /// A header that ends early.
    #[error("the gzip file has a damaged header")]
    Header,
    /// What it holds is damaged or too long.
    #[error("the gzip file cannot be read: {0}")]
    Content(UnpackError),
    /// A packed file inside.
    #[error("it is a gzip file inside a gzip file")]
    Twice,
    /// A packed file inside, where a module was expected.
    #[error("the gzip file holds a gzip file")]
    TwiceModule,
}

impl GzipError {
    /// What to do instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::Header | Self::Content(_) => "unpack it by hand, or pack it again",
            Self::Twice => "unpack it by hand",
            Self::TwiceModule => "unpack it once",
        }
    }
}

/// Whether bytes are the beginning of a gzip file.
#[must_use]
pub fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// The file inside a gzip file.
///
/// # Errors
/// When it is damaged or too large.
pub fn gunzip(bytes: &dyn ModelBytes) -> Result<Vec<u8>, ImportError> {
    let packed = read_all(bytes, MAX_PACKED)?;
    let body = body(&packed).ok_or_else(|| ImportError::of_file(GzipError::Header))?;
    unpack(body, MAX_UNPACKED).map_err(|e| ImportError::of_file(GzipError::Content(e)))
}

/// The bytes after the header: deflated data, then a checksum.
fn body(packed: &[u8]) -> Option<&[u8]> {
    let flags = *packed.get(3)?;
    let mut at = 10;
    if flags & 4 != 0 {
        at += 2 + usize::from(u16::from_le_bytes(packed.get(at..at + 2)?.try_into().ok()?));
    }
    // A name, then a comment, each ending with a zero byte.
    for bit in [8, 16] {
        if flags & bit != 0 {
            at += packed.get(at..)?.iter().position(|&b| b == 0)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    packed.get(at..)
}
