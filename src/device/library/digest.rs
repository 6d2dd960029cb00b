//! Tells files of the same name apart.

use ns_base::convert::u64_to_usize;
use ns_base::refuse;
use ns_base::{Digest, Refusal};
use ns_container::ByteSource;

/// Bytes at the beginning of a file that are hashed.
const HEAD: u64 = 1 << 20;
/// Bytes at its end that are hashed. The directory of an archive is there, with a checksum of everything in it.
const TAIL: u64 = 2 << 20;

/// Eight characters that identify the content of the file `name`, from its size, its first MiB and its last two: a file of a gigabyte is
/// identified without being read in full. Fails when it cannot be read.
pub fn content_name(name: &str, bytes: &dyn ByteSource) -> Result<String, Refusal> {
    let part = |at: u64, length: u64| {
        let unreadable = |e: Refusal| refuse!("{name}: cannot be read: {e}");
        bytes.slice(at, u64_to_usize(length)).map_err(unreadable)
    };
    let size = bytes.size();
    let mut digest = Digest::default().text("neuronscope model file 1").number(size);
    let head = size.min(HEAD);
    digest = digest.bytes(&part(0, head)?);
    let tail = size.saturating_sub(TAIL).max(head);
    if tail < size {
        digest = digest.bytes(&part(tail, size - tail)?);
    }
    Ok(digest.name8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_small_file_counts_and_both_ends_of_a_large_one() {
        let small = vec![7u8; 5_000];
        let mut other = small.clone();
        other[2_500] = 8;
        let name = |bytes: &Vec<u8>| content_name("m.onnx", bytes).unwrap();
        assert_ne!(name(&small), name(&other));
        assert_eq!(name(&small), name(&small.clone()));
        let mut large = vec![0u8; (HEAD + TAIL) as usize + 10];
        let before = name(&large);
        *large.last_mut().unwrap() = 1;
        assert_ne!(name(&large), before);
        assert_ne!(name(&Vec::new()), name(&vec![0]));
    }
}
