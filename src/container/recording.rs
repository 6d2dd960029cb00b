//! What was read of a file, so that another computer can read the same without the rest.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ns_base::convert::u64_to_usize;
use ns_base::{Refusal, refuse};

use crate::ByteSource;

/// A file that notes which of its bytes are read.
pub struct RecordingSource {
    inner: Rc<dyn ByteSource>,
    /// Ends of the ranges that were read, by their starts; no two touch.
    read: RefCell<BTreeMap<u64, u64>>,
}

impl RecordingSource {
    pub fn new(inner: Rc<dyn ByteSource>) -> Self {
        Self { inner, read: RefCell::default() }
    }

    /// How many bytes of the file were read so far.
    pub fn read_bytes(&self) -> u64 {
        self.read.borrow().iter().map(|(start, end)| end - start).sum()
    }

    /// The bytes that were read so far; `None` if they are more than `most`.
    pub fn part(&self, most: u64) -> Option<FilePart> {
        if self.read_bytes() > most {
            return None;
        }
        let read = self.read.borrow();
        let range =
            |(start, end): (&u64, &u64)| Some((*start, self.inner.slice(*start, u64_to_usize(end - start)).ok()?));
        Some(FilePart { size: self.inner.size(), ranges: read.iter().map(range).collect::<Option<_>>()? })
    }
}

impl ByteSource for RecordingSource {
    fn size(&self) -> u64 {
        self.inner.size()
    }

    fn beside(&self, path: &str) -> Option<Box<dyn ByteSource + '_>> {
        self.inner.beside(path)
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal> {
        let n = self.inner.read(offset, buf)?;
        let (mut start, mut end) = (offset, offset + n as u64);
        let mut read = self.read.borrow_mut();
        let touching: Vec<u64> = read.range(..=end).rev().take_while(|(_, e)| **e >= start).map(|(s, _)| *s).collect();
        for other in touching {
            let other_end = read.remove(&other).unwrap_or(other);
            (start, end) = (start.min(other), end.max(other_end));
        }
        if end > start {
            read.insert(start, end);
        }
        Ok(n)
    }
}

/// Some ranges of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePart {
    /// Size of the whole file in bytes.
    pub size: u64,
    /// Where each range begins, and its bytes; by ascending start, none touching another.
    pub ranges: Vec<(u64, Vec<u8>)>,
}

impl ByteSource for FilePart {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal> {
        let wanted = (buf.len() as u64).min(self.size.saturating_sub(offset));
        let at = self.ranges.partition_point(|(start, _)| *start <= offset);
        let found = at.checked_sub(1).and_then(|at| {
            let (start, bytes) = &self.ranges[at];
            let from = u64_to_usize(offset - start);
            bytes.get(from..from + u64_to_usize(wanted))
        });
        match found {
            Some(bytes) => {
                buf[..bytes.len()].copy_from_slice(bytes);
                Ok(bytes.len())
            }
            None if wanted == 0 => Ok(0),
            None => Err(refuse!(
                instead = "open the file itself; ask the sender of the link for it",
                "the link holds the graph of this model, without the weights, which are needed here"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_can_be_read_again_and_nothing_else() {
        let whole: Vec<u8> = (0..200).collect();
        let recorded = RecordingSource::new(Rc::new(whole.clone()));
        for (offset, len) in [(10, 5), (100, 20), (15, 5), (90, 10), (12, 2), (195, 50)] {
            recorded.slice(offset, len).unwrap();
        }
        assert_eq!(recorded.part(44), None);
        let part = recorded.part(45).unwrap();
        let places: Vec<(u64, usize)> = part.ranges.iter().map(|(start, bytes)| (*start, bytes.len())).collect();
        assert_eq!((part.size, places), (200, vec![(10, 10), (90, 30), (195, 5)]));
        assert_eq!(part.slice(12, 6).unwrap(), whole[12..18]);
        assert_eq!(part.slice(195, 50).unwrap(), whole[195..]);
        assert!(part.slice(300, 4).unwrap().is_empty());
        for (offset, len) in [(0, 4), (9, 2), (118, 4), (50, 1)] {
            assert!(part.slice(offset, len).unwrap_err().to_string().contains("without the weights"), "{offset}");
        }
    }
}
