//! Published models by name, as their makers and the hub write it.

use super::config::{DecoderConfig, LayerKind};
use super::config_json::config_of;
use super::families::Family;
use super::linear::linear_model;
use super::model_rows::{MODELS, Sizes};
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
    #[must_use]
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
///
/// # Errors
/// When there is none of this name; the message has the nearest.
pub fn named_config(name: &str) -> Result<DecoderConfig, Refusal> {
    let all = MODELS.iter().map(|(known, ..)| (*known, *known)).chain(SAME.iter().copied());
    let found = all.filter(|(written, _)| is_name_of(name, written)).max_by_key(|(written, _)| written.len());
    let row = found.and_then(|(_, known)| MODELS.iter().find(|(name, ..)| *name == known));
    let Some((known, _, family, sizes, more, _)) = row else {
        if let Some(refusal) = linear_model(name) {
            return Err(refusal);
        }
        let refusal = refuse!("no language model '{name}'; the nearest are {}", nearest_text(name, model_names()));
        return Err(refusal.advise("give its config.json with --model-config"));
    };
    let mut config = config_of(known, &fields_of(family, *sizes, more))?;
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
    Ok(config)
}

/// Names of models that have the sizes of another.
const SAME: &[(&str, &str)] = &[
    ("deepseek-r1", "deepseek-v3"),
    ("deepseek-v3.1", "deepseek-v3"),
    ("deepseek-r1-distill-llama-8b", "llama-3.1-8b"),
    ("deepseek-r1-distill-llama-70b", "llama-3.3-70b"),
    ("deepseek-r1-distill-qwen-7b", "qwen2.5-7b"),
    ("deepseek-r1-distill-qwen-14b", "qwen2.5-14b"),
    ("deepseek-r1-distill-qwen-32b", "qwen2.5-32b"),
    ("llama-4-scout-17b-16e", "llama-4-scout"),
    ("mistral-small-3.1-24b", "mistral-small-24b"),
    ("mistral-small-3.2-24b", "mistral-small-24b"),
    ("gpt_bigcode-santacoder", "santacoder"),
    ("qwen2-0.5b", "qwen2.5-0.5b"),
    ("qwen2-1.5b", "qwen2.5-1.5b"),
    ("qwen2-7b", "qwen2.5-7b"),
    ("qwen2-72b", "qwen2.5-72b"),
    ("qwen3-30b", "qwen3-30b-a3b"),
    ("qwen3-235b", "qwen3-235b-a22b"),
    ("qwq-32b", "qwen2.5-32b"),
    ("qvq-72b", "qwen2.5-72b"),
    ("deepseek-r1-qwen3-8b", "qwen3-8b"),
    ("llama-4-maverick-17b-128e", "llama-4-maverick"),
    ("llama-3.2-11b", "llama-3.1-8b"),
    ("llama-3.2-90b", "llama-3.1-70b"),
    ("llama-guard-3-8b", "llama-3.1-8b"),
    ("llama-3.1-nemotron-70b", "llama-3.1-70b"),
    ("llama-3.1-nemotron-nano-8b", "llama-3.1-8b"),
    ("vicuna-7b", "llama-2-7b"),
    ("vicuna-13b", "llama-2-13b"),
    ("zephyr-7b-beta", "mistral-7b"),
    ("codestral-22b", "mistral-small-2409"),
    ("magistral-small", "mistral-small-24b"),
    ("devstral-small", "mistral-small-24b"),
    ("phi-3.5-vision", "phi-3.5-mini"),
    ("phi-4-multimodal", "phi-4-mini"),
    ("phi-4-reasoning-plus", "phi-4"),
    ("gemma-1.1-2b", "gemma-2b"),
    ("gemma-1.1-7b", "gemma-7b"),
    ("codegemma-7b", "gemma-7b"),
    ("medgemma-4b", "gemma-3-4b"),
    ("medgemma-27b", "gemma-3-27b"),
    ("shieldgemma-9b", "gemma-2-9b"),
    ("stablelm-2-1_6b", "stablelm-2-1.6b"),
    ("stablelm-zephyr-3b", "stablelm-3b"),
    ("yi-1.5-34b", "yi-34b"),
    ("yi-1.5-6b", "yi-6b"),
    ("internlm2_5-7b", "internlm2.5-7b"),
    ("internlm2-7b", "internlm2.5-7b"),
    ("aya-expanse-32b", "command-r-08-2024"),
    ("granite-3.2-8b", "granite-3.1-8b"),
    ("granite-3.2-2b", "granite-3.1-2b"),
    ("exaone-deep-2.4b", "exaone-3.5-2.4b"),
    ("exaone-deep-7.8b", "exaone-3.5-7.8b"),
    ("exaone-deep-32b", "exaone-3.5-32b"),
    ("phi-1_5", "phi-1.5"),
    ("glm-4.6", "glm-4.5"),
    ("kimi-k2.5", "kimi-k2"),
    ("mixtral", "mixtral-8x7b"),
    ("minimax-m2.5", "minimax-m2"),
    ("smollm-135m", "smollm2-135m"),
    ("deepseek-r1-1.5b", "deepseek-r1-distill-qwen-1.5b"),
    ("deepseek-r1-7b", "qwen2.5-7b"),
    ("deepseek-r1-8b", "qwen3-8b"),
    ("deepseek-r1-14b", "qwen2.5-14b"),
    ("deepseek-r1-32b", "qwen2.5-32b"),
    ("deepseek-r1-70b", "llama-3.3-70b"),
    ("deepseek-r1-671b", "deepseek-v3"),
    ("llama3", "llama-3-8b"),
    ("llama3.1", "llama-3.1-8b"),
    ("llama3.2", "llama-3.2-3b"),
    ("llama3.3", "llama-3.3-70b"),
    ("llama2", "llama-2-7b"),
    ("mistral", "mistral-7b"),
    ("tinyllama", "tinyllama-1.1b"),
    ("command-r-35b", "command-r"),
    ("command-r-plus-104b", "command-r-plus"),
    ("mistral-nemo-12b", "mistral-nemo"),
    ("phi3-3.8b", "phi-3-mini"),
    ("phi3-14b", "phi-3-medium"),
    ("phi4-14b", "phi-4"),
    ("phi4-mini-3.8b", "phi-4-mini"),
    ("llama4-16x17b", "llama-4-scout"),
    ("llama4-128x17b", "llama-4-maverick"),
];

