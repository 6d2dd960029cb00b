//! Readers of model files on damaged files: cut off at every 97th byte, bytes changed, pieces copied; the same files in every
//! run. `./x fuzz` searches further.

use std::fs;
use std::path::Path;

use neuronscope::base::Rng;
use neuronscope::program::Place;
use neuronscope::program::file::gunzip;

mod readers {
    include!("../../fuzz/model_readers.rs");
}
use readers::ModelReader;

/// Distance between the places at which a file is cut off.
const CUT_EVERY: usize = 97;
/// The largest file, in bytes, that is damaged: larger files test the same and take longer.
const MOST_BYTES: usize = 24_000;
/// Damaged files of each format.
const ROUNDS: usize = 150;

/// Files of a format, unpacked, that a reader can read.
fn files(folder: &str, ends: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models").join(folder);
    let mut paths: Vec<_> = fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (stem, packed) = name.strip_suffix(".gz").map_or((name.as_str(), false), |stem| (stem, true));
        if ends.iter().any(|end| stem.ends_with(end)) {
            let bytes = fs::read(&path).unwrap();
            let bytes = if packed { gunzip(&bytes).unwrap() } else { bytes };
            if (200..=MOST_BYTES).contains(&bytes.len()) {
                found.push(bytes);
            }
        }
    }
    found
}

fn below(rng: &mut Rng, n: usize) -> usize {
    rng.next_u32() as usize % n.max(1)
}

/// A file with some bytes changed, a piece copied or its end cut off.
fn damaged(rng: &mut Rng, file: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..=below(rng, 4) {
        let at = below(rng, bytes.len());
        bytes[at] = match below(rng, 3) {
            0 => bytes[at] ^ (1 << below(rng, 8)),
            1 => 0xff,
            _ => rng.next_u32() as u8,
        };
    }
    if below(rng, 3) == 0 {
        let (from, to) = (below(rng, bytes.len()), below(rng, bytes.len()));
        let piece = bytes[from..bytes.len().min(from + below(rng, 300))].to_vec();
        bytes.splice(to..to, piece);
    }
    if below(rng, 4) == 0 {
        bytes.truncate(below(rng, bytes.len()));
    }
    bytes
}

/// Damages files in every way. Of the errors of truncated files, at least `placed` percent must give a position.
fn check(reader: ModelReader, folder: &str, ends: &[&str], placed: usize) {
    let files = files(folder, ends);
    assert!(files.len() > 3, "{} files", files.len());
    let (mut errors, mut with_place) = (0, 0);
    for file in &files {
        for end in (0..file.len()).step_by(CUT_EVERY) {
            if let Some(place) = reader.ask(&file[..end]) {
                errors += 1;
                with_place += usize::from(place != Place::File);
            }
        }
    }
    println!("{reader:?}: {} files, {errors} errors of files that are cut off, {with_place} with a place", files.len());
    assert!(errors > 50 && with_place * 100 >= errors * placed, "{reader:?}: {with_place} of {errors} say where");
    let mut rng = Rng::new(11, 5);
    for _ in 0..ROUNDS {
        let file = &files[below(&mut rng, files.len())];
        reader.ask(&damaged(&mut rng, file));
    }
}

#[test]
fn damaged_exported_programs() {
    // The directory of an archive is at its end: without it the entries are unknown.
    check(ModelReader::Pt2, "pt2", &[".pt2"], 0);
}

#[test]
fn damaged_onnx() {
    check(ModelReader::Onnx, "onnx", &[".onnx"], 95);
}

#[test]
fn damaged_hlo_protos() {
    check(ModelReader::HloProto, "hlo", &[".pb"], 95);
}

#[test]
fn damaged_hlo_text() {
    check(ModelReader::HloText, "hlo", &[".hlo.txt", ".txt"], 95);
}

#[test]
fn damaged_stablehlo() {
    check(ModelReader::StableHlo, "stablehlo", &[".mlir"], 95);
}

#[test]
fn damaged_mlir_bytecode() {
    // The data before the bytecode in a file of `jax.export` says nothing about the bytecode.
    check(ModelReader::MlirBytecode, "stablehlo", &[".mlirbc", ".jax_export"], 90);
}

#[test]
fn damaged_symbolic_sizes() {
    // Large parts of these files lie before and behind the bytecode.
    check(ModelReader::MlirBytecode, "symbolic", &[".jax_export"], 50);
}

#[test]
fn damaged_torchscript() {
    check(ModelReader::TorchScript, "torchscript", &[".pt"], 0);
}

#[test]
fn damaged_arrays() {
    check(ModelReader::Npz, "pt2", &[".npz"], 0);
}

#[test]
fn arrays_that_claim_more_than_they_hold_are_refused() {
    for shape in ["(1099511627776, 1099511627776)", "(1000000000,)", "(-4,)"] {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        let mut array = b"\x93NUMPY\x01\x00".to_vec();
        array.extend((header.len() as u16).to_le_bytes());
        array.extend(header.as_bytes());
        array.extend([0; 16]);
        let place = ModelReader::Npz.ask(&super::import_aten::archive(&[("in0.npy", &array)]));
        assert_eq!(place, Some(Place::Entry("in0.npy".to_owned())), "{shape}");
    }
}

#[test]
fn names_of_a_megabyte_in_stablehlo_are_read_and_shortened_in_messages() {
    let name = "n".repeat(1 << 20);
    let with = |operand: &str| {
        format!(
            "func.func @main(%{name}: tensor<4xf32>) -> tensor<4xf32> {{\n  %0 = stablehlo.tanh %{operand} : tensor<4xf32>\n  \
             return %0 : tensor<4xf32>\n}}\n"
        )
    };
    assert_eq!(ModelReader::StableHlo.ask(with(&name).as_bytes()), None);
    let place = ModelReader::StableHlo.ask(with(&format!("{name}x")).as_bytes());
    assert!(matches!(place, Some(Place::Line(2, _))), "{place:?}");
}
