//! The options of the study of language models as one table: the page's form, links, the flags of `generate` and `fit`, their help, Python's
//! keywords and the commands that the page prints come from its rows.

use super::spec::LlmStudy;
use crate::studies::form::{FieldKind, FormField, field};
use ns_base::{Refusal, refuse};
use ns_llm::{MODEL_CHOICES, WEIGHT_CHOICES, Weights, llm_instance, named_config, read_config};

/// A command that takes some of the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlmCommand {
    /// `generate` of one batch.
    Generate,
    /// `generate --request-rate`.
    Serve,
    Fit,
}

/// The group of fields that an option is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LlmGroup {
    Main,
    More,
}

/// One option.
#[derive(Debug)]
pub struct LlmOption {
    /// Its field, whose key is its name in links and Python.
    pub field: FormField,
    pub group: LlmGroup,
    /// Its flag without dashes, and what follows it.
    pub flag: (&'static str, &'static str),
    /// Its help on the command line.
    pub help: &'static str,
    pub commands: &'static [LlmCommand],
    /// A text that is not its default.
    pub example: &'static str,
    get: fn(&LlmStudy) -> String,
    put: fn(&mut LlmStudy, &str) -> Result<(), Refusal>,
}

const ONE: &[LlmCommand] = &[LlmCommand::Generate, LlmCommand::Serve];
const SERVE: &[LlmCommand] = &[LlmCommand::Serve];
const LIMITS: &[LlmCommand] = &[LlmCommand::Serve, LlmCommand::Fit];
const ALL: &[LlmCommand] = &[LlmCommand::Generate, LlmCommand::Serve, LlmCommand::Fit];

/// Cores of a logical core, and what serves the model.
const LNC: FieldKind = FieldKind::Choice(&[("", "the instance\u{2019}s"), ("1", "1"), ("2", "2")]);
const ROUTES: FieldKind = FieldKind::Choice(&[
    ("", "the instance\u{2019}s"),
    ("tnx", "transformers-neuronx"),
    ("nxdi", "NeuronX Distributed Inference"),
    ("vllm", "the same behind a vLLM server"),
]);

