//! Reads a model's `config.json`; a refused one gets the advice how its active part can be run.

use serde_json::{Map, Value};

use super::config::DecoderConfig;
use super::config_family::{is_of_no_family, text_part};
use super::config_fields::{EXPERT_WIDTH, EXPERTS, INTERMEDIATE, PER_TOKEN, SHARED, SHARED_WIDTH};
use super::config_json::config_of;
use super::config_values::whole;
use super::families::FAMILIES;
use super::models::{model_names, named_config};
use ns_base::convert::u64_to_f64;
use ns_base::units::format_number;
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
    let with_advice = |refusal: Refusal| {
        let (part, _) = text_part(&fields);
        if is_of_no_family(&part) { refusal.advise(dense_advice(name, &part).unwrap_or_default()) } else { refusal }
    };
    config_of(name, &fields).map_err(with_advice).map_err(wrong)
}

/// How a file that is refused can be run as a dense model of a known family, with the parameters that a token uses. `None` where its sizes
/// describe none.
fn dense_advice(name: &str, fields: &Map<String, Value>) -> Option<String> {
    let model_type = fields.get("model_type")?.as_str()?;
    let known = FAMILIES.iter().map(|f| f.name).filter(|f| model_type.starts_with(f)).max_by_key(|f| f.len());
    let active = active_width(fields);
    if active.is_none() && EXPERTS.iter().any(|field| fields.contains_key(*field)) {
        return None;
    }
    let near = known.unwrap_or("llama");
    let mut dense = fields.clone();
    dense.insert("model_type".to_owned(), near.into());
    let mut changes = format!("model_type to \"{near}\"");
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
    let width = number(EXPERT_WIDTH).or_else(|| number(INTERMEDIATE))?;
    let shared = number(SHARED_WIDTH).unwrap_or_else(|| number(SHARED).unwrap_or(0).saturating_mul(width));
    Some(number(PER_TOKEN)?.saturating_mul(width).saturating_add(shared))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Weights, known_fields, named_config};

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
