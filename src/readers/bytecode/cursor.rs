//! Numbers, strings and sections of bytecode.

use super::SAVE_AS_TEXT;
use ns_base::{Refusal, refuse};
use ns_program::{ImportError, Place};

/// Reads a range of a file from start to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset of the range in the file, for the places of errors.
    start: usize,
    /// Name of the range, for errors.
    what: &'static str,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], start: usize, what: &'static str) -> Self {
        Self { bytes, at: 0, start, what }
    }

    /// Bytes that are left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// An error at the next byte.
    pub fn error(&self, error: Refusal) -> ImportError {
        let error = error.advise("it is cut off or damaged: copy the whole file");
        ImportError::at(Place::Byte((self.start + self.at) as u64), error)
    }

    /// An error for something that no table here has.
    pub fn unknown(&self, what: Refusal) -> ImportError {
        self.error(what.advise(SAVE_AS_TEXT))
    }

    fn cut_off(&self) -> ImportError {
        self.error(refuse!("{} runs past its end", self.what))
    }

    pub fn byte(&mut self) -> Result<u8, ImportError> {
        Ok(self.take(1)?[0])
    }

    /// The next `len` bytes.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], ImportError> {
        let found = self.at.checked_add(len).and_then(|end| self.bytes.get(self.at..end));
        let found = found.ok_or_else(|| self.cut_off())?;
        self.at += len;
        Ok(found)
    }

    /// The next `len` bytes as a separate range.
    pub fn part(&mut self, len: usize, what: &'static str) -> Result<Self, ImportError> {
        let start = self.start + self.at;
        Ok(Self::new(self.take(len)?, start, what))
    }

    /// A number. Zero bits at the low end of its first byte say how many bytes follow.
    pub fn number(&mut self) -> Result<u64, ImportError> {
        let first = self.byte()?;
        let more = first.trailing_zeros().min(8) as usize;
        let mut raw = [0u8; 8];
        // A number of 9 bytes has 64 bits after the first byte; a shorter one has 7 bits in each byte.
        if more == raw.len() {
            raw.copy_from_slice(self.take(more)?);
            return Ok(u64::from_le_bytes(raw));
        }
        raw[0] = first;
        raw[1..=more].copy_from_slice(self.take(more)?);
        Ok(u64::from_le_bytes(raw) >> (more + 1))
    }

    /// An index that must be below `known`.
    pub fn index(&mut self, known: usize, part: &'static str) -> Result<usize, ImportError> {
        let place = *self;
        let found = self.number()?;
        let index = usize::try_from(found).ok().filter(|&n| n < known);
        index.ok_or_else(|| place.error(refuse!("{} names {part} {found} and there are {known}", self.what)))
    }

    /// The number of the items that follow, each at least one byte long.
    pub fn count(&mut self, part: &'static str) -> Result<usize, ImportError> {
        let place = *self;
        let found = self.number()?;
        let count = usize::try_from(found).ok().filter(|&n| n <= self.left());
        count.ok_or_else(|| {
            place.error(refuse!("{} says that {found} of these follow and ends before: {part}", self.what))
        })
    }

    /// A number and the flag in its lowest bit.
    pub fn flagged(&mut self) -> Result<(usize, bool), ImportError> {
        let found = self.number()?;
        Ok((usize::try_from(found >> 1).unwrap_or(usize::MAX), found & 1 != 0))
    }

    /// A signed number, with its sign in the lowest bit.
    pub fn signed(&mut self) -> Result<i64, ImportError> {
        let found = self.number()?;
        Ok((found >> 1).cast_signed() ^ -(found & 1).cast_signed())
    }

    /// Signed numbers.
    pub fn signed_list(&mut self) -> Result<Vec<i64>, ImportError> {
        let count = self.count("number")?;
        (0..count).map(|_| self.signed()).collect()
    }

    /// A string that ends with a zero byte.
    pub fn text_to_zero(&mut self) -> Result<&'a str, ImportError> {
        let end = memchr::memchr(0, &self.bytes[self.at..]).ok_or_else(|| self.cut_off())?;
        let found = self.take(end)?;
        self.at += 1;
        std::str::from_utf8(found).map_err(|_| self.error(refuse!("a text is not UTF-8")))
    }

    /// A section: its number and its content.
    pub fn section(&mut self) -> Result<(u8, Self), ImportError> {
        let id = self.byte()?;
        let len = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if id & 0x80 != 0 {
            let alignment = self.index(1 << 20, "alignment")?.max(1);
            let over = self.at % alignment;
            self.take(if over == 0 { 0 } else { alignment - over })?;
        }
        if len > self.left() {
            return Err(self.error(refuse!("section {} of the bytecode runs past the end of the file", id & 0x7f)));
        }
        Ok((id & 0x7f, self.part(len, "a section of the bytecode")?))
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn numbers_of_every_length() {
        let read = |bytes: &[u8]| Cursor::new(bytes, 0, "it").number().ok();
        assert_eq!(read(&[0x15]), Some(10));
        assert_eq!(read(&[0x46, 0x04]), Some(273));
        assert_eq!(read(&[0x04, 0x00, 0x10]), Some(0x10_0000 >> 3));
        assert_eq!(read(&[0x80, 1, 0, 0, 0, 0, 0, 0]), Some(1));
        assert_eq!(read(&[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), Some(u64::MAX));
        assert_eq!((read(&[]), read(&[0x46])), (None, None));
    }

    #[test]
    fn signs_are_in_the_lowest_bit() {
        let read = |byte: u8| Cursor::new(&[byte], 0, "it").signed().ok();
        assert_eq!((read(0x01), read(0x03), read(0x05), read(0x11)), (Some(0), Some(-1), Some(1), Some(4)));
    }

    #[test]
    fn what_runs_past_the_end_is_said_with_its_byte() {
        let error = Cursor::new(&[0x02, 0xff, 1, 2], 100, "the file").section().map(|_| ()).unwrap_err();
        assert_eq!(
            error.to_string().split(';').next(),
            Some("byte 102: section 2 of the bytecode runs past the end of the file")
        );
    }
}
