//! The files of an archive in pieces, one after another. The header in front of each file is enough, because a deflate stream knows its own
//! end.

use super::header::{DEFLATED, DIRECTORY, LOCAL, LocalHeader, STORED};
use crate::inflate::{Inflater, Sink};
use ns_base::{Diagnostics, Refusal, refuse};

/// Bytes of sizes that may stand between two files.
const DESCRIPTOR_BYTES: usize = 24;

enum State {
    Header,
    Deflated,
    /// A file that is stored as it is, or one that is not read.
    Stored {
        left: u64,
        is_read: bool,
    },
    /// A file has been read. It may be followed by its sizes (if they were not known before), another file, or the
    /// list of files.
    Between,
    /// After the last file.
    After,
}

impl State {
    fn stored(left: u64, is_read: bool) -> Self {
        if left == 0 { Self::Between } else { Self::Stored { left, is_read } }
    }
}

/// Reads the files of a zip archive, one after another.
pub struct Unzip {
    state: State,
    /// Bytes of a header that is not complete.
    part: Vec<u8>,
    inflater: Inflater,
    offset: u64,
    /// Number of files that were begun.
    files: u32,
    /// Name of a file that begins here; the caller takes it.
    pub begun: Option<String>,
}

impl Default for Unzip {
    fn default() -> Self {
        let (state, inflater) = (State::Header, Inflater::default());
        Self { state, part: Vec::new(), inflater, offset: 0, files: 0, begun: None }
    }
}

impl Unzip {
    /// Takes the next piece of the archive, up to the start of another file, and says how much of the piece is left. Fails when the
    /// archive has nothing that can be read, when it is a decompression bomb, and the errors of the sink.
    pub fn push(&mut self, mut input: &[u8], sink: Sink<'_>, diagnostics: &mut Diagnostics) -> Result<usize, Refusal> {
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
                        self.damage(diagnostics)?;
                        return Ok(0);
                    };
                    self.offset += fed.used as u64;
                    input = &input[fed.used..];
                    if fed.ended {
                        self.state = State::Between;
                    }
                }
                State::Stored { left, is_read } => {
                    let (taken, rest) = input.split_at(usize::try_from(*left).unwrap_or(usize::MAX).min(input.len()));
                    if *is_read {
                        sink(taken)?;
                    }
                    self.offset += taken.len() as u64;
                    self.state = State::stored(*left - taken.len() as u64, *is_read);
                    input = rest;
                }
                State::Between => input = self.between(input),
                State::After => return Ok(0),
            }
        }
        Ok(0)
    }

    /// Takes the end of the archive. Fails when no file was found in it.
    pub fn finish(&mut self, diagnostics: &mut Diagnostics) -> Result<(), Refusal> {
        if self.files == 0 {
            return Err(refuse!("the zip file cannot be read: it holds no file"));
        }
        if !matches!(self.state, State::After | State::Between) {
            diagnostics
                .add("zip_cut", Some(self.offset), || "the zip archive is cut off: read as far as it goes".to_owned());
        }
        Ok(())
    }

    fn damage(&mut self, diagnostics: &mut Diagnostics) -> Result<(), Refusal> {
        if self.inflater.written() == 0 && self.files == 1 {
            return Err(refuse!("the zip file cannot be read: its file does not inflate"));
        }
        self.state = State::After;
        diagnostics.add("zip_damaged", Some(self.offset), || {
            "the zip archive is damaged near here (in the compressed file): read as far as it goes".to_owned()
        });
        Ok(())
    }

    fn header<'a>(&mut self, input: &'a [u8], diagnostics: &mut Diagnostics) -> Result<&'a [u8], Refusal> {
        let before = self.part.len();
        // Names are at most 64 KiB, extra fields too.
        self.part.extend_from_slice(&input[..input.len().min(1 << 18)]);
        if self.part.len() < LOCAL.len() {
            return Ok(&[]);
        }
        if !self.part.starts_with(LOCAL) {
            return Err(refuse!(
                "the zip file cannot be read: it holds no file that can be read (only folders, or its list of files)"
            ));
        }
        let Some(header) = LocalHeader::parse(&self.part) else { return Ok(&[]) };
        let len = usize::try_from(header.len).unwrap_or(usize::MAX);
        self.offset += header.len;
        self.state = self.enter(header, diagnostics)?;
        self.part.clear();
        Ok(&input[len - before..])
    }

    fn enter(&mut self, header: LocalHeader, diagnostics: &mut Diagnostics) -> Result<State, Refusal> {
        let has_size = !header.has_size_later();
        let pass = if has_size { State::stored(header.packed, false) } else { State::After };
        let is_clutter = header.name.ends_with('/') || header.name.starts_with("__MACOSX/");
        if is_clutter && has_size {
            return Ok(pass);
        }
        let why = match header.method {
            _ if header.is_encrypted() => "is encrypted: unpack it first",
            DEFLATED => {
                self.inflater.restart();
                return Ok(self.begin(header.name, State::Deflated));
            }
            STORED if has_size && header.packed < u64::from(u32::MAX) => {
                return Ok(self.begin(header.name, State::stored(header.packed, true)));
            }
            STORED => "is stored without its size: unpack it first",
            _ => "is packed by a method other than deflate: unpack it first",
        };
        let name = header.name;
        if self.files == 0 {
            return Err(refuse!("the zip file cannot be read: {name:?} {why}"));
        }
        diagnostics.add("zip_other_file", Some(self.offset), || format!("in the archive, {name:?} {why}"));
        Ok(pass)
    }

    fn begin(&mut self, name: String, body: State) -> State {
        self.files += 1;
        self.begun = Some(name);
        body
    }

    /// Looks for the header of another file, or of the list of files, after the sizes of the previous file.
    fn between<'a>(&mut self, input: &'a [u8]) -> &'a [u8] {
        let most = DESCRIPTOR_BYTES + LOCAL.len();
        let (taken, rest) = input.split_at(input.len().min(most - self.part.len()));
        self.part.extend_from_slice(taken);
        let at = |header: &[u8]| memchr::memmem::find(&self.part, header);
        let (file, list) = (at(LOCAL), at(DIRECTORY));
        if let Some(at) = file.filter(|&at| list.is_none_or(|list| at < list)) {
            // These bytes are shorter than a header, so they do not hold data of the file itself.
            self.part.drain(..at);
            self.offset += at as u64;
            self.state = State::Header;
        } else if list.is_some() || self.part.len() == most {
            self.part.clear();
            self.state = State::After;
        }
        rest
    }
}
