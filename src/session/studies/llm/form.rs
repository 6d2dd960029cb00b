//! The form of the study of language models.

use super::options::{LlmGroup, count, fields};
use crate::studies::form::{FieldGroup, FormField, GroupLook, StudyExample, StudyForm};

pub const FORM: StudyForm = StudyForm {
    path: "llm",
    title: "LLMs",
    lead: "What will a large language model do on Inferentia and Trainium? How long a prompt and a token take, what a million tokens cost, and \
           where the model fits. One core\u{2019}s part is simulated, layer by layer; the others do the same.",
    begin: "Press Run, or choose an example.",
    groups: &[
        FieldGroup { title: "", look: GroupLook::Open, fields: MAIN },
        FieldGroup {
            title: "Experts, buckets, limits, requests, and a model of your own",
            look: GroupLook::Folded,
            fields: MORE,
        },
    ],
    examples: &[
        StudyExample { name: "Llama 3 8B on 24 cores", fields: &[("model", "llama-3-8b"), ("tp", "24")] },
        StudyExample {
            name: "Llama 2 70B, long answers",
            fields: &[("model", "llama-2-70b"), ("tp", "24"), ("output", "3968")],
        },
        StudyExample {
            name: "Mistral 7B on a small instance, int8",
            fields: &[("model", "mistral-7b"), ("instance", "inf2.xlarge"), ("tp", "2"), ("weights", "int8")],
        },
        StudyExample {
            name: "Half a request a second, batch 8",
            fields: &[
                ("model", "llama-3-8b"),
                ("batch", "8"),
                ("request_rate", "0.5"),
                ("max_ttft_ms", "1000"),
                ("max_tpot_ms", "20"),
            ],
        },
        StudyExample {
            name: "A mixture of experts on Trn2",
            fields: &[("model", "qwen3-30b-a3b"), ("instance", "trn2.48xlarge"), ("tp", "4"), ("batch", "16")],
        },
        StudyExample {
            name: "The cheapest within limits",
            fields: &[("model", "llama-3-8b"), ("batch", "4"), ("max_ttft_ms", "500"), ("max_tpot_ms", "20")],
        },
    ],
    files: &["JSON"],
};

const MAIN: &[FormField] = &fields::<{ count(LlmGroup::Main) }>(LlmGroup::Main);
const MORE: &[FormField] = &fields::<{ count(LlmGroup::More) }>(LlmGroup::More);
