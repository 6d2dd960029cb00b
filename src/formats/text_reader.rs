//! The unpacked text of a file: finds its kind and the reader for it. A text may be packed once more.

use super::chrome::ChromeReader;
use super::document::DocumentReader;
use super::ftrace::{FtraceReader, read_page};
use super::gzip::Gunzip;
use super::json_reader::JsonReader;
use super::memory_timeline::read_memory_timeline;
use super::perfetto::PerfettoReader;
use super::sampled::{CollapsedReader, PerfScriptReader, read_pprof};
use super::sniff::{FileKind, SNIFF_BYTES, sniff};
use super::utf16::Utf16;
use super::xplane::XPlaneReader;
use super::{ChunkedReader, ReadError, ReadLimits, ReadProgress};
use ns_base::Diagnostics;
use ns_profile::Profile;

/// The ratio by which a text that is packed twice may grow when it is first unpacked.
const MAX_REPACKED_RATIO: u64 = 4;
/// Number of bytes below which [`MAX_REPACKED_RATIO`] is not checked.
const FREE_REPACKED_BYTES: u64 = 1 << 20;

/// Reads the unpacked text once its kind is known.
pub(super) struct TextReader {
    head: Vec<u8>,
    utf16: Option<Utf16>,
    is_utf16: bool,
    reader: Option<Box<dyn ChunkedReader>>,
    bytes: u64,
    limits: ReadLimits,
    /// Bytes of the packed file so far.
    pub(super) file_bytes: u64,
    /// Whether the text may be packed once more.
    may_be_packed: bool,
    /// Whether it is packed once more.
    is_packed: bool,
}

impl TextReader {
    pub(super) fn new(limits: ReadLimits) -> Self {
        Self {
            head: Vec::new(),
            utf16: None,
            is_utf16: false,
            reader: None,
            bytes: 0,
            limits,
            file_bytes: 0,
            may_be_packed: true,
            is_packed: false,
        }
    }

    /// A reader for a text that was unpacked twice already.
    pub(super) fn of_unpacked(limits: ReadLimits) -> Self {
        Self { may_be_packed: false, ..Self::new(limits) }
    }

    pub(super) fn push(&mut self, text: &[u8]) -> Result<(), ReadError> {
        self.bytes += text.len() as u64;
        // Packed data cannot be packed further; if it was, this is a decompression bomb.
        if self.is_packed && self.bytes > FREE_REPACKED_BYTES && self.bytes / MAX_REPACKED_RATIO > self.file_bytes {
            return Err(ReadError::GrowsTooMuch { written: self.bytes, taken: self.file_bytes });
        }
        if let Some(mut utf16) = self.utf16.take() {
            let result = self.push_utf8(utf16.decode(text));
            self.utf16 = Some(utf16);
            return result;
        }
        self.push_utf8(text)
    }

    fn push_utf8(&mut self, text: &[u8]) -> Result<(), ReadError> {
        if let Some(reader) = &mut self.reader {
            return reader.push(text);
        }
        self.head.extend_from_slice(text);
        if self.head.len() < SNIFF_BYTES { Ok(()) } else { self.start(false) }
    }

    /// Finds the kind of the text from its head, and begins to read it. `last`: the head is the whole text.
    fn start(&mut self, last: bool) -> Result<(), ReadError> {
        let mut kind = sniff(&self.head);
        if kind == FileKind::Utf16 && !self.is_utf16 {
            self.is_utf16 = true;
            let mut utf16 = Utf16::of(&self.head);
            self.head = utf16.decode(&self.head).to_vec();
            self.utf16 = Some(utf16);
            if self.head.len() < SNIFF_BYTES && !last {
                return Ok(());
            }
            kind = sniff(&self.head);
        }
        // Only white space so far: only JSON may begin with this much of it.
        if kind == FileKind::Empty && self.head.len() >= SNIFF_BYTES {
            kind = FileKind::JsonObject;
        }
        self.is_packed = kind == FileKind::Gzip && self.may_be_packed;
        let mut reader: Box<dyn ChunkedReader> = match kind {
            _ if self.is_packed => Box::new(RepackedReader::new(self.limits)),
            kind => reader_for(kind, self.limits)?,
        };
        reader.push(&self.head)?;
        self.head = Vec::new();
        self.reader = Some(reader);
        Ok(())
    }