/// Every option, in the order of the form and of the help.
pub const LLM_OPTIONS: &[LlmOption] = &[
    LlmOption {
        field: field("model", "Model", "", "", FieldKind::Choice(MODEL_CHOICES)),
        group: LlmGroup::Main,
        flag: ("model", "NAME"),
        help: "A language model by name: llama-2-13b, llama-3-8b, mistral-7b, qwen2.5-7b, opt-13b ...",
        commands: ALL,
        example: "mistral-7b",
        get: |s| s.model.clone(),
        put: |s, text| {
            let name = named_config(text)?.name;
            s.typed = (!name.eq_ignore_ascii_case(text)).then(|| text.to_owned());
            s.model = name;
            Ok(())
        },
    },
    LlmOption {
        field: field("instance", "Instance type", "", "", FieldKind::Instance),
        group: LlmGroup::Main,
        flag: ("instance", "NAME"),
        help: "Instance size; inf2.48xlarge when absent",
        commands: ONE,
        example: "trn2.48xlarge",
        get: |s| s.instance.clone(),
        put: |s, text| llm_instance(text).map(|instance| s.instance = instance.name.to_owned()),
    },
    LlmOption {
        field: field("tp", "TP", "Cores that share the model", "the most of the instance", FieldKind::Whole),
        group: LlmGroup::Main,
        flag: ("tp", "CORES"),
        help: "Tensor parallel degree: cores that share the model; the instance's most when absent",
        commands: ONE,
        example: "8",
        get: |s| optional(s.tp),
        put: |s, text| number(text).map(|n| s.tp = n),
    },
    LlmOption {
        field: field("batch", "Batch", "Sequences", "1", FieldKind::Whole),
        group: LlmGroup::Main,
        flag: ("batch", "N"),
        help: "Sequences of a batch, for which the executables are compiled",
        commands: ALL,
        example: "4",
        get: |s| s.batch.to_string(),
        put: |s, text| number(text).map(|n| s.batch = n.unwrap_or(1)),
    },
    LlmOption {
        field: field("input", "Prompt tokens", "", "128", FieldKind::Whole),
        group: LlmGroup::Main,
        flag: ("input", "TOKENS"),
        help: "Tokens of each prompt",
        commands: ALL,
        example: "64",
        get: |s| s.input.to_string(),
        put: |s, text| number(text).map(|n| s.input = n.unwrap_or(LlmStudy::default().input)),
    },
    LlmOption {
        field: field("output", "New tokens", "", "1024", FieldKind::Whole),
        group: LlmGroup::Main,
        flag: ("output", "TOKENS"),
        help: "New tokens of each sequence",
        commands: ALL,
        example: "256",
        get: |s| s.output.to_string(),
        put: |s, text| number(text).map(|n| s.output = n.unwrap_or(LlmStudy::default().output)),
    },
    LlmOption {
        field: field("weights", "Weights", "", "", FieldKind::Choice(WEIGHT_CHOICES)),
        group: LlmGroup::Main,
        flag: ("weights", "STORAGE"),
        help: "Storage of the weights: bf16, int8, fp8, int4, mxfp4; as the model's file says when absent, else bf16",
        commands: ALL,
        example: "int8",
        get: |s| s.weights.map(|w| w.to_string()).unwrap_or_default(),
        put: |s, text| {
            s.weights = if text.is_empty() { None } else { Some(text.parse::<Weights>()?) };
            Ok(())
        },
    },
    LlmOption {
        field: field("lnc", "Cores per logical core", "", "", LNC),
        group: LlmGroup::Main,
        flag: ("lnc", "CORES"),
        help: "Physical cores of a logical core (Trn2: 1 or 2)",
        commands: ALL,
        example: "1",
        get: |s| optional(s.lnc),
        put: |s, text| number(text).map(|n| s.lnc = n),
    },
    LlmOption {
        field: field("route", "Served by", "", "", ROUTES),
        group: LlmGroup::Main,
        flag: ("route", "ROUTE"),
        help: "What serves the model: tnx (transformers-neuronx: Inf2 and Trn1 when absent), nxdi (Trn2 when absent), vllm",
        commands: ALL,
        example: "vllm",
        get: |s| s.route.map(|route| route.to_string()).unwrap_or_default(),
        put: |s, text| {
            s.route = if text.is_empty() { None } else { Some(text.parse()?) };
            Ok(())
        },
    },
    LlmOption {
        field: field("ep", "EP", "Groups of these cores that share the experts", "1", FieldKind::Whole),
        group: LlmGroup::More,
        flag: ("ep", "GROUPS"),
        help: "Groups of the --tp cores that share the experts of a layer; 1: each core has a part of every expert",
        commands: ONE,
        example: "2",
        get: |s| optional(s.expert_groups),
        put: |s, text| number(text).map(|n| s.expert_groups = n),
    },
    LlmOption {
        field: field(
            "active",
            "Active sequences",
            "Those that run of the batch that is compiled",
            "the batch",
            FieldKind::Whole,
        ),
        group: LlmGroup::More,
        flag: ("active", "N"),
        help: "Sequences that run of the --batch for which the executables are compiled; all when absent",
        commands: ONE,
        example: "1",
        get: |s| optional(s.active),
        put: |s, text| number(text).map(|n| s.active = n),
    },
    LlmOption {
        field: field("buckets", "Buckets", "Positions of the compiled caches", "128, 256, ...", FieldKind::Numbers),
        group: LlmGroup::More,
        flag: ("buckets", "POSITIONS"),
        help: "Positions of the compiled caches, with commas; powers of two from 128 when absent, one of full length with --request-rate",
        commands: ONE,
        example: "512,2048",
        get: |s| s.buckets.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
        put: |s, text| {
            let all = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            s.buckets = all.map(|part| number(part).map(Option::unwrap_or_default)).collect::<Result<_, _>>()?;
            Ok(())
        },
    },
    LlmOption {
        field: field(
            "guesses",
            "Guessed tokens",
            "Of each sequence and step, which the step checks",
            "none",
            FieldKind::Whole,
        ),
        group: LlmGroup::More,
        flag: ("guesses", "TOKENS"),
        help: "Speculative decoding: tokens of each sequence that are guessed before a step, which checks them",
        commands: ONE,
        example: "3",
        get: |s| optional(s.guesses),
        put: |s, text| number(text).map(|n| s.guesses = n),
    },
    LlmOption {
        field: field(
            "acceptance",
            "Acceptance",
            "The share of guesses that the model agrees with",
            "0.7",
            FieldKind::Decimal,
        ),
        group: LlmGroup::More,
        flag: ("acceptance", "SHARE"),
        help: "The share of guessed tokens that the model agrees with, 0 to 1; 0.7 when absent",
        commands: ONE,
        example: "0.5",
        get: |s| limit_text(s.acceptance),
        put: |s, text| {
            s.acceptance = share(text)?;
            Ok(())
        },
    },
    LlmOption {
        field: field("max_ttft_ms", "First token within (ms)", "", "no limit", FieldKind::Decimal),
        group: LlmGroup::More,
        flag: ("max-ttft-ms", "MS"),
        help: "Limit of the time to the first token, milliseconds: of goodput with --request-rate; fit names the cheapest place within it, or the nearest",
        commands: LIMITS,
        example: "500",
        get: |s| limit_text(s.max_ttft_ms),
        put: |s, text| above_zero(text, "a number of milliseconds above 0").map(|ms| s.max_ttft_ms = ms),
    },
    LlmOption {
        field: field("max_tpot_ms", "Each token within (ms)", "", "no limit", FieldKind::Decimal),
        group: LlmGroup::More,
        flag: ("max-tpot-ms", "MS"),
        help: "The same for the time of a token, milliseconds",
        commands: LIMITS,
        example: "20",
        get: |s| limit_text(s.max_tpot_ms),
        put: |s, text| above_zero(text, "a number of milliseconds above 0").map(|ms| s.max_tpot_ms = ms),
    },
    LlmOption {
        field: field(
            "request_rate",
            "Requests/s",
            "Requests that arrive at random and are served with continuous batching",
            "no requests",
            FieldKind::Decimal,
        ),
        group: LlmGroup::More,
        flag: ("request-rate", "RATE"),
        help: "Requests a second that arrive at random: continuous batching of at most --batch sequences",
        commands: SERVE,
        example: "2",
        get: |s| limit_text(s.request_rate),
        put: |s, text| above_zero(text, "a number of requests a second above 0").map(|rate| s.request_rate = rate),
    },
    LlmOption {
        field: field("requests", "Requests", "Requests to serve at that rate", "200", FieldKind::Whole),
        group: LlmGroup::More,
        flag: ("requests", "N"),
        help: "Requests to serve with --request-rate; 200 when absent",
        commands: SERVE,
        example: "100",
        get: |s| s.requests.to_string(),
        put: |s, text| number(text).map(|n| s.requests = n.unwrap_or(LlmStudy::default().requests)),
    },
    LlmOption {
        field: field(
            "prefill_chunk",
            "Prompt pieces",
            "Tokens of a prompt that are read between two steps of the others",
            "whole prompts",
            FieldKind::Whole,
        ),
        group: LlmGroup::More,
        flag: ("prefill-chunk", "TOKENS"),
        help: "Tokens of a prompt that are read between two steps of the others; whole prompts when absent",
        commands: SERVE,
        example: "32",
        get: |s| optional(s.prefill_chunk),
        put: |s, text| number(text).map(|n| s.prefill_chunk = n),
    },
    LlmOption {
        field: field(
            "config",
            "config.json",
            "The text of the config.json of a decoder, instead of the model above",
            "{\"model_type\": \"llama\", ...}",
            FieldKind::Line,
        ),
        group: LlmGroup::More,
        flag: ("model-config", "FILE"),
        help: "The config.json of a decoder instead",
        commands: ALL,
        example: "",
        get: |s| s.config.clone(),
        put: |s, text| {
            if !text.is_empty() {
                read_config(&s.config_name, text.as_bytes())?;
            }
            s.config = one_line(text);
            Ok(())
        },
    },
];

