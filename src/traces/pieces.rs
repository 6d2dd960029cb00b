//! A file in pieces, so that its front can be freed while the rest is read. Protocol buffers whose tables come after
//! the data that refers to them have to be in memory as a whole, but only once.

use std::collections::VecDeque;
use std::ops::Range;

use ns_base::wire::Wire;

/// Bytes of a piece.
const PIECE_BYTES: usize = 1 << 18;

/// A file whose front may have been freed.
#[derive(Debug, Default)]
pub struct Pieces {
    pieces: VecDeque<Vec<u8>>,
    /// Number of freed pieces.
    gone: usize,
    len: usize,
}

/// The content of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Number(u64),
    /// Text, bytes or a message: its range in the file.
    Bytes(Range<usize>),
}

impl Pieces {
    /// Bytes of the whole file so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Appends.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.pieces.back().is_none_or(|piece| piece.len() == PIECE_BYTES) {
                // A small file takes no more than it needs.
                let room = if self.len == 0 { bytes.len().min(PIECE_BYTES) } else { PIECE_BYTES };
                self.pieces.push_back(Vec::with_capacity(room));
            }
            let Some(piece) = self.pieces.back_mut() else { return };
            let (now, later) = bytes.split_at(bytes.len().min(PIECE_BYTES - piece.len()));
            piece.extend_from_slice(now);
            self.len += now.len();
            bytes = later;
        }
    }

    /// Frees the complete pieces before a position.
    pub fn forget_before(&mut self, at: usize) {
        while self.gone < at / PIECE_BYTES && self.pieces.pop_front().is_some() {
            self.gone += 1;
        }
    }

    fn piece(&self, at: usize) -> Option<&[u8]> {
        let piece = (at / PIECE_BYTES).checked_sub(self.gone)?;
        self.pieces.get(piece)?.get(at % PIECE_BYTES..)
    }

    /// Appends the bytes of a range to `out`.
    pub fn copy(&self, mut range: Range<usize>, out: &mut Vec<u8>) {
        while range.start < range.end {
            let Some(piece) = self.piece(range.start).filter(|piece| !piece.is_empty()) else { return };
            let bytes = piece.len().min(range.end - range.start);
            out.extend_from_slice(&piece[..bytes]);
            range.start += bytes;
        }
    }

    fn varint(&self, range: Range<usize>) -> Option<(u64, usize)> {
        let mut value = 0u64;
        for (i, at) in range.take(10).enumerate() {
            let byte = *self.piece(at)?.first()?;
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte < 0x80 {
                return Some((value, at + 1));
            }
        }
        None
    }

    /// The field at the front of a range of fields and the position after it; `None` if it is cut off or not a field.
    pub fn field(&self, range: Range<usize>) -> Option<(u32, Content, usize)> {
        let (tag, at) = self.varint(range.clone())?;
        let number = u32::try_from(tag >> 3).ok().filter(|&n| n > 0 && n < 1 << 29)?;
        let fixed = |bytes: usize| (at + bytes <= range.end).then(|| (Content::Bytes(at..at + bytes), at + bytes));
        let (content, next) = match tag & 7 {
            0 => self.varint(at..range.end).map(|(value, next)| (Content::Number(value), next))?,
            1 => fixed(8)?,
            5 => fixed(4)?,
            2 => {
                let (bytes, at) = self.varint(at..range.end)?;
                let end = at.checked_add(usize::try_from(bytes).ok()?).filter(|&end| end <= range.end)?;
                (Content::Bytes(at..end), end)
            }
            _ => return None,
        };
        Some((number, content, next))
    }

    pub fn text(&self, content: &Content) -> String {
        let mut bytes = Vec::new();
        if let Content::Bytes(range) = content {
            self.copy(range.clone(), &mut bytes);
        }
        Wire::Bytes(&bytes).text().into_owned()
    }
}

impl Content {
    /// The number as two's complement; 0 for other content.
    pub fn i64(&self) -> i64 {
        match self {
            Self::Number(n) => n.cast_signed(),
            Self::Bytes(_) => 0,
        }
    }

    /// The range of the content; empty for a number.
    pub fn range(&self) -> Range<usize> {
        match self {
            Self::Number(_) => 0..0,
            Self::Bytes(range) => range.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::wire::Fields;

    #[test]
    fn fields_are_those_of_the_whole() {
        let mut message = Vec::new();
        for i in 0..60_000u32 {
            message.extend([0x08, (i % 128) as u8, 0x12, 9]);
            message.extend(format!("{i:09}").bytes());
            message.extend([0x1d, 1, 2, 3, 4]);
        }
        assert!(message.len() > 3 * PIECE_BYTES);
        let mut pieces = Pieces::default();
        message.chunks(70_001).for_each(|chunk| pieces.push(chunk));
        assert_eq!(pieces.len(), message.len());
        let (mut at, mut bytes) = (0, Vec::new());
        for (field, value) in Fields::of(&message) {
            let (number, content, next) = pieces.field(at..message.len()).unwrap();
            bytes.clear();
            pieces.copy(content.range(), &mut bytes);
            let same = match value {
                Wire::Varint(n) => content == Content::Number(n),
                Wire::Bytes(text) => bytes == text,
                _ => bytes.len() == 4,
            };
            assert!(number == field && same, "{field} at {at}");
            pieces.forget_before(at);
            at = next;
        }
        assert_eq!((at, pieces.pieces.len()), (message.len(), 1));
        assert_eq!(pieces.field(0..9), None);
        // A field that extends beyond its message is not valid.
        assert_eq!(pieces.field(message.len() - 5..message.len() - 1), None);
    }
}
