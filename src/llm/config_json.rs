//! Reads a model's `config.json`.

use serde_json::{Map, Value};

use super::config::{Bias, DecoderConfig, Mlp};
use super::families::{FAMILIES, family, model_names, named_config};
use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_base::units::format_number;
use ns_base::{Refusal, refuse, without_nan};

/// Longest file that is read: a configuration has a few kilobytes.
pub const MAX_CONFIG_BYTES: usize = 1 << 20;

/// Names of a field in the families.
const HIDDEN: &[&str] = &["hidden_size", "n_embd"];
const LAYERS: &[&str] = &["num_hidden_layers", "n_layer"];
const HEADS: &[&str] = &["num_attention_heads", "n_head"];
const INTERMEDIATE: &[&str] = &["intermediate_size", "ffn_dim", "n_inner"];
const POSITIONS: &[&str] = &["max_position_embeddings", "n_positions"];

/// Fields that make another architecture, unless they say one.
const EXPERTS: &[&str] = &["num_local_experts", "num_experts", "n_routed_experts"];

/// Fields of one value each that the sizes are read from.
const READ: &[&str] =
    &["model_type", "vocab_size", "num_key_value_heads", "head_dim", "tie_word_embeddings", "word_embed_proj_dim"];

/// Fields that change neither a time nor a size.
const WITHOUT_EFFECT: &[&str] = &[
    "_name_or_path",
    "activation_dropout",
    "architectures",
    "attention_dropout",
    "attn_pdrop",
    "auto_map",
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "bos_token",
    "classifier_dropout",
    "dropout",
    "embd_pdrop",
    "eos_token_id",
    "eos_token",
    "gradient_checkpointing",
    "hidden_dropout",
    "hidden_dropout_prob",
    "id2label",
    "init_std",
    "initializer_range",
    "label2id",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "layerdrop",
    "max_window_layers",
    "mup",
    "n_ctx",
    "pad_token_id",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "reorder_and_upcast_attn",
    "resid_pdrop",
    "rms_norm_eps",
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
    "rotary_emb_base",
    "scale_attn_by_inverse_layer_idx",
    "scale_attn_weights",
    "sep_token_id",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "task_specific_params",
    "tokenizer_class",
    "transformers_version",
    "unk_token_id",
    "use_cache",
    "use_mrope",
    "use_sliding_window",
    "_remove_final_layer_norm",
];

/// Fields of which only one kind of value is simulated: the values that are, as JSON, and what is simulated for another.
const ONE_VALUE: &[(&str, &[&str], &str)] = &[
    ("do_layer_norm_before", &["true"], "norms come before each part of a layer"),
    ("dtype", &["\"bfloat16\"", "\"float16\""], "--weights says how many bytes a weight has"),
    ("layer_norm_elementwise_affine", &["true"], "norms have a weight and a bias"),
    ("partial_rotary_factor", &["1", "1.0"], "whole heads are rotated"),
    ("quantization_config", &[], "--weights says how many bytes a weight has"),
    ("rotary_pct", &["1", "1.0"], "whole heads are rotated"),
    ("sliding_window", &[], "every position stays in the cache and is read"),
    ("torch_dtype", &["\"bfloat16\"", "\"float16\""], "--weights says how many bytes a weight has"),
    ("use_parallel_residual", &["false"], "the two parts of a layer run one after the other"),
];

/// A decoder from the text of its `config.json`.
///
/// # Errors
/// The field that is missing, unknown or impossible.
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

