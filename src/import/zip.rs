//! Zip archives, by their central directory.
//!
//! PyTorch's own writer sets the sizes in local headers to 0 and pads them, so only the central directory is used. 64-bit
//! sizes (zip64), stored and deflated entries are supported; nothing is unpacked beyond the caller's limit.

use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};
use thiserror::Error;

use super::source::FileError;
use super::{ImportError, MediumError, ModelBytes, Place};

/// Most bytes of the end record with its comment.
const MAX_END: u64 = 22 + 65_535;

/// Most bytes of a central directory: a million entries with ordinary names.
const MAX_DIRECTORY: u64 = 128 << 20;

/// An entry of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its compression method: 0 stored, 8 deflated.
    method: u16,
    /// Bytes in the archive.
    packed: u64,
    /// Bytes after unpacking.
    pub size: u64,
    /// Offset of its local header.
    header: u64,
}

/// A zip archive.
pub struct Archive<'a> {
    bytes: &'a dyn ModelBytes,
    /// Its entries, in the order of the directory.
    pub entries: Vec<Entry>,
}

impl<'a> Archive<'a> {
    /// Reads the central directory.
    ///
    /// # Errors
    /// When it is missing (the file is truncated) or damaged.
    pub fn open(bytes: &'a dyn ModelBytes) -> Result<Self, ImportError> {
        let (count, size, offset) = end_record(bytes)?;
        if size > MAX_DIRECTORY || offset.checked_add(size).is_none_or(|end| end > bytes.size()) {
            return Err(ImportError::at(Place::Byte(offset), ArchiveError::DirectoryPlace { size, offset }));
        }
        let directory = read(bytes, offset, size).map_err(|e| e.at(offset))?;
        let mut entries = Vec::new();
        let mut at = 0;
        while (entries.len() as u64) < count {
            let Some((entry, next)) = directory_entry(&directory, at) else {
                let damaged = ArchiveError::Directory { read: entries.len(), count };
                return Err(ImportError::at(Place::Byte(offset + at as u64), damaged));
            };
            entries.push(entry);
            at = next;
        }
        Ok(Self { bytes, entries })
    }

    /// The first entry whose name ends with `end`.
    #[must_use]
    pub fn ending(&self, end: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.name.ends_with(end))
    }

    /// Offset of a stored entry's bytes; `None` for a packed entry.
    ///
    /// # Errors
    /// When its local header is outside the file.
    pub fn stored_at(&self, entry: &Entry) -> Result<Option<u64>, ImportError> {
        if entry.method != 0 || entry.packed != entry.size {
            return Ok(None);
        }
        self.data_at(entry).map(Some)
    }

    /// The bytes of an entry, at most `limit`.
    ///
    /// # Errors
    /// When the entry has more bytes, uses another compression method, or is damaged.
    pub fn content(&self, entry: &Entry, limit: u64) -> Result<Vec<u8>, ImportError> {
        let at = |error: ArchiveError| ImportError::at(Place::Entry(entry.name.clone()), error);
        if entry.size > limit || entry.packed > limit {
            return Err(at(ArchiveError::TooLong { size: entry.size.max(entry.packed), most: limit }));
        }
        let start = self.data_at(entry)?;
        let packed = read(self.bytes, start, entry.packed).map_err(|e| at(ArchiveError::Content(e)))?;
        match entry.method {
            0 => Ok(packed),
            // An entry that unpacks to more bytes than the directory says is damaged or was made to fill the memory.
            8 => unpack(&packed, usize::try_from(entry.size).unwrap_or(usize::MAX)).map_err(|e| at(e.into())),
            other => Err(at(ArchiveError::Method(other))),
        }
    }

    /// Offset of an entry's bytes.
    fn data_at(&self, entry: &Entry) -> Result<u64, ImportError> {
        let at = |error: ArchiveError| ImportError::at(Place::Entry(entry.name.clone()), error);
        let wrong = || at(ArchiveError::NoHeader);
        let header = read(self.bytes, entry.header, 30).map_err(|_| wrong())?;
        if header.get(..4) != Some(b"PK\x03\x04") {
            return Err(wrong());
        }
        let names =
            u64::from(u16_at(&header, 26).ok_or_else(wrong)?) + u64::from(u16_at(&header, 28).ok_or_else(wrong)?);
        let start = entry.header.checked_add(30 + names).ok_or_else(wrong)?;
        match start.checked_add(entry.packed) {
            Some(end) if end <= self.bytes.size() => Ok(start),
            _ => Err(at(ArchiveError::PastEnd)),
        }
    }
}

/// Why an archive is not read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// No record at its end.
    #[error("the archive has no central directory: the file is cut off")]
    CutOff,
    /// No record of 64-bit sizes where its end says that there is one.
    #[error("the archive's zip64 record is not there")]
    NoLongRecord,
    /// A directory that is too long, or that lies outside the file.
    #[error("the archive's directory of {size} bytes at byte {offset} is not in the file")]
    DirectoryPlace {
        /// Its bytes.
        size: u64,
        /// Where it begins.
        offset: u64,
    },
    /// A directory with something else than an entry in it.
    #[error("the archive's directory is damaged after {read} of {count} entries")]
    Directory {
        /// Entries in front of it.
        read: usize,
        /// Entries there should be.
        count: u64,
    },
    /// A part of the archive that the file does not give.
    #[error(transparent)]
    Stretch(StretchError),
    /// The bytes of an entry that the file does not give.
    #[error(transparent)]
    Content(StretchError),
    /// An entry that is longer than what is read of it.
    #[error("it has {size} bytes and at most {most} are read")]
    TooLong {
        /// Its bytes.
        size: u64,
        /// How many it may have.
        most: u64,
    },
    /// An entry without its local header.
    #[error("its header is not in the file")]
    NoHeader,
    /// An entry that is longer than the rest of the file.
    #[error("its bytes run past the end of the file")]
    PastEnd,
    /// An entry that is packed in another way.
    #[error("it is packed by method {0}; stored and deflated entries are read")]
    Method(u16),
    /// An entry that is not unpacked.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
}

