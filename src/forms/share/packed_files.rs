//! Small files as text for a link: compressed, in letters that are allowed in an address.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Most bytes of all files together; larger files must be opened again by the receiver of the link.
pub const MOST_PACKED_BYTES: u64 = 256 << 10;
/// Most letters of files in a link. Chromium takes addresses of 2 MiB; other browsers, chat programs and mail take fewer letters.
pub(super) const MOST_LETTERS: usize = 80_000;
/// Most bytes of all unpacked files together: a link must not fill the memory.
const MOST_UNPACKED: usize = 4 << 20;
/// Version of the packing: a number before the first letter.
const VERSION: &str = "1.";
/// The highest compression level; the files are small.
const LEVEL: u8 = 9;

/// Files as letters; `None` when there are too many.
pub fn pack(files: &[(String, Vec<u8>)]) -> Option<String> {
    let plain = postcard::to_allocvec(files).ok()?;
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&plain, LEVEL);
    let text = format!("{VERSION}{}", URL_SAFE_NO_PAD.encode(packed));
    (text.len() <= MOST_LETTERS).then_some(text)
}

/// Undoes [`pack`]. Fails when the text is cut off or is not packed files.
pub fn unpack(text: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
    let damaged = |what: &str| {
        format!("the files in the link cannot be read: {what}. Ask its sender for the link again, or for the files")
    };
    let letters = text
        .strip_prefix(VERSION)
        .ok_or_else(|| damaged("they are packed in a format that this page does not know"))?;
    let packed = URL_SAFE_NO_PAD.decode(letters).map_err(|e| damaged(&e.to_string()))?;
    let plain = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&packed, MOST_UNPACKED)
        .map_err(|e| damaged(&format!("{:?} (the link may be cut off)", e.status)))?;
    postcard::from_bytes(&plain).map_err(|e| damaged(&e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_files_travel_in_a_link_and_damage_is_reported() {
        let files = vec![("a.jsonl".to_owned(), b"{}\n".repeat(400)), ("b".to_owned(), vec![])];
        let text = pack(&files).unwrap();
        assert!(text.len() < 200 && super::super::encode(&text) == text, "{text}");
        assert_eq!(unpack(&text), Ok(files));
        for bad in ["", "2.abc", "1.???", &text[..text.len() / 2]] {
            assert!(unpack(bad).unwrap_err().contains("in the link cannot be read"), "{bad}");
        }
        let mut seed = 1_u32;
        let mut noise = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        assert_eq!(pack(&[("noise".to_owned(), (0..100_000).map(|_| noise()).collect())]), None);
    }
}
