//! A protocol buffer message that grows field by field.

use ns_base::convert::low8;

#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    fn tag(&mut self, field: u32, kind: u8) {
        self.raw_varint(u64::from(field) << 3 | u64::from(kind));
    }

    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(low8(value) | 0x80);
            value >>= 7;
        }
        self.0.push(low8(value));
    }

    /// A whole number that is not negative.
    pub fn uint(&mut self, field: u32, value: u64) -> &mut Self {
        self.tag(field, 0);
        self.raw_varint(value);
        self
    }

    /// A whole number, as `int64` is written.
    pub fn int(&mut self, field: u32, value: i64) -> &mut Self {
        self.uint(field, value.cast_unsigned())
    }

    /// A `fixed64`.
    pub fn fixed64(&mut self, field: u32, value: u64) -> &mut Self {
        self.tag(field, 1);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A `double`.
    pub fn double(&mut self, field: u32, value: f64) -> &mut Self {
        self.fixed64(field, value.to_bits())
    }

    /// Bytes or text.
    pub fn bytes(&mut self, field: u32, value: &[u8]) -> &mut Self {
        self.tag(field, 2);
        self.raw_varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// Text.
    pub fn text(&mut self, field: u32, value: &str) -> &mut Self {
        self.bytes(field, value.as_bytes())
    }

    /// A message inside.
    pub fn message(&mut self, field: u32, value: &Self) -> &mut Self {
        self.bytes(field, &value.0)
    }

    /// Its bytes.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}
