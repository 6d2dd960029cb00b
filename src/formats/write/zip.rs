//! A zip archive (APPNOTE 4.3), its files deflated. Its times are fixed, so that the same profile gives the same bytes.

use crate::crc32::crc32;
use ns_base::convert::{narrow, narrow16};

/// 1 January 1980, the earliest possible date.
const DATE: u16 = 0x21;

/// An archive of files by name.
pub(super) fn write(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let packed = miniz_oxide::deflate::compress_to_vec(content, 6);
        let offset = narrow(out.len());
        let mut common = Vec::new();
        // Version 2.0, names are UTF-8, deflated.
        for value in [20u16, 0x0800, 8, 0, DATE] {
            common.extend_from_slice(&value.to_le_bytes());
        }
        for value in [crc32(0, content), narrow(packed.len()), narrow(content.len())] {
            common.extend_from_slice(&value.to_le_bytes());
        }
        common.extend_from_slice(&narrow16(name.len()).to_le_bytes());
        common.extend_from_slice(&0u16.to_le_bytes());
        out.extend_from_slice(b"PK\x03\x04");
        out.extend_from_slice(&common);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&packed);
        directory.extend_from_slice(b"PK\x01\x02\x14\0");
        directory.extend_from_slice(&common);
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
    }
    let start = narrow(out.len());
    out.extend_from_slice(&directory);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        out.extend_from_slice(&narrow16(files.len()).to_le_bytes());
    }
    out.extend_from_slice(&narrow(directory.len()).to_le_bytes());
    out.extend_from_slice(&start.to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    out
}