impl LlmOption {
    /// The option with this key.
    pub fn find(key: &str) -> Option<&'static Self> {
        LLM_OPTIONS.iter().find(|option| option.field.key == key)
    }

    /// Its text; empty if nothing is given.
    pub fn text(&self, study: &LlmStudy) -> String {
        (self.get)(study)
    }

    /// Puts a text into it; one that cannot be used leaves it as it was.
    ///
    /// # Errors
    /// What is wrong with the text and what would be right, after `name`.
    pub fn put(&self, study: &mut LlmStudy, name: &str, text: &str) -> Result<(), Refusal> {
        // A file names itself.
        let is_file = self.field.key == "config";
        (self.put)(study, text).map_err(|e| if is_file { e } else { e.within(|what| format!("{name}: {what}")) })
    }
}

/// The fields of a group.
pub(super) const fn fields<const N: usize>(group: LlmGroup) -> [FormField; N] {
    let mut all = [LLM_OPTIONS[0].field; N];
    let (mut at, mut next) = (0, 0);
    while at < LLM_OPTIONS.len() {
        if LLM_OPTIONS[at].group as u8 == group as u8 {
            all[next] = LLM_OPTIONS[at].field;
            next += 1;
        }
        at += 1;
    }
    all
}

/// How many they are.
pub(super) const fn count(group: LlmGroup) -> usize {
    let (mut at, mut n) = (0, 0);
    while at < LLM_OPTIONS.len() {
        if LLM_OPTIONS[at].group as u8 == group as u8 {
            n += 1;
        }
        at += 1;
    }
    n
}

