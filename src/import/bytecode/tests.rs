//! Artifacts of real frameworks, damaged and intact. `tests/it/import_hlo.rs` checks the facts and values of all of them.

use super::{MAGIC, read_mlir_bytecode, span};
use crate::import::ImportOptions;

fn error(bytes: &[u8]) -> String {
    read_mlir_bytecode(bytes, &ImportOptions::default()).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn the_bytecode_of_a_flatbuffer_is_as_long_as_it_says() {
    let mut file = vec![0u8; 20];
    file.extend(6u32.to_le_bytes());
    file.extend(MAGIC);
    file.extend([1, 2, 3, 4]);
    assert_eq!(span(&file), Ok((24, 30)));
    assert!(span(&file[..29]).unwrap_err().to_string().contains("cut off"));
    assert_eq!(span(MAGIC), Ok((0, 4)));
    assert!(span(b"nothing of it").is_err());
}

#[test]
fn other_versions_and_empty_files_are_refused() {
    assert!(error(b"ML\xefR\x0f\0").contains("version 7; versions up to 6"), "{}", error(b"ML\xefR\x0f\0"));
    assert!(error(b"ML\xefR\x0dStableHLO_v1.0.0\0").contains("has no texts"));
    assert!(error(b"ML\xefR").contains("byte 4"));
}
