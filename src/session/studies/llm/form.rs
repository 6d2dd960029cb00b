//! The form of the study of language models.

use crate::studies::form::{FieldGroup, FieldKind, FormField, GroupLook, StudyExample, StudyForm, field};
use ns_llm::MODEL_CHOICES;

pub const FORM: StudyForm = StudyForm {
    path: "llm",
    title: "LLMs",
    lead: "What will a large language model do on Inferentia and Trainium? How long a prompt and a token take, what a million tokens cost, and \
           where the model fits. One core\u{2019}s part is simulated, layer by layer; the others do the same.",
    begin: "Press Run, or choose an example.",
    groups: &[
        FieldGroup { title: "", look: GroupLook::Open, fields: MAIN },
        FieldGroup { title: "Limits, requests, and a model of your own", look: GroupLook::Folded, fields: MORE },
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
            name: "The cheapest within limits",
            fields: &[("model", "llama-3-8b"), ("batch", "4"), ("max_ttft_ms", "500"), ("max_tpot_ms", "20")],
        },
    ],
    files: &["JSON"],
};

const MAIN: &[FormField] = &[
    field("model", "Model", "", "", FieldKind::Choice(MODEL_CHOICES)),
    field("instance", "Instance type", "", "", FieldKind::Instance),
    field("tp", "TP", "Cores that share the model", "the most of the instance", FieldKind::Whole),
    field("batch", "Batch", "Sequences", "1", FieldKind::Whole),
    field("input", "Prompt tokens", "", "128", FieldKind::Whole),
    field("output", "New tokens", "", "1024", FieldKind::Whole),
    field("weights", "Weights", "", "", FieldKind::Choice(&[("bf16", "bf16"), ("int8", "int8")])),
    field(
        "lnc",
        "Cores per logical core",
        "",
        "",
        FieldKind::Choice(&[("", "the instance\u{2019}s"), ("1", "1"), ("2", "2")]),
    ),
];

const MORE: &[FormField] = &[
    field("max_ttft_ms", "First token within (ms)", "", "no limit", FieldKind::Decimal),
    field("max_tpot_ms", "Each token within (ms)", "", "no limit", FieldKind::Decimal),
    field(
        "request_rate",
        "Requests/s",
        "Requests that arrive at random and are served with continuous batching",
        "no requests",
        FieldKind::Decimal,
    ),
    field("requests", "Requests", "Requests to serve at that rate", "200", FieldKind::Whole),
    field(
        "config",
        "config.json",
        "The text of the config.json of a decoder, instead of the model above",
        "{\"model_type\": \"llama\", ...}",
        FieldKind::Line,
    ),
];
