//! A model that was read from a file, and the function that reads it.

use std::collections::BTreeMap;

use ns_base::Refusal;
use ns_container::ByteSource;
use serde::{Deserialize, Serialize};

use crate::{ImportError, Inspection, Program, Type, flops, rebatch};

/// A model that was read from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedModel {
    /// The content of the file, in its format's own terms.
    pub inspection: Inspection,
    /// The computation. Operations without a known meaning are [`Op::Opaque`](crate::Op::Opaque) and listed in the inspection.
    pub program: Program,
}

impl ImportedModel {
    /// The model at another batch size, where its graph says what that is ([`rebatch`]). An error names the instruction that does
    /// not treat samples one by one.
    pub fn at_batch(&self, from: u64, to: u64) -> Result<Self, Refusal> {
        let program = rebatch(&self.program, from, to)?;
        let mut inspection = self.inspection.clone();
        for input in &mut inspection.inputs {
            if let Some(first) = input.shape.first_mut().filter(|first| **first == from) {
                *first = to;
            }
        }
        let root = program.result_type();
        let arrays = match root {
            Type::Tuple(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        if arrays.len() == inspection.outputs.len() {
            for (output, ty) in inspection.outputs.iter_mut().zip(arrays) {
                ty.array().inspect(|array| output.shape.clone_from(&array.dims));
            }
        }
        let [before, after] = [&self.program, &program].map(|p| u128::from(flops(p).count));
        if let Some(flops) = (u128::from(inspection.flops) * after).checked_div(before) {
            inspection.flops = u64::try_from(flops).unwrap_or(u64::MAX);
        }
        Ok(Self { inspection, program })
    }
}

/// The user's options for reading a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportOptions {
    /// Sizes of open dimensions, by the name the file gives them: `batch` is 8.
    pub dims: BTreeMap<String, u64>,
    /// Whether the program is only inspected: HLO and StableHLO may then hold operations that a NeuronCore cannot run.
    pub display_only: bool,
}

/// A function that reads the model in a file, with the name of the file: `read_model` of `ns_readers`, or a function that lets another
/// program read it ([`read_elsewhere`](crate::read_elsewhere)).
pub type ReadModel = fn(&str, &dyn ByteSource, &ImportOptions) -> Result<ImportedModel, ImportError>;
