//! The supported operators, each with its kind of work.

use ns_base::Order;
use ns_program::OperatorKind;

use crate::{hlo, onnx, pt2, stablehlo};

/// The formats of the list, as `--format` names them, each with a description.
pub const SUPPORTED_FORMATS: [(&str, &str); 4] = [
    ("pt2", "aten operators of torch.export and TorchScript"),
    ("onnx", "operators of ONNX and of onnxruntime"),
    ("hlo", "opcodes of XLA's HLO"),
    ("stablehlo", "operations of StableHLO, MHLO and CHLO"),
];

/// An operator that a reader supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SupportedOperator {
    /// The format, as in [`SUPPORTED_FORMATS`].
    pub format: &'static str,
    /// Its name in the format: `linear`, `Gemm`, `com.microsoft.FusedMatMul`, `dot-general`.
    pub name: &'static str,
    /// Its kind of work.
    pub kind: OperatorKind,
}

/// All operators that the readers support, by format and name.
pub fn supported_operators() -> impl Iterator<Item = SupportedOperator> {
    fn of(
        format: &'static str,
        operators: impl Iterator<Item = (&'static str, OperatorKind)>,
    ) -> impl Iterator<Item = SupportedOperator> {
        let mut all: Vec<_> = operators.map(|(name, kind)| SupportedOperator { format, name, kind }).collect();
        all.order_by_key(|o| o.name);
        all.dedup_by_key(|o| o.name);
        all.into_iter()
    }
    of("pt2", pt2::operators())
        .chain(of("onnx", onnx::operators()))
        .chain(of("hlo", hlo::operators()))
        .chain(of("stablehlo", stablehlo::operators()))
}
