//! gzip (RFC 1952): in pieces, for files that may be damaged, and as a whole.
//!
//! By hand, because what flate2 offers for pieces (`flate2::write::MultiGzDecoder`) wraps the same code of miniz_oxide and cannot say where
//! a damaged file is damaged, nor tell damage from an error of what takes the bytes. docs/decisions.md has the measurement.

use super::inflate::{Inflater, Sink, unpack};
use ns_base::convert::low32;
use ns_base::{Diagnostics, Refusal, refuse};

const FLAG_HEADER_CRC: u8 = 2;
const FLAG_EXTRA: u8 = 4;
const FLAG_NAME: u8 = 8;
const FLAG_COMMENT: u8 = 16;
/// A header holds names and comments; anything larger is not a header.
const MAX_HEADER_BYTES: usize = 1 << 16;

/// Whether bytes are the beginning of a gzip file.
pub fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// The file inside a gzip file with one member, at most `limit` bytes. Fails when it is damaged or too large.
pub fn gunzip(packed: &[u8], limit: usize) -> Result<Vec<u8>, Refusal> {
    const INSTEAD: &str = "unpack it by hand, or pack it again";
    let header = header_len(packed).ok_or_else(|| refuse!(instead = INSTEAD, "the gzip file has a damaged header"))?;
    unpack(&packed[header..], limit)
        .map_err(|e| e.within(|what| format!("the gzip file cannot be read: {what}")).advise(INSTEAD))
}

enum State {
    Header,
    Body,
    Trailer,
    /// After damage, or after bytes that are not another member: the rest is not read.
    Stopped,
}

/// Reads gzip in pieces: members one after another, as `cat a.gz b.gz` and parallel compressors make them.
pub struct Gunzip {
    state: State,
    /// Bytes of a header or a trailer that is not complete.
    part: Vec<u8>,
    inflater: Inflater,
    members: u64,
    offset: u64,
}

impl Default for Gunzip {
    fn default() -> Self {
        Self { state: State::Header, part: Vec::new(), inflater: Inflater::default(), members: 0, offset: 0 }
    }
}

impl Gunzip {
    /// Takes the next piece of the file. Fails when the file has nothing that can be read, when it is a decompression bomb, and the
    /// errors of the sink.
    pub fn push(&mut self, mut input: &[u8], sink: Sink<'_>, diagnostics: &mut Diagnostics) -> Result<(), Refusal> {
        while !input.is_empty() {
            match self.state {
                State::Header => input = self.header(input, diagnostics)?,
                State::Body => {
                    let Some(fed) = self.inflater.feed(input, sink)? else { return self.damage(diagnostics) };
                    self.offset += fed.used as u64;
                    input = &input[fed.used..];
                    if fed.ended {
                        self.state = State::Trailer;
                    }
                }
                State::Trailer => input = self.trailer(input, diagnostics),
                State::Stopped => return Ok(()),
            }
        }
        Ok(())
    }

    /// Takes the end of the file. Fails when it ends before any packed data.
    pub fn finish(&mut self, diagnostics: &mut Diagnostics) -> Result<(), Refusal> {
        if self.members == 0 && matches!(self.state, State::Header) {
            return Err(refuse!("the gzip file cannot be read: it ends inside its header"));
        }
        let is_cut = match self.state {
            State::Header => self.part.iter().any(|&b| b != 0),
            State::Body | State::Trailer => true,
            State::Stopped => false,
        };
        if is_cut {
            diagnostics
                .add("gzip_cut", Some(self.offset), || "the gzip file is cut off: read as far as it goes".to_owned());
        }
        Ok(())
    }

    fn damage(&mut self, diagnostics: &mut Diagnostics) -> Result<(), Refusal> {
        if self.members == 0 && self.inflater.written() == 0 {
            return Err(refuse!("the gzip file cannot be read: it does not inflate"));
        }
        self.state = State::Stopped;
        diagnostics.add("gzip_damaged", Some(self.offset), || {
            "the gzip file is damaged near here (in the compressed file): read as far as it goes".to_owned()
        });
        Ok(())
    }

    fn header<'a>(&mut self, input: &'a [u8], diagnostics: &mut Diagnostics) -> Result<&'a [u8], Refusal> {
        let before = self.part.len();
        self.part.extend_from_slice(&input[..input.len().min(MAX_HEADER_BYTES)]);
        let is_other = self.part.iter().zip([0x1f, 0x8b]).any(|(a, b)| *a != b);
        if is_other || self.part.len() > MAX_HEADER_BYTES && header_len(&self.part).is_none() {
            if self.members == 0 {
                return Err(refuse!("the gzip file cannot be read: it has no gzip header"));
            }
            // Zero padding after the last member is usual on tapes and some stores.
            if self.part.iter().any(|&b| b != 0) {
                diagnostics.add("gzip_trailing", Some(self.offset), || {
                    "bytes after the gzip data are not gzip: ignored".to_owned()
                });
            }
            self.part.clear();
            self.state = State::Stopped;
            return Ok(&[]);
        }
        if self.part.get(2).is_some_and(|&method| method != 8) {
            return Err(refuse!("the gzip file cannot be read: its method is not deflate"));
        }
        let Some(len) = header_len(&self.part) else { return Ok(&[]) };
        self.offset += len as u64;
        self.part.clear();
        self.inflater.restart();
        self.state = State::Body;
        Ok(&input[len - before..])
    }

    fn trailer<'a>(&mut self, input: &'a [u8], diagnostics: &mut Diagnostics) -> &'a [u8] {
        let take = input.len().min(8 - self.part.len());
        self.part.extend_from_slice(&input[..take]);
        self.offset += take as u64;
        if let Ok(trailer) = <[u8; 8]>::try_from(self.part.as_slice()) {
            let want = (u64::from(low32(self.inflater.written())) << 32) | u64::from(self.inflater.crc());
            if u64::from_le_bytes(trailer) != want {
                diagnostics.add("gzip_checksum", Some(self.offset), || {
                    "the checksum of the gzip data is wrong: the file is damaged somewhere".to_owned()
                });
            }
            self.members += 1;
            self.part.clear();
            self.state = State::Header;
        }
        &input[take..]
    }
}

/// Length of the header at the front, if it is complete.
pub fn header_len(bytes: &[u8]) -> Option<usize> {
    let flags = *bytes.get(3)?;
    let mut at = 10;
    if flags & FLAG_EXTRA != 0 {
        at += 2 + usize::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    }
    for flag in [FLAG_NAME, FLAG_COMMENT] {
        if flags & flag != 0 {
            at += memchr::memchr(0, bytes.get(at..)?)? + 1;
        }
    }
    if flags & FLAG_HEADER_CRC != 0 {
        at += 2;
    }
    (bytes.len() >= at).then_some(at)
}