    /// How far the reader has come. Bytes are those of the innermost text.
    pub(super) fn progress(&self) -> ReadProgress {
        let inner = self.reader.as_ref().map_or(ReadProgress::default(), |r| r.progress());
        let text_bytes = if self.is_packed { inner.text_bytes } else { self.bytes };
        ReadProgress { file_bytes: self.file_bytes, text_bytes, events: inner.events }
    }

    pub(super) fn finish(mut self) -> Result<Vec<Profile>, ReadError> {
        if self.reader.is_none() {
            self.start(true)?;
        }
        match self.reader {
            Some(reader) => reader.finish_each(),
            None => Err(ReadError::Empty),
        }
    }
}

/// The reader of a kind of text. A file of white space counts as empty. A new format gets its line here.
fn reader_for(kind: FileKind, limits: ReadLimits) -> Result<Box<dyn ChunkedReader>, ReadError> {
    let document = |parse| Ok(Box::new(DocumentReader::new(limits, parse)) as Box<dyn ChunkedReader>);
    match kind {
        FileKind::ChromeObject | FileKind::ChromeArray | FileKind::JsonArray => Ok(Box::new(ChromeReader::new(limits))),
        FileKind::ChromeLines => Ok(Box::new(ChromeReader::of_lines(limits))),
        FileKind::JsonObject => Ok(Box::new(JsonReader::new(limits))),
        FileKind::CollapsedStacks => Ok(Box::new(CollapsedReader::new(limits))),
        FileKind::PerfScript => Ok(Box::new(PerfScriptReader::new(limits))),
        FileKind::Ftrace => Ok(Box::new(FtraceReader::new(limits))),
        FileKind::Markup => document(read_page),
        FileKind::JsonRows => document(read_memory_timeline),
        FileKind::Perfetto => Ok(Box::new(PerfettoReader::new(limits))),
        FileKind::Pprof => document(read_pprof),
        FileKind::XPlane => Ok(Box::new(XPlaneReader::new(limits))),
        FileKind::Empty => Err(ReadError::Empty),
        FileKind::Gzip | FileKind::Zip => Err(ReadError::NotAProfile {
            what: "an archive inside a packed file, or a file packed three times (unpack it)".to_owned(),
        }),
        other => Err(ReadError::NotAProfile { what: other.describe().to_owned() }),
    }
}

/// Unpacks the text of a file a second time, and not a third.
pub(super) struct RepackedReader {
    gzip: Gunzip,
    text: TextReader,
    diagnostics: Diagnostics,
}

impl RepackedReader {
    pub fn new(limits: ReadLimits) -> Self {
        Self { gzip: Gunzip::new(), text: TextReader::of_unpacked(limits), diagnostics: Diagnostics::new() }
    }
}

impl ChunkedReader for RepackedReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), ReadError> {
        let text = &mut self.text;
        self.gzip.push(chunk, &mut |bytes| text.push(bytes), &mut self.diagnostics)
    }

    fn finish(self: Box<Self>) -> Result<Profile, ReadError> {
        self.finish_each()?.into_iter().next().ok_or(ReadError::Empty)
    }

    fn finish_each(mut self: Box<Self>) -> Result<Vec<Profile>, ReadError> {
        self.gzip.finish(&mut self.diagnostics)?;
        let mut profiles = self.text.finish()?;
        for profile in &mut profiles {
            profile.diagnostics.append(&self.diagnostics);
        }
        Ok(profiles)
    }

    fn progress(&self) -> ReadProgress {
        self.text.progress()
    }
}
