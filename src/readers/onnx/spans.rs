//! Fields of a message that is too large to hold in memory: finds where each lies, by slices.

use ns_base::wire::varint;
use ns_base::{Refusal, refuse};
use ns_container::{ByteSource, unreadable};
use ns_program::{ImportError, Place};

/// Bytes that are fetched at once while fields are skipped.
const CHUNK: usize = 16 * 1024;

/// Most bytes of a tag and a length together.
const HEAD: usize = 20;

/// A field of a message in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub field: u32,
    /// Its value, if it is a number.
    pub number: u64,
    /// Offset of its content.
    pub offset: u64,
    /// Bytes of its content; 0 for a number.
    pub len: u64,
}

impl Span {
    /// One beyond the last byte.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }
}

/// Walks over the fields of a message without reading their content.
pub(super) struct Spans<'b> {
    bytes: &'b dyn ByteSource,
    at: u64,
    end: u64,
    chunk: Vec<u8>,
    chunk_at: u64,
}

/// The error for a file that ends too early.
fn cut_off(at: u64, what: Refusal) -> ImportError {
    let what = what.advise("the file is cut off or is not an ONNX model: copy it or export it again");
    ImportError::at(Place::Byte(at), what)
}

impl<'b> Spans<'b> {
    /// A walk over the bytes from `start` to `end`.
    pub fn new(bytes: &'b dyn ByteSource, start: u64, end: u64) -> Self {
        Self { bytes, at: start, end, chunk: Vec::new(), chunk_at: 0 }
    }

    /// The next field; `None` at the end of the message.
    pub fn next(&mut self) -> Result<Option<Span>, ImportError> {
        if self.at >= self.end {
            return Ok(None);
        }
        let start = self.at;
        let head = self.head()?;
        let Some((tag, used)) = varint(&head) else {
            return Err(cut_off(start, refuse!("a field begins here and its number does not end")));
        };
        let field = u32::try_from(tag >> 3).ok().filter(|&n| n > 0 && n < 1 << 29);
        let Some(field) = field else {
            return Err(cut_off(start, refuse!("{tag} is not the tag of a field")));
        };
        let after = start + used as u64;
        let rest = &head[used..];
        let (number, offset, len) = match tag & 7 {
            0 => match varint(rest) {
                Some((number, used)) => (number, after + used as u64, 0),
                None => return Err(cut_off(after, refuse!("the number of field {field} does not end"))),
            },
            1 => (fixed(rest, 8), after + 8, 0),
            5 => (fixed(rest, 4), after + 4, 0),
            2 => match varint(rest) {
                Some((len, used)) => (0, after + used as u64, len),
                None => return Err(cut_off(after, refuse!("the length of field {field} does not end"))),
            },
            form => return Err(cut_off(start, refuse!("field {field} has wire type {form}, which no model has"))),
        };
        let beyond = offset.checked_add(len).filter(|&end| end <= self.end);
        let Some(beyond) = beyond else {
            let left = self.end.saturating_sub(offset);
            return Err(cut_off(start, refuse!("field {field} has {len} bytes and only {left} follow")));
        };
        self.at = beyond;
        Ok(Some(Span { field, number, offset, len }))
    }

    /// Up to [`HEAD`] bytes at the current place.
    fn head(&mut self) -> Result<Vec<u8>, ImportError> {
        let want = HEAD.min(usize::try_from(self.end - self.at).unwrap_or(HEAD));
        let inside = self.at >= self.chunk_at && self.at + want as u64 <= self.chunk_at + self.chunk.len() as u64;
        if !inside {
            self.chunk = read(self.bytes, self.at, CHUNK.min(usize::try_from(self.end - self.at).unwrap_or(CHUNK)))?;
            self.chunk_at = self.at;
        }
        let from = usize::try_from(self.at - self.chunk_at).unwrap_or(usize::MAX).min(self.chunk.len());
        Ok(self.chunk[from..self.chunk.len().min(from + want)].to_vec())
    }
}

/// A little-endian number of `len` bytes; of fewer if they are cut off, which the caller detects by the end of the field.
fn fixed(bytes: &[u8], len: usize) -> u64 {
    bytes.iter().take(len).enumerate().fold(0, |n, (i, &b)| n | u64::from(b) << (8 * i))
}

/// Bytes of a file, exactly as many as requested.
pub(super) fn read(bytes: &dyn ByteSource, offset: u64, len: usize) -> Result<Vec<u8>, ImportError> {
    let read = bytes.slice(offset, len).map_err(|e| ImportError::at(Place::Byte(offset), unreadable(e)))?;
    if read.len() < len {
        return Err(cut_off(offset, refuse!("{len} bytes belong here and {} are there", read.len())));
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<Span>, ImportError> {
        let bytes = bytes.to_vec();
        let mut spans = Spans::new(&bytes, 0, bytes.len() as u64);
        let mut found = Vec::new();
        while let Some(span) = spans.next()? {
            found.push(span);
        }
        Ok(found)
    }

    #[test]
    fn fields_are_passed_over() {
        let mut bytes = vec![0x08, 10, 0x3a, 0xa0, 0x9c, 1];
        bytes.extend(vec![7u8; 20_000]);
        bytes.extend([0x15, 1, 0, 0, 0, 0x10, 5]);
        let found = all(&bytes).unwrap();
        assert_eq!(
            found.iter().map(|s| (s.field, s.number, s.len)).collect::<Vec<_>>(),
            [(1, 10, 0), (7, 0, 20_000), (2, 1, 0), (2, 5, 0)]
        );
    }

    #[test]
    fn a_length_beyond_the_end_names_its_byte() {
        let error = all(&[0x08, 10, 0x3a, 99, 1]).unwrap_err();
        assert_eq!(error.place, Place::Byte(2));
        assert!(error.to_string().contains("field 7 has 99 bytes and only 1 follow"), "{error}");
        assert!(all(&[0x0b]).unwrap_err().to_string().contains("wire type 3"));
        assert!(all(&[0xff; 30]).is_err());
    }
}