/// Words of a name that change no size.
const WITHOUT_SIZE: &[&str] = &[
    "meta",
    "c4ai",
    "gpt_bigcode",
    "bigcode",
    "hf",
    "base",
    "instruct",
    "chat",
    "it",
    "pt",
    "sft",
    "dpo",
    "rl",
    "thinking",
    "preview",
    "coder",
    "math",
    "text",
    "neuron",
    "dense",
    "reasoning",
    "turbo",
    "think",
    "deduped",
    "dynamic",
    "unsloth",
    "4e1t",
    "exp",
    "qat",
    "mlx",
    "imatrix",
    "i1",
    "ud",
    "of",
    "latest",
    "abliterated",
    "128g",
    "g128",
    "kv",
    "marlin",
    "quantized",
    "autoround",
    "pv",
    "1x16",
    "h6",
    "h8",
    "code",
    "python",
];

/// Words that say how weights are stored, and what they are; `None` where they are not known here.
const STORED: &[(&str, Option<Weights>)] = &[
    ("bf16", Some(Weights::Bf16)),
    ("fp16", Some(Weights::Bf16)),
    ("f16", Some(Weights::Bf16)),
    ("q4", Some(Weights::Int4)),
    ("iq4", Some(Weights::Int4)),
    ("q8", Some(Weights::Int8)),
    ("4bit", Some(Weights::Int4)),
    ("8bit", Some(Weights::Int8)),
    ("fp8", Some(Weights::Fp8)),
    ("gptq", Some(Weights::Int4)),
    ("awq", Some(Weights::Int4)),
    ("int4", Some(Weights::Int4)),
    ("w4a16", Some(Weights::Int4)),
    ("int8", Some(Weights::Int8)),
    ("w8a8", Some(Weights::Int8)),
    ("w8a16", Some(Weights::Int8)),
    ("mxfp4", Some(Weights::Mxfp4)),
    ("nvfp4", None),
    ("bnb", None),
    ("nf4", None),
    ("unquantized", Some(Weights::Bf16)),
    ("hqq", None),
    ("aqlm", None),
    ("fp4", None),
    ("2bit", None),
    ("exl2", None),
    ("exl3", None),
    ("f32", None),
    ("fp32", None),
    ("iq1", None),
    ("q2", None),
    ("iq2", None),
    ("q3", None),
    ("iq3", None),
    ("q5", None),
    ("q6", None),
    (FILE, None),
];

