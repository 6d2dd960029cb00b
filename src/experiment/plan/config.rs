//! One configuration of an experiment, with the suite's names.

use ns_base::{Refusal, refuse};
use serde::{Deserialize, Serialize};

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident, $what:literal, { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        ns_base::names! {
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
            pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant = $text),+ }

            /// All values, in the order of lists.
            pub const ALL: [Self; _];
            pub const fn name(self) -> &'static str;
            pub fn from_name(name: &str) -> Option<Self>;
        }

        impl std::str::FromStr for $name {
            type Err = Refusal;

            fn from_str(text: &str) -> Result<Self, Refusal> {
                let of_any_case = || Self::ALL.into_iter().find(|value| value.name().eq_ignore_ascii_case(text));
                Self::from_name(text).or_else(of_any_case).ok_or_else(|| {
                    refuse!("'{text}' is not {}; choose from {}", $what, Self::ALL.map(Self::name).join(", "))
                })
            }
        }
    };
}

choices!(
    /// The device that a model runs on.
    Accelerator, "an accelerator", {
        /// The processor of this machine, measured.
        Cpu = "cpu",
        /// A GPU; planned as the suite does, never run here.
        Cuda = "cuda",
        /// A TPU; planned as the suite does, never run here.
        Tpu = "tpu",
        /// A simulated NeuronCore-v2 of a Trn1 instance.
        Trn1 = "trn1",
        /// A simulated NeuronCore-v2 of an Inf2 instance.
        Inf2 = "inf2",
        /// A simulated NeuronCore-v3.
        Trn2 = "trn2",
    }
);

choices!(
    /// The runtime under XLA.
    Xla, "an XLA runtime", {
        Pjrt = "PJRT",
        /// XRT, which preceded it.
        Xrt = "XRT",
    }
);

choices!(
    /// The backend of torch.compile.
    Dynamo, "a dynamo backend", {
        /// Fused loops for the processor or a GPU.
        Inductor = "inductor",
        /// A traced XLA graph.
        Openxla = "openxla",
    }
);

choices!(
    /// The part of a model that is run.
    Test, "a test", {
        /// Inference.
        Eval = "eval",
        /// A training step.
        Train = "train",
    }
);

choices!(
    /// How torch_xla2 converts a model.
    TorchXla2, "a torch_xla2 mode", {
        /// As a JAX function.
        ExtractJax = "extract_jax",
        /// As an exported graph.
        TorchExport = "torch_export",
    }
);

impl Accelerator {
    /// The instance whose cores are simulated; `None` if it is not a simulated accelerator.
    pub const fn instance(self) -> Option<&'static str> {
        match self {
            Self::Trn1 => Some("trn1.2xlarge"),
            Self::Inf2 => Some("inf2.xlarge"),
            Self::Trn2 => Some("trn2.48xlarge"),
            Self::Cpu | Self::Cuda | Self::Tpu => None,
        }
    }
}

/// One configuration. Fields are in the order of the suite's records.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExperimentConfig {
    /// The device that it runs on.
    pub accelerator: Accelerator,
    /// Runtime under XLA; without one, XLA is not used.
    pub xla: Option<Xla>,
    /// The variable `XLA_FLAGS`.
    pub xla_flags: Option<String>,
    /// Backend of torch.compile.
    pub dynamo: Option<Dynamo>,
    /// torch_xla2 mode.
    pub torch_xla2: Option<TorchXla2>,
    /// Inference or training.
    pub test: Test,
    /// Keep inputs and weights on the GPU; only the rules of May 2025 and before have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_model_data_on_cuda: Option<bool>,
    #[serde(default)]
    pub enable_functionalization: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_written_as_the_suite_does() {
        let text = r#"{"accelerator":"cpu","xla":"PJRT","xla_flags":null,"dynamo":"openxla","torch_xla2":null,"test":"eval","enable_functionalization":false}"#;
        let config: ExperimentConfig = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&config).unwrap(), text);
        assert_eq!(("CUDA".parse(), "pjrt".parse()), (Ok(Accelerator::Cuda), Ok(Xla::Pjrt)));
        let error = "gpu".parse::<Accelerator>().unwrap_err().to_string();
        assert_eq!(error, "'gpu' is not an accelerator; choose from cpu, cuda, tpu, trn1, inf2, trn2");
    }
}
