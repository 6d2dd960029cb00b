//! The bytes of a file, by slices.

use std::rc::Rc;

use ns_base::{Refusal, refuse};

/// Random access to the bytes of a file: natively a file on disk, in the page a `File` in a worker, in tests bytes in memory.
pub trait ByteSource {
    /// Size in bytes.
    fn size(&self) -> u64;

    /// Fills `buf` from `offset` on and returns how many bytes it wrote; fewer than `buf.len()` only at the end of the file. Fails
    /// with the medium's message: the file was removed or changed, or may not be read.
    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal>;

    /// A file by its path from the folder of this one; `None` where it is not there, or where files have no folder.
    fn beside(&self, _path: &str) -> Option<Box<dyn ByteSource + '_>> {
        None
    }

    /// Bytes from `offset` on: `len` of them, or fewer at the end of the file. Fails as [`Self::read`].
    fn slice(&self, offset: u64, len: usize) -> Result<Vec<u8>, Refusal> {
        let left = usize::try_from(self.size().saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; left.min(len)];
        let n = self.read(offset, &mut bytes)?;
        bytes.truncate(n);
        Ok(bytes)
    }
}

impl ByteSource for [u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len());
        let n = buf.len().min(self.len() - start);
        buf[..n].copy_from_slice(&self[start..start + n]);
        Ok(n)
    }
}

impl ByteSource for Vec<u8> {
    fn size(&self) -> u64 {
        self.as_slice().size()
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal> {
        self.as_slice().read(offset, buf)
    }
}

impl<S: ByteSource + ?Sized> ByteSource for Rc<S> {
    fn size(&self) -> u64 {
        (**self).size()
    }

    fn read(&self, offset: u64, buf: &mut [u8]) -> Result<usize, Refusal> {
        (**self).read(offset, buf)
    }

    fn beside(&self, path: &str) -> Option<Box<dyn ByteSource + '_>> {
        (**self).beside(path)
    }
}

/// The medium's message as the message about a file.
pub fn unreadable(error: Refusal) -> Refusal {
    error.within(|said| format!("the file cannot be read: {said}")).advise("choose it again")
}

/// `len` bytes from `offset` on. Fails when the medium cannot be read, or the file ends before so many bytes.
pub fn exactly(bytes: &dyn ByteSource, offset: u64, len: u64) -> Result<Vec<u8>, Refusal> {
    let wanted = usize::try_from(len).unwrap_or(usize::MAX);
    let got = bytes.slice(offset, wanted).map_err(unreadable)?;
    if got.len() == wanted { Ok(got) } else { Err(refuse!("{len} bytes are wanted and the file ends earlier")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_slices_stop_at_the_end() {
        let source = b"neuron".to_vec();
        let mut buf = [0; 4];
        assert_eq!(ByteSource::read(&source, 4, &mut buf), Ok(2));
        assert_eq!(&buf[..2], b"on");
        assert_eq!(ByteSource::read(&source, 99, &mut buf), Ok(0));
        assert_eq!((source.size(), source.slice(4, 99), source.slice(99, 1)), (6, Ok(b"on".to_vec()), Ok(Vec::new())));
        assert!(exactly(&source, 4, 3).is_err());
    }
}
