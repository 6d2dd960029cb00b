//! The files of Neuron's runtime, which have no magic bytes: they are known by the fields of their headers.

/// Whether a file begins as a NEFF: the version of its package (1 or 2) and the length of its header, 1,024, as numbers of eight bytes; the
/// archive behind the header is packed with gzip.
pub fn is_neff(head: &[u8]) -> bool {
    let has_version = |version: u8| head.starts_with(&[version, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0]);
    (has_version(1) || has_version(2)) && head.get(1024..).is_none_or(|archive| archive.starts_with(b"\x1f\x8b"))
}

/// Whether a file begins as an NTFF: a header of 128 bytes, which has the same length in two places, then a message of Protocol Buffers
/// whose first field is the name of the executable.
pub fn is_ntff(head: &[u8]) -> bool {
    const LENGTH: [u8; 8] = [0, 0, 0, 4, 0, 0, 0, 0];
    head.get(8..16) == Some(&LENGTH) && head.get(0x78..0x80) == Some(&LENGTH) && head.get(0x80) == Some(&0x0a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_headers() {
        let mut neff = [0; 1026];
        (neff[0], neff[9], neff[1024], neff[1025]) = (2, 4, 0x1f, 0x8b);
        assert!(is_neff(&neff) && is_neff(&neff[..64]) && !is_ntff(&neff));
        assert!(!is_neff(b"NEFF") && !is_neff(&[0; 32]));
        let mut ntff = [0; 130];
        (ntff[0], ntff[11], ntff[0x7b], ntff[0x80]) = (6, 4, 4, 0x0a);
        assert!(is_ntff(&ntff) && !is_neff(&ntff) && !is_ntff(&ntff[..128]));
    }
}
