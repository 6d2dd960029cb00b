//! One deflate stream (RFC 1951): in pieces, with a guard against decompression bombs, or as a whole.

use crate::crc::Crc;
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};
use ns_base::{Refusal, refuse};

const OUT_BYTES: usize = 1 << 18;
/// Deflate cannot do better than 1032:1, and traces are seen below 50:1.
const MAX_RATIO: u64 = 500;
/// Output below this is never too much.
const FREE_BYTES: u64 = 256 << 20;

/// Receives unpacked bytes.
pub type Sink<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Refusal>;

/// An inflater with the checksum and length of its output.
pub struct Inflater {
    state: Box<InflateState>,
    out: Vec<u8>,
    crc: Crc,
    written: u64,
    taken: u64,
}

/// The result of one call of [`Inflater::feed`].
pub struct Fed {
    /// Bytes of the input that belong to the stream.
    pub used: usize,
    /// Whether the stream ended.
    pub ended: bool,
}

impl Default for Inflater {
    fn default() -> Self {
        Self {
            state: InflateState::new_boxed(DataFormat::Raw),
            out: vec![0; OUT_BYTES],
            crc: Crc::default(),
            written: 0,
            taken: 0,
        }
    }
}

impl Inflater {
    /// Begins another stream.
    pub fn restart(&mut self) {
        self.state.reset(DataFormat::Raw);
        self.crc = Crc::default();
        (self.written, self.taken) = (0, 0);
    }

    /// The checksum of the output so far (CRC-32, RFC 1952 section 8).
    pub fn crc(&self) -> u32 {
        self.crc.value()
    }

    /// Bytes of the output so far.
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Inflates `input` into the sink. Damage in the stream is `Ok(None)`. Fails when the stream is a decompression bomb, and the
    /// errors of the sink.
    pub fn feed(&mut self, input: &[u8], sink: Sink<'_>) -> Result<Option<Fed>, Refusal> {
        let mut used = 0;
        loop {
            let result = inflate(&mut self.state, &input[used..], &mut self.out, MZFlush::None);
            used += result.bytes_consumed;
            self.taken += result.bytes_consumed as u64;
            self.written += result.bytes_written as u64;
            let out = &self.out[..result.bytes_written];
            self.crc.update(out);
            sink(out)?;
            if self.written > FREE_BYTES && self.written / MAX_RATIO > self.taken {
                return Err(grows_too_much(self.written, self.taken));
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

/// A decompression bomb: `taken` bytes unpack to more than `written`.
pub fn grows_too_much(written: u64, taken: u64) -> Refusal {
    refuse!(
        "the packed file is not a trace: {taken} bytes unpack to more than {written}; unpack it yourself if you trust it"
    )
}

/// Unpacks deflated bytes, at most `limit`. Fails when there are more or when they are damaged.
pub fn unpack(packed: &[u8], limit: usize) -> Result<Vec<u8>, Refusal> {
    decompress_to_vec_with_limit(packed, limit).map_err(|e| match e.status {
        TINFLStatus::HasMoreOutput => refuse!("it has more than {limit} bytes after unpacking"),
        other => refuse!("it cannot be unpacked ({other:?})"),
    })
}
