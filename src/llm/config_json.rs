//! Reads a model's `config.json`.

use serde_json::{Map, Value};

use super::config::{Activation, DecoderConfig, Experts, Latent, LayerKind};
use super::config_family::{family_of, text_part};
use super::config_fields::{
    ACTIVATION, EXPERT_WIDTH, EXPERTS, FIRST_SPARSE, HEAD_SIZE, HEADS, HIDDEN, INTERMEDIATE, KV_HEADS, LAYERS, PATTERN,
    PER_TOKEN, POSITIONS, QUANTIZATION, SHARED, SHARED_WIDTH, SPARSE_STEP, WINDOW,
};
use super::config_remarks::remarks_of;
use super::families::Family;
use super::model_rows::Sizes;
use super::weights::Weights;
use ns_base::convert::{f64_to_u64, u64_to_usize};
use ns_base::{Refusal, refuse, without_nan};

/// Longest file that is read: a configuration has a few kilobytes.
pub const MAX_CONFIG_BYTES: usize = 1 << 20;

/// A decoder from the text of its `config.json`.
/// An error names the field that is missing, unknown or impossible.
pub fn read_config(name: &str, bytes: &[u8]) -> Result<DecoderConfig, Refusal> {
    let wrong = |what: Refusal| what.within(|what| format!("{name}: {what}"));
    if bytes.len() > MAX_CONFIG_BYTES {
        return Err(wrong(refuse!("it has {} bytes, and a config.json has a few thousand", bytes.len())));
    }
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes));
    let fields: Map<String, Value> =
        serde_json::from_str(&without_nan(&text)).map_err(|e| wrong(refuse!("it is not a JSON object: {e}")))?;
    config_of(name, &fields).map_err(wrong)
}

/// A decoder from the fields of its `config.json`.
pub fn config_of(name: &str, whole_file: &Map<String, Value>) -> Result<DecoderConfig, Refusal> {
    let (fields, of_class) = &text_part(whole_file);
    let (family, remark) = family_of(name, fields)?;
    let kv_heads = whole(fields, KV_HEADS)?;
    let skipped = fields.get("cross_attention_layers").and_then(Value::as_array).map_or(0, Vec::len);
    let sizes = sizes_of(fields, family, kv_heads, skipped.try_into().unwrap_or(0))?;
    let mut config = DecoderConfig::of_family(family, name, sizes);
    config.tied = flag(fields, "tie_word_embeddings")?.unwrap_or(family.tied);
    for (field, change) in family.switches {
        if let Some(on) = flag(fields, field)? {
            change(&mut config, on);
        }
    }
    // A switch for one head does not count where the heads are said, but in the older form of falcon.
    let is_older = family.name == "falcon" && flag(fields, "new_decoder_architecture")? != Some(true);
    config.kv_heads = kv_heads.filter(|_| !is_older || config.kv_heads != 1).unwrap_or(config.kv_heads);
    config.word_features = whole(fields, &["word_embed_proj_dim"])?.unwrap_or(config.hidden);
    config.has_last_norm = flag(fields, "do_layer_norm_before")?.unwrap_or(true);
    config.has_score_cap = fields.get("attn_logit_softcapping").is_some_and(Value::is_number);
    config.has_word_cap = fields.get("final_logit_softcapping").is_some_and(Value::is_number);
    if let Some(known) = activation_of(fields).and_then(|(_, activation)| activation) {
        config.activation = known;
    }
    config.latent = latent_of(fields, family)?;
    config.experts = experts_of(fields, family)?;
    config.check()?;
    set_layers(fields, family, &mut config)?;
    config.check()?;
    config.remarks = remarks_of(fields, &config, family);
    config.stored = stored_of(fields).unwrap_or_default();
    config.remarks.extend(remark);
    if !of_class.is_empty() {
        config.remarks.push(format!(
            "The text part does not say these sizes, which are those of its class: {}.",
            of_class.join(", ")
        ));
    }
    if skipped > 0 {
        config.remarks.push(format!("The {skipped} layers of cross_attention_layers read pictures and are left out."));
    }
    Ok(config)
}

