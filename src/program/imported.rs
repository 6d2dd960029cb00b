//! A model that was read from a file, and the function that reads it.

use std::collections::BTreeMap;

use ns_container::ByteSource;
use serde::{Deserialize, Serialize};

use crate::Program;
use crate::{ImportError, Inspection};

/// A model that was read from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// The content of the file, in its format's own terms.
    pub inspection: Inspection,
    /// The computation. Operations without a known meaning are [`Op::Opaque`](crate::Op::Opaque) and listed in the inspection.
    pub program: Program,
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
pub type ReadModel = fn(&str, &dyn ByteSource, &ImportOptions) -> Result<Imported, ImportError>;
