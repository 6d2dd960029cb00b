//! Checks the list of operators.

use std::collections::BTreeSet;

use super::{SUPPORTED_FORMATS, supported_operators};
use ns_program::OperatorKind;

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
    has("onnx", "com.microsoft.QuickGelu", OperatorKind::Function);
    has("onnx", "com.microsoft.SkipLayerNormalization", OperatorKind::Norm);
    has("hlo", "dot", OperatorKind::Product);
    has("hlo", "tanh", OperatorKind::Function);
    has("stablehlo", "dot_general", OperatorKind::Product);
    for (format, _) in SUPPORTED_FORMATS {
        assert!(all.iter().filter(|o| o.format == format).count() > 60, "{format}");
    }
}
