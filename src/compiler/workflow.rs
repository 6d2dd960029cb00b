//! The two ways a model reaches a NeuronCore.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a model is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workflow {
    /// Lazily executed graph (`xm.mark_step()`): the step transfers its inputs to the device.
    #[default]
    MarkStep,
    /// Ahead-of-time compiled model (`torch_neuronx.trace()`): inputs are there already.
    Trace,
}

impl Workflow {
    /// Both, with the names of the command line and of links.
    pub const ALL: [Self; 2] = [Self::MarkStep, Self::Trace];

    /// `mark_step` or `trace`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MarkStep => "mark_step",
            Self::Trace => "trace",
        }
    }

    /// The workflow of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|w| w.name() == name)
    }
}

impl fmt::Display for Workflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