/// The word of a file format that has weights of any storage.
const FILE: &str = "gguf";

/// What follows the bits of a weight in a name of GGUF: `Q4_K_M`.
const BLOCKS: &[&str] = &["k", "0", "1", "nl", "xxs", "xs", "s", "m", "l", "xl", "p"];

/// Whether a word says the bits of a weight as GGUF does: `q4`, `iq3`.
fn is_block(word: &str) -> bool {
    word.trim_start_matches('i').strip_prefix('q').is_some_and(|bits| bits.len() == 1 && bits.parse::<u8>().is_ok())
}

/// Words of models with further parts.
const SEES: &[&str] = &["vl", "vision", "omni", "audio"];

/// The words of a name without its organisation and without what follows the bits of GGUF's weights. A point parts words but in numbers.
fn words(name: &str) -> Vec<String> {
    let last = name.trim().trim_end_matches('/').rsplit('/').next().unwrap_or(name).to_lowercase();
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let parts = |at: usize, c: char| match c {
        '-' | ' ' | '_' | ':' | '@' => true,
        '.' => !(is_digit(last.as_bytes().get(at.wrapping_sub(1))) && is_digit(last.as_bytes().get(at + 1))),
        _ => false,
    };
    let mut words: Vec<String> = Vec::new();
    let mut begin = 0;
    let ends = last.char_indices().filter(|(at, c)| parts(*at, *c)).map(|(at, _)| at).chain([last.len()]);
    let mut is_in_block = false;
    for end in ends {
        let word = last.get(begin..end).unwrap_or_default();
        begin = end + 1;
        is_in_block = is_block(word) || (is_in_block && BLOCKS.contains(&word));
        if !word.is_empty() && (!is_in_block || is_block(word)) {
            words.push(word.to_owned());
        }
    }
    words
}

/// Whether a word is a month: `03`.
fn is_month(word: &str) -> bool {
    word.len() == 2 && word.parse().is_ok_and(|month: u64| (1..=12).contains(&month))
}

/// Whether a word is a version (`v0.2`), a date (`2507`, `03`) or a length (`128k`).
fn is_version(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_bits = word.strip_suffix("bpw").is_some_and(is_number);
    let is_length =
        word.strip_suffix('k').or_else(|| word.strip_suffix('m')).is_some_and(|n| is_number(n) && !n.contains('.'));
    word.strip_prefix('v').is_some_and(is_number)
        || is_length
        || is_bits
        || (is_number(word) && !word.contains('.') && (word.len() >= 4 || is_month(word)))
}

/// Whether a text names a model: the letters and digits of the model in order, and else only words that change no size.
pub fn is_name_of(text: &str, known: &str) -> bool {
    let known: String = words(known).concat();
    let mut left = known.as_str();
    for word in words(text) {
        if let Some(rest) = left.strip_prefix(&word).filter(|_| !word.is_empty()) {
            left = rest;
        } else if !([WITHOUT_SIZE, SEES].iter().any(|list| list.contains(&word.as_str()))
            || STORED.iter().any(|(stored, _)| *stored == word)
            || is_version(&word))
        {
            return false;
        }
    }
    left.is_empty()
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
            ("codellama:7b-code", "codellama-7b"),
        ] {
            assert_eq!(named_config(written).map(|config| config.name).as_deref(), Ok(known), "{written}");
        }
        for unknown in ["lama-3-9b", "llama-3-8b-medusa", "8b", "", "/"] {
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
