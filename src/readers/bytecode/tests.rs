//! Artifacts of real frameworks, damaged and intact. `tests/it/import_hlo.rs` checks the facts and values of all of them.

#![allow(clippy::disallowed_methods, reason = "fixtures are files")]

use super::{read_mlir_bytecode, span};
use ns_program::ImportOptions;
use ns_program::file::BYTECODE_MAGIC;

fn error(bytes: &[u8]) -> String {
    read_mlir_bytecode(bytes, &ImportOptions::default()).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn the_bytecode_of_a_flatbuffer_is_as_long_as_it_says() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/it/fixtures/models/stablehlo/");
    let file = std::fs::read(format!("{folder}flax-nn-442--jax0.10.2.jax_export")).unwrap();
    let (start, end) = span(&file).unwrap();
    let stated = u32::from_le_bytes(file[start - 4..start].try_into().unwrap());
    assert_eq!((&file[start..start + 4], end - start), (&BYTECODE_MAGIC[..], stated as usize));
    assert!(span(&file[..end - 1]).unwrap_err().to_string().contains("cut off"));
    assert_eq!(span(BYTECODE_MAGIC), Ok((0, 4)));
    assert!(span(b"nothing of it").is_err());
}

#[test]
fn other_versions_and_empty_files_are_refused() {
    assert!(error(b"ML\xefR\x0f\0").contains("version 7; versions up to 6"), "{}", error(b"ML\xefR\x0f\0"));
    assert!(error(b"ML\xefR\x0dStableHLO_v1.0.0\0").contains("has no texts"));
    assert!(error(b"ML\xefR").contains("byte 4"));
}