/// A JSON text without the spaces between its parts, as a field of one line and a link hold it.
fn one_line(json: &str) -> String {
    serde_json::from_str(json).map_or_else(|_| json.to_owned(), |value: serde_json::Value| value.to_string())
}

fn optional<T: ToString>(n: Option<T>) -> String {
    n.map(|n| n.to_string()).unwrap_or_default()
}

/// The text of a number that may be absent.
fn limit_text(number: Option<f64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

/// A whole number above 0; `None` for no text.
fn number<T: std::str::FromStr + Default + PartialOrd>(text: &str) -> Result<Option<T>, Refusal> {
    if text.is_empty() {
        return Ok(None);
    }
    let found = text.parse().ok().filter(|n: &T| *n > T::default());
    found.map(Some).ok_or_else(|| refuse!("'{text}' is not a whole number above 0"))
}

fn above_zero(text: &str, wanted: &str) -> Result<Option<f64>, Refusal> {
    if text.is_empty() {
        return Ok(None);
    }
    let found = text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0);
    found.map(Some).ok_or_else(|| refuse!("'{text}' is not {wanted}"))
}

fn share(text: &str) -> Result<Option<f64>, Refusal> {
    if text.is_empty() {
        return Ok(None);
    }
    let found = text.parse().ok().filter(|x: &f64| (0.0..=1.0).contains(x));
    found.map(Some).ok_or_else(|| refuse!("'{text}' is not a share from 0 to 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_keeps_its_text_and_is_in_the_form_once() {
        let form = &super::super::FORM;
        let keys: Vec<&str> = form.groups.iter().flat_map(|group| group.fields).map(|field| field.key).collect();
        assert_eq!(keys.len(), LLM_OPTIONS.len());
        for option in LLM_OPTIONS {
            let key = option.field.key;
            assert_eq!(keys.iter().filter(|own| **own == key).count(), 1, "{key}");
            let mut study = LlmStudy::default();
            let before = option.text(&study);
            study.set(key, option.example).unwrap_or_else(|e| panic!("{key}: {e}"));
            assert_eq!(study.text(key), option.example, "{key}");
            assert!(before != option.example || key == "config", "{key}");
            if key != "config" {
                let error = study.set(key, "nonsense").unwrap_err();
                assert!(error.contains("nonsense"), "{key}: {error}");
                assert_eq!(study.text(key), option.example, "{key}");
                // Python's keywords are the flags.
                assert_eq!(key.replace('_', "-"), option.flag.0);
            }
        }
    }
}
