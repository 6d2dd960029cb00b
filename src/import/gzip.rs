//! Gzip around a file that is small inside.

use super::{ImportError, Place};

/// The most bytes that are unpacked.
const MOST_BYTES: usize = 128 << 20;

/// Whether bytes begin as a gzip member does.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// What is inside the first gzip member.
///
/// # Errors
/// When it is cut off, damaged, or unpacks to more than 128 MiB.
pub fn gunzip(bytes: &[u8]) -> Result<Vec<u8>, ImportError> {
    let damaged =
        |what: &str| ImportError::at(Place::File, format!("the gzip file {what}"), "copy the whole file again");
    let body = header_len(bytes).and_then(|len| bytes.get(len..)).ok_or_else(|| damaged("ends in its header"))?;
    miniz_oxide::inflate::decompress_to_vec_with_limit(body, MOST_BYTES).map_err(|error| match error.status {
        miniz_oxide::inflate::TINFLStatus::HasMoreOutput => {
            let what = format!("the gzip file unpacks to more than {MOST_BYTES} bytes");
            ImportError::at(Place::File, what, "export the graph without its weights")
        }
        _ => damaged("is cut off or damaged"),
    })
}

/// Bytes in front of the packed data (RFC 1952).
fn header_len(bytes: &[u8]) -> Option<usize> {
    let flags = *bytes.get(3)?;
    let mut at = 10;
    if flags & 4 != 0 {
        at += 2 + usize::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    }
    for bit in [8, 16] {
        if flags & bit != 0 {
            at += memchr::memchr(0, bytes.get(at..)?)? + 1;
        }
    }
    Some(if flags & 2 != 0 { at + 2 } else { at })
}
