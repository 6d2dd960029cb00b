// What the fuzz targets of model files ask of a reader; also of the tests that run on stable Rust.

use neuronscope::program::{ImportError, ImportOptions, ImportedModel, Op, Place, Program};
use neuronscope::readers::{read_hlo_proto, read_hlo_text, read_mlir_bytecode, read_npz, read_onnx, read_pt2, read_stablehlo, read_torchscript};

/// A reader of model files or of what belongs to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelReader {
    Pt2,
    Onnx,
    HloProto,
    HloText,
    StableHlo,
    MlirBytecode,
    TorchScript,
    Npz,
}

/// Longest message, in characters.
const LONGEST_MESSAGE: usize = 2000;

impl ModelReader {
    /// Reads bytes and checks what every reader promises: no panic, an error that says what is wrong and what to do in a message of bounded
    /// length, or a program whose size is in proportion to the file's. Where the error is, when it is one.
    #[allow(dead_code, reason = "not every target uses all of it")]
    pub fn ask(self, bytes: &[u8]) -> Option<Place> {
        let options = ImportOptions::default();
        let owned = bytes.to_vec();
        let text = || String::from_utf8_lossy(bytes);
        let read: Result<Option<ImportedModel>, ImportError> = match self {
            Self::Pt2 => read_pt2(&owned, &options).map(Some),
            Self::Onnx => read_onnx(&owned, &options).map(Some),
            Self::HloProto => read_hlo_proto(bytes, &options).map(Some),
            Self::HloText => read_hlo_text(&text(), &options).map(Some),
            Self::StableHlo => read_stablehlo(&text(), &options).map(Some),
            Self::MlirBytecode => read_mlir_bytecode(bytes, &options).map(Some),
            Self::TorchScript => read_torchscript(&owned, &options).map(Some),
            Self::Npz => read_npz(&owned).map(|_| None),
        };
        match read {
            Ok(imported) => {
                if let Some(imported) = imported {
                    check_size(&imported.program, bytes.len());
                }
                None
            }
            Err(error) => {
                assert!(!error.refusal.what().is_empty() && !error.refusal.instead().is_empty(), "{self:?}: {error}");
                let length = error.to_string().chars().count();
                assert!(length <= LONGEST_MESSAGE, "{self:?}: a message of {length} characters");
                Some(error.place)
            }
        }
    }
}

/// A program has no more instructions and numbers than its file can have named: a few bytes do not become gigabytes.
fn check_size(program: &Program, bytes: usize) {
    let instructions: usize = program.computations.iter().map(|c| c.instructions.len()).sum();
    assert!(instructions <= 10_000 + 64 * bytes, "{instructions} instructions of {bytes} bytes");
    let numbers: u64 = program
        .computations
        .iter()
        .flat_map(|c| c.instructions.iter())
        .filter_map(|i| match &i.op {
            Op::Constant(value) => value.ty.elements(),
            _ => None,
        })
        .sum();
    assert!(numbers <= (1 << 22) + 8 * bytes as u64, "{numbers} numbers of {bytes} bytes");
}