impl ArchiveError {
    /// What to do instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::CutOff => "download or copy it again",
            Self::Stretch(StretchError::Medium(error)) => error.instead(),
            _ => "save or download the file again",
        }
    }
}

/// Why bytes of an archive are not in the file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StretchError {
    /// The medium does not give them.
    #[error(transparent)]
    Medium(FileError),
    /// The file ends before so many bytes.
    #[error("{0} bytes are wanted and the file ends earlier")]
    Short(u64),
}

impl From<MediumError> for StretchError {
    fn from(error: MediumError) -> Self {
        Self::Medium(error.into())
    }
}

impl StretchError {
    fn at(self, offset: u64) -> ImportError {
        ImportError::at(Place::Byte(offset), ArchiveError::Stretch(self))
    }
}

/// Why deflated bytes cannot be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UnpackError {
    /// They unpack to more bytes than this limit.
    #[error("it has more than {0} bytes after unpacking")]
    TooMany(usize),
    /// They are damaged.
    #[error("it cannot be unpacked ({0:?})")]
    Damaged(TINFLStatus),
}

/// Unpacks deflated bytes, at most `limit`.
///
/// # Errors
/// When there are more or when they are damaged.
pub fn unpack(packed: &[u8], limit: usize) -> Result<Vec<u8>, UnpackError> {
    decompress_to_vec_with_limit(packed, limit).map_err(|e| match e.status {
        TINFLStatus::HasMoreOutput => UnpackError::TooMany(limit),
        other => UnpackError::Damaged(other),
    })
}

/// Number of entries, and size and offset of the central directory.
fn end_record(bytes: &dyn ModelBytes) -> Result<(u64, u64, u64), ImportError> {
    let size = bytes.size();
    let from = size.saturating_sub(MAX_END);
    let tail = read(bytes, from, size - from).map_err(|e| e.at(from))?;
    let found = (0..tail.len().saturating_sub(21)).rev().find(|&at| {
        let comment = || u16_at(&tail, at + 20).map(usize::from);
        tail[at..].starts_with(b"PK\x05\x06") && comment().is_some_and(|n| at + 22 + n <= tail.len())
    });
    let cut_off = || ImportError::of_file(ArchiveError::CutOff);
    let at = found.ok_or_else(cut_off)?;
    let count = u64::from(u16_at(&tail, at + 10).ok_or_else(cut_off)?);
    let size = u64::from(u32_at(&tail, at + 12).ok_or_else(cut_off)?);
    let offset = u64::from(u32_at(&tail, at + 16).ok_or_else(cut_off)?);
    if count != 0xFFFF && size != 0xFFFF_FFFF && offset != 0xFFFF_FFFF {
        return Ok((count, size, offset));
    }
    // The numbers are in the zip64 record; the locator before this record points to it.
    let locator = at.checked_sub(20).filter(|&l| tail[l..].starts_with(b"PK\x06\x07")).ok_or_else(cut_off)?;
    let record_at = u64_at(&tail, locator + 8).ok_or_else(cut_off)?;
    let record = read(bytes, record_at, 56).map_err(|e| e.at(record_at))?;
    if !record.starts_with(b"PK\x06\x06") {
        return Err(ImportError::at(Place::Byte(record_at), ArchiveError::NoLongRecord));
    }
    let number = |at| u64_at(&record, at).ok_or_else(cut_off);
    Ok((number(32)?, number(40)?, number(48)?))
}

/// The directory entry at an offset, and the offset of the next one.
fn directory_entry(directory: &[u8], at: usize) -> Option<(Entry, usize)> {
    let record = directory.get(at..)?;
    if !record.starts_with(b"PK\x01\x02") {
        return None;
    }
    let names = usize::from(u16_at(record, 28)?);
    let extras = usize::from(u16_at(record, 30)?);
    let comment = usize::from(u16_at(record, 32)?);
    let name = String::from_utf8_lossy(record.get(46..46 + names)?).into_owned();
    let extra = record.get(46 + names..46 + names + extras)?;
    let mut entry = Entry {
        name,
        method: u16_at(record, 10)?,
        packed: u64::from(u32_at(record, 20)?),
        size: u64::from(u32_at(record, 24)?),
        header: u64::from(u32_at(record, 42)?),
    };
    long_sizes(&mut entry, extra);
    Some((entry, at + 46 + names + extras + comment))
}

/// 64-bit sizes, in the order of the fields whose bits are all ones.
fn long_sizes(entry: &mut Entry, extra: &[u8]) {
    let mut rest = extra;
    while let (Some(kind), Some(len)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let Some(body) = rest.get(4..4 + usize::from(len)) else { return };
        if kind == 1 {
            let mut numbers = body.chunks_exact(8).filter_map(|c| u64_at(c, 0));
            for field in [&mut entry.size, &mut entry.packed, &mut entry.header] {
                if *field == 0xFFFF_FFFF
                    && let Some(number) = numbers.next()
                {
                    *field = number;
                }
            }
        }
        rest = &rest[4 + usize::from(len)..];
    }
}

/// All bytes of a file.
fn read(bytes: &dyn ModelBytes, offset: u64, len: u64) -> Result<Vec<u8>, StretchError> {
    let wanted = usize::try_from(len).unwrap_or(usize::MAX);
    let got = bytes.slice(offset, wanted)?;
    if got.len() == wanted { Ok(got) } else { Err(StretchError::Short(len)) }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
