//! The wire format of protocol buffers, read in place: fields of a message, in their order.
//!
//! Our own implementation and not a crate: three formats need a handful of fields of messages that have dozens, files
//! may be truncated or newer than any schema, and generated code for all of the messages would be larger than the
//! readers.

use super::convert::u64_to_f64;

/// A value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire<'a> {
    /// A whole number, also for booleans and enums.
    Varint(u64),
    /// Eight bytes.
    Fixed64(u64),
    /// Four bytes.
    Fixed32(u32),
    /// Text, bytes, a message, or packed numbers.
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    /// The number, whatever its form.
    pub fn u64(self) -> u64 {
        match self {
            Self::Varint(n) | Self::Fixed64(n) => n,
            Self::Fixed32(n) => u64::from(n),
            Self::Bytes(_) => 0,
        }
    }

    /// The number as two's complement, as `int64` and `int32` are written.
    pub fn i64(self) -> i64 {
        self.u64().cast_signed()
    }

    /// The number of a `double` or `float`.
    pub fn f64(self) -> f64 {
        match self {
            Self::Fixed64(bits) => f64::from_bits(bits),
            Self::Fixed32(bits) => f64::from(f32::from_bits(bits)),
            Self::Varint(n) => u64_to_f64(n),
            Self::Bytes(_) => 0.0,
        }
    }

    /// Text, bytes or a message; empty for numbers.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// Text, bad UTF-8 replaced.
    pub fn text(self) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.bytes())
    }

    /// Numbers of a repeated field, packed or separate.
    pub fn varints(self) -> Varints<'a> {
        match self {
            Self::Bytes(bytes) => Varints { one: None, rest: bytes },
            other => Varints { one: Some(other.u64()), rest: &[] },
        }
    }
}

/// Packed numbers.
pub struct Varints<'a> {
    one: Option<u64>,
    rest: &'a [u8],
}

impl Iterator for Varints<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if let Some(one) = self.one.take() {
            return Some(one);
        }
        let (value, used) = varint(self.rest)?;
        self.rest = &self.rest[used..];
        Some(value)
    }
}

/// The fields of a message; ends at the first that is cut off or not a valid field.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    whole: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// The fields of a message.
    pub fn of(message: &'a [u8]) -> Self {
        Self { whole: message, at: 0 }
    }

    /// Bytes from the start to the end of the last whole field.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Whether everything was read.
    pub fn is_done(&self) -> bool {
        self.at >= self.whole.len()
    }
}

impl<'a> Iterator for Fields<'a> {
    /// Number and value of a field.
    type Item = (u32, Wire<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.whole.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (field, value, used) = field(rest)?;
        self.at += used;
        Some((field, value))
    }
}

/// The field at the front and its length; `None` when it is cut off or not valid.
fn field(bytes: &[u8]) -> Option<(u32, Wire<'_>, usize)> {
    let (tag, mut at) = varint(bytes)?;
    let number = u32::try_from(tag >> 3).ok().filter(|&n| n > 0 && n < 1 << 29)?;
    let value = match tag & 7 {
        0 => {
            let (value, used) = varint(bytes.get(at..)?)?;
            at += used;
            Wire::Varint(value)
        }
        1 => {
            let fixed = bytes.get(at..at + 8)?.try_into().ok()?;
            at += 8;
            Wire::Fixed64(u64::from_le_bytes(fixed))
        }
        5 => {
            let fixed = bytes.get(at..at + 4)?.try_into().ok()?;
            at += 4;
            Wire::Fixed32(u32::from_le_bytes(fixed))
        }
        2 => {
            let (len, used) = varint(bytes.get(at..)?)?;
            at += used;
            let end = at.checked_add(usize::try_from(len).ok()?)?;
            let content = bytes.get(at..end)?;
            at = end;
            Wire::Bytes(content)
        }
        // Groups (3 and 4) date from before 2008; no format read here has them.
        _ => return None,
    };
    Some((number, value, at))
}

/// The number at the front and its length.
pub fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (i, &byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return Some((value, i + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_each_kind_and_a_cut_one() {
        let message = [0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 1, 0, 0, 0, 0x22, 3, 1, 0x80, 0x01, 0x2a, 9, b'x'];
        let mut fields = Fields::of(&message);
        let read: Vec<_> = fields.by_ref().collect();
        assert_eq!(read[..3], [(1, Wire::Varint(150)), (2, Wire::Bytes(b"hi")), (3, Wire::Fixed32(1))]);
        assert_eq!(read[3].1.varints().collect::<Vec<_>>(), [1, 128]);
        assert_eq!((read.len(), fields.offset(), fields.is_done()), (4, 17, false));
    }

    #[test]
    fn numbers_have_at_most_ten_bytes() {
        assert_eq!(varint(&[0xff; 12]), None);
        let minus_one = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(varint(&minus_one).map(|(n, used)| (n as i64, used)), Some((-1, 10)));
    }
}
