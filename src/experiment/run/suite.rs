//! Suites of models: the meaning of a suite's name here.

use serde::{Deserialize, Serialize};

use ns_base::Order;
use ns_base::{Refusal, nearest_text, refuse};
use ns_model::zoo::MODELS;

/// A set of models under the names of a benchmark suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    pub name: String,
    /// Its specification in the zoo.
    pub specification: String,
    /// Samples of one inference, if the suite sets it.
    pub batch_size: Option<u32>,
}

/// Models of torchbench that another network of the zoo stands for, and how the two differ.
const STAND_INS: [(&str, &str); 1] = [(
    "BERT_pytorch",
    "bert-base-uncased of the zoo at sequence length 128 stands for it: the same 12 layers of 768, with another vocabulary",
)];

impl SuiteModel {
    /// Which network of the zoo stands for this one, if it is not the same, as a sentence.
    pub fn stand_in(&self) -> Option<&'static str> {
        STAND_INS.iter().find(|(name, _)| *name == self.name).map(|(_, sentence)| *sentence)
    }
}

/// torchbench's name, and the zoo's specification of the same network. The text encoders are the body of torchbench's model
/// at its sequence length of 512, without the head that predicts words; `BERT_pytorch` is an encoder of the same size with a smaller vocabulary, and
/// has BERT base in its place, as [`SuiteModel::stand_in`] says; the others are whole.
const TORCHBENCH: [(&str, &str); 16] = [
    ("BERT_pytorch", "bert-base-uncased:seq=128"),
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
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dummy => "dummy",
            Self::Torchbench => "torchbench",
            Self::Zoo => "zoo",
        }
    }

    /// Its models, in order of their names.
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
                ids.order();
                ids.into_iter().map(|id| model(id, id, None)).collect()
            }
        }
    }

    /// The model with a name. Fails when the suite does not have it.
    pub fn model(self, name: &str) -> Result<SuiteModel, Refusal> {
        let models = self.models();
        let names = || models.iter().map(|m| m.name.as_str());
        let has = |suite: &Self| suite.models().iter().any(|m| m.name == name);
        let unknown = || {
            if let Some(other) = [Self::Torchbench, Self::Zoo].iter().find(|suite| has(suite)) {
                return refuse!("suite {} has no model '{name}'; --suite-name {} has it", self.name(), other.name());
            }
            let (suite, nearest) = (self.name(), nearest_text(name, names()));
            let known = names().collect::<Vec<_>>().join(", ");
            refuse!("suite {suite} has no model '{name}'; the nearest are {nearest}, of {known}")
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
        let of_other = Suite::Dummy.model("nn").unwrap_err().to_string();
        assert_eq!(of_other, "suite dummy has no model 'nn'; --suite-name zoo has it");
        assert!(Suite::Dummy.model("resnet").unwrap_err().to_string().ends_with("the nearest are dummy, of dummy"));
    }
}
