//! Archives with random access, by their central directory.
//!
//! PyTorch's own writer sets the sizes in local headers to 0 and pads them, so only the central directory is used. 64-bit
//! sizes (zip64), stored and deflated entries are supported; nothing is unpacked beyond the caller's limit.

use super::header::{DEFLATED, DIRECTORY, END, LocalHeader, STORED, u16_at, u32_at, u64_at};
use crate::inflate::unpack;
use crate::{ByteSource, exactly};
use ns_base::{Refusal, refuse};

/// What to do with a damaged archive.
const AGAIN: &str = "save or download the file again";

/// Most bytes of the end record with its comment.
const MAX_END: u64 = 22 + 65_535;

/// Most bytes of a central directory: a million entries with ordinary names.
const MAX_DIRECTORY: u64 = 128 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
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

pub struct Archive<'a> {
    bytes: &'a dyn ByteSource,
    /// Its entries, in the order of the directory.
    pub entries: Vec<Entry>,
}

impl<'a> Archive<'a> {
    /// Reads the central directory. Fails when it is missing (the file is truncated) or damaged.
    pub fn open(bytes: &'a dyn ByteSource) -> Result<Self, Refusal> {
        let (count, size, offset) = end_record(bytes)?;
        if size > MAX_DIRECTORY || offset.checked_add(size).is_none_or(|end| end > bytes.size()) {
            return Err(refuse!(
                instead = AGAIN,
                "byte {offset}: the archive's directory of {size} bytes at byte {offset} is not in the file"
            ));
        }
        let directory = at_byte(bytes, offset, size)?;
        let mut entries = Vec::new();
        let mut at = 0;
        while (entries.len() as u64) < count {
            let Some((entry, next)) = directory_entry(&directory, at) else {
                let (byte, read) = (offset + at as u64, entries.len());
                return Err(refuse!(
                    instead = AGAIN,
                    "byte {byte}: the archive's directory is damaged after {read} of {count} entries"
                ));
            };
            entries.push(entry);
            at = next;
        }
        Ok(Self { bytes, entries })
    }

    /// The first entry whose name ends with `end`.
    pub fn ending(&self, end: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.name.ends_with(end))
    }

    /// Offset of a stored entry's bytes; `None` for a packed entry. Fails when its local header is outside the file.
    pub fn stored_at(&self, entry: &Entry) -> Result<Option<u64>, Refusal> {
        if entry.method != STORED || entry.packed != entry.size {
            return Ok(None);
        }
        self.data_at(entry).map(Some)
    }

    /// The bytes of an entry, at most `limit`. Fails when the entry has more bytes, uses another compression method, or is damaged.
    pub fn content(&self, entry: &Entry, limit: u64) -> Result<Vec<u8>, Refusal> {
        let (name, most) = (&entry.name, entry.size.max(entry.packed));
        if most > limit {
            return Err(refuse!(instead = AGAIN, "entry {name}: it has {most} bytes and at most {limit} are read"));
        }
        let start = self.data_at(entry)?;
        let in_entry = |e: Refusal| e.within(|what| format!("entry {name}: {what}")).advise(AGAIN);
        let packed = exactly(self.bytes, start, entry.packed).map_err(in_entry)?;
        match entry.method {
            STORED => Ok(packed),
            // An entry that unpacks to more bytes than the directory says is damaged or was made to fill the memory.
            DEFLATED => unpack(&packed, usize::try_from(entry.size).unwrap_or(usize::MAX)).map_err(in_entry),
            other => Err(refuse!(
                instead = AGAIN,
                "entry {name}: it is packed by method {other}; stored and deflated entries are read"
            )),
        }
    }

    /// Offset of an entry's bytes.
    fn data_at(&self, entry: &Entry) -> Result<u64, Refusal> {
        let name = &entry.name;
        let header = LocalHeader::read(self.bytes, entry.header).ok().flatten();
        let header = header.ok_or_else(|| refuse!(instead = AGAIN, "entry {name}: its header is not in the file"))?;
        let start = entry.header.saturating_add(header.len);
        match start.checked_add(entry.packed) {
            Some(end) if end <= self.bytes.size() => Ok(start),
            _ => Err(refuse!(instead = AGAIN, "entry {name}: its bytes run past the end of the file")),
        }
    }
}

/// A part of an archive.
fn at_byte(bytes: &dyn ByteSource, offset: u64, len: u64) -> Result<Vec<u8>, Refusal> {
    exactly(bytes, offset, len).map_err(|e| e.within(|what| format!("byte {offset}: {what}")).advise(AGAIN))
}

/// Number of entries, and size and offset of the central directory.
fn end_record(bytes: &dyn ByteSource) -> Result<(u64, u64, u64), Refusal> {
    let size = bytes.size();
    let from = size.saturating_sub(MAX_END);
    let tail = at_byte(bytes, from, size - from)?;
    let found = (0..tail.len().saturating_sub(21)).rev().find(|&at| {
        let comment = || u16_at(&tail, at + 20).map(usize::from);
        tail[at..].starts_with(END) && comment().is_some_and(|n| at + 22 + n <= tail.len())
    });
    let cut_off =
        || refuse!(instead = "download or copy it again", "the archive has no central directory: the file is cut off");
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
    let record = at_byte(bytes, record_at, 56)?;
    if !record.starts_with(b"PK\x06\x06") {
        return Err(refuse!(instead = AGAIN, "byte {record_at}: the archive's zip64 record is not there"));
    }
    let number = |at| u64_at(&record, at).ok_or_else(cut_off);
    Ok((number(32)?, number(40)?, number(48)?))
}

/// The directory entry at an offset, and the offset of the next one.
fn directory_entry(directory: &[u8], at: usize) -> Option<(Entry, usize)> {
    let record = directory.get(at..)?;
    if !record.starts_with(DIRECTORY) {
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