fn config_of(name: &str, fields: &Map<String, Value>) -> Result<DecoderConfig, Refusal> {
    let model_type = match fields.get("model_type") {
        Some(Value::String(text)) => text.as_str(),
        Some(other) => return Err(refuse!("model_type is {other}, not a name")),
        None => return Err(refuse!("the field model_type is missing")),
    };
    let families: Vec<&str> = FAMILIES.iter().map(|f| f.name).collect();
    let Some(family) = family(model_type) else {
        let refusal = refuse!("model_type '{model_type}' is not supported; these are: {}", families.join(", "));
        return Err(refusal.advise(dense_advice(name, fields).unwrap_or_default()));
    };
    if let Some(experts) =
        EXPERTS.iter().find(|f| fields.get(**f).is_some_and(|v| v.as_u64() != Some(1) && !v.is_null()))
    {
        let refusal = refuse!("{experts} makes it a mixture of experts, which is not supported");
        return Err(refusal.advise(dense_advice(name, fields).unwrap_or_default()));
    }
    if model_type == "opt"
        && let Some(width) = whole(fields, &["word_embed_proj_dim"])?
        && Some(width) != whole(fields, HIDDEN)?
    {
        return Err(refuse!("word_embed_proj_dim {width} differs from hidden_size, which is not supported"));
    }
    let hidden = needed(fields, HIDDEN)?;
    let heads = needed(fields, HEADS)?;
    let kv_heads = whole(fields, &["num_key_value_heads"])?.unwrap_or(heads);
    let head_size = match whole(fields, &["head_dim"])? {
        Some(size) => size,
        None if hidden % heads == 0 => hidden / heads,
        None => return Err(refuse!("hidden_size {hidden} is not a multiple of num_attention_heads {heads}")),
    };
    let intermediate = match whole(fields, INTERMEDIATE)? {
        Some(size) => size,
        None if model_type == "gpt2" => hidden.saturating_mul(4),
        None => return Err(missing(INTERMEDIATE)),
    };
    let [layers, vocabulary, positions] =
        [needed(fields, LAYERS)?, needed(fields, &["vocab_size"])?, needed(fields, POSITIONS)?];
    let sizes = [layers, hidden, heads, kv_heads, head_size, intermediate, vocabulary, positions];
    let mut config = DecoderConfig::of_family(family, name, sizes);
    config.tied = flag(fields, "tie_word_embeddings")?.unwrap_or(family.tied);
    let biases = biases_of(family.name, fields, &mut config.bias)?;
    config.check()?;
    config.remarks = remarks_of(fields, &config, biases);
    Ok(config)
}

/// Reads which products have a bias, as the family's field says. Gives the fields that count.
fn biases_of(family: &str, fields: &Map<String, Value>, bias: &mut Bias) -> Result<&'static [&'static str], Refusal> {
    let read: &'static [&'static str] = match family {
        "llama" | "mistral" => &["attention_bias", "mlp_bias"],
        "qwen3" | "gpt_neox" => &["attention_bias"],
        "opt" => &["enable_bias"],
        _ => &[],
    };
    for field in read {
        let Some(has) = flag(fields, field)? else { continue };
        match *field {
            "attention_bias" => (bias.qkv, bias.output) = (has, has),
            "mlp_bias" => bias.mlp = has,
            _ => *bias = if has { Bias::ALL } else { Bias::NONE },
        }
    }
    Ok(read)
}

/// A sentence for each field that says what is not simulated, and one for those that are not known.
fn remarks_of(fields: &Map<String, Value>, config: &DecoderConfig, biases: &[&str]) -> Vec<String> {
    let sizes = [HIDDEN, LAYERS, HEADS, INTERMEDIATE, POSITIONS, EXPERTS, READ, WITHOUT_EFFECT, biases];
    let (mut remarks, mut unknown) = (Vec::new(), Vec::new());
    for (field, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let known = ONE_VALUE.iter().find(|(name, ..)| name == field);
        let instead = match (field.as_str(), value.as_str()) {
            ("hidden_act" | "activation_function", Some(function)) => match config.mlp {
                Mlp::Gated => (!matches!(function, "silu" | "swish")).then_some("the feed-forward part computes silu"),
                Mlp::Plain => (!function.starts_with("gelu")).then_some("the feed-forward part computes gelu"),
            },
            ("sliding_window", _) if !has_window(fields, config) => None,
            ("layer_types", _) if value.as_array().is_some_and(|all| all.iter().all(|t| t == "full_attention")) => None,
            _ => match known {
                Some((_, values, instead)) => (!values.contains(&value.to_string().as_str())).then_some(*instead),
                None => {
                    if !sizes.iter().any(|names| names.contains(&field.as_str())) {
                        unknown.push(field.as_str());
                    }
                    None
                }
            },
        };
        remarks.extend(instead.map(|instead| format!("The field {field} of the config.json is not used: {instead}.")));
    }
    if !unknown.is_empty() {
        remarks.push(format!("Fields of the config.json that are not known are not used: {}.", unknown.join(", ")));
    }
    remarks
}

