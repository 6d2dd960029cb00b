//! Models some of whose layers keep no keys and values: their time is not known here.

use ns_base::convert::u64_to_usize;
use ns_base::{Refusal, refuse};
use serde_json::{Map, Value};

use super::config_fields::LAYERS;
use super::config_values::whole;
use super::model_names::is_name_of;

const STATE: &str = "state space";
const LINEAR: &str = "linear attention";

/// Models by name: layers without attention to kept keys and values, what they are, all layers. They only refuse; a config.json says its own.
#[rustfmt::skip]
const LINEAR_MODELS: &[(&str, usize, &str, u64)] = &[
    ("qwen3-next-80b-a3b", 36, LINEAR, 48),
    ("qwen3.5-4b", 24, LINEAR, 32),
    ("qwen3.5-9b", 24, LINEAR, 32),
    ("qwen3.5-27b", 48, LINEAR, 64),
    ("qwen3.5-35b-a3b", 30, LINEAR, 40),
    ("qwen3.5-397b-a17b", 45, LINEAR, 60),
    ("qwen3.6-27b", 48, LINEAR, 64),
    ("qwen3.6-35b-a3b", 30, LINEAR, 40),
    ("kimi-linear-48b-a3b", 20, LINEAR, 27),
    ("minimax-text-01", 70, LINEAR, 80),
    ("minimax-m1-80k", 70, LINEAR, 80),
    ("jamba", 28, STATE, 32),
    ("ai21-jamba-mini-1.6", 28, STATE, 32),
    ("ai21-jamba-mini-1.7", 28, STATE, 32),
    ("falcon-h1-7b", 44, STATE, 44),
    ("falcon-mamba-7b", 64, STATE, 64),
    ("mamba-2.8b", 64, STATE, 64),
    ("mamba-codestral-7b", 64, STATE, 64),
    ("bamba-9b", 29, STATE, 32),
    ("granite-4.0-h-small", 36, STATE, 40),
    ("recurrentgemma-2b", 18, STATE, 26),
    ("lfm2-1.2b", 10, STATE, 16),
    ("nemotron-h-8b", 24, STATE, 52),
    ("nemotron-h-56b", 54, STATE, 118),
    ("nvidia-nemotron-3-nano-30b-a3b", 23, STATE, 52),
    ("nvidia-nemotron-nano-9b", 27, STATE, 56),
    ("granite-4.0-h-tiny", 36, STATE, 40),
    ("granite-4.0-h-micro", 36, STATE, 40),
    ("falcon-h1-34b", 72, STATE, 72),
];

/// Why a model of this name is refused; `None` where the name is that of no such model.
pub fn linear_model(name: &str) -> Option<Refusal> {
    let (_, count, what, all) = LINEAR_MODELS.iter().find(|(known, ..)| is_name_of(name, known))?;
    Some(refusal(name, *count, what, *all))
}

/// The refusal of a model with such layers.
pub fn refusal(model: &str, count: usize, what: &str, all: u64) -> Refusal {
    refuse!(
        "{model} has {count} {what} layers of {all}, whose time is not known here; models whose layers all keep keys and values can be run"
    )
}

/// Layers without attention to kept keys and values: their number and what they are.
pub fn linear_layers(fields: &Map<String, Value>) -> Option<(usize, &'static str)> {
    let of_type = |what: &[&str]| {
        let types = fields.get("layer_types").or_else(|| fields.get("layers_block_type"))?.as_array()?;
        let count = types.iter().filter(|t| t.as_str().is_some_and(|t| what.contains(&t))).count();
        (count > 0).then_some(count)
    };
    let count = |n: u64| u64_to_usize(n);
    let all = || whole(fields, LAYERS).ok().flatten().map(count);
    if let Some(pattern) = fields.get("hybrid_override_pattern").and_then(Value::as_str) {
        return Some((pattern.matches('M').count(), STATE)).filter(|(count, _)| *count > 0);
    }
    if let Some(count) = of_type(&["linear_attention", "gated_deltanet"]) {
        return Some((count, LINEAR));
    }
    if let Some(count) = of_type(&["mamba", "mamba2", "recurrent", "conv"]) {
        return Some((count, STATE));
    }
    if let Some(list) = fields.get("linear_attn_config").and_then(|c| c.get("kda_layers")).and_then(Value::as_array) {
        return Some((list.len(), LINEAR));
    }
    if let (Some(every), Some(all)) = (whole(fields, &["full_attention_interval"]).ok().flatten(), all()) {
        return Some((all - all / count(every.max(1)), LINEAR));
    }
    let model_type = fields.get("model_type").and_then(Value::as_str).unwrap_or_default();
    let is_state = ["mamba", "falcon_h1", "falcon_mamba", "rwkv", "zamba", "jamba", "bamba"]
        .iter()
        .any(|t| model_type.starts_with(t));
    let has_state =
        ["mamba_d_state", "ssm_state_size", "state_size", "mamba_num_heads"].iter().any(|f| fields.contains_key(*f));
    // A list of layers without such a layer says that there is none.
    let is_listed =
        ["layer_types", "layers_block_type"].iter().any(|field| fields.get(*field).is_some_and(Value::is_array));
    ((is_state || has_state) && !is_listed).then(|| (all().unwrap_or_default(), STATE))
}
