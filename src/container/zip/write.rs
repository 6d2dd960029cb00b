//! Writing an archive. Its times are fixed, so that the same files give the same bytes.

use super::header::{DEFLATED, DIRECTORY, END, LOCAL, fields};
use crate::crc::Crc;
use ns_base::convert::{usize_to_u16, usize_to_u32};

/// An archive of files by name, deflated.
pub fn write(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let packed = miniz_oxide::deflate::compress_to_vec(content, 6);
        let offset = usize_to_u32(out.len());
        let sums = [Crc::of(content), usize_to_u32(packed.len()), usize_to_u32(content.len())];
        let common = fields(DEFLATED, sums, name);
        for part in [LOCAL, &common, name.as_bytes(), &packed] {
            out.extend_from_slice(part);
        }
        for part in [DIRECTORY, b"\x14\0", &common, &[0; 10], &offset.to_le_bytes(), name.as_bytes()] {
            directory.extend_from_slice(part);
        }
    }
    let start = usize_to_u32(out.len());
    let count = usize_to_u16(files.len()).to_le_bytes();
    out.extend_from_slice(&directory);
    for part in
        [END, &[0; 4], &count, &count, &usize_to_u32(directory.len()).to_le_bytes(), &start.to_le_bytes(), &[0; 2]]
    {
        out.extend_from_slice(part);
    }
    out
}
