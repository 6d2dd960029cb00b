//! A zip archive of one file, in pieces.
//!
//! Written by hand rather than with the `zip` crate: that needs a seekable source, which a file read in chunks is
//! not, and adds about 75 KiB (compressed) to the wasm for features a trace never uses. The local header in front of
//! each file (APPNOTE 4.3.7) is enough here, because a deflate stream knows its own end.

use super::ReadError;
use super::inflate::{Inflater, Sink};
use crate::base::Diagnostics;

const LOCAL_HEADER: [u8; 4] = *b"PK\x03\x04";
const LOCAL_HEADER_BYTES: usize = 30;
const FLAG_ENCRYPTED: u16 = 1;
const FLAG_SIZES_LATER: u16 = 8;
const METHOD_STORED: u16 = 0;
const METHOD_DEFLATE: u16 = 8;

enum State {
    Header,
    Deflated,
    Stored {
        left: u64,
    },
    /// The bytes of an entry that is no file of the user's.
    Pass {
        left: u64,
    },
    /// The file has been read; only further entries are looked for.
    After,
}

/// Reads the first file of a zip archive.
pub(super) struct Unzip {
    state: State,
    held: Vec<u8>,
    inflater: Inflater,
    offset: u64,
    found: bool,
}

struct Entry {
    name: String,
    flags: u16,
    method: u16,
    size: u64,
    header_len: usize,
}

impl Unzip {
    pub(super) fn new() -> Self {
        Self { state: State::Header, held: Vec::new(), inflater: Inflater::new(), offset: 0, found: false }
    }

    /// Takes the next piece of the file.
    pub(super) fn push(
        &mut self,
        mut input: &[u8],
        sink: Sink<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), ReadError> {
        while !input.is_empty() {
            match &mut self.state {
                State::Header => input = self.header(input)?,
                State::Deflated => {
                    let Some(fed) = self.inflater.feed(input, sink)? else {
                        return self.damaged(diagnostics);
                    };
                    self.offset += fed.used as u64;
                    input = &input[fed.used..];
                    if fed.ended {
                        self.state = State::After;
                    }
                }
                State::Stored { left } => {
                    let take = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                    sink(&input[..take])?;
                    *left -= take as u64;
                    self.offset += take as u64;
                    input = &input[take..];
                    if *left == 0 {
                        self.state = State::After;
                    }
                }
                State::Pass { left } => {
                    let take = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                    *left -= take as u64;
                    self.offset += take as u64;
                    input = &input[take..];
                    if *left == 0 {
                        self.state = State::Header;
                    }
                }
                State::After => {
                    self.look_for_more(input, diagnostics);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Takes the end of the file.
    pub(super) fn finish(&mut self, diagnostics: &mut Diagnostics) -> Result<(), ReadError> {
        if !self.found {
            return Err(ReadError::Damaged { container: "zip", what: "it holds no file".to_owned() });
        }
        if !matches!(self.state, State::After) {
            diagnostics
                .add("zip_cut", Some(self.offset), || "the zip archive is cut off: read as far as it goes".to_owned());
        }
        Ok(())
    }

    fn damaged(&mut self, diagnostics: &mut Diagnostics) -> Result<(), ReadError> {
        if self.inflater.written == 0 {
            return Err(ReadError::Damaged { container: "zip", what: "its file does not inflate".to_owned() });
        }
        self.state = State::After;
        diagnostics.add("zip_damaged", Some(self.offset), || {
            "the zip archive is damaged near here (in the compressed file): read as far as it goes".to_owned()
        });
        Ok(())
    }

    fn header<'a>(&mut self, input: &'a [u8]) -> Result<&'a [u8], ReadError> {
        let before = self.held.len();
        // Names are at most 64 KiB, extra fields too.
        self.held.extend_from_slice(&input[..input.len().min(1 << 18)]);
        if self.held.len() < 4 {
            return Ok(&[]);
        }
        if !self.held.starts_with(&LOCAL_HEADER) {
            let what = "it holds no file that can be read (only folders, or its list of files)".to_owned();
            return Err(ReadError::Damaged { container: "zip", what });
        }
        let Some(entry) = read_entry(&self.held) else { return Ok(&[]) };
        self.offset += entry.header_len as u64;
        self.state = self.enter(&entry)?;
        self.held.clear();
        Ok(&input[entry.header_len - before..])
    }

    fn enter(&mut self, entry: &Entry) -> Result<State, ReadError> {
        let refuse =
            |what: &str| Err(ReadError::Damaged { container: "zip", what: format!("{:?} {what}", entry.name) });
        let no_size = entry.flags & FLAG_SIZES_LATER != 0;
        let is_clutter = entry.name.ends_with('/') || entry.name.starts_with("__MACOSX/");
        if is_clutter && !no_size {
            return Ok(if entry.size == 0 { State::Header } else { State::Pass { left: entry.size } });
        }
        if entry.flags & FLAG_ENCRYPTED != 0 {
            return refuse("is encrypted: unpack it first");
        }
        self.found = true;
        match entry.method {
            METHOD_DEFLATE => Ok(State::Deflated),
            METHOD_STORED if !no_size && entry.size < u64::from(u32::MAX) => {
                Ok(if entry.size == 0 { State::After } else { State::Stored { left: entry.size } })
            }
            METHOD_STORED => refuse("is stored without its size: unpack it first"),
            _ => refuse("is packed by a method other than deflate: unpack it first"),
        }
    }

    /// Says so when there are more files than the one that was read.
    fn look_for_more(&mut self, input: &[u8], diagnostics: &mut Diagnostics) {
        let keep = self.held.len().min(3);
        self.held.drain(..self.held.len() - keep);
        self.held.extend_from_slice(input);
        for at in memchr::memmem::find_iter(&self.held, &LOCAL_HEADER) {
            let more =
                read_entry(&self.held[at..]).filter(|e| !e.name.ends_with('/') && !e.name.starts_with("__MACOSX/"));
            if let Some(entry) = more.filter(|e| matches!(e.method, METHOD_STORED | METHOD_DEFLATE)) {
                diagnostics.add("zip_more_files", Some(self.offset), || {
                    format!("the zip archive holds more files, such as {:?}: only the first was read", entry.name)
                });
                break;
            }
        }
        let keep = self.held.len().min(3);
        self.held.drain(..self.held.len() - keep);
    }
}

/// The local header at the front, if it is all there.
fn read_entry(bytes: &[u8]) -> Option<Entry> {
    let fixed = bytes.get(..LOCAL_HEADER_BYTES)?;
    let u16_at = |at: usize| u16::from_le_bytes([fixed[at], fixed[at + 1]]);
    let size = u32::from_le_bytes([fixed[18], fixed[19], fixed[20], fixed[21]]);
    let name_len = usize::from(u16_at(26));
    let header_len = LOCAL_HEADER_BYTES + name_len + usize::from(u16_at(28));
    let header = bytes.get(..header_len)?;
    let name = &header[LOCAL_HEADER_BYTES..LOCAL_HEADER_BYTES + name_len];
    Some(Entry {
        name: String::from_utf8_lossy(name).into_owned(),
        flags: u16_at(6),
        method: u16_at(8),
        size: u64::from(size),
        header_len,
    })
}
