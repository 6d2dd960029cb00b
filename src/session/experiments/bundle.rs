//! Files that came as one: the archive that a shell makes from a folder, with stored, uncompressed files.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ByteSource;

/// The signature at the beginning of the archive and of each file in it.
pub const SIGNATURE: &[u8] = b"PK\x03\x04";
const HEADER: usize = 30;

type Shared = Rc<RefCell<Box<dyn ByteSource>>>;
/// A file and its name.
type Named = (String, Box<dyn ByteSource>);

/// A file inside the archive.
struct Part {
    whole: Shared,
    start: u64,
    len: u64,
}

impl ByteSource for Part {
    fn len(&self) -> u64 {
        self.len
    }

    fn read(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, String> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let n = buf.len().min(left);
        self.whole.borrow_mut().read(self.start + offset, &mut buf[..n])
    }
}

/// The files of an archive by name, in its order.
///
/// # Errors
/// When a file in the archive is compressed or the archive is cut off.
pub fn files_of(archive: Box<dyn ByteSource>) -> Result<Vec<Named>, String> {
    let end = archive.len();
    let whole: Shared = Rc::new(RefCell::new(archive));
    let mut files: Vec<Named> = Vec::new();
    let mut at = 0;
    while at + HEADER as u64 <= end {
        let header = bytes_at(&whole, at, HEADER)?;
        if !header.starts_with(SIGNATURE) {
            break;
        }
        let short = |i: usize| u64::from(u16::from_le_bytes([header[i], header[i + 1]]));
        let long = |i: usize| short(i) | short(i + 2) << 16;
        if short(8) != 0 {
            return Err("it is a compressed archive; unpack it and drop the folder".to_owned());
        }
        let (len, name_len, extra) = (long(18), short(26), short(28));
        let name = bytes_at(&whole, at + HEADER as u64, usize::try_from(name_len).unwrap_or(0))?;
        let start = at + HEADER as u64 + name_len + extra;
        if start + len > end {
            return Err("the archive ends inside a file; drop the folder again".to_owned());
        }
        files.push((
            String::from_utf8_lossy(&name).into_owned(),
            Box::new(Part { whole: Rc::clone(&whole), start, len }),
        ));
        at = start + len;
    }
    Ok(files)
}

fn bytes_at(whole: &Shared, at: u64, length: usize) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; length];
    let n = whole.borrow_mut().read(at, &mut bytes)?;
    if n < length { Err("the archive is cut off; drop the folder again".to_owned()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BundleLayout, MemorySource};

    #[test]
    fn the_files_of_a_folder_are_read_in_place() {
        let contents: [(&str, &[u8]); 3] = [("runs/a.jsonl", b"one\n"), ("runs/b", b""), ("runs/c.jsonl", b"three")];
        let sized: Vec<(String, u64)> = contents.iter().map(|(n, c)| ((*n).to_owned(), c.len() as u64)).collect();
        let layout = BundleLayout::new(&sized).unwrap();
        let bytes: Vec<u8> = layout.headers().zip(contents).flat_map(|(h, (_, c))| [h, c].concat()).collect();
        let mut files = files_of(Box::new(MemorySource(bytes.clone()))).unwrap();
        assert_eq!(
            files.iter().map(|(n, s)| (n.as_str(), s.len())).collect::<Vec<_>>(),
            [("runs/a.jsonl", 4), ("runs/b", 0), ("runs/c.jsonl", 5)]
        );
        let mut read = [0; 16];
        assert_eq!(files[2].1.read(1, &mut read), Ok(4));
        assert_eq!(&read[..4], b"hree");
        assert!(files_of(Box::new(MemorySource(bytes[..bytes.len() - 2].to_vec()))).is_err());
        assert_eq!(files_of(Box::new(MemorySource(b"{}".to_vec()))).unwrap().len(), 0);
    }
}