/// The sizes of a file, without the layers that are skipped.
fn sizes_of(
    fields: &Map<String, Value>,
    family: &Family,
    kv_heads: Option<u64>,
    skipped: u64,
) -> Result<Sizes, Refusal> {
    let (hidden, heads) = (needed(fields, HIDDEN)?, needed(fields, HEADS)?);
    let head_size = match whole(fields, HEAD_SIZE)? {
        Some(size) => size,
        None if hidden % heads == 0 => hidden / heads,
        None if family.is_latent => needed(fields, &["v_head_dim"])?,
        None => return Err(refuse!("hidden_size {hidden} is not a multiple of num_attention_heads {heads}")),
    };
    let ratio = whole(fields, &["expansion_ratio"])?.unwrap_or(4);
    let intermediate = match whole(fields, &["intermediate_size_mlp"])?.or(whole(fields, INTERMEDIATE)?) {
        Some(size) => size,
        None if family.is_four_wide => hidden.saturating_mul(ratio),
        None => whole(fields, EXPERT_WIDTH)?.ok_or_else(|| missing(INTERMEDIATE))?,
    };
    let positions = match whole(fields, POSITIONS)? {
        None if family.name == "falcon" => FALCON_POSITIONS,
        _ => needed(fields, POSITIONS)?,
    };
    Ok([
        needed(fields, LAYERS)?.saturating_sub(skipped),
        hidden,
        heads,
        kv_heads.unwrap_or(heads),
        head_size,
        intermediate,
        needed(fields, &["vocab_size"])?,
        positions,
    ])
}

/// Positions of a falcon whose file says none.
const FALCON_POSITIONS: u64 = 2_048;

fn latent_of(fields: &Map<String, Value>, family: &Family) -> Result<Option<Latent>, Refusal> {
    if !family.is_latent {
        return Ok(None);
    }
    let size = |field: &'static str| {
        let size = needed(fields, &[field])?;
        if size > 1 << 16 { Err(refuse!("{field} is {size}; it must be between 1 and {}", 1 << 16)) } else { Ok(size) }
    };
    Ok(Some(Latent {
        query_rank: if whole(fields, &["q_lora_rank"])?.is_some() { size("q_lora_rank")? } else { 0 },
        rank: size("kv_lora_rank")?,
        plain: size("qk_nope_head_dim")?,
        rotated: size("qk_rope_head_dim")?,
        value: size("v_head_dim")?,
    }))
}

fn experts_of(fields: &Map<String, Value>, family: &Family) -> Result<Option<Experts>, Refusal> {
    let named = EXPERTS.iter().find_map(|field| Some((*field, whole(fields, &[field]).transpose()?)));
    let Some((field, count)) = named else { return Ok(None) };
    let (count, on) = (count?, flag(fields, "enable_moe_block")?.unwrap_or(true));
    let Some(rule) = family.experts.filter(|_| on) else {
        return Ok(None);
    };
    if count == 0 {
        let is_dense = whole(fields, PER_TOKEN)?.unwrap_or(0) == 0;
        return if is_dense { Ok(None) } else { Err(refuse!("{field} is 0; it must be at least 1")) };
    }
    let intermediate =
        whole(fields, EXPERT_WIDTH)?.or(whole(fields, INTERMEDIATE)?).ok_or_else(|| missing(EXPERT_WIDTH))?;
    Ok(Some(Experts {
        count,
        per_token: needed(fields, PER_TOKEN)?,
        intermediate,
        router_biases: rule.router_biases,
        has_shared_gate: rule.has_shared_gate,
    }))
}

/// The storage of weights that a file names.
pub(super) fn stored_of(fields: &Map<String, Value>) -> Option<Weights> {
    Weights::of_file(QUANTIZATION.iter().find_map(|field| fields.get(*field))?)
}

