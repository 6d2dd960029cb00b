//! The list, read back.

use super::OperatorKind;

/// The formats of the list, in the words of `--format`, each with what it is.
pub const SUPPORTED_FORMATS: [(&str, &str); 4] = [
    ("pt2", "aten operators of torch.export and TorchScript"),
    ("onnx", "operators of ONNX and of onnxruntime"),
    ("hlo", "opcodes of XLA's HLO"),
    ("stablehlo", "operations of StableHLO, MHLO and CHLO"),
];

const LIST: &str = include_str!("operators.tsv");

/// An operator that a reader knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SupportedOperator {
    /// The format, as in [`SUPPORTED_FORMATS`].
    pub format: &'static str,
    /// Its name in the format: `linear`, `Gemm`, `com.microsoft.FusedMatMul`, `dot-general`.
    pub name: &'static str,
    /// What kind of work it is.
    pub kind: OperatorKind,
}

/// All operators that the readers know, by format and name.
pub fn supported_operators() -> impl Iterator<Item = SupportedOperator> {
    LIST.lines().filter_map(|line| {
        let mut cells = line.split('\t');
        let (format, name, kind) = (cells.next()?, cells.next()?, cells.next()?);
        Some(SupportedOperator { format, name, kind: OperatorKind::from_name(kind)? })
    })
}
