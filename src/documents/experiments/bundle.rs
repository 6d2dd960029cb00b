//! Files that came as one: the archive that a shell makes from a folder, with stored, uncompressed files.

use std::rc::Rc;

use ns_base::Refusal;
use ns_container::ByteSource;
use ns_container::zip::stored_files;

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

/// The files of an archive by name, in its order. Fails when a file in the archive is compressed or the archive is cut off.
pub fn files_of(archive: Box<dyn ByteSource>) -> Result<Vec<NamedFile>, Refusal> {
    let archive: Rc<dyn ByteSource> = Rc::from(archive);
    let found = stored_files(&*archive)?.into_iter();
    let file = |ns_container::zip::StoredFile { name, start, len }| -> NamedFile {
        (name, Box::new(StoredFile { archive: Rc::clone(&archive), start, len }))
    };
    Ok(found.map(file).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_forms::BundleLayout;

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
