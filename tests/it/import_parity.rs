//! Imported models beside those of the zoo: equally fast, in every format and at every batch size of the file.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use neuronscope::bench::{Parity, parity, parity_markdown};
use neuronscope::device::{ModelFileSettings, ModelLibrary, OpenedModel};
use neuronscope::program::file::gunzip;
use neuronscope::readers::read_model;

use super::import_on_core::most_difference;

const INSTANCE: &str = "inf2.xlarge";
/// Files, each with the same model of the zoo.
const FILES: [(&str, &str); 7] = [
    ("bert-base-uncased:seq=128", "pt2/bert-base-b1-s128--torch2.9.1.pt2.gz"),
    ("bert-base-uncased:seq=128", "onnx/bert-base-b1-s128--torch2.9.1.onnx.gz"),
    ("bert-base-uncased:seq=128", "onnx/bert-base-b1-s128--torch2.9.1-onnx-legacy.onnx.gz"),
    ("bert-base-uncased:seq=128", "hlo/bert-base-b1-s128--torchxla2.9.0.hlo_module.pb.gz"),
    ("resnet50", "pt2/resnet50-b1--torch2.15.0.pt2.gz"),
    (RESNET, RESNET_FILE),
    ("google/vit-base-patch16-224", "onnx/vit-base-p16-b1--torch2.9.1-onnx-legacy.onnx.gz"),
];
const RESNET: &str = "resnet50";
const RESNET_FILE: &str = "onnx/resnet50-b1--torch2.9.1-onnx-legacy.onnx.gz";

fn bytes_of(path: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models").join(path)).unwrap()
}

fn open(models: &ModelLibrary, path: &str, bytes: Vec<u8>) -> OpenedModel {
    let name = path.rsplit('/').next().unwrap();
    models.open(name, Rc::new(bytes), ModelFileSettings::default()).unwrap()
}

/// The replacement for a part of a message, by its field; nothing if the part is removed.
type Change<'c> = dyn FnMut(u64, &[u8]) -> Option<Vec<u8>> + 'c;

/// A protocol buffer message in which `change` replaces each part.
fn rewritten(message: &[u8], change: &mut Change<'_>) -> Vec<u8> {
    let (mut at, mut out) = (0, Vec::new());
    while at < message.len() {
        let start = at;
        let key = varint(message, &mut at);
        match key & 7 {
            0 => {
                varint(message, &mut at);
                out.extend_from_slice(&message[start..at]);
            }
            2 => {
                let len = usize::try_from(varint(message, &mut at)).unwrap();
                let part = change(key >> 3, &message[at..at + len]);
                at += len;
                if let Some(part) = part {
                    put_varint(&mut out, key);
                    put_varint(&mut out, part.len() as u64);
                    out.extend(part);
                }
            }
            5 => {
                at += 4;
                out.extend_from_slice(&message[start..at]);
            }
            _ => {
                at += 8;
                out.extend_from_slice(&message[start..at]);
            }
        }
    }
    out
}

fn varint(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
        shift += 7;
    }
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// An ONNX model whose first input has an open first dimension, as `dynamic_axes` exports it, and no types between.
fn with_open_batch(model: &[u8]) -> Vec<u8> {
    const BATCH: &[u8] = b"\x12\x05batch";
    let mut is_first_input = true;
    rewritten(model, &mut |field, graph| match field {
        7 => Some(rewritten(graph, &mut |field, part| match field {
            // Types of intermediate values would state the old size.
            13 => None,
            11 | 12 if std::mem::take(&mut is_first_input) || field == 12 => {
                let mut is_first_dim = true;
                Some(rewritten(part, &mut |field, ty| match field {
                    2 => Some(rewritten(ty, &mut |_, tensor| {
                        Some(rewritten(tensor, &mut |_, shape| {
                            Some(rewritten(shape, &mut |_, dim| {
                                let is_batch = std::mem::take(&mut is_first_dim);
                                Some(if is_batch { BATCH.to_vec() } else { dim.to_vec() })
                            }))
                        }))
                    })),
                    _ => Some(ty.to_vec()),
                }))
            }
            _ => Some(part.to_vec()),
        })),
        _ => Some(graph.to_vec()),
    })
}

fn rows() -> Vec<Parity> {
    let models = ModelLibrary::new(read_model);
    let mut rows = Vec::new();
    for (zoo, path) in FILES {
        let opened = open(&models, path, bytes_of(path));
        rows.push(parity(zoo, &opened.id, INSTANCE, 1, &models).unwrap());
    }
    let plain = gunzip(&bytes_of(RESNET_FILE)).unwrap();
    let opened = open(&models, "resnet50-open-batch--torch2.9.1-onnx-legacy.onnx", with_open_batch(&plain));
    for batch_size in [1, 8] {
        rows.push(parity(RESNET, &opened.id, INSTANCE, batch_size, &models).unwrap());
    }
    rows
}

/// `UPDATE_DOCS=1 cargo test` writes the table.
#[test]
fn model_files_are_as_fast_as_models_of_the_zoo() {
    let rows = rows();
    for row in &rows {
        let difference = row.difference().unwrap_or_else(|| panic!("{row:?}"));
        assert!(difference.abs() < most_difference(&row.file), "{row:?}: {difference}");
    }
    super::doc_tables::assert_written("docs/import.md", "parity", &parity_markdown(&rows));
}
