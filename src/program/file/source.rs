//! The bytes of a model file: as a whole, and unpacked.

use ns_base::{Refusal, refuse};
use ns_container::{ByteSource, gzip, unreadable};

/// Most bytes of a packed file.
const MAX_PACKED: u64 = 512 << 20;

/// Most bytes of a file after unpacking.
const MAX_UNPACKED: usize = 1 << 30;

/// The whole file, if it is not longer than `limit` bytes. Fails when it is longer, or when it cannot be read.
pub fn read_all(bytes: &dyn ByteSource, limit: u64) -> Result<Vec<u8>, Refusal> {
    let size = bytes.size();
    if size > limit {
        return Err(refuse!(
            instead = "export the graph without its weights",
            "the file has {size} bytes and a graph of this format has at most {limit}"
        ));
    }
    let len = usize::try_from(size).unwrap_or(usize::MAX);
    bytes.slice(0, len).map_err(unreadable)
}

/// The file inside a gzip file: caches and dumps are often packed by the user. Fails when it is damaged or too large, or packed
/// twice.
pub fn gunzip(bytes: &dyn ByteSource) -> Result<Vec<u8>, Refusal> {
    let inner = gzip::gunzip(&read_all(bytes, MAX_PACKED)?, MAX_UNPACKED)?;
    if gzip::is_gzip(&inner) {
        return Err(refuse!(instead = "unpack it by hand", "it is a gzip file inside a gzip file"));
    }
    Ok(inner)
}
