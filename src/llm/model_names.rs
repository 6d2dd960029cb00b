//! The words of a model's name, as its makers, the hub and other tools write it: what changes a size, a storage, or nothing.

use super::weights::Weights;

/// Names of models that have the sizes of another.
pub(super) const SAME: &[(&str, &str)] = &[
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
    ("qwen3", "qwen3-8b"),
    ("qwen3-coder", "qwen3-30b-a3b"),
    ("qwen2.5", "qwen2.5-7b"),
    ("gemma3", "gemma-3-4b"),
    ("gemma2", "gemma-2-9b"),
    ("phi3", "phi-3-mini"),
    ("gpt-oss", "gpt-oss-20b"),
    ("qwen3-vl-2b", "qwen3-1.7b"),
    ("pixtral-12b", "mistral-nemo"),
    ("mathstral-7b", "mistral-7b-v0.3"),
    ("voxtral-small-24b", "mistral-small-24b"),
    ("devstral-small-2-24b", "mistral-small-24b"),
    ("deepseek-v2.5", "deepseek-v2"),
    ("kimi-vl-a3b", "moonlight-16b-a3b"),
    ("glm-4.7", "glm-4.5"),
    ("glm-4.5v", "glm-4.5-air"),
    ("glm-z1-9b-0414", "glm-4-9b-0414"),
    ("glm-z1-32b-0414", "glm-4-32b-0414"),
    ("minimax-m2.1", "minimax-m2"),
    ("bloomz-7b1", "bloom-7b1"),
    ("bloomz", "bloom"),
    ("olmo-3.1-32b", "olmo-3-32b"),
    ("exaone-4.0.1-32b", "exaone-4.0-32b"),
    ("hermes-4-70b", "llama-3.1-70b"),
    ("hermes-4.3-36b", "seed-oss-36b"),
    ("intellect-3", "glm-4.5-air"),
    ("llama3.2-vision", "llama-3.1-8b"),
    ("deepseek-r1-8b-llama-distill", "llama-3.1-8b"),
    ("deepseek-r1-70b-llama-distill", "llama-3.3-70b"),
    ("devstral-24b", "mistral-small-24b"),
    ("magistral-24b", "mistral-small-24b"),
    ("qwen2.5vl-3b", "qwen2.5-3b"),
    ("qwen2.5vl-7b", "qwen2.5-7b"),
    ("qwen2.5vl-32b", "qwen2.5-32b"),
    ("qwen2.5vl-72b", "qwen2.5-72b"),
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
    "terminus",
    "speciale",
    "main",
    "inst",
    "dwq",
];

/// Words that say how weights are stored, and what they are; `None` where they are not known here.
pub(super) const STORED: &[(&str, Option<Weights>)] = &[
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
pub(super) const FILE: &str = "gguf";

/// What follows the bits of a weight in a name of GGUF: `Q4_K_M`.
const BLOCKS: &[&str] = &["k", "0", "1", "nl", "xxs", "xs", "s", "m", "l", "xl", "p"];

/// Whether a word says the bits of a weight as GGUF does: `q4`, `iq3`.
pub(super) fn is_block(word: &str) -> bool {
    word.trim_start_matches('i').strip_prefix('q').is_some_and(|bits| bits.len() == 1 && bits.parse::<u8>().is_ok())
}

/// Words of models with further parts.
pub(super) const SEES: &[&str] = &["vl", "vision", "omni", "audio", "llava", "pixtral", "voxtral", "4.5v", "qwen2.5vl"];

/// The words of a name without its organisation and without what follows the bits of GGUF's weights. A point parts words but in numbers.
pub(super) fn words(name: &str) -> Vec<String> {
    let last = name.trim().trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or(name).to_lowercase();
    let last = last.rsplit("--").next().unwrap_or_default();
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let parts = |at: usize, c: char| match c {
        '-' | ' ' | '_' | ':' | '@' | ',' => true,
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

/// Words of models that are more, or other, than the model they name.
const OTHER_SIZES: &[&str] = &[
    "adapter", "draft", "eagle", "eagle2", "eagle3", "hybrid", "lora", "mamba", "medusa", "minitron", "moe", "pruned",
];

/// Whether a word says a size: `7b`, `1.5b`, `8x7b`, `a3b`.
fn is_size(word: &str) -> bool {
    let number = word.strip_suffix('b').or_else(|| word.strip_suffix('m')).unwrap_or_default();
    number.ends_with(|c: char| c.is_ascii_digit())
        && number.trim_start_matches('a').starts_with(|c: char| c.is_ascii_digit())
}

/// Stands between two words of a name that end and begin with a digit: 3 and 1b are not 31b.
const BETWEEN_DIGITS: char = '|';

/// Words of a text that a model's name leaves over, but those that change no size; `None` where a part of the name is not in the text, or a
/// number in the middle says another version: `gpt-oss-2-20b`.
fn more_words(text: &str, known: &str) -> Option<Vec<String>> {
    let mut whole = String::new();
    for word in words(known) {
        if whole.ends_with(|c: char| c.is_ascii_digit()) && word.starts_with(|c: char| c.is_ascii_digit()) {
            whole.push(BETWEEN_DIGITS);
        }
        whole.push_str(&word);
    }
    let mut left = whole.as_str();
    let mut more = Vec::new();
    let mut is_inside = false;
    for word in words(text) {
        if let Some(rest) = left.strip_prefix(&word).filter(|_| !word.is_empty()) {
            left = rest.trim_start_matches(BETWEEN_DIGITS);
            is_inside = !left.is_empty();
        } else if !([WITHOUT_SIZE, SEES].iter().any(|list| list.contains(&word.as_str()))
            || STORED.iter().any(|(stored, _)| *stored == word)
            || is_version(&word))
        {
            if is_inside && word.chars().all(|c| c.is_ascii_digit() || c == '.') {
                return None;
            }
            is_inside = false;
            more.push(word);
        }
    }
    left.is_empty().then_some(more)
}

/// Whether a text names a model: the letters and digits of the model in order, and else only words that change no size.
pub(super) fn is_name_of(text: &str, known: &str) -> bool {
    more_words(text, known).is_some_and(|more| more.is_empty())
}

/// Whether a text names a model and more, none of which is a size: `Hermes-3-Llama-3.1-8B`.
pub(super) fn is_tuned_from(text: &str, known: &str) -> bool {
    let changes_size = |word: &String| is_size(word) || OTHER_SIZES.contains(&word.as_str());
    let has_size = words(known).iter().any(|word| is_size(word));
    has_size && more_words(text, known).is_some_and(|more| !more.iter().any(changes_size))
}
