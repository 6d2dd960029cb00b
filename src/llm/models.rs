//! Published models, by their names.

use super::config::{DecoderConfig, LayerKind};
use super::config_json::config_of;
use super::families::Family;
use super::linear::linear_model;
use super::model_names::{FILE, SAME, SEES, STORED, is_block, is_name_of, is_tuned_from, words};
use super::model_rows::{MODELS, ModelRow, Sizes};
use super::weights::Weights;
use ns_base::{Refusal, nearest_text, refuse};
use serde_json::{Map, Value};

/// The published models as choices of a form: what is chosen, and what stands for it.
pub const MODEL_CHOICES: &[(&str, &str)] = &{
    let mut all = [("", ""); MODELS.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = (MODELS[i].0, MODELS[i].0);
        i += 1;
    }
    all
};

/// Names of the published models.
pub fn model_names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|(name, ..)| *name)
}

/// The name on the hub of a published model; of others their own.
pub fn hub_name(name: &str) -> &str {
    MODELS.iter().find(|(known, ..)| *known == name).map_or(name, |(_, hub, ..)| hub)
}

impl DecoderConfig {
    /// A decoder of a family whose layers are equal.
    pub fn of_family(family: &Family, name: &str, sizes: Sizes) -> Self {
        let [layers, hidden, heads, kv_heads, head_size, intermediate, vocabulary, max_positions] = sizes;
        let has_experts = false;
        let kind = LayerKind {
            count: layers,
            window: None,
            kv_heads,
            head_size,
            intermediate,
            has_experts,
            values_are_keys: false,
        };
        Self {
            name: name.to_owned(),
            family: family.name,
            layers,
            hidden,
            heads,
            kv_heads,
            head_size,
            intermediate,
            vocabulary,
            max_positions,
            word_features: hidden,
            mlp: family.mlp,
            activation: family.activation,
            norm: family.norm,
            norm_place: family.norm_place,
            has_last_norm: true,
            has_word_norm: family.has_word_norm,
            bias: family.bias,
            qk_norm: family.qk_norm,
            has_attention_gate: family.has_attention_gate,
            has_sinks: family.has_sinks,
            has_score_cap: false,
            has_word_cap: false,
            positions: family.positions,
            experts: None,
            latent: None,
            kinds: vec![kind],
            order: Vec::new(),
            tied: family.tied,
            stored: Weights::Bf16,
            remarks: Vec::new(),
        }
    }
}

/// The fields of a published model's config.json.
fn fields_of(family: &str, sizes: Sizes, more: &str) -> Map<String, Value> {
    const NAMES: [&str; 8] = [
        "num_hidden_layers",
        "hidden_size",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "intermediate_size",
        "vocab_size",
        "max_position_embeddings",
    ];
    let mut fields: Map<String, Value> = serde_json::from_str(&format!("{{{more}}}")).unwrap_or_default();
    fields.insert("model_type".to_owned(), family.into());
    fields.extend(NAMES.iter().zip(sizes).map(|(name, size)| ((*name).to_owned(), size.into())));
    fields
}

/// A published model by its name, in any case, with or without an organisation, and with words that change no size: `Instruct`, `v0.2`, `2507`.
/// Fails when there is none of this name; the message has the nearest.
pub fn named_config(name: &str) -> Result<DecoderConfig, Refusal> {
    let exact = exact_row(name)?;
    let Some((known, _, family, sizes, more, _)) =
        exact.or_else(|| longest_row(|written| is_tuned_from(name, written)))
    else {
        let refusal = refuse!("no language model '{name}'; the nearest are {}", nearest_text(name, model_names()));
        return Err(refusal.advise("give its config.json with --model-config"));
    };
    let mut config = config_of(known, &fields_of(family, *sizes, more))?;
    if exact.is_none() {
        config.remarks.push(format!(
            "{name} is taken as {known} tuned further, with its sizes; if it has others, give its config.json with --model-config."
        ));
    }
    add_storage(&mut config, name);
    Ok(config)
}

/// Whether a name is that of a published model, not of one that is tuned from it.
pub fn is_known_name(name: &str) -> bool {
    exact_row(name).is_ok_and(|row| row.is_some())
}

/// The model whose longest name, of those that a test accepts, is the longest of all.
fn longest_row(accepts: impl Fn(&str) -> bool) -> Option<&'static ModelRow> {
    let all = MODELS.iter().map(|(known, ..)| (*known, *known)).chain(SAME.iter().copied());
    let longest = all.filter(|(written, _)| accepts(written)).max_by_key(|(written, _)| written.len());
    let (_, known) = longest?;
    MODELS.iter().find(|(name, ..)| *name == known)
}

