//! The interface between files and profiles: bytes are pushed in as they come, a profile comes out at the end.

use thiserror::Error;

use super::archive::Archive;
use super::gzip::Unpacker;
use super::plugin::settle_view;
use super::sniff::{FileKind, SNIFF_BYTES, sniff};
use super::text_reader::TextReader;
use ns_base::Diagnostics;
use ns_profile::{Profile, ProfileBuilder};

/// Why a file gave no profile.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The file is empty.
    #[error("the file is empty: there is nothing to open")]
    Empty,
    /// The file is not a profile.
    #[error(
        "this is {what}, not a profile that can be opened; expected a trace (Chrome JSON, XPlane, Perfetto, ...) or a \
         profile (speedscope, pprof, Firefox, ...), plain, .gz or .zip"
    )]
    NotAProfile {
        /// The kind of file that it looks like.
        what: String,
    },
    /// It cannot be unpacked.
    #[error("the {container} file cannot be read: {what}")]
    Damaged {
        /// `gzip` or `zip`.
        container: &'static str,
        /// What is wrong.
        what: String,
    },
    /// It unpacks to so many bytes that it must be a decompression bomb.
    #[error(
        "the packed file is not a trace: {taken} bytes unpack to more than {written}; unpack it yourself if you trust it"
    )]
    GrowsTooMuch {
        /// Bytes unpacked so far.
        written: u64,
        /// Packed bytes they came from.
        taken: u64,
    },
    /// Its format has to be in memory as a whole, and the file is too large for that.
    #[error("the file is too large for its format, which can only be read as a whole: more than {limit} bytes of text")]
    DocumentTooLarge {
        /// The most there may be, in bytes.
        limit: u64,
    },
    /// The profile needs more memory than is available.
    #[error("the profile is too large: {bytes} bytes of memory after {events} events; cut the trace to a shorter time")]
    TooLarge {
        /// Events read so far.
        events: u64,
        /// Memory they take.
        bytes: u64,
    },
}

/// How far a reader has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadProgress {
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes of text they unpacked to.
    pub text_bytes: u64,
    /// Events found.
    pub events: u64,
}

/// The memory that a reader may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Memory for the collected events, in bytes. Finishing needs up to half as much again for a moment.
    pub store_bytes: u64,
    /// Limit for the text of a format that has to be in memory as a whole, in bytes.
    pub document_bytes: u64,
}

impl ReadLimits {
    /// Checks that the collected events fit.
    pub(super) fn check(self, builder: &ProfileBuilder) -> Result<(), ReadError> {
        let (bytes, events) = (builder.bytes() as u64, builder.events().max(builder.slice_count()));
        if bytes > self.store_bytes || events >= u64::from(u32::MAX) - 1 {
            return Err(ReadError::TooLarge { events, bytes });
        }
        Ok(())
    }
}

impl Default for ReadLimits {
    /// The memory that fits into a wasm memory of 4 GiB next to everything else; no limit where pointers are wider.
    fn default() -> Self {
        if usize::BITS == 32 {
            Self { store_bytes: 2 << 30, document_bytes: 1 << 30 }
        } else {
            Self { store_bytes: u64::MAX, document_bytes: u64::MAX }
        }
    }
}

/// Reads a file that comes in pieces.
pub trait ChunkedReader {
    /// Takes the next piece, of any size.
    ///
    /// # Errors
    /// When the file gives no profile; damage of single events is counted and is never an error.
    fn push(&mut self, chunk: &[u8]) -> Result<(), ReadError>;

    /// Takes the end of the file and gives the profile.
    ///
    /// # Errors
    /// When the file does not give a profile.
    fn finish(self: Box<Self>) -> Result<Profile, ReadError>;

    /// Takes the end of the file and returns its profiles: several if they have no common axis. Each has its own title;
    /// the first is the one to show.
    ///
    /// # Errors
    /// When the file does not give a profile.
    fn finish_each(self: Box<Self>) -> Result<Vec<Profile>, ReadError> {
        self.finish().map(|profile| vec![profile])
    }

    /// How far it has come.
    fn progress(&self) -> ReadProgress;
}

/// Reads a file of any known format: unpacks it, finds its format, and reads it.
pub struct ProfileReader {
    title: String,
    head: Vec<u8>,
    unpacker: Option<Unpacker>,
    limits: ReadLimits,
    text: TextReader,
    diagnostics: Diagnostics,
    file_bytes: u64,
    /// The files of an archive, if it is one.
    archive: Option<Archive>,
    /// Whether this is a file of an archive.
    is_inner: bool,
}

