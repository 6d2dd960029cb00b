//! Model files with their known facts and values: those of a folder of the repository, and of a corpus that is too large for it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

/// A file, its facts, and the values it computes (an npz) if they are known.
pub(super) struct Case {
    pub name: String,
    pub bytes: Vec<u8>,
    pub facts: Json,
    pub expected: Option<Vec<u8>>,
}

/// The bytes of a file, which may be packed with gzip.
pub(super) fn unpacked(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    match path.extension() {
        // Ten bytes of header without extras, eight of trailer.
        Some(gz) if gz == "gz" => miniz_oxide::inflate::decompress_to_vec(&bytes[10..bytes.len() - 8]).unwrap(),
        _ => bytes,
    }
}

/// The files of a folder whose facts are in its `facts.json`.
pub(super) fn fixtures(folder: &Path) -> Vec<Case> {
    let all: Json = serde_json::from_slice(&fs::read(folder.join("facts.json")).unwrap()).unwrap();
    let case = |(name, facts): (&String, &Json)| {
        let gz = folder.join(format!("{name}.gz"));
        let path = if gz.exists() { gz } else { folder.join(name) };
        let expected = fs::read(folder.join(format!("{name}.npz"))).ok();
        Case { name: name.clone(), bytes: unpacked(&path), facts: facts.clone(), expected }
    };
    all.as_object().unwrap().iter().map(case).collect()
}

/// The files with facts in these parts of the folder that `NEURONSCOPE_MODELS` names; `is_wanted` has the part and the file's name.
/// None without that folder.
pub(super) fn corpus(parts: &[&str], is_wanted: impl Fn(&str, &str) -> bool) -> Vec<Case> {
    let Ok(root) = std::env::var("NEURONSCOPE_MODELS").map(PathBuf::from) else { return Vec::new() };
    let mut cases = Vec::new();
    for part in parts {
        let Ok(files) = fs::read_dir(root.join(part)) else { continue };
        let mut paths: Vec<PathBuf> = files.map(|f| f.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !is_wanted(part, &name) {
                continue;
            }
            let Ok(facts) = fs::read(root.join(format!("facts/{name}.json"))) else { continue };
            let facts = serde_json::from_slice(&facts).unwrap();
            let expected = fs::read(root.join(format!("expected/{name}.npz"))).ok();
            cases.push(Case { name, bytes: fs::read(&path).unwrap(), facts, expected });
        }
    }
    cases
}

/// Our name of an element type that the facts spell as ONNX or as torch does.
pub(super) fn dtype(name: &str) -> &str {
    match name {
        "float" | "float32" => "f32",
        "double" | "float64" => "f64",
        "float16" => "f16",
        "bfloat16" => "bf16",
        "int64" => "s64",
        "int32" => "s32",
        "int8" => "s8",
        "uint8" => "u8",
        "bool" => "pred",
        other => other,
    }
}
