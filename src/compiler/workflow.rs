//! The two ways a PyTorch model reaches a NeuronCore.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How a model is compiled and called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workflow {
    /// Lazy tensors, cut by `xm.mark_step()`: the step's graph is called `SyncTensorsGraph.N` and moves its inputs to the
    /// device as part of the step.
    #[default]
    MarkStep,
    /// `torch_neuronx.trace()`: compiled ahead; the input is not transferred to an XLA device.
    Trace,
}

impl Workflow {
    /// Both, the default first.
    pub const ALL: [Self; 2] = [Self::MarkStep, Self::Trace];

    /// `mark_step` or `trace`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MarkStep => "mark_step",
            Self::Trace => "trace",
        }
    }

    /// The workflow with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|w| w.name() == name)
    }

    /// Whether moving the inputs to the device is part of a call.
    #[must_use]
    pub const fn transfers_inputs(self) -> bool {
        matches!(self, Self::MarkStep)
    }
}

impl fmt::Display for Workflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown workflow {0:?}: use mark_step or trace")]
pub struct UnknownWorkflow(pub String);

impl FromStr for Workflow {
    type Err = UnknownWorkflow;
    fn from_str(s: &str) -> Result<Self, UnknownWorkflow> {
        Self::from_name(s).ok_or_else(|| UnknownWorkflow(s.to_owned()))
    }
}
