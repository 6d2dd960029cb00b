//! gzip (RFC 1952) in pieces: members one after another, as `cat a.gz b.gz` and parallel compressors make them; and an
//! unpacker for files that may or may not be packed with it.

use super::ReadError;
use super::inflate::{Inflater, Sink};
use super::sniff::FileKind;
use ns_base::Diagnostics;
use ns_base::convert::low32;

const FLAG_HEADER_CRC: u8 = 2;
const FLAG_EXTRA: u8 = 4;
const FLAG_NAME: u8 = 8;
const FLAG_COMMENT: u8 = 16;
/// A header holds names and comments; anything larger is not a header.
const MAX_HEADER_BYTES: usize = 1 << 16;

enum State {
    Header,
    Body,
    Trailer,
    /// After damage, or after bytes that are not another member: the rest is not read.
    Stopped,
}

/// Reads gzip.
pub(super) struct Gunzip {
    state: State,
    held: Vec<u8>,
    inflater: Inflater,
    members: u64,
    offset: u64,
}

impl Gunzip {
    pub(super) fn new() -> Self {
        Self { state: State::Header, held: Vec::new(), inflater: Inflater::new(), members: 0, offset: 0 }
    }

    /// Takes the next piece of the file.
    pub(super) fn push(
        &mut self,
        mut input: &[u8],
        sink: Sink<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), ReadError> {
        while !input.is_empty() {
            match self.state {
                State::Header => input = self.header(input, diagnostics)?,
                State::Body => {
                    let Some(fed) = self.inflater.feed(input, sink)? else {
                        self.damaged(diagnostics)?;
                        return Ok(());
                    };
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

    /// Takes the end of the file.
    ///
    /// # Errors
    /// When it ends before any packed data.
    pub(super) fn finish(&mut self, diagnostics: &mut Diagnostics) -> Result<(), ReadError> {
        if self.members == 0 && matches!(self.state, State::Header) {
            return Err(ReadError::Damaged { container: "gzip", what: "it ends inside its header".to_owned() });
        }
        let cut = match self.state {
            State::Header => !self.held.is_empty() && self.held.iter().any(|&b| b != 0),
            State::Body | State::Trailer => true,
            State::Stopped => false,
        };
        if cut {
            diagnostics
                .add("gzip_cut", Some(self.offset), || "the gzip file is cut off: read as far as it goes".to_owned());
        }
        Ok(())
    }

    fn damaged(&mut self, diagnostics: &mut Diagnostics) -> Result<(), ReadError> {
        if self.members == 0 && self.inflater.written == 0 {
            return Err(ReadError::Damaged { container: "gzip", what: "it does not inflate".to_owned() });
        }
        self.state = State::Stopped;
        diagnostics.add("gzip_damaged", Some(self.offset), || {
            "the gzip file is damaged near here (in the compressed file): read as far as it goes".to_owned()
        });
        Ok(())
    }

    fn header<'a>(&mut self, input: &'a [u8], diagnostics: &mut Diagnostics) -> Result<&'a [u8], ReadError> {
        let before = self.held.len();
        self.held.extend_from_slice(&input[..input.len().min(MAX_HEADER_BYTES)]);
        let not_gzip = self.held.iter().zip([0x1f, 0x8b]).any(|(a, b)| *a != b);
        if not_gzip || self.held.len() > MAX_HEADER_BYTES && header_len(&self.held).is_none() {
            if self.members == 0 {
                return Err(ReadError::Damaged { container: "gzip", what: "its header is not one".to_owned() });
            }
            // Zero padding after the last member is usual on tapes and some stores.
            if self.held.iter().any(|&b| b != 0) {
                diagnostics.add("gzip_trailing", Some(self.offset), || {
                    "bytes after the gzip data are not gzip: ignored".to_owned()
                });
            }
            self.held.clear();
            self.state = State::Stopped;
            return Ok(&[]);
        }
        if self.held.get(2).is_some_and(|&method| method != 8) {
            return Err(ReadError::Damaged { container: "gzip", what: "its method is not deflate".to_owned() });
        }
        let Some(len) = header_len(&self.held) else {
            return Ok(&[]);
        };
        self.offset += len as u64;
        self.held.clear();
        self.inflater.restart();
        self.state = State::Body;
        Ok(&input[len - before..])
    }

    fn trailer<'a>(&mut self, input: &'a [u8], diagnostics: &mut Diagnostics) -> &'a [u8] {
        let take = input.len().min(8 - self.held.len());
        self.held.extend_from_slice(&input[..take]);
        self.offset += take as u64;
        if let Ok(trailer) = <[u8; 8]>::try_from(self.held.as_slice()) {
            let want = (u64::from(low32(self.inflater.written)) << 32) | u64::from(self.inflater.crc);
            if u64::from_le_bytes(trailer) != want {
                diagnostics.add("gzip_checksum", Some(self.offset), || {
                    "the checksum of the gzip data is wrong: the file is damaged somewhere".to_owned()
                });
            }
            self.members += 1;
            self.held.clear();
            self.state = State::Header;
        }
        &input[take..]
    }
}

/// Length of the header at the front, if it is complete.
fn header_len(bytes: &[u8]) -> Option<usize> {
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

/// Unpacks a file in pieces.
pub(super) enum Unpacker {
    /// The data is not packed.
    Plain,
    Gzip(Gunzip),
}

impl Unpacker {
    pub(super) fn for_kind(kind: FileKind) -> Self {
        match kind {
            FileKind::Gzip => Self::Gzip(Gunzip::new()),
            _ => Self::Plain,
        }
    }

    /// Takes the next piece of the file and returns the unpacked bytes.
    pub(super) fn push(
        &mut self,
        input: &[u8],
        sink: Sink<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), ReadError> {
        match self {
            Self::Plain => sink(input),
            Self::Gzip(gzip) => gzip.push(input, sink, diagnostics),
        }
    }

    /// Takes the end of the file.
    pub(super) fn finish(&mut self, diagnostics: &mut Diagnostics) -> Result<(), ReadError> {
        match self {
            Self::Plain => Ok(()),
            Self::Gzip(gzip) => gzip.finish(diagnostics),
        }
    }
}
