//! Archives of files that are stored as they are, which a shell makes of a folder or of several files.

use super::header::LocalHeader;
use crate::ByteSource;
use ns_base::{Refusal, refuse};

/// A file inside an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    pub name: String,
    /// Offset of its first byte in the archive.
    pub start: u64,
    /// Its size in bytes.
    pub len: u64,
}

/// The files of an archive, in its order. Fails when a file in the archive is compressed or the archive is cut off.
pub fn stored_files(archive: &dyn ByteSource) -> Result<Vec<StoredFile>, Refusal> {
    let end = archive.size();
    let (mut files, mut at) = (Vec::new(), 0);
    while let Some(header) = header_at(archive, at)? {
        if !header.is_stored() || header.has_size_later() {
            return Err(refuse!("it is a compressed archive; unpack it and drop the folder"));
        }
        let (start, len) = (at + header.len, header.packed);
        if start + len > end {
            return Err(refuse!("the archive ends inside a file; drop the folder again"));
        }
        files.push(StoredFile { name: header.name, start, len });
        at = start + len;
    }
    Ok(files)
}

/// The header of the file at an offset; `None` at the end of the archive.
fn header_at(archive: &dyn ByteSource, at: u64) -> Result<Option<LocalHeader>, Refusal> {
    if at.saturating_add(LocalHeader::MIN_BYTES) > archive.size() {
        return Ok(None);
    }
    LocalHeader::read(archive, at).map_err(|_| refuse!("the archive is cut off; drop the folder again"))
}