/// Sets the kinds of layers, of which each has a window or none, and experts or none.
fn set_layers(fields: &Map<String, Value>, family: &Family, config: &mut DecoderConfig) -> Result<(), Refusal> {
    let window = window_of(fields, family, config)?;
    let types = fields.get("layer_types").and_then(Value::as_array);
    if let Some(count) = types.map(Vec::len).filter(|count| *count < u64_to_usize(config.layers)) {
        return Err(refuse!("layer_types has {count} entries for {} layers; it must have one for each", config.layers));
    }
    let full_of = match PATTERN.iter().find_map(|field| fields.get(*field)) {
        Some(Value::String(pattern)) => u64::try_from(pattern.len()).unwrap_or(0),
        Some(Value::Number(n)) => n.as_u64().unwrap_or(family.full_of),
        _ => family.full_of,
    };
    let windows_from = match flag(fields, "use_sliding_window")? {
        Some(true) => whole(fields, &["max_window_layers"])?.unwrap_or(0),
        _ => 0,
    };
    let has_window = |layer: u64| match types.and_then(|types| types.get(u64_to_usize(layer))) {
        Some(kind) => kind != "full_attention",
        None if full_of <= 1 => full_of == 1 && layer >= windows_from,
        None => !(layer + 1).is_multiple_of(full_of),
    };
    let first = whole(fields, FIRST_SPARSE)?.unwrap_or(0);
    let listed = fields.get("moe_layer_freq").and_then(Value::as_array);
    let step = if listed.is_some() { 1 } else { whole(fields, SPARSE_STEP)?.unwrap_or(1).max(1) };
    let dense_only = fields.get("mlp_only_layers").and_then(Value::as_array);
    let has_experts = |layer: u64| {
        let is_listed = listed.is_none_or(|all| all.get(u64_to_usize(layer)).and_then(Value::as_u64) != Some(0));
        let is_dense = dense_only.is_some_and(|all| all.contains(&Value::from(layer)));
        config.experts.is_some() && is_listed && !is_dense && layer >= first && (layer + 1).is_multiple_of(step)
    };
    let shared = shared_width(fields, family, config)?;
    let global = (whole(fields, &["num_global_key_value_heads"])?, whole(fields, &["global_head_dim"])?);
    let same = flag(fields, "attention_k_eq_v")?.unwrap_or(false);
    let keeps_dense = family.experts.is_some_and(|rule| rule.is_beside_dense);
    let (mut kinds, mut order) = (Vec::<LayerKind>::new(), Vec::new());
    for layer in 0..config.layers {
        let window = window.filter(|_| has_window(layer));
        let has_experts = has_experts(layer);
        let is_global = window.is_none();
        let kind = LayerKind {
            count: 0,
            window,
            kv_heads: global.0.filter(|_| is_global).unwrap_or(config.kv_heads),
            head_size: global.1.filter(|_| is_global).unwrap_or(config.head_size),
            intermediate: if has_experts && !keeps_dense { shared } else { config.intermediate },
            has_experts,
            values_are_keys: same && is_global,
        };
        let at = kinds.iter().position(|known| LayerKind { count: 0, ..*known } == kind).unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        kinds[at].count += 1;
        order.push(at);
    }
    (config.kinds, config.order) = (kinds, order);
    Ok(())
}

/// Features of the feed-forward part that all tokens share beside experts.
fn shared_width(fields: &Map<String, Value>, family: &Family, config: &DecoderConfig) -> Result<u64, Refusal> {
    const MOST: u64 = 1 << 22;
    let of_expert = config.experts.map_or(0, |e| e.intermediate);
    let count = whole(fields, SHARED)?.or(family.experts.map(|rule| rule.shared)).unwrap_or(0);
    let width = whole(fields, SHARED_WIDTH)?.unwrap_or_else(|| count.saturating_mul(of_expert));
    if width > MOST { Err(refuse!("shared experts are {width} wide; the most is {MOST}")) } else { Ok(width) }
}

