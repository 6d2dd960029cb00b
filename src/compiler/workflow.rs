//! The two ways a PyTorch model reaches a NeuronCore.

use std::fmt;
use std::str::FromStr;

use ns_base::{Refusal, names, refuse};
use serde::{Deserialize, Serialize};

names! {
    /// How a model is compiled and called.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Workflow {
        /// Lazy tensors, cut by `xm.mark_step()`: the step's graph is called `SyncTensorsGraph.N` and moves its inputs to the
        /// device as part of the step.
        #[default]
        MarkStep = "mark_step",
        /// `torch_neuronx.trace()`: compiled ahead; the input is not transferred to an XLA device.
        Trace = "trace",
    }

    /// Both, the default first.
    pub const ALL: [Self; _];
    /// `mark_step` or `trace`.
    pub const fn name(self) -> &'static str;
    /// The workflow with this name.
    pub fn from_name(name: &str) -> Option<Self>;
}

impl Workflow {
    /// Whether moving the inputs to the device is part of a call.
    pub const fn transfers_inputs(self) -> bool {
        matches!(self, Self::MarkStep)
    }
}

impl fmt::Display for Workflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Workflow {
    type Err = Refusal;
    fn from_str(s: &str) -> Result<Self, Refusal> {
        Self::from_name(s).ok_or_else(|| refuse!("unknown workflow {s:?}: use mark_step or trace"))
    }
}
