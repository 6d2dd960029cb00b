//! The head of a GGUF file as the `config.json` of the same model.

use super::families::FAMILIES;
use ns_base::convert::u64_to_usize;
use ns_base::{Refusal, refuse};
use serde_json::{Map, Value};

const MAGIC: &[u8] = b"GGUF";

/// Keys of the metadata behind the architecture, and the fields that they are.
const KEYS: &[(&str, &str)] = &[
    ("block_count", "num_hidden_layers"),
    ("embedding_length", "hidden_size"),
    ("attention.head_count", "num_attention_heads"),
    ("attention.head_count_kv", "num_key_value_heads"),
    ("attention.key_length", "head_dim"),
    ("attention.sliding_window", "sliding_window"),
    ("feed_forward_length", "intermediate_size"),
    ("context_length", "max_position_embeddings"),
    ("vocab_size", "vocab_size"),
    ("expert_count", "num_local_experts"),
    ("expert_used_count", "num_experts_per_tok"),
    ("expert_feed_forward_length", "moe_intermediate_size"),
];

/// Architectures that have another name than their family.
const NAMES: &[(&str, &str)] = &[("starcoder", "gpt_bigcode"), ("phi2", "phi"), ("command-r", "cohere")];

/// Bits of a weight, by `general.file_type`, of those storages that are timed.
const BITS: &[(&[u64], u64)] = &[(&[0, 1, 32], 16), (&[7], 8), (&[2, 3, 12, 14, 15, 25, 30], 4)];

