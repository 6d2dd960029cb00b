//! Checks that the list is what the readers answer.

#![allow(clippy::disallowed_methods, reason = "fixtures are files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{OperatorKind, SUPPORTED_FORMATS, supported_operators};
use crate::{hlo, onnx, pt2, stablehlo};

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

/// The names of torch that the reader supports: those of its last version here, and those whose arguments TorchScript's table gives.
fn known_of_torch() -> Vec<String> {
    let file = root().join("../../tests/it/fixtures/models/pt2/operators/aten_names.txt");
    let of_torch = fs::read_to_string(file).unwrap();
    let schemas = fs::read_to_string(root().join("torchscript/schemas.txt")).unwrap();
    let first = |line: &str| line.split(' ').next().map(|name| name.strip_suffix('_').unwrap_or(name).to_owned());
    let of_schemas = schemas.lines().filter(|l| !l.contains("__ ")).filter_map(first);
    let names: BTreeSet<String> = of_torch.lines().map(str::to_owned).chain(of_schemas).collect();
    assert!(names.len() > 1_000, "{}", names.len());
    names.iter().filter_map(|name| Some(format!("pt2\t{name}\t{}", pt2::kind_of_aten(name)?.name()))).collect()
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
    let mut lines = known_of_torch();
    let of_onnx: BTreeSet<_> = onnx::operators().map(|(name, kind)| format!("onnx\t{name}\t{}", kind.name())).collect();
    lines.extend(of_onnx);
    lines.extend(known("hlo", &["hlo/ops.rs"], "", hlo::kind_of_opcode));
    let stablehlo = ["stablehlo/ops.rs", "stablehlo/dynamic.rs", "calls.rs"];
    lines.extend(known("stablehlo", &stablehlo, "", stablehlo::kind_of_operation));
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
        assert_eq!(pt2::kind_of_aten(word), None, "{word}");
        assert_eq!(hlo::kind_of_opcode(word), None, "{word}");
        assert_eq!(stablehlo::kind_of_operation(word), None, "{word}");
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
