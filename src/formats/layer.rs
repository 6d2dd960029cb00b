//! What lies around the text of a file, found layer by layer: gzip, twice at most, UTF-16, or a zip archive around all of it; then the reader.

use super::archive::Archive;
use super::chrome::ChromeReader;
use super::document::DocumentReader;
use super::ftrace::FtraceReader;
use super::ftrace_page::read_page;
use super::interface::{empty, not_a_profile};
use super::json_reader::JsonReader;
use super::memory_timeline::read_memory_timeline;
use super::perfetto::PerfettoReader;
use super::sampled::{CollapsedReader, PerfScriptReader, read_pprof};
use super::sniff::{FileKind, SNIFF_BYTES, sniff};
use super::utf16::Utf16;
use super::xplane::XPlaneReader;
use super::{ChunkedReader, ReadLimits, ReadProgress};
use ns_base::{Diagnostics, Refusal};
use ns_container::gzip::Gunzip;
use ns_container::inflate::grows_too_much;
use ns_profile::Profile;

/// The ratio by which a text that is packed twice may grow when it is first unpacked.
const MAX_REPACKED_RATIO: u64 = 4;
/// Number of bytes below which [`MAX_REPACKED_RATIO`] is not checked.
const FREE_REPACKED_BYTES: u64 = 1 << 20;

/// What may still be found inside a layer.
#[derive(Clone, Copy)]
struct Inside {
    /// Layers of gzip.
    gzips: u32,
    utf16: bool,
    zip: bool,
}

/// A layer of a file: the bytes that come in are unpacked for the layer inside, or read.
pub(super) struct Layer {
    state: State,
    inside: Inside,
    limits: ReadLimits,
    /// Bytes that came in.
    bytes: u64,
}

enum State {
    /// The first bytes, too few to tell what they are.
    Head(Vec<u8>),
    Gzip(Box<Gzip>),
    Utf16(Utf16, Box<Layer>),
    Zip(Box<Archive>),
    Text(Box<dyn ChunkedReader>),
}

struct Gzip {
    gunzip: Gunzip,
    diagnostics: Diagnostics,
    inner: Layer,
}

impl Layer {
    /// The outermost layer of a file, which may be an archive unless it is itself a file of one.
    pub(super) const fn of_file(limits: ReadLimits, may_be_archive: bool) -> Self {
        Self::new(limits, Inside { gzips: 2, utf16: true, zip: may_be_archive })
    }

    const fn new(limits: ReadLimits, inside: Inside) -> Self {
        Self { state: State::Head(Vec::new()), inside, limits, bytes: 0 }
    }

    /// Takes the next piece. `file_bytes`: bytes of the file so far.
    pub(super) fn push(&mut self, piece: &[u8], file_bytes: u64) -> Result<(), Refusal> {
        self.bytes += piece.len() as u64;
        self.pass(piece, file_bytes)
    }

    fn pass(&mut self, piece: &[u8], file_bytes: u64) -> Result<(), Refusal> {
        match &mut self.state {
            // No more than the head is looked at, so that little of a decompression bomb is in memory.
            State::Head(head) => {
                let (taken, rest) = piece.split_at(piece.len().min(SNIFF_BYTES - head.len()));
                head.extend_from_slice(taken);
                if head.len() == SNIFF_BYTES {
                    self.open(file_bytes)?;
                    self.pass(rest, file_bytes)?;
                }
                Ok(())
            }
            State::Gzip(gzip) => {
                // Packed data cannot be packed further; if it was, this is a decompression bomb.
                if self.bytes > FREE_REPACKED_BYTES && self.bytes / MAX_REPACKED_RATIO > file_bytes {
                    return Err(grows_too_much(self.bytes, file_bytes));
                }
                let Gzip { gunzip, diagnostics, inner } = &mut **gzip;
                gunzip.push(piece, &mut |bytes| inner.push(bytes, file_bytes), diagnostics)
            }
            State::Utf16(utf16, inner) => inner.push(utf16.decode(piece), file_bytes),
            State::Zip(archive) => archive.push(piece),
            State::Text(reader) => reader.push(piece),
        }
    }

    /// Finds from the head what the layer is, and passes the head on.
    fn open(&mut self, file_bytes: u64) -> Result<(), Refusal> {
        let State::Head(head) = &mut self.state else { return Ok(()) };
        let head = std::mem::take(head);
        let (inside, limits) = (self.inside, self.limits);
        self.state = match sniff(&head) {
            FileKind::Gzip if inside.gzips > 0 => {
                let inner = Self::new(limits, Inside { gzips: inside.gzips - 1, zip: false, ..inside });
                State::Gzip(Box::new(Gzip { gunzip: Gunzip::default(), diagnostics: Diagnostics::new(), inner }))
            }
            FileKind::Utf16 if inside.utf16 => {
                let inner = Self::new(limits, Inside { utf16: false, zip: false, ..inside });
                State::Utf16(Utf16::of(&head), Box::new(inner))
            }
            FileKind::Zip if inside.zip => State::Zip(Box::new(Archive::new(limits))),
            // Only white space so far: only JSON may begin with this much of it.
            FileKind::Empty if head.len() >= SNIFF_BYTES => State::Text(reader_for(FileKind::JsonObject, limits)?),
            kind => State::Text(reader_for(kind, limits)?),
        };
        self.pass(&head, file_bytes)
    }

    /// Whether the file is an archive; its last bytes have come.
    pub(super) fn is_archive(&mut self, file_bytes: u64) -> Result<bool, Refusal> {
        self.open(file_bytes)?;
        Ok(matches!(self.state, State::Zip(_)))
    }

    /// Takes the end of the file and gives its profiles. `title`: the file's name.
    pub(super) fn finish(mut self, title: &str, file_bytes: u64) -> Result<Vec<Profile>, Refusal> {
        self.open(file_bytes)?;
        match self.state {
            State::Head(_) => Err(empty()),
            State::Gzip(gzip) => {
                let Gzip { mut gunzip, mut diagnostics, inner } = *gzip;
                gunzip.finish(&mut diagnostics)?;
                let mut profiles = inner.finish(title, file_bytes)?;
                profiles.iter_mut().for_each(|profile| profile.diagnostics.append(&diagnostics));
                Ok(profiles)
            }
            State::Utf16(_, inner) => inner.finish(title, file_bytes),
            State::Zip(archive) => archive.finish(title),
            State::Text(reader) => reader.finish_each(),
        }
    }

    /// How far it has come. Bytes are those of the innermost text.
    pub(super) fn progress(&self) -> ReadProgress {
        match &self.state {
            State::Head(_) => ReadProgress { text_bytes: self.bytes, ..ReadProgress::default() },
            State::Gzip(gzip) => gzip.inner.progress(),
            State::Utf16(_, inner) => ReadProgress { text_bytes: self.bytes, ..inner.progress() },
            State::Zip(archive) => archive.progress(),
            State::Text(reader) => ReadProgress { text_bytes: self.bytes, ..reader.progress() },
        }
    }
}

/// The reader of a kind of text. A file of white space counts as empty. A new format gets its line here.
fn reader_for(kind: FileKind, limits: ReadLimits) -> Result<Box<dyn ChunkedReader>, Refusal> {
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
        FileKind::Empty => Err(empty()),
        FileKind::Gzip | FileKind::Zip => {
            Err(not_a_profile("an archive inside a packed file, or a file packed three times (unpack it)"))
        }
        other => Err(not_a_profile(other.describe())),
    }
}
