//! Files that came as one: the archive that a shell makes from a folder, with stored, uncompressed files.

use std::rc::Rc;

use crate::ByteSource;
use ns_base::{Refusal, refuse};
use ns_container::zip::LocalHeader;

/// A file and its name.
type NamedFile = (String, Box<dyn ByteSource>);

/// A file inside the archive.
struct StoredFile {
    archive: Rc<dyn ByteSource>,
    start: u64,
    len: u64,
}

impl ByteSource for StoredFile {
    fn size(&self) -> u64 {
        self.len
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let n = buf.len().min(left);
        self.archive.read(self.start + offset, &mut buf[..n])
    }
}

/// The files of an archive by name, in its order.
///
/// # Errors
/// When a file in the archive is compressed or the archive is cut off.
pub fn files_of(archive: Box<dyn ByteSource>) -> Result<Vec<NamedFile>, Refusal> {
    let archive: Rc<dyn ByteSource> = Rc::from(archive);
    let end = archive.size();
    let mut files: Vec<NamedFile> = Vec::new();
    let mut at = 0;
    while let Some(header) = header_at(&*archive, at)? {
        if !header.is_stored() {
            return Err(refuse!("it is a compressed archive; unpack it and drop the folder"));
        }
        let (start, len) = (at + header.len, header.packed);
        if start + len > end {
            return Err(refuse!("the archive ends inside a file; drop the folder again"));
        }
        files.push((header.name, Box::new(StoredFile { archive: Rc::clone(&archive), start, len })));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BundleLayout;

    #[test]
    fn the_files_of_a_folder_are_read_in_place() {
        let contents: [(&str, &[u8]); 3] = [("runs/a.jsonl", b"one\n"), ("runs/b", b""), ("runs/c.jsonl", b"three")];
        let sized: Vec<(String, u64)> = contents.iter().map(|(n, c)| ((*n).to_owned(), c.len() as u64)).collect();
        let layout = BundleLayout::new(&sized).unwrap();
        let bytes: Vec<u8> = layout.headers().zip(contents).flat_map(|(h, (_, c))| [h, c].concat()).collect();
        let files = files_of(Box::new(bytes.clone())).unwrap();
        assert_eq!(
            files.iter().map(|(n, s)| (n.as_str(), s.size())).collect::<Vec<_>>(),
            [("runs/a.jsonl", 4), ("runs/b", 0), ("runs/c.jsonl", 5)]
        );
        let mut read = [0; 16];
        assert_eq!(files[2].1.read(1, &mut read), Ok(4));
        assert_eq!(&read[..4], b"hree");
        assert!(files_of(Box::new(bytes[..bytes.len() - 2].to_vec())).is_err());
        assert_eq!(files_of(Box::new(b"{}".to_vec())).unwrap().len(), 0);
    }
}
