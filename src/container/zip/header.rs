//! The header in front of each file of an archive (APPNOTE 4.3.7).

use crate::ByteSource;
use crate::source::exactly;
use ns_base::Refusal;
use ns_base::convert::usize_to_u16;

/// What a local header begins with.
pub(super) const LOCAL: &[u8] = b"PK\x03\x04";
/// What an entry of the central directory begins with.
pub(super) const DIRECTORY: &[u8] = b"PK\x01\x02";
/// What the record at the end begins with.
pub(super) const END: &[u8] = b"PK\x05\x06";

pub(super) const STORED: u16 = 0;
pub(super) const DEFLATED: u16 = 8;
const FLAG_ENCRYPTED: u16 = 1;
const FLAG_SIZES_LATER: u16 = 8;
const FIXED_BYTES: usize = 30;
/// 1 January 1980, the earliest possible date.
const DATE: u16 = 0x21;

/// Whether bytes are the beginning of a zip archive.
pub fn is_zip(head: &[u8]) -> bool {
    matches!(head, [b'P', b'K', 3 | 5 | 7, 4 | 6 | 8, ..])
}

/// The header of one file.
pub struct LocalHeader {
    pub name: String,
    flags: u16,
    pub(super) method: u16,
    /// Bytes of the file in the archive; 0 where they stand behind the file.
    pub packed: u64,
    /// Bytes of the header.
    pub len: u64,
}

impl LocalHeader {
    /// Bytes of a header without a name.
    pub const MIN_BYTES: u64 = FIXED_BYTES as u64;

    /// The header at the front, if it is complete.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if !bytes.starts_with(LOCAL) {
            return None;
        }
        let (name_len, extra_len) = (usize::from(u16_at(bytes, 26)?), usize::from(u16_at(bytes, 28)?));
        let len = FIXED_BYTES + name_len + extra_len;
        let name = bytes.get(..len)?.get(FIXED_BYTES..FIXED_BYTES + name_len)?;
        Some(Self {
            name: String::from_utf8_lossy(name).into_owned(),
            flags: u16_at(bytes, 6)?,
            method: u16_at(bytes, 8)?,
            packed: u64::from(u32_at(bytes, 18)?),
            len: len as u64,
        })
    }

    /// The header at an offset; `None` if something else is there. Fails when the medium cannot be read, or the file ends inside
    /// the header.
    pub fn read(bytes: &dyn ByteSource, offset: u64) -> Result<Option<Self>, Refusal> {
        let fixed = exactly(bytes, offset, Self::MIN_BYTES)?;
        if !fixed.starts_with(LOCAL) {
            return Ok(None);
        }
        let names = u16_at(&fixed, 26).zip(u16_at(&fixed, 28)).map_or(0, |(a, b)| u64::from(a) + u64::from(b));
        Ok(Self::parse(&exactly(bytes, offset, Self::MIN_BYTES + names)?))
    }

    /// Whether the file needs a password.
    pub(super) const fn is_encrypted(&self) -> bool {
        self.flags & FLAG_ENCRYPTED != 0
    }

    /// Whether the size stands behind the file.
    pub(super) const fn has_size_later(&self) -> bool {
        self.flags & FLAG_SIZES_LATER != 0
    }

    /// Whether the file is stored as it is.
    pub const fn is_stored(&self) -> bool {
        self.method == STORED
    }
}

/// The names of the files whose headers lie in a part of an archive.
pub fn local_names(part: &[u8]) -> impl Iterator<Item = String> {
    memchr::memmem::find_iter(part, LOCAL).filter_map(|at| Some(LocalHeader::parse(&part[at..])?.name))
}

/// The header of a stored file. The checksum is left out, because [`super::Unzip`] does not need it. `None` when the file or its name is too
/// long for a header.
pub fn stored_header(name: &str, len: u64) -> Option<Vec<u8>> {
    // The largest number means that the size is given elsewhere.
    let len = u32::try_from(len).ok().filter(|len| *len < u32::MAX)?;
    u16::try_from(name.len()).ok()?;
    Some([LOCAL, &fields(STORED, [0, len, len], name), name.as_bytes()].concat())
}

/// The fields that a local header and an entry of the directory share. `sums`: checksum, packed bytes, bytes.
pub(super) fn fields(method: u16, sums: [u32; 3], name: &str) -> Vec<u8> {
    // Version 2.0, names are UTF-8, at 1980-01-01 00:00:00.
    let mut out: Vec<u8> = [20, 0x0800, method, 0, DATE].iter().flat_map(|v: &u16| v.to_le_bytes()).collect();
    out.extend(sums.iter().flat_map(|v| v.to_le_bytes()));
    out.extend_from_slice(&usize_to_u16(name.len()).to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    out
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