impl ProfileReader {
    /// A reader of a file with this name, which is used only as the profile's title.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self::with_limits(title, ReadLimits::default())
    }

    /// [`Self::new`] with other limits.
    #[must_use]
    pub fn with_limits(title: &str, limits: ReadLimits) -> Self {
        Self {
            title: title.to_owned(),
            head: Vec::new(),
            unpacker: None,
            limits,
            text: TextReader::new(limits),
            diagnostics: Diagnostics::new(),
            file_bytes: 0,
            archive: None,
            is_inner: false,
        }
    }

    /// A reader for a file inside an archive.
    pub(super) fn inner(title: &str, limits: ReadLimits) -> Self {
        Self { is_inner: true, ..Self::with_limits(title, limits) }
    }

    /// Takes the end of the file and returns its profiles: several if it is an archive of several, or has several
    /// kinds of samples. The titles of several profiles distinguish them; a single profile has the title of the file.
    ///
    /// # Errors
    /// When the file does not give a profile.
    pub fn finish_all(mut self) -> Result<Vec<Profile>, ReadError> {
        if self.unpacker.is_none() && self.archive.is_none() {
            self.start()?;
        }
        if let Some(archive) = self.archive {
            return archive.finish(&self.title);
        }
        if let Some(unpacker) = &mut self.unpacker {
            unpacker.finish(&mut self.diagnostics)?;
        }
        let mut profiles = self.text.finish()?;
        let alone = profiles.len() == 1;
        for profile in &mut profiles {
            if profile.meta.events == 0 && profile.diagnostics.count("no_events") == 0 {
                let format = profile.meta.format.clone();
                profile
                    .diagnostics
                    .add("no_events", None, || format!("the file is of the format {format}, but holds no events"));
            }
            if alone {
                self.title.clone_into(&mut profile.meta.title);
                settle_view(profile, &self.title);
            }
            profile.diagnostics.append(&self.diagnostics);
        }
        Ok(profiles)
    }

    /// Detects from the head how the file is packed, and unpacks the head.
    fn start(&mut self) -> Result<(), ReadError> {
        let head = std::mem::take(&mut self.head);
        let kind = sniff(&head);
        if kind == FileKind::Zip && !self.is_inner {
            let mut archive = Archive::new(self.limits);
            archive.push(&head)?;
            self.archive = Some(archive);
            return Ok(());
        }
        let mut unpacker = Unpacker::for_kind(kind);
        let text = &mut self.text;
        unpacker.push(&head, &mut |bytes| text.push(bytes), &mut self.diagnostics)?;
        self.unpacker = Some(unpacker);
        Ok(())
    }
}

impl ChunkedReader for ProfileReader {
    fn push(&mut self, chunk: &[u8]) -> Result<(), ReadError> {
        self.file_bytes += chunk.len() as u64;
        self.text.file_bytes = self.file_bytes;
        if let Some(archive) = &mut self.archive {
            return archive.push(chunk);
        }
        if let Some(unpacker) = &mut self.unpacker {
            let text = &mut self.text;
            return unpacker.push(chunk, &mut |bytes| text.push(bytes), &mut self.diagnostics);
        }
        self.head.extend_from_slice(chunk);
        if self.head.len() < SNIFF_BYTES { Ok(()) } else { self.start() }
    }

    fn finish(self: Box<Self>) -> Result<Profile, ReadError> {
        let (title, is_archive) = (self.title.clone(), self.archive.is_some());
        let mut profiles = self.finish_all()?.into_iter();
        let Some(mut first) = profiles.next() else { return Err(ReadError::Empty) };
        for other in profiles {
            let kind = &other.meta.title;
            if is_archive {
                first.diagnostics.add("zip_more_files", None, || {
                    format!("the zip archive holds more profiles, such as {kind:?}: this is the first")
                });
            } else {
                first.diagnostics.add("other_values", None, || format!("samples also have {kind}: not shown"));
                title.clone_into(&mut first.meta.title);
            }
        }
        Ok(first)
    }

    fn finish_each(self: Box<Self>) -> Result<Vec<Profile>, ReadError> {
        self.finish_all()
    }

    fn progress(&self) -> ReadProgress {
        if let Some(archive) = &self.archive {
            let (text_bytes, events) = archive.progress();
            return ReadProgress { file_bytes: self.file_bytes, text_bytes, events };
        }
        ReadProgress { file_bytes: self.file_bytes, ..self.text.progress() }
    }
}

/// Reads a file that is in memory as a whole.
///
/// # Errors
/// When the file does not give a profile.
pub fn read_bytes(title: &str, bytes: &[u8]) -> Result<Profile, ReadError> {
    let mut reader = Box::new(ProfileReader::new(title));
    for chunk in bytes.chunks(1 << 22) {
        reader.push(chunk)?;
    }
    reader.finish()
}
