//! The software that serves a model: who cuts it, what the host does in a step, and how the cores exchange their sums.

use std::fmt;
use std::str::FromStr;

use ns_base::{Refusal, refuse};
use ns_machine::arch::Instance;

/// A library, and what calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// transformers-neuronx, whose support has ended.
    Tnx,
    /// NeuronX Distributed Inference.
    Nxdi,
    /// The same behind a vLLM server.
    Vllm,
}

impl Route {
    /// The route of an instance whose rows were published first.
    pub const fn of_instance(instance: &Instance) -> Self {
        if instance.core_version >= 3 { Self::Nxdi } else { Self::Tnx }
    }
}

impl FromStr for Route {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        match text.trim().to_ascii_lowercase().as_str() {
            "tnx" => Ok(Self::Tnx),
            "nxdi" => Ok(Self::Nxdi),
            "vllm" => Ok(Self::Vllm),
            "native" => Err(refuse!("the time of native PyTorch is not known well enough; use nxdi or vllm")),
            _ => Err(refuse!("route '{text}' is not known; use tnx, nxdi or vllm")),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tnx => "tnx",
            Self::Nxdi => "nxdi",
            Self::Vllm => "vllm",
        })
    }
}
