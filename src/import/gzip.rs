//! Gzip around a model file: caches and dumps are often packed by the user.

use super::zip::unpack;
use super::{ImportError, ModelBytes, read_all};

/// Most bytes of a packed file.
const MAX_PACKED: u64 = 512 << 20;

/// Most bytes of a file after unpacking.
const MAX_UNPACKED: usize = 1 << 30;

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
    let wrong =
        |what: &str| ImportError::of_file(format!("the gzip file {what}"), "unpack it by hand, or pack it again");
    let body = body(&packed).ok_or_else(|| wrong("has a damaged header"))?;
    unpack(body, MAX_UNPACKED).map_err(|e| wrong(&format!("cannot be read: {e}")))
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