/// Whether a file begins as GGUF does.
pub fn is_gguf(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// The text of a `config.json` that says what the head of a GGUF file does. The first hundred kilobytes are enough.
/// Fails when the head lacks a size, or has an architecture that cannot be read from it.
pub fn config_of_gguf(name: &str, head: &[u8]) -> Result<String, Refusal> {
    let wrong = |what: &str| refuse!("{name}: {what}").advise("give the config.json of the model with --model-config");
    let mut bytes = Bytes(head.strip_prefix(MAGIC).ok_or_else(|| wrong("it is no GGUF file"))?);
    let version = bytes.number(4).filter(|version| (2..=3).contains(version));
    let (Some(_), Some(_), Some(pairs)) = (version, bytes.number(8), bytes.number(8)) else {
        return Err(wrong("its head is not that of GGUF 2 or 3"));
    };
    let mut entries = Map::new();
    // What is cut off is the tokenizer's, except for the sizes that are then missed.
    for _ in 0..pairs {
        let Some((key, value)) = bytes.pair() else { break };
        entries.insert(key, value);
    }
    let text = |key: &str| entries.get(key).and_then(Value::as_str);
    let known = text("general.architecture").ok_or_else(|| wrong("its head names no architecture"))?;
    let count = |key: &str| entries.get(&format!("{known}.{key}"));
    let experts = count("expert_count").and_then(Value::as_u64).unwrap_or(0);
    if count("attention.kv_lora_rank").is_some() || known == "llama4" {
        return Err(wrong(&format!("the head of an architecture {known} does not say all its sizes")));
    }
    let plain = |text: &str| text.replace(['-', '_'], "");
    let same = NAMES.iter().find(|(name, _)| *name == known).map_or(known, |(_, family)| family);
    let family = match same {
        "llama" if experts > 0 => "mixtral",
        same => FAMILIES.iter().map(|f| f.name).find(|family| plain(family) == plain(same)).unwrap_or(same),
    };
    let mut fields = Map::new();
    fields.insert("model_type".to_owned(), family.into());
    let numbers = KEYS.iter().filter_map(|(key, field)| Some((*field, count(key)?.as_u64().filter(|n| *n > 0)?)));
    fields.extend(numbers.map(|(field, n)| (field.to_owned(), n.into())));
    if let Some(words) = entries.get("tokenizer.ggml.tokens").filter(|_| !fields.contains_key("vocab_size")) {
        fields.insert("vocab_size".to_owned(), words.clone());
    }
    let bits = entries.get("general.file_type").and_then(Value::as_u64);
    let bits = bits.and_then(|of| BITS.iter().find(|(types, _)| types.contains(&of)));
    if bits.is_none_or(|(_, bits)| *bits != 16) {
        let bits = bits.map_or(Value::Null, |(_, bits)| (*bits).into());
        fields.insert("quantization_config".to_owned(), serde_json::json!({"quant_method": "gguf", "bits": bits}));
    }
    Ok(Value::Object(fields).to_string())
}

/// Bytes that are yet to be read. Each part is `None` where they end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn number(&mut self, size: usize) -> Option<u64> {
        let (number, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        let mut wide = [0; 8];
        wide.get_mut(..size)?.copy_from_slice(number);
        Some(u64::from_le_bytes(wide))
    }

    fn text(&mut self) -> Option<String> {
        let size = self.number(8)?;
        let (text, rest) = self.0.split_at_checked(u64_to_usize(size))?;
        self.0 = rest;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// A key and its value: a text, a number by its bits, or the length of an array.
    fn pair(&mut self) -> Option<(String, Value)> {
        Some((self.text()?, self.number(4).and_then(|kind| self.value(kind))?))
    }

    fn value(&mut self, kind: u64) -> Option<Value> {
        match kind {
            0 | 1 | 7 => self.number(1).map(Value::from),
            2 | 3 => self.number(2).map(Value::from),
            4..=6 => self.number(4).map(Value::from),
            10..=12 => self.number(8).map(Value::from),
            8 => self.text().map(Value::from),
            9 => {
                let (of, length) = (self.number(4)?, self.number(8)?);
                let whole = self.0;
                if (0..length).any(|_| self.value(of).is_none()) {
                    // Nothing follows an array that is cut off.
                    self.0 = &whole[whole.len()..];
                }
                Some(length.into())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config_file::read_config;
    use super::super::models::named_config;
    use super::super::weights::Weights;
    use super::*;

    fn text(text: &str) -> Vec<u8> {
        [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
    }

    fn head(pairs: &[(&str, u32, Vec<u8>)]) -> Vec<u8> {
        let mut head =
            [MAGIC, &3u32.to_le_bytes(), &291u64.to_le_bytes(), &(pairs.len() as u64).to_le_bytes()].concat();
        for (key, kind, value) in pairs {
            head.extend([text(key), kind.to_le_bytes().to_vec(), value.clone()].concat());
        }
        head
    }

    #[test]
    fn the_head_of_a_file_is_the_config_of_its_model() {
        let number = |key: &'static str, n: u32| (key, 4, n.to_le_bytes().to_vec());
        let words = [&8u32.to_le_bytes()[..], &128_256u64.to_le_bytes(), &text("!")].concat();
        let mut pairs = vec![
            ("general.architecture", 8, text("llama")),
            ("general.tags", 9, [&8u32.to_le_bytes()[..], &2u64.to_le_bytes(), &text("a"), &text("b")].concat()),
            number("llama.block_count", 32),
            number("llama.embedding_length", 4_096),
            number("llama.attention.head_count", 32),
            number("llama.attention.head_count_kv", 8),
            number("llama.feed_forward_length", 14_336),
            number("llama.context_length", 8_192),
            number("general.file_type", 15),
            ("tokenizer.ggml.tokens", 9, words),
        ];
        let read = |pairs: &[_]| {
            config_of_gguf("m.gguf", &head(pairs)).and_then(|text| read_config("m.gguf", text.as_bytes()))
        };
        let known = named_config("llama-3-8b").unwrap();
        let config = read(&pairs).unwrap();
        assert_eq!((config.parameters(), config.stored, config.remarks.len()), (known.parameters(), Weights::Int4, 0));
        pairs[8] = number("general.file_type", 17);
        assert!(read(&pairs).unwrap().remarks[0].contains("quantization_config (gguf)"));
        for end in 0..head(&pairs).len() {
            let _ = config_of_gguf("m.gguf", &head(&pairs)[..end]);
        }
        pairs[0].2 = text("mamba");
        assert!(read(&pairs).unwrap_err().to_string().contains("mamba"));
        let error = config_of_gguf("m.gguf", b"GGUF\x03\0\0\0").unwrap_err();
        assert_eq!(
            error.to_string(),
            "m.gguf: its head is not that of GGUF 2 or 3; give the config.json of the model with --model-config"
        );
    }
}