/// Whether a window leaves positions out.
fn has_window(fields: &Map<String, Value>, config: &DecoderConfig) -> bool {
    fields.get("use_sliding_window") != Some(&Value::Bool(false))
        && fields["sliding_window"].as_u64().is_none_or(|window| window < config.max_positions)
}

/// How a file that is refused can be run as a dense model of a known family, with the parameters that a token uses. `None` where its sizes
/// describe none.
fn dense_advice(name: &str, fields: &Map<String, Value>) -> Option<String> {
    if fields.get("text_config").is_some_and(Value::is_object) {
        return Some("its text_config is the decoder: give that part as the file".to_owned());
    }
    let model_type = fields.get("model_type")?.as_str()?;
    let known = FAMILIES.iter().map(|f| f.name).filter(|f| model_type.starts_with(f)).max_by_key(|f| f.len());
    let near = known.unwrap_or(if model_type == "mixtral" { "mistral" } else { "llama" });
    let mut dense = fields.clone();
    dense.insert("model_type".to_owned(), near.into());
    let mut changes = format!("model_type to \"{near}\"");
    let active = active_width(fields);
    if active.is_none() && EXPERTS.iter().any(|field| fields.contains_key(*field)) {
        return None;
    }
    if let Some(width) = active {
        INTERMEDIATE.iter().chain(EXPERTS).for_each(|field| drop(dense.remove(*field)));
        dense.insert(INTERMEDIATE[0].to_owned(), width.into());
        let experts: Vec<&str> = EXPERTS.iter().copied().filter(|field| fields.contains_key(*field)).collect();
        changes.push_str(&format!(" and intermediate_size to {width}, and remove {}", experts.join(", ")));
    }
    let parameters = config_of(name, &dense).ok()?.parameters();
    let billion = format_number(u64_to_f64(parameters) / 1e9);
    let distance =
        |known: &DecoderConfig| libm::fabs(libm::log(u64_to_f64(known.parameters()) / u64_to_f64(parameters)));
    let all = model_names().filter_map(|known| named_config(known).ok());
    let nearest = all.min_by(|a, b| distance(a).total_cmp(&distance(b)))?.name;
    Some(match active {
        Some(_) => format!(
            "a token uses about {billion} billion of its parameters: for about the time of one sequence, set {changes}, or choose {nearest}; \
             the memory of the other experts is not in that result"
        ),
        None => format!("for about its times, at {billion} billion parameters, set {changes}, or choose {nearest}"),
    })
}