/// The published model of exactly this name. Fails when the model has layers that are not timed.
fn exact_row(name: &str) -> Result<Option<&'static ModelRow>, Refusal> {
    match longest_row(|written| is_name_of(name, written)) {
        None => linear_model(name).map_or(Ok(None), Err),
        row => Ok(row),
    }
}

/// The storage that the words of a name say, and what is left out of such a model.
fn add_storage(config: &mut DecoderConfig, name: &str) {
    let words = words(name);
    let of_word = |word: &String| STORED.iter().find(|(stored, _)| stored == word);
    let stored: Vec<_> = words.iter().filter_map(of_word).collect();
    let known = stored.iter().rev().find_map(|(word, weights)| Some((word, (*weights)?)));
    let is_file = |word: &str| word == FILE && known.is_some();
    match (stored.iter().find(|(word, weights)| weights.is_none() && !is_file(word)), known) {
        (Some((word, _)), _) => config
            .remarks
            .push(format!("The name says {word}, which is not used: --weights says how many bytes a weight has.")),
        (None, Some((word, weights))) => {
            config.stored = weights;
            if is_block(word) {
                config.remarks.push(format!(
                    "Weights of GGUF's {word} are timed as {weights}; Neuron's servers read the model's own files."
                ));
            }
        }
        (None, None) => {}
    }
    if words.iter().any(|word| SEES.contains(&word.as_str())) {
        config.remarks.push("The parts for pictures and sound are left out.".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::super::families::FAMILIES;
    use super::*;

    #[test]
    fn parameter_counts_are_the_published_ones() {
        let mut wrong = Vec::new();
        for (name, hub, .., published) in MODELS {
            let config = named_config(name).unwrap();
            assert_eq!((config.name.as_str(), hub_name(name)), (*name, *hub));
            assert_eq!(named_config(hub).map(|c| c.name).as_deref(), Ok(*name), "{hub}");
            if *published != 0 && config.parameters() != *published {
                wrong.push(format!("{name}: {} instead of {published}", config.parameters()));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        for family in FAMILIES {
            assert!(MODELS.iter().any(|(_, _, of, ..)| *of == family.name), "{} has no model", family.name);
        }
    }

    #[test]
    fn names_are_found_as_tables_and_the_hub_write_them() {
        for (written, known) in [
            ("Llama-2-13b", "llama-2-13b"),
            ("meta-llama/Llama-2-13b-hf", "llama-2-13b"),
            ("LLAMA-2-13B", "llama-2-13b"),
            ("Meta-Llama-3-8B", "llama-3-8b"),
            ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
            ("mistralai/Mistral-7B-Instruct-v0.2", "mistral-7b"),
            ("mistralai/Mistral-7B-v0.1", "mistral-7b-v0.1"),
            ("Qwen/Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b"),
            ("codellama/CodeLlama-7b-Instruct-hf", "codellama-7b"),
            ("EleutherAI/gpt-j-6b", "gpt-j-6b"),
            ("microsoft/Phi-3-mini-4k-instruct", "phi-3-mini"),
            ("THUDM/GLM-4-9B-0414", "glm-4-9b-0414"),
            ("zai-org/glm-4-9b-chat-hf", "glm-4-9b"),
            ("CohereLabs/c4ai-command-r7b-12-2024", "command-r7b"),
            ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama-4-scout"),
            ("allenai/OLMo-2-1124-7B", "olmo-2-7b"),
            ("google/gemma-2-2b-it", "gemma-2-2b"),
            ("google/gemma-2b-it", "gemma-2b"),
            ("Qwen/Qwen3-VL-8B-Thinking", "qwen3-8b"),
            ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "llama-3.1-8b"),
            ("deepseek-ai/DeepSeek-V3-0324", "deepseek-v3"),
            ("RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8", "llama-3.1-70b"),
            ("Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b"),
            ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3-30b-a3b"),
            ("Qwen/Qwen3-4B-Thinking-2507", "qwen3-4b"),
            ("Qwen/Qwen2.5-Coder-32B-Instruct", "qwen2.5-32b"),
            ("Qwen/Qwen2.5-14B-Instruct-1M", "qwen2.5-14b"),
            ("Qwen/QwQ-32B", "qwen2.5-32b"),
            ("google/gemma-3-27b-it", "gemma-3-27b"),
            ("google/gemma-3-270m", "gemma-3-270m"),
            ("microsoft/phi-4-reasoning-plus", "phi-4"),
            ("microsoft/Phi-4-multimodal-instruct", "phi-4-mini"),
            ("microsoft/Phi-3-mini-128k-instruct", "phi-3-mini"),
            ("openai/gpt-oss-120b", "gpt-oss-120b"),
            ("deepseek-ai/DeepSeek-R1", "deepseek-v3"),
            ("deepseek-ai/DeepSeek-R1-0528", "deepseek-v3"),
            ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", "qwen3-8b"),
            ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "qwen2.5-32b"),
            ("deepseek-ai/DeepSeek-Coder-V2-Lite-Instruct", "deepseek-v2-lite"),
            ("moonshotai/Kimi-K2-Instruct-0905", "kimi-k2"),
            ("zai-org/GLM-4.5-Air-FP8", "glm-4.5-air"),
            ("mistralai/Ministral-8B-Instruct-2410", "ministral-8b"),
            ("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistral-small-24b"),
            ("mistralai/Devstral-Small-2507", "mistral-small-24b"),
            ("mistralai/Codestral-22B-v0.1", "mistral-small-2409"),
            ("tiiuae/falcon-40b-instruct", "falcon-40b"),
            ("tiiuae/Falcon3-10B-Base", "falcon3-10b"),
            ("ibm-granite/granite-3.3-8b-instruct", "granite-3.3-8b"),
            ("CohereLabs/c4ai-command-r-plus-08-2024", "command-r-plus"),
            ("CohereLabs/aya-expanse-32b", "command-r-08-2024"),
            ("LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct", "exaone-3.5-7.8b"),
            ("LGAI-EXAONE/EXAONE-Deep-32B", "exaone-3.5-32b"),
            ("unsloth/Llama-3.3-70B-Instruct", "llama-3.3-70b"),
            ("unsloth/gpt-oss-20b-BF16", "gpt-oss-20b"),
            ("TheBloke/Mistral-7B-Instruct-v0.2-GPTQ", "mistral-7b"),
            ("meta-llama/Llama-3.2-11B-Vision-Instruct", "llama-3.1-8b"),
            ("nvidia/Llama-3.1-Nemotron-70B-Instruct-HF", "llama-3.1-70b"),
            ("lmsys/vicuna-7b-v1.5", "llama-2-7b"),
            ("HuggingFaceH4/zephyr-7b-beta", "mistral-7b"),
            ("01-ai/Yi-1.5-34B-Chat", "yi-34b"),
            ("allenai/Olmo-3-7B-Think", "olmo-3-7b"),
            ("allenai/OLMoE-1B-7B-0125-Instruct", "olmoe-1b-7b"),
            ("bigcode/starcoder2-15b-instruct-v0.1", "starcoder2-15b"),
            ("EleutherAI/pythia-6.9b-deduped", "pythia-6.9b"),
            ("google/gemma-4-31B-it", "gemma-4-31b"),
            ("mistralai/Ministral-3-8B-Instruct-2512", "ministral-3-8b"),
            ("mistralai/Devstral-Small-2-24B-Instruct-2512", "mistral-small-24b"),
            ("mistralai/Pixtral-12B-2409", "mistral-nemo"),
            ("deepseek-ai/DeepSeek-V3.1-Terminus", "deepseek-v3"),
            ("zai-org/GLM-4.7-Flash", "glm-4.7-flash"),
            ("allenai/Olmo-3-32B-Think", "olmo-3-32b"),
            ("baidu/ERNIE-4.5-21B-A3B-PT", "ernie-4.5-21b-a3b"),
            ("models--Qwen--Qwen3-8B", "qwen3-8b"),
            ("C:\\models\\Qwen3-8B", "qwen3-8b"),
        ] {
            assert_eq!(named_config(written).map(|config| config.name).as_deref(), Ok(known), "{written}");
        }
        for (written, known, stored) in [
            ("Qwen3-VL-8B-FP8", "qwen3-8b", Weights::Fp8),
            ("hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4", "llama-3.1-8b", Weights::Int4),
            ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int8", "qwen2.5-7b", Weights::Int8),
            ("RedHatAI/Llama-3.1-8B-Instruct-quantized.w4a16", "llama-3.1-8b", Weights::Int4),
            ("RedHatAI/Llama-3.1-8B-Instruct-w4a16-g128", "llama-3.1-8b", Weights::Int4),
            ("mlx-community/Llama-3.2-3B-Instruct-4bit", "llama-3.2-3b", Weights::Int4),
            ("lmstudio-community/Qwen3-4B-MLX-8bit", "qwen3-4b", Weights::Int8),
            ("Qwen/Qwen2.5-32B-Instruct-GPTQ-Int4", "qwen2.5-32b", Weights::Int4),
            ("unsloth/Llama-3.2-3B-Instruct-unsloth-bnb-4bit", "llama-3.2-3b", Weights::Bf16),
            ("bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", "llama-3.1-8b", Weights::Bf16),
        ] {
            let config = named_config(written).unwrap();
            assert_eq!((config.name.as_str(), config.stored), (known, stored));
            assert_eq!(config.remarks.len(), usize::from(stored == Weights::Bf16 || written.contains("VL")));
        }
        for (written, known, stored, said) in [
            ("Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", "llama-3.1-8b", Weights::Int4, "GGUF's q4"),
            ("mistral-7b-instruct-v0.2.Q8_0.gguf", "mistral-7b", Weights::Int8, "GGUF's q8"),
            ("hf.co/bartowski/Llama-3.2-3B-Instruct-GGUF:Q4_K_M", "llama-3.2-3b", Weights::Int4, "GGUF's q4"),
            ("qwen2.5:7b-instruct-q6_K", "qwen2.5-7b", Weights::Bf16, "says q6"),
            ("google/gemma-3-27b-it-qat-q4_0-gguf", "gemma-3-27b", Weights::Int4, "GGUF's q4"),
            ("LoneStriker/Meta-Llama-3-8B-4.0bpw-h6-exl2", "llama-3-8b", Weights::Bf16, "says exl2"),
            ("nvidia/Llama-3.1-8B-Instruct-FP4", "llama-3.1-8b", Weights::Bf16, "says fp4"),
            ("Qwen3-30B-A3B-UD-Q4_K_XL-00001-of-00002.gguf", "qwen3-30b-a3b", Weights::Int4, "GGUF's q4"),
            ("llama-2-13b.gguf", "llama-2-13b", Weights::Bf16, "says gguf"),
            ("llama3.2-vision:11b-instruct-q8_0", "llama-3.1-8b", Weights::Int8, "GGUF's q8"),
        ] {
            let config = named_config(written).unwrap();
            assert_eq!((config.name.as_str(), config.stored), (known, stored), "{written}");
            assert!(config.remarks[0].contains(said), "{written}: {:?}", config.remarks);
        }
        for (written, known) in [
            ("llama3.1:latest", "llama-3.1-8b"),
            ("gemma3:4b", "gemma-3-4b"),
            ("gpt-oss:20b", "gpt-oss-20b"),
            ("gpt-oss:latest", "gpt-oss-20b"),
            ("qwen3", "qwen3-8b"),
            ("llama3.2-vision:latest", "llama-3.1-8b"),
            ("deepseek-r1:8b-llama-distill-fp16", "llama-3.1-8b"),
            ("qwen2.5vl:7b", "qwen2.5-7b"),
            ("qwen3-coder:latest", "qwen3-30b-a3b"),
            ("codellama:7b-code", "codellama-7b"),
        ] {
            assert_eq!(named_config(written).map(|config| config.name).as_deref(), Ok(known), "{written}");
        }
        for (written, known) in [
            ("NousResearch/Hermes-3-Llama-3.1-8B", "llama-3.1-8b"),
            ("teknium/OpenHermes-2.5-Mistral-7B", "mistral-7b"),
            ("Orenguteng/Llama-3-8B-Lexi-Uncensored", "llama-3-8b"),
            ("Groq/Llama-3-Groq-8B-Tool-Use", "llama-3-8b"),
            ("Qwen/Qwen3-Embedding-8B", "qwen3-8b"),
            ("allenai/Llama-3.1-Tulu-3-8B", "llama-3.1-8b"),
        ] {
            let config = named_config(written).unwrap();
            assert_eq!(config.name, known);
            assert!(
                config.remarks[0].contains(&format!("{written} is taken as {known} tuned")),
                "{:?}",
                config.remarks
            );
        }
        let unknown = ["lama-3-9b", "llama-3-8b-medusa", "8b", "", "/", "Llama-3.1-Minitron-4B", "Mistral-7B-2x7B-MoE"];
        // A name with another version in its middle is of another model; two names with a comma are of none.
        let numbers =
            ["gpt-oss-2-20b", "google/gemma-3-31b", "Ministral-9-8B", "Qwen3-Coder-Next", "llama-3.1-8b,qwen3-8b"];
        let others = ["yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "Hermes-3"];
        for unknown in unknown.into_iter().chain(others).chain(numbers) {
            assert!(named_config(unknown).is_err(), "{unknown}");
        }
        for (name, layers) in [
            ("Qwen/Qwen3-Next-80B-A3B-Instruct", "36 linear attention layers of 48"),
            ("ai21labs/AI21-Jamba-Mini-1.6", "28 state space layers of 32"),
            ("moonshotai/Kimi-Linear-48B-A3B-Instruct", "20 linear attention layers of 27"),
            ("nvidia/Nemotron-H-8B-Base-8K", "24 state space layers of 52"),
        ] {
            let error = named_config(name).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(layers), "{error}");
        }
        let error = named_config("lama-3-9b").unwrap_err();
        assert!(error.to_string().contains("llama-3-8b"), "{error}");
    }
}
