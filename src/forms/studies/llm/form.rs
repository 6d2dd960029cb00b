//! The form and the options of the study of language models.

use super::spec::{INPUT, LlmStudy, OUTPUT, REQUESTS, is_config_name};
use crate::options::{Flag, Opt, Options, fields, flag, opt, some};
use crate::studies::form::{FieldGroup, FieldKind, GroupLook, StudyExample, StudyForm, field};
use ns_base::Refusal;
use ns_bench::comma_list;
use ns_llm::{MODEL_CHOICES, WEIGHT_CHOICES, llm_instance, named_config, read_config};

pub const FORM: StudyForm = StudyForm {
    title: "LLMs",
    lead: "What will a large language model do on Inferentia and Trainium? How long a prompt and a token take, what a million tokens cost, and \
           where the model fits. One core\u{2019}s part is simulated, layer by layer; the others do the same.",
    begin: "Press Run, or choose an example.",
    groups: &[
        FieldGroup { title: "", look: GroupLook::Open, fields: &fields::<_, { MAIN.len() }>(MAIN) },
        FieldGroup {
            title: "Experts, buckets, limits, requests, and a model of your own",
            look: GroupLook::Folded,
            fields: &fields::<_, { MORE.len() }>(MORE),
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

type Row = Opt<LlmStudy>;

impl Options for LlmStudy {
    const OPTIONS: &'static [&'static [Row]] = &[MAIN, MORE];
    const IS_USAGE: bool = false;
}

/// Options that `fit` finds by itself.
const GENERATE: &[&str] = &["generate"];
const MS: &str = "a number of milliseconds above 0";
const LNC: FieldKind = FieldKind::Choice(&[("", "the instance\u{2019}s"), ("1", "1"), ("2", "2")]);
const ROUTES: FieldKind = FieldKind::Choice(&[
    ("", "the instance\u{2019}s"),
    ("tnx", "transformers-neuronx"),
    ("nxdi", "NeuronX Distributed Inference"),
    ("vllm", "the same behind a vLLM server"),
]);

#[rustfmt::skip]
const MAIN: &[Row] = &[
    opt(field("model", "Model", "", "", FieldKind::Named(MODEL_CHOICES)),
        flag("NAME", "A language model by name: llama-2-13b, llama-3-8b, mistral-7b, qwen2.5-7b, opt-13b ...").default(""),
        |s| s.typed.as_ref().unwrap_or(&s.model).clone(), |s, given| model(s, given.text).map_err(|e| given.called(&e))),
    opt(field("instance", "Instance type", "", "", FieldKind::Instance),
        flag("NAME", "Instance size").only(GENERATE),
        |s| s.instance.clone(), |s, given| llm_instance(given.text).map(|instance| s.instance = instance.name.to_owned()).map_err(|e| given.called(&e))),
    opt(field("tp", "TP", "Cores that share the model", "the most of the instance", FieldKind::Whole),
        flag("CORES", "Tensor parallel degree: cores that share the model; the instance's most when absent").only(GENERATE).aliases(&["tensor-parallel-size", "tp-degree", "tensor-parallel-degree"]),
        |s| some(s.tp), |s, given| given.some_count().map(|n| s.tp = n)),
    opt(field("batch", "Batch", "Sequences", "1", FieldKind::Whole),
        flag("N", "Sequences of a batch, for which the executables are compiled").aliases(&["batch-size", "max-num-seqs"]),
        |s| s.batch.to_string(), |s, given| given.some_count().map(|n| s.batch = n.unwrap_or(1))),
    opt(field("input", "Prompt tokens", "", "128", FieldKind::Whole),
        flag("TOKENS", "Tokens of each prompt").aliases(&["input-len", "input-length", "prompt"]),
        |s| s.input.to_string(), |s, given| given.some_count().map(|n| s.input = n.unwrap_or(INPUT))),
    opt(field("output", "New tokens", "", "1024", FieldKind::Whole),
        flag("TOKENS", "New tokens of each sequence").aliases(&["output-len", "output-length", "max-new-tokens", "max-tokens"]),
        |s| s.output.to_string(), |s, given| given.some_count().map(|n| s.output = n.unwrap_or(OUTPUT))),
    opt(field("weights", "Weights", "", "", FieldKind::Choice(WEIGHT_CHOICES)),
        flag("STORAGE", "Storage of the weights: bf16, int8, fp8, int4, mxfp4; as the model's file says when absent, else bf16").aliases(&["quantization", "dtype"]),
        |s| some(s.weights), |s, given| given.some_known().map(|weights| s.weights = weights)),
    opt(field("lnc", "Cores per logical core", "", "", LNC),
        flag("CORES", "Physical cores of a logical core (Trn2: 1 or 2)"),
        |s| some(s.lnc), |s, given| given.some_count().map(|n| s.lnc = n)),
    opt(field("route", "Served by", "", "", ROUTES),
        flag("ROUTE", "What serves the model: tnx (transformers-neuronx: Inf2 and Trn1 when absent), nxdi (Trn2 when absent), vllm"),
        |s| some(s.route), |s, given| given.some_known().map(|route| s.route = route)),
];

#[rustfmt::skip]
const MORE: &[Row] = &[
    opt(field("ep", "EP", "Groups of these cores that share the experts", "1", FieldKind::Whole),
        flag("GROUPS", "Groups of the --tp cores that share the experts of a layer; 1: each core has a part of every expert").only(GENERATE).aliases(&["expert-parallel-size", "ep-degree"]),
        |s| some(s.expert_groups), |s, given| given.some_count().map(|n| s.expert_groups = n)),
    opt(field("active", "Active sequences", "Those that run of the batch that is compiled", "the batch", FieldKind::Whole),
        flag("N", "Sequences that run of the --batch for which the executables are compiled; all when absent").only(GENERATE),
        |s| some(s.active), |s, given| given.some_count().map(|n| s.active = n)),
    opt(field("buckets", "Buckets", "Positions of the compiled caches", "128, 256, ...", FieldKind::Numbers),
        flag("POSITIONS", "Positions of the compiled caches, with commas; powers of two from 128 when absent, one of full length with --request-rate").list().only(GENERATE),
        |s| comma_list(&s.buckets), |s, given| given.each_text(|n| n.some_count()).map(|all| s.buckets = all.into_iter().flatten().collect())),
    opt(field("guesses", "Guessed tokens", "Of each sequence and step, which the step checks", "none", FieldKind::Whole),
        flag("TOKENS", "Speculative decoding: tokens of each sequence that are guessed before a step, which checks them").only(GENERATE),
        |s| some(s.guesses), |s, given| given.some_count().map(|n| s.guesses = n)),
    opt(field("acceptance", "Acceptance", "The share of guesses that the model agrees with", "0.7", FieldKind::Decimal),
        flag("SHARE", "The share of guessed tokens that the model agrees with, 0 to 1; 0.7 when absent").only(GENERATE).needs("guesses"),
        |s| some(s.acceptance), |s, given| given.some_where("a share from 0 to 1", |x| (0.0..=1.0).contains(x)).map(|share| s.acceptance = share)),
    opt(field("max_ttft_ms", "First token within (ms)", "", "no limit", FieldKind::Decimal),
        flag("MS", "Limit of the time to the first token, milliseconds: of goodput with --request-rate; fit names the cheapest place within it, or the nearest"),
        |s| some(s.max_ttft_ms), |s, given| given.above_zero(MS).map(|ms| s.max_ttft_ms = ms)),
    opt(field("max_tpot_ms", "Each token within (ms)", "", "no limit", FieldKind::Decimal),
        flag("MS", "The same for the time of a token, milliseconds"),
        |s| some(s.max_tpot_ms), |s, given| given.above_zero(MS).map(|ms| s.max_tpot_ms = ms)),
    opt(field("request_rate", "Requests/s", "Requests that arrive at random and are served with continuous batching", "no requests", FieldKind::Decimal),
        flag("RATE", "Requests a second that arrive at random: continuous batching of at most --batch sequences").only(GENERATE),
        |s| some(s.request_rate), |s, given| given.above_zero("a number of requests a second above 0").map(|rate| s.request_rate = rate)),
    opt(field("requests", "Requests", "Requests to serve at that rate", "200", FieldKind::Whole),
        flag("N", "Requests to serve with --request-rate").only(GENERATE).needs("request_rate"),
        |s| s.requests.to_string(), |s, given| given.some_count().map(|n| s.requests = n.unwrap_or(REQUESTS))),
    opt(field("prefill_chunk", "Prompt pieces", "Tokens of a prompt that are read between two steps of the others", "whole prompts", FieldKind::Whole),
        flag("TOKENS", "Tokens of a prompt that are read between two steps of the others; whole prompts when absent").only(GENERATE).needs("request_rate"),
        |s| some(s.prefill_chunk), |s, given| given.some_count().map(|n| s.prefill_chunk = n)),
    opt(field("config", "config.json", "The text of the config.json of a decoder, instead of the model above", "{\"model_type\": \"llama\", ...}", FieldKind::Line),
        Flag::elsewhere("model-config"),
        |s| s.config.clone(), |s, given| { if !given.text.is_empty() { read_config(s.file(), given.text.as_bytes()).map_err(|e| e.to_string())?; } s.config = one_line(given.text); Ok(()) }),
];

/// The model of a name, and the name itself where it is another one; that of a file is of the text that comes with it.
fn model(study: &mut LlmStudy, typed: &str) -> Result<(), Refusal> {
    match named_config(typed) {
        Ok(found) => {
            study.typed = (!found.name.eq_ignore_ascii_case(typed)).then(|| typed.to_owned());
            study.model = found.name;
        }
        Err(_) if is_config_name(typed) => study.typed = Some(typed.to_owned()),
        Err(refusal) => return Err(refusal),
    }
    Ok(())
}

/// A JSON text without the spaces between its parts, as a field of one line and a link hold it.
fn one_line(json: &str) -> String {
    serde_json::from_str(json).map_or_else(|_| json.to_owned(), |value: serde_json::Value| value.to_string())
}
