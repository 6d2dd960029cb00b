//! Suites of models: the meaning of a suite's name here.

use ns_base::{Refusal, refuse};
use ns_model::zoo::MODELS;

/// A set of models under the names of a benchmark suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// One small network, to try out the tools.
    Dummy,
    /// The models of torchbench that the zoo has.
    Torchbench,
    /// Every model of the zoo under its own name.
    Zoo,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteModel {
    /// Its name in the suite.
    pub name: String,
    /// Its specification in the zoo.
    pub specification: String,
    /// Samples of one inference, if the suite sets it.
    pub batch_size: Option<u32>,
}

/// torchbench's name, and the zoo's specification of the same network. The text encoders are the body of torchbench's model
/// at its sequence length of 512, without the head that predicts words; the others are whole.
const TORCHBENCH: [(&str, &str); 15] = [
    ("alexnet", "alexnet"),
    ("hf_Albert", "albert-base-v2:seq=512"),
    ("hf_Bert", "bert-base-uncased:seq=512"),
    ("hf_Bert_large", "bert-large-uncased:seq=512"),
    ("hf_DistilBert", "distilbert-base-uncased:seq=512"),
    ("hf_GPT2", "gpt2:seq=512"),
    ("hf_Roberta_base", "roberta-base:seq=512"),
    ("hf_clip", "openai/clip-vit-base-patch32"),
    ("llama_v2_13b", "llama-2-13b"),
    ("llama_v2_7b", "llama-2-7b"),
    ("pytorch_unet", "UNet"),
    ("resnet152", "resnet152"),
    ("resnet18", "resnet18"),
    ("resnet50", "resnet50"),
    ("vgg16", "vgg16"),
];

/// Batch size of the suite's dummy model.
const DUMMY_BATCH: u32 = 16;

impl Suite {
    /// The suite's name in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dummy => "dummy",
            Self::Torchbench => "torchbench",
            Self::Zoo => "zoo",
        }
    }

    /// Its models, in order of their names.
    #[must_use]
    pub fn models(self) -> Vec<SuiteModel> {
        let model = |name: &str, specification: &str, batch_size| SuiteModel {
            name: name.to_owned(),
            specification: specification.to_owned(),
            batch_size,
        };
        match self {
            Self::Dummy => vec![model("dummy", "nn", Some(DUMMY_BATCH))],
            Self::Torchbench => TORCHBENCH.iter().map(|(name, spec)| model(name, spec, None)).collect(),
            Self::Zoo => {
                let mut ids: Vec<&str> = MODELS.iter().map(|m| m.id).collect();
                ids.sort_unstable();
                ids.into_iter().map(|id| model(id, id, None)).collect()
            }
        }
    }

    /// The model with a name.
    ///
    /// # Errors
    /// When the suite does not have it.
    pub fn model(self, name: &str) -> Result<SuiteModel, Refusal> {
        let models = self.models();
        let known = || models.iter().map(|m| m.name.as_str()).collect::<Vec<_>>().join(", ");
        let unknown = || {
            refuse!("suite {suite} has no model '{name}'; its models are {known}", suite = self.name(), known = known())
        };
        models.iter().find(|m| m.name == name).cloned().ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_model::zoo::ModelSpec;

    #[test]
    fn every_model_of_every_suite_is_in_the_zoo() {
        for suite in [Suite::Dummy, Suite::Torchbench, Suite::Zoo] {
            for model in suite.models() {
                assert!(model.specification.parse::<ModelSpec>().is_ok(), "{}", model.specification);
            }
        }
        let names: Vec<String> = Suite::Torchbench.models().into_iter().map(|m| m.name).collect();
        assert!(names.is_sorted());
        assert!(Suite::Dummy.model("resnet").unwrap_err().to_string().ends_with("its models are dummy"));
    }
}
