//! The records of an IDX file, in which MNIST and FashionMNIST come: `t10k-images-idx3-ubyte`.

use ns_base::{Refusal, refuse};

use super::npy::{self, ElementKind};
use super::records::Records;

/// Most sizes of an array.
const MOST_DIMS: u8 = 8;

/// Whether bytes begin as an IDX file: two zeros, a type, and the number of sizes.
pub(super) fn is_idx(bytes: &[u8]) -> bool {
    matches!(bytes, [0, 0, kind, dims, ..] if kind_of(*kind).is_some() && (1..=MOST_DIMS).contains(dims))
}

pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Records, Refusal> {
    let cut = || refuse!("{file}: byte {}: the file is cut off inside its header; download it again", bytes.len());
    let (Some(kind), Some(dims)) = (bytes.get(2).copied().and_then(kind_of), bytes.get(3).copied()) else {
        return Err(cut());
    };
    let values_at = 4 + 4 * usize::from(dims);
    let sizes = bytes.get(4..values_at).ok_or_else(cut)?.chunks_exact(4);
    let shape: Vec<u64> = sizes.map(|raw| raw.iter().fold(0, |n, byte| (n << 8) | u64::from(*byte))).collect();
    npy::records_of(file, &shape, kind, true, bytes, values_at)
}

/// The type of the values, and bytes of one.
fn kind_of(code: u8) -> Option<(ElementKind, usize)> {
    Some(match code {
        0x08 => (ElementKind::Unsigned, 1),
        0x09 => (ElementKind::Signed, 1),
        0x0b => (ElementKind::Signed, 2),
        0x0c => (ElementKind::Signed, 4),
        0x0d => (ElementKind::Float, 4),
        0x0e => (ElementKind::Float, 8),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::read_records;

    /// Two images of 2 x 3 in bytes.
    fn images() -> Vec<u8> {
        let header = [[0, 0, 8, 3], [0, 0, 0, 2], [0, 0, 0, 2], [0, 0, 0, 3]].concat();
        [header, (0..12).collect()].concat()
    }

    #[test]
    fn images_are_records() {
        let records = read_records("t10k-images-idx3-ubyte", &images()).unwrap();
        assert_eq!((records.count, records.shape().as_str()), (2, "2x3"));
        assert_eq!(records.values, (0..12).map(f64::from).collect::<Vec<_>>());
        let labels = read_records("labels", &[0, 0, 8, 1, 0, 0, 0, 2, 7, 9]).unwrap();
        assert_eq!((labels.count, labels.values), (2, vec![7.0, 9.0]));
        let shorts = read_records("s", &[0, 0, 0x0b, 1, 0, 0, 0, 1, 0xff, 0xfe]).unwrap();
        assert_eq!(shorts.values, [-2.0]);
    }

    #[test]
    fn a_file_that_is_cut_off_gives_its_whole_records_or_its_byte() {
        let all = images();
        let cut = read_records("i", &all[..all.len() - 1]).unwrap();
        assert_eq!((cut.count, cut.diagnostics.count("truncated")), (1, 1));
        let said = read_records("i", &all[..9]).unwrap_err().to_string();
        assert!(said.starts_with("i: byte 9: the file is cut off inside its header"), "{said}");
    }
}
