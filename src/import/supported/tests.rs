//! Checks that the list is what the readers answer.

#![allow(clippy::disallowed_methods, reason = "fixtures are files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{OperatorKind, SUPPORTED_FORMATS, supported_operators};
use crate::onnx;

/// Asks a reader whether it supports an operator.
type Ask = fn(&str) -> Option<OperatorKind>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// Strings in the sources of a reader.
#[derive(Default)]
struct Texts {
    /// Strings between quotation marks: every name that a reader can support is among them.
    all: BTreeSet<String>,
    /// Strings that it removes from the front of a name, as `Reduce` from `ReduceSum`.
    prefixes: BTreeSet<String>,
}

fn texts_in(path: &Path, out: &mut Texts) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| texts_in(&entry.unwrap().path(), out));
        return;
    }
    if path.extension().is_none_or(|e| e != "rs") || path.ends_with("tests.rs") {
        return;
    }
    let source = fs::read_to_string(path).unwrap();
    let is_name = |t: &&str| {
        !t.is_empty() && t.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) && t.len() < 60
    };
    out.all.extend(source.split('"').filter(is_name).map(str::to_owned));
    let stripped = source.split("strip_prefix(\"").skip(1).filter_map(|rest| rest.split('"').next());
    out.prefixes.extend(stripped.filter(is_name).map(str::to_owned));
}

fn known(format: &str, sources: &[&str], prefix: &str, ask: Ask) -> Vec<String> {
    let mut texts = Texts::default();
    sources.iter().for_each(|path| texts_in(&root().join(path), &mut texts));
    let joined = texts.prefixes.iter().flat_map(|front| texts.all.iter().map(move |rest| format!("{front}{rest}")));
    let names: BTreeSet<String> = texts.all.iter().cloned().chain(joined).collect();
    let line = |name: &String| Some(format!("{format}\t{prefix}{name}\t{}", ask(name)?.name()));
    names.iter().filter_map(line).collect()
}

#[test]
fn names_that_readers_put_together_are_listed() {
    let listed: BTreeSet<&str> = supported_operators().filter(|o| o.format == "pt2").map(|o| o.name).collect();
    for name in
        ["max_pool2d", "avg_pool1d", "_adaptive_avg_pool3d", "max_pool2d_with_indices", "adaptive_max_pool1d", "stft"]
    {
        assert!(listed.contains(name), "{name}");
    }
    for name in ["tril_indices", "istft", "linalg_solve", "grid_sampler_3d", "mode", "gcd", "_upsample_nearest_exact2d"]
    {
        assert!(listed.contains(name), "{name}");
    }
    assert!(!listed.contains("sym_") && !listed.contains("nonzero") && !listed.contains("linalg_svd"));
}

#[test]
fn the_list_is_what_the_readers_know() {
    let mut lines = known("onnx", &["onnx/ops"], "", |name| onnx::kind_of_operator("", name));
    let microsoft: Ask = |name| onnx::kind_of_operator("com.microsoft", name);
    lines.extend(known("onnx", &["onnx/ops"], "com.microsoft.", microsoft));
    let found = lines.join("\n") + "\n";
    let path = root().join("supported/operators.tsv");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, found).unwrap();
        return;
    }
    let said = "run UPDATE_DOCS=1 cargo test --lib import::supported";
    assert_eq!(fs::read_to_string(path).unwrap(), found, "{said}");
}

#[test]
fn no_reader_knows_a_word_that_is_none() {
    for word in ["frobnicate", "Frobnicate", "reflect", "constant_pad_of_nothing"] {
        assert_eq!(onnx::kind_of_operator("", word), None, "{word}");
        assert_eq!(onnx::kind_of_operator("com.microsoft", word), None, "{word}");
    }
}

#[test]
fn the_list_has_every_format_and_the_operators_that_everybody_has() {
    let all: Vec<_> = supported_operators().collect();
    let has = |format: &str, name: &str, kind: OperatorKind| {
        assert!(all.iter().any(|o| (o.format, o.name, o.kind) == (format, name, kind)), "{format} {name}");
    };
    has("pt2", "linear", OperatorKind::Product);
    has("pt2", "gelu", OperatorKind::Function);
    has("onnx", "Gemm", OperatorKind::Product);
    has("onnx", "ReduceMean", OperatorKind::Reduction);
    has("onnx", "com.microsoft.FusedMatMul", OperatorKind::Product);
    has("hlo", "dot", OperatorKind::Product);
    has("hlo", "tanh", OperatorKind::Function);
    has("stablehlo", "dot_general", OperatorKind::Product);
    for (format, _) in SUPPORTED_FORMATS {
        assert!(all.iter().filter(|o| o.format == format).count() > 60, "{format}");
    }
}
