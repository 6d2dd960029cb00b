//! The interface through which a session reads a file: in slices, never as a whole.

use std::cell::RefCell;

use ns_import::{MediumError, ModelBytes};

/// Random access to the bytes of one input. In the page it is a `File` read in the worker, natively a file on disk.
pub trait ByteSource {
    /// Size in bytes.
    fn len(&self) -> u64;

    /// Whether the input is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buf` from `offset` on and returns how many bytes it wrote; fewer than `buf.len()` only at the end.
    ///
    /// # Errors
    /// The medium's error: the file was removed or changed, or may not be read.
    fn read(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, String>;
}

/// A source over bytes in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemorySource(pub Vec<u8>);

impl ByteSource for MemorySource {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize, String> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        let n = buf.len().min(self.0.len() - start);
        buf[..n].copy_from_slice(&self.0[start..start + n]);
        Ok(n)
    }
}

/// A source as the bytes of a model; the reader takes the slices that hold the graph and the weights.
pub(super) struct SourceBytes(RefCell<Box<dyn ByteSource>>);

impl SourceBytes {
    pub fn new(source: Box<dyn ByteSource>) -> Self {
        Self(RefCell::new(source))
    }
}

impl ModelBytes for SourceBytes {
    fn size(&self) -> u64 {
        self.0.borrow().len()
    }

    fn slice(&self, offset: u64, len: usize) -> Result<Vec<u8>, MediumError> {
        let left = self.size().saturating_sub(offset);
        let mut bytes = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(len)];
        let n = self.0.borrow_mut().read(offset, &mut bytes).map_err(MediumError::new)?;
        bytes.truncate(n);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stop_at_the_end() {
        let mut source = MemorySource(b"neuron".to_vec());
        let mut buf = [0; 4];
        assert_eq!(source.read(4, &mut buf), Ok(2));
        assert_eq!(&buf[..2], b"on");
        assert_eq!(source.read(99, &mut buf), Ok(0));
    }

    #[test]
    fn slices_of_a_source_stop_at_its_end() {
        let bytes = SourceBytes::new(Box::new(MemorySource(b"neuron".to_vec())));
        assert_eq!((bytes.size(), bytes.slice(4, 99), bytes.slice(99, 1)), (6, Ok(b"on".to_vec()), Ok(Vec::new())));
    }
}
