//! What a profile is and where it came from.

use serde::{Deserialize, Serialize};

use super::{OperatorKind, ProfileKey};
use crate::base::Diagnostic;
use crate::view::timeline::Outline;

/// How a model is run on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Workflow {
    /// Lazy tensors, cut by `mark_step`: inputs are moved in every step.
    #[default]
    MarkStep,
    /// Compiled ahead with `torch_neuronx.trace`.
    Trace,
}

impl Workflow {
    /// Both, the default first.
    pub const ALL: [Self; 2] = [Self::MarkStep, Self::Trace];

    /// The name in links and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MarkStep => "mark_step",
            Self::Trace => "trace",
        }
    }

    /// The workflow of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|w| w.name() == name)
    }
}

/// What to profile. The same specification gives the same profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileSpec {
    /// Model in text form: `nn`, `matmult:n=1024,loop_count=2`.
    pub model: String,
    /// How it is run.
    pub workflow: Workflow,
    /// Seed of weights and inputs.
    pub seed: u64,
    /// Instance type: `trn1.2xlarge`.
    pub instance: String,
}

/// Where a profile came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProfileOrigin {
    /// Simulated from a specification.
    Simulated(ProfileSpec),
    /// Read from a file.
    File {
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        bytes: u64,
        /// What it was recognised as: `Chrome trace`.
        format: String,
    },
}

/// What a shell knows of a profile without asking further.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileInfo {
    /// Its key in further requests.
    pub profile: ProfileKey,
    /// Short name of the run, for the Run selector: `nn mark_step`, `trace.json.gz`.
    pub name: String,
    /// Where it came from.
    pub origin: ProfileOrigin,
    /// Number of events it holds.
    pub events: u64,
    /// Sections, tracks and the span of time.
    pub outline: Outline,
    /// The operator tables it has, the most telling first.
    pub operators: Vec<OperatorKind>,
    /// Figures for a line of summary, name and value, as text: `Device window`, `7.20 us`.
    pub facts: Vec<(String, String)>,
    /// Problems met while reading.
    pub diagnostics: Vec<Diagnostic>,
}
