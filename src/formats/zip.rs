//! The files of a zip archive, in pieces.
//!
//! Written by hand rather than with the `zip` crate: that needs a seekable source, which a file read in chunks is
//! not, and adds about 75 KiB (compressed) to the wasm for features a trace never uses. The local header in front of
//! each file (APPNOTE 4.3.7) is enough here, because a deflate stream knows its own end.

use super::ReadError;
use super::inflate::{Inflater, Sink};
use ns_base::Diagnostics;

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
    /// The bytes of an entry that is not one of the user's files.
    Pass {
        left: u64,
    },
    /// A file has been read. It may be followed by its sizes (if they were not known before), another file, or the
    /// list of files.
    Between,
    /// After the last file.
    After,
}

impl State {
    fn pass(left: u64) -> Self {
        if left == 0 { Self::Between } else { Self::Pass { left } }
    }
}

/// Bytes of sizes that may stand between two files.
const DESCRIPTOR_BYTES: usize = 24;
const LIST_HEADER: [u8; 4] = *b"PK\x01\x02";

/// Reads the files of a zip archive, one after another.
pub(super) struct Unzip {
    state: State,
    held: Vec<u8>,
    inflater: Inflater,
    offset: u64,
    found: bool,
    /// Number of files that were begun.
    files: u32,
    /// Name of a file that begins here.
    pub(super) begun: Option<String>,
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
        Self {
            state: State::Header,
            held: Vec::new(),
            inflater: Inflater::new(),
            offset: 0,
            found: false,
            files: 0,
            begun: None,
        }
    }

    /// Takes the next piece of the archive, up to the start of another file, and says how much of the piece is left.
    pub(super) fn push(
        &mut self,
        mut input: &[u8],
        sink: Sink<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<usize, ReadError> {
        while !input.is_empty() {
            match &mut self.state {
                State::Header => {
                    input = self.header(input, diagnostics)?;
                    if self.begun.is_some() {
                        return Ok(input.len());
                    }
                }
                State::Deflated => {
                    let Some(fed) = self.inflater.feed(input, sink)? else {
                        self.damaged(diagnostics)?;
                        return Ok(0);
                    };
                    self.offset += fed.used as u64;
                    input = &input[fed.used..];
                    if fed.ended {
                        self.state = State::Between;
                    }
                }
                State::Stored { left } => {
                    let take = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                    sink(&input[..take])?;
                    *left -= take as u64;
                    self.offset += take as u64;
                    input = &input[take..];
                    if *left == 0 {
                        self.state = State::Between;
                    }
                }
                State::Pass { left } => {
                    let take = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                    *left -= take as u64;
                    self.offset += take as u64;
                    input = &input[take..];
                    if *left == 0 {
                        self.state = State::Between;
                    }
                }
                State::Between => input = self.between(input),
                State::After => return Ok(0),
            }
        }
        Ok(0)
    }

    /// Takes the end of the file.
    pub(super) fn finish(&mut self, diagnostics: &mut Diagnostics) -> Result<(), ReadError> {
        if !self.found {
            return Err(ReadError::Damaged { container: "zip", what: "it holds no file".to_owned() });
        }
        if !matches!(self.state, State::After | State::Between) {
            diagnostics
                .add("zip_cut", Some(self.offset), || "the zip archive is cut off: read as far as it goes".to_owned());
        }
        Ok(())
    }

    fn damaged(&mut self, diagnostics: &mut Diagnostics) -> Result<(), ReadError> {
        if self.inflater.written == 0 && self.files == 1 {
            return Err(ReadError::Damaged { container: "zip", what: "its file does not inflate".to_owned() });
        }
        self.state = State::After;
        diagnostics.add("zip_damaged", Some(self.offset), || {
            "the zip archive is damaged near here (in the compressed file): read as far as it goes".to_owned()
        });
        Ok(())
    }

    fn header<'a>(&mut self, input: &'a [u8], diagnostics: &mut Diagnostics) -> Result<&'a [u8], ReadError> {
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
        let header_len = entry.header_len;
        self.offset += header_len as u64;
        self.state = self.enter(entry, diagnostics)?;
        self.held.clear();
        Ok(&input[header_len - before..])
    }

    fn enter(&mut self, entry: Entry, diagnostics: &mut Diagnostics) -> Result<State, ReadError> {
        let no_size = entry.flags & FLAG_SIZES_LATER != 0;
        let pass = if no_size { State::After } else { State::pass(entry.size) };
        let is_clutter = entry.name.ends_with('/') || entry.name.starts_with("__MACOSX/");
        if is_clutter && !no_size {
            return Ok(pass);
        }
        let refused = match entry.method {
            _ if entry.flags & FLAG_ENCRYPTED != 0 => "is encrypted: unpack it first",
            METHOD_DEFLATE => {
                self.inflater.restart();
                return Ok(self.begin(entry.name, State::Deflated));
            }
            METHOD_STORED if !no_size && entry.size < u64::from(u32::MAX) => {
                let body = if entry.size == 0 { State::Between } else { State::Stored { left: entry.size } };
                return Ok(self.begin(entry.name, body));
            }
            METHOD_STORED => "is stored without its size: unpack it first",
            _ => "is packed by a method other than deflate: unpack it first",
        };
        let what = format!("{:?} {refused}", entry.name);
        if !self.found {
            return Err(ReadError::Damaged { container: "zip", what });
        }
        diagnostics.add("zip_other_file", Some(self.offset), || format!("in the archive, {what}"));
        Ok(pass)
    }

    fn begin(&mut self, name: String, body: State) -> State {
        self.found = true;
        self.files += 1;
        self.begun = Some(name);
        body
    }

    /// Looks for the header of another file, or of the list of files, after the sizes of the previous file.
    fn between<'a>(&mut self, input: &'a [u8]) -> &'a [u8] {
        let most = DESCRIPTOR_BYTES + LOCAL_HEADER.len();
        let (taken, rest) = input.split_at(input.len().min(most - self.held.len()));
        self.held.extend_from_slice(taken);
        let at = |header: &[u8]| memchr::memmem::find(&self.held, header);
        let (file, list) = (at(&LOCAL_HEADER), at(&LIST_HEADER));
        if let Some(at) = file.filter(|&at| list.is_none_or(|list| at < list)) {
            // The held bytes are shorter than a header, so they do not hold data of the file itself.
            self.held.drain(..at);
            self.offset += at as u64;
            self.state = State::Header;
        } else if list.is_some() || self.held.len() == most {
            self.held.clear();
            self.state = State::After;
        }
        rest
    }
}

/// The local header at the front, if it is complete.
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
