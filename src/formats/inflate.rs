//! One deflate stream (RFC 1951), in pieces, with a guard against decompression bombs.

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

use super::ReadError;
use super::crc32::crc32;

const OUT_BYTES: usize = 1 << 18;
/// Deflate cannot do better than 1032:1, and traces are seen below 50:1.
const MAX_RATIO: u64 = 500;
/// Output below this is never too much.
const FREE_BYTES: u64 = 256 << 20;

/// Receives inflated bytes.
pub(super) type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), ReadError>;

/// An inflater with the checksum and length of its output.
pub(super) struct Inflater {
    state: Box<InflateState>,
    out: Vec<u8>,
    /// Checksum so far.
    pub(super) crc: u32,
    /// Bytes given so far.
    pub(super) written: u64,
    taken: u64,
}

/// The result of one call of [`Inflater::feed`].
pub(super) struct Fed {
    /// Bytes of the input that belong to the stream.
    pub(super) used: usize,
    /// Whether the stream ended.
    pub(super) ended: bool,
}

impl Inflater {
    pub(super) fn new() -> Self {
        Self { state: InflateState::new_boxed(DataFormat::Raw), out: vec![0; OUT_BYTES], crc: 0, written: 0, taken: 0 }
    }

    /// Begins another stream.
    pub(super) fn restart(&mut self) {
        self.state.reset(DataFormat::Raw);
        (self.crc, self.written, self.taken) = (0, 0, 0);
    }

    /// Inflates `input` into the sink. Damage in the stream is `Ok(None)`.
    pub(super) fn feed(&mut self, input: &[u8], sink: Sink<'_>) -> Result<Option<Fed>, ReadError> {
        let mut used = 0;
        loop {
            let result = inflate(&mut self.state, &input[used..], &mut self.out, MZFlush::None);
            used += result.bytes_consumed;
            self.taken += result.bytes_consumed as u64;
            self.written += result.bytes_written as u64;
            let out = &self.out[..result.bytes_written];
            self.crc = crc32(self.crc, out);
            sink(out)?;
            if self.written > FREE_BYTES && self.written / MAX_RATIO > self.taken {
                return Err(ReadError::GrowsTooMuch { written: self.written, taken: self.taken });
            }
            match result.status {
                Ok(MZStatus::StreamEnd) => return Ok(Some(Fed { used, ended: true })),
                Ok(_) | Err(MZError::Buf) if result.bytes_written == OUT_BYTES => {}
                Ok(_) | Err(MZError::Buf) => {
                    if used == input.len() || (result.bytes_consumed == 0 && result.bytes_written == 0) {
                        return Ok(Some(Fed { used, ended: false }));
                    }
                }
                Err(_) => return Ok(None),
            }
        }
    }
}