/// Positions that a layer with a window looks back; `None` where it leaves none out.
fn window_of(fields: &Map<String, Value>, family: &Family, config: &DecoderConfig) -> Result<Option<u64>, Refusal> {
    let types = fields.get("layer_types").is_some_and(Value::is_array);
    if flag(fields, "use_sliding_window")? == Some(false) || (family.full_of == 0 && !types) {
        return Ok(None);
    }
    Ok(whole(fields, WINDOW)?.filter(|window| (1..config.max_positions).contains(window)))
}

/// The function of the feed-forward part as the file names it; `None` beside the name where it is not known.
pub(super) fn activation_of(fields: &Map<String, Value>) -> Option<(&str, Option<Activation>)> {
    let name = ACTIVATION.iter().find_map(|field| fields.get(*field)?.as_str())?;
    let known = match name {
        "silu" | "swish" => Some(Activation::Silu),
        "relu" => Some(Activation::Relu),
        "relu2" => Some(Activation::SquaredRelu),
        name if name.contains("gelu") => Some(Activation::Gelu),
        _ => None,
    };
    Some((name, known))
}

fn needed(fields: &Map<String, Value>, names: &[&str]) -> Result<u64, Refusal> {
    match whole(fields, names)? {
        Some(0) => Err(refuse!("{} is 0; it must be at least 1", names[0])),
        Some(n) => Ok(n),
        None => Err(missing(names)),
    }
}

fn missing(names: &[&str]) -> Refusal {
    refuse!("the field {} is missing", names.join(" or "))
}

/// The first of these fields, if it is there and not null. A number may be written as `4096.0`, or once for each layer.
pub(super) fn whole(fields: &Map<String, Value>, names: &[&str]) -> Result<Option<u64>, Refusal> {
    match names.iter().find_map(|name| Some((name, fields.get(*name).filter(|value| !value.is_null())?))) {
        None => Ok(None),
        Some((name, value)) => {
            let value = match value {
                Value::Array(all) if all.windows(2).all(|two| two[0] == two[1]) => all.first().unwrap_or(value),
                _ => value,
            };
            let float = || value.as_f64().filter(|n| *n >= 0.0 && *n < 9e15 && libm::trunc(*n) == *n).map(f64_to_u64);
            let number = value.as_u64().or_else(float);
            number.map(Some).ok_or_else(|| refuse!("{name} is {value}; it must be a whole number"))
        }
    }
}