/// Features between the products of the feed-forward part that one token uses: of its experts, and of the experts that all tokens share.
fn active_width(fields: &Map<String, Value>) -> Option<u64> {
    EXPERTS.iter().find(|field| fields.contains_key(**field))?;
    let number = |names: &[&str]| whole(fields, names).ok().flatten();
    let experts = number(&["num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts"])?;
    let width = number(&["moe_intermediate_size", "expert_ffn_hidden_size"]).or_else(|| number(INTERMEDIATE))?;
    let shared = number(&["shared_expert_intermediate_size"]);
    let shared = shared.unwrap_or_else(|| number(&["n_shared_experts"]).unwrap_or(0).saturating_mul(width));
    Some(experts.saturating_mul(width).saturating_add(shared))
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

/// The first of these fields, if it is there and not null. A number may be written as `4096.0`.
fn whole(fields: &Map<String, Value>, names: &[&str]) -> Result<Option<u64>, Refusal> {
    let found = names.iter().find_map(|name| Some((name, fields.get(*name)?)));
    match found {
        None | Some((_, Value::Null)) => Ok(None),
        Some((name, value)) => {
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
    use crate::named_config;

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
        // 32 layers: queries, keys, values and outputs; gate, up and down.
        let biases = with(r#""attention_bias": true, "mlp_bias": true"#);
        let more = 32 * ((4096 + 2 * 1024 + 4096) + (2 * 14_336 + 4096));
        assert_eq!((biases.parameters(), biases.remarks.len()), (plain.parameters() + more, 0));
        let said = |more: &str, what: &str| {
            let remarks = with(more).remarks.join(" ");
            assert!(remarks.contains(what) || what.is_empty() && remarks.is_empty(), "{more}: {remarks}");
        };
        said(r#""sliding_window": 4096"#, "sliding_window of the config.json is not used: every position stays");
        said(r#""sliding_window": 4096, "use_sliding_window": false"#, "");
        said(r#""sliding_window": 131072, "layer_types": ["full_attention"], "hidden_act": "silu""#, "");
        said(r#""layer_types": ["sliding_attention", "full_attention"]"#, "not known are not used: layer_types");
        said(r#""quantization_config": {"bits": 4}"#, "quantization_config of the config.json is not used");
        said(r#""hidden_act": "gelu""#, "computes silu");
        said(r#""torch_dtype": "float32""#, "--weights says");
        said(r#""rms_norm_eps": NaN, "max_logits": Infinity, "torch_dtype": "bfloat16""#, "");
        said(r#""altup": 3, "laurel": null"#, "are not used: altup.");
        let documented = include_str!("../../docs/llm.md");
        let rules = ONE_VALUE.iter().map(|(name, ..)| name);
        for name in
            [HIDDEN, LAYERS, HEADS, INTERMEDIATE, POSITIONS, EXPERTS, READ, WITHOUT_EFFECT].concat().iter().chain(rules)
        {
            assert!(documented.contains(&format!("`{name}`")), "{name} is not in docs/llm.md");
        }
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
            ("\"hidden_size\"", "\"other\"", "c.json: the field hidden_size or n_embd is missing"),
            ("\"llama\"", "\"mamba\"", "c.json: model_type 'mamba' is not supported; these are: llama,"),
            ("8192", "-1", "c.json: max_position_embeddings is -1; it must be a whole number"),
            ("\"num_key_value_heads\": 8", "\"num_key_value_heads\": 5", "c.json: 32 attention heads cannot share 5"),
            ("4096", "4095", "c.json: hidden_size 4095 is not a multiple of num_attention_heads 32"),
            ("4096", "0", "c.json: hidden_size is 0; it must be at least 1"),
            ("\"rope_theta\"", "\"num_local_experts\"", "c.json: num_local_experts makes it a mixture of experts"),
            ("false", "3", "c.json: tie_word_embeddings is 3; it must be true or false"),
            ("{", "", "c.json: it is not a JSON object"),
        ];
        for (from, to, expected) in cases {
            let found = error(from, to);
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn a_refused_file_says_how_its_active_part_can_be_run() {
        // The sizes of Mixtral 8x7B, which its makers say has 12.9 billion active parameters.
        let mixtral = LLAMA_3_8B
            .replace("\"llama\"", "\"mixtral\"")
            .replace("128256", "32000")
            .replace("\"rope_theta\"", "\"num_local_experts\": 8, \"num_experts_per_tok\": 2, \"rope_theta\"");
        let error = |text: &str| read_config("c.json", text.as_bytes()).unwrap_err().to_string();
        let said = error(&mixtral);
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
        let phi = error(&LLAMA_3_8B.replace("\"llama\"", "\"phi3\""));
        assert!(
            phi.ends_with("at 8.03 billion parameters, set model_type to \"llama\", or choose llama-3-8b"),
            "{phi}"
        );
        assert!(error("{\"model_type\": \"llava\", \"text_config\": {}}").ends_with("give that part as the file"));
    }
}