fn flag(fields: &Map<String, Value>, name: &str) -> Result<Option<bool>, Refusal> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(yes)) => Ok(Some(*yes)),
        Some(other) => Err(refuse!("{name} is {other}; it must be true or false")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{known_fields, named_config};

    const LLAMA_3_8B: &str = r#"{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 128256,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "max_position_embeddings": 8192,
        "rope_theta": 500000.0, "tie_word_embeddings": false}"#;

    #[test]
    fn a_config_file_says_what_the_table_says() {
        let read = read_config("llama-3-8b", LLAMA_3_8B.as_bytes()).unwrap();
        assert_eq!(read, named_config("llama-3-8b").unwrap());
        let gpt2 = br#"{"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}"#;
        assert_eq!(read_config("gpt2", gpt2).unwrap(), named_config("gpt2").unwrap());
    }

    #[test]
    fn every_field_is_used_or_said() {
        let with = |more: &str| {
            let text = LLAMA_3_8B.replacen('{', &format!("{{{more}, "), 1);
            read_config("c.json", text.as_bytes()).unwrap()
        };
        let plain = read_config("c.json", LLAMA_3_8B.as_bytes()).unwrap();
        assert!(plain.remarks.is_empty());
        // A field is in one list.
        let mut all: Vec<&str> = known_fields().into_iter().flat_map(|(_, fields)| fields).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        // 32 layers: queries, keys, values and outputs; gate, up and down.
        let biases = with(r#""attention_bias": true, "mlp_bias": true"#);
        let more = 32 * ((4096 + 2 * 1024 + 4096) + (2 * 14_336 + 4096));
        assert_eq!((biases.parameters(), biases.remarks.len()), (plain.parameters() + more, 0));
        let said = |more: &str, what: &str| {
            let remarks = with(more).remarks.join(" ");
            assert!(remarks.contains(what) || what.is_empty() && remarks.is_empty(), "{more}: {remarks}");
        };
        said(r#""sliding_window": 4096"#, "sliding_window of the config.json is not used: every position stays");
        said(r#""num_kv_shared_layers": 20"#, "every layer keeps its own keys and values");
        said(r#""hidden_size_per_layer_input": 0, "use_double_wide_mlp": false"#, "");
        said(r#""sliding_window": 4096, "use_sliding_window": false"#, "");
        said(r#""sliding_window": 131072, "hidden_act": "silu""#, "");
        said(r#""quantization_config": {"bits": 3}"#, "quantization_config of the config.json is not used");
        said(r#""quantization_config": {"quant_method": "gptq", "bits": 4}"#, "");
        assert_eq!(with(r#""quantization_config": {"quant_method": "gptq", "bits": 4}"#).stored, Weights::Int4);
        // A family without experts is run without them.
        said(r#""num_local_experts": 8"#, "model_type 'llama' has no experts, so the dense model is run");
        assert_eq!(with(r#""num_local_experts": 8"#).parameters(), plain.parameters());
        said(r#""hidden_act": "xielu""#, "computes the function of the family");
        said(r#""torch_dtype": "float32""#, "--weights says");
        said(r#""rms_norm_eps": NaN, "max_logits": Infinity, "torch_dtype": "bfloat16""#, "");
        said(r#""altup": 3, "laurel": null"#, "are not used: altup.");
        let floats = LLAMA_3_8B.replace("4096", "4096.0");
        assert_eq!(read_config("llama-3-8b", floats.as_bytes()).unwrap().parameters(), plain.parameters());
        let half = read_config("c.json", LLAMA_3_8B.replace("4096", "4096.5").as_bytes()).unwrap_err();
        assert!(half.to_string().ends_with("hidden_size is 4096.5; it must be a whole number"), "{half}");
    }

    #[test]
    fn a_wrong_field_is_named() {
        let error = |from: &str, to: &str| {
            read_config("c.json", LLAMA_3_8B.replace(from, to).as_bytes()).unwrap_err().to_string()
        };
        let cases = [
            ("\"hidden_size\"", "\"other\"", "c.json: the field hidden_size or n_embd or d_model or dim is missing"),
            ("\"llama\"", "\"t5\"", "c.json: model_type 't5' is not supported: only decoders write"),
            ("\"llama\"", "\"xyz\"", "c.json: model_type 'xyz' is not supported; these are: llama,"),
            ("\"llama\"", "\"mamba\"", "c.json: model_type 'mamba' has 32 state space layers of 32"),
            ("8192", "-1", "c.json: max_position_embeddings is -1; it must be a whole number"),
            ("\"num_key_value_heads\": 8", "\"num_key_value_heads\": 5", "c.json: 32 attention heads cannot share 5"),
            ("4096", "4095", "c.json: hidden_size 4095 is not a multiple of num_attention_heads 32"),
            ("4096", "0", "c.json: hidden_size is 0; it must be at least 1"),
            ("false", "3", "c.json: tie_word_embeddings is 3; it must be true or false"),
            ("{", "", "c.json: it is not a JSON object"),
            ("{", r#"{"layer_types": ["full_attention"],"#, "c.json: layer_types has 1 entries for 32 layers"),
            (
                "\"model_type\": \"llama\"",
                r#""peft_type": "LORA", "base_model_name_or_path": "meta-llama/Llama-3.1-8B""#,
                "c.json: it is an adapter of \"meta-llama/Llama-3.1-8B\", which has no sizes of its own; give that model",
            ),
        ];
        for (from, to, expected) in cases {
            let found = error(from, to);
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn a_part_for_text_has_the_sizes_of_its_class() {
        let gemma = br#"{"model_type": "gemma3", "vision_config": {}, "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
            "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024}}"#;
        let read = read_config("c.json", gemma).unwrap();
        assert_eq!(read.parameters(), named_config("gemma-3-4b").unwrap().parameters());
        let said = read.remarks.last().unwrap();
        assert!(said.contains("those of its class: head_dim 256,") && said.contains("vocab_size 262208"), "{said}");
        let llava = br#"{"model_type": "llava", "text_config": {"model_type": "llama", "max_position_embeddings": 4096, "vocab_size": 32064}}"#;
        let read = read_config("c.json", llava).unwrap();
        assert_eq!((read.layers, read.intermediate, read.max_positions, read.vocabulary), (32, 11_008, 4_096, 32_064));
    }

    #[test]
    fn files_of_other_makers_are_read() {
        let parameters = |text: &str| read_config("c.json", text.as_bytes()).map(|config| config.parameters());
        // The params.json of Mistral 7B v0.3.
        let params = r#"{"dim": 4096, "n_layers": 32, "head_dim": 128, "hidden_dim": 14336, "n_heads": 32, "n_kv_heads": 8, "norm_eps": 1e-05,
            "vocab_size": 32768, "max_seq_len": 32768}"#;
        assert_eq!(parameters(params), Ok(7_248_023_552));
        // Falcon 40B says one head of keys and eight; the newer form has the eight.
        let falcon = r#"{"model_type": "falcon", "bias": false, "hidden_size": 8192, "multi_query": true, "new_decoder_architecture": true,
            "num_attention_heads": 128, "num_hidden_layers": 60, "num_kv_heads": 8, "parallel_attn": true, "vocab_size": 65024}"#;
        assert_eq!(parameters(falcon), Ok(41_303_293_952));
        // A number for each layer, and a family whose files name a state space that no layer has.
        let listed = LLAMA_3_8B.replace("14336", "[14336, 14336, 14336]");
        assert_eq!(parameters(&listed), parameters(LLAMA_3_8B));
        let granite = r#"{"model_type": "granitemoehybrid", "hidden_size": 2560, "intermediate_size": 8192, "layer_types": ["attention", "attention"],
            "mamba_d_state": 128, "max_position_embeddings": 131072, "num_attention_heads": 40, "num_experts_per_tok": 0, "num_hidden_layers": 2,
            "num_key_value_heads": 8, "num_local_experts": 0, "shared_intermediate_size": 8192, "vocab_size": 100352}"#;
        let granite = read_config("c.json", granite.as_bytes()).unwrap();
        assert_eq!((granite.experts, granite.intermediate), (None, 8_192));
        let cache = r#"{"quantization_config": {"quant_method": "fp8", "kv_cache_scheme": {"num_bits": 8}}, "#;
        let said = &read_config("c.json", LLAMA_3_8B.replacen('{', cache, 1).as_bytes()).unwrap().remarks[0];
        assert!(said.contains("keys and values have 16 bits in the cache"), "{said}");
    }

    #[test]
    fn a_refused_file_says_how_its_active_part_can_be_run() {
        // The sizes of Mixtral 8x7B, which its makers say has 12.9 billion active parameters.
        let mixtral = LLAMA_3_8B
            .replace("\"llama\"", "\"mixtral\"")
            .replace("128256", "32000")
            .replace("\"rope_theta\"", "\"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"rope_theta\"");
        let read = read_config("c.json", mixtral.as_bytes()).unwrap();
        assert_eq!((read.parameters(), read.active_parameters()), (46_702_792_704, 12_879_925_248));
        let error = |text: &str| read_config("c.json", text.as_bytes()).unwrap_err().to_string();
        let said = error(&mixtral.replace("mixtral", "mistral_moe"));
        assert!(said.contains("about 12.9 billion of its parameters"), "{said}");
        assert!(
            said.contains("set model_type to \"mistral\" and intermediate_size to 28672, and remove num_local_experts"),
            "{said}"
        );
        // What it advises runs.
        let dense =
            mixtral.replace("mixtral", "mistral").replace("14336", "28672").replace("\"num_local_experts\": 8, ", "");
        let read = read_config("c.json", dense.as_bytes()).unwrap();
        assert!((12.8e9..13.0e9).contains(&(read.parameters() as f64)), "{}", read.parameters());
        let other = error(&LLAMA_3_8B.replace("\"llama\"", "\"mistral9\""));
        assert!(other.contains("at 8.03 billion parameters, set model_type to \"mistral\", or choose "), "{other}");
    }

    #[test]
    fn the_text_of_a_model_that_sees_is_read_and_the_rest_is_said() {
        let part = LLAMA_3_8B
            .replace("\"llama\"", "\"qwen3_vl_text\"")
            .replace("\"tie_word_embeddings\": false", "\"head_dim\": 128");
        let whole = format!(
            r#"{{"model_type": "qwen3_vl", "tie_word_embeddings": true, "vision_config": {{"depth": 24}}, "text_config": {part}}}"#
        );
        let read = read_config("c.json", whole.as_bytes()).unwrap();
        assert_eq!((read.family, read.tied), ("qwen3", true));
        assert_eq!(
            read.remarks,
            ["The field vision_config of the config.json is not used: the part for pictures is left out."]
        );
    }

    #[test]
    fn layers_that_keep_no_keys_are_refused_with_their_number() {
        let error = |more: &str| {
            let text = LLAMA_3_8B.replacen('{', &format!("{{{more}, "), 1);
            read_config("c.json", text.as_bytes()).unwrap_err().to_string()
        };
        assert!(
            error(r#""hybrid_override_pattern": "MEMEM*E", "time_step_limit": [0.0, Infinity]"#)
                .contains("3 state space layers of 32")
        );
        assert!(error(r#""full_attention_interval": 4"#).contains("24 linear attention layers of 32"));
        assert!(
            error(r#""layer_types": ["linear_attention", "full_attention"]"#).contains("1 linear attention layers")
        );
    }

    #[test]
    fn layers_have_the_kinds_that_the_file_says() {
        let with = |family: &str, more: &str| {
            let text =
                LLAMA_3_8B.replacen('{', &format!("{{{more}, "), 1).replace("\"llama\"", &format!("\"{family}\""));
            read_config("c.json", text.as_bytes()).unwrap()
        };
        let kinds = |config: &DecoderConfig| -> Vec<(u64, Option<u64>, bool)> {
            config.kinds.iter().map(|kind| (kind.count, kind.window, kind.has_experts)).collect()
        };
        assert_eq!(kinds(&with("gemma3", r#""sliding_window": 512"#)), [(27, Some(512), false), (5, None, false)]);
        assert_eq!(kinds(&with("mistral", r#""sliding_window": 512"#)), [(32, Some(512), false)]);
        let pattern = r#""sliding_window": 512, "sliding_window_pattern": "LLLG""#;
        assert_eq!(kinds(&with("exaone4", pattern)), [(24, Some(512), false), (8, None, false)]);
        let experts =
            r#""num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "mlp_only_layers": [0]"#;
        let sparse = with("qwen3_moe", experts);
        assert_eq!(kinds(&sparse), [(1, None, false), (31, None, true)]);
        assert_eq!(sparse.kinds.iter().map(|kind| kind.intermediate).collect::<Vec<_>>(), [14_336, 0]);
        // A window keeps less: 512 of 8,192 positions in 24 of 32 layers.
        assert_eq!(with("exaone4", pattern).cache_bytes(8_192), 2 * 2 * 8 * 128 * (24 * 512 + 8 * 8_192));
    }
}
