//! Families of decoders, and published models: sizes from each model's `config.json`.

use super::config::{Bias, DecoderConfig, Mlp, Norm, Positions};
use ns_base::{Refusal, nearest_text, refuse};

/// What all models of a family have in common.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// `model_type` of a config.json.
    pub name: &'static str,
    pub mlp: Mlp,
    pub norm: Norm,
    pub bias: Bias,
    pub qk_norm: bool,
    pub positions: Positions,
    /// Whether the head shares the word table, unless a configuration says otherwise.
    pub tied: bool,
}

const LLAMA: Family = Family {
    name: "llama",
    mlp: Mlp::Gated,
    norm: Norm::Rms,
    bias: Bias::NONE,
    qk_norm: false,
    positions: Positions::Rotary,
    tied: false,
};

/// Families that a config.json may name.
pub const FAMILIES: [Family; 7] = [
    LLAMA,
    Family { name: "mistral", ..LLAMA },
    Family { name: "qwen2", bias: Bias { qkv: true, ..Bias::NONE }, ..LLAMA },
    Family { name: "qwen3", qk_norm: true, ..LLAMA },
    Family { name: "opt", positions: Positions::Learned { extra: 2 }, tied: true, ..NEOX },
    Family { name: "gpt2", positions: Positions::Learned { extra: 0 }, tied: true, ..NEOX },
    NEOX,
];

const NEOX: Family = Family {
    name: "gpt_neox",
    mlp: Mlp::Plain,
    norm: Norm::Layer,
    bias: Bias::ALL,
    qk_norm: false,
    positions: Positions::Rotary,
    tied: false,
};

/// The family of this name.
#[must_use]
pub fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|f| f.name == name)
}

/// Layers, hidden size, query heads, key/value heads, head size, intermediate size, vocabulary, positions.
pub type Sizes = [u64; 8];

/// Published models: name, family, sizes, parameters as their pages print them (0 where none is exact).
const MODELS: &[(&str, &str, Sizes, u64)] = &[
    ("llama-2-7b", "llama", [32, 4096, 32, 32, 128, 11_008, 32_000, 4096], 6_738_415_616),
    ("llama-2-13b", "llama", [40, 5120, 40, 40, 128, 13_824, 32_000, 4096], 13_015_864_320),
    ("llama-2-70b", "llama", [80, 8192, 64, 8, 128, 28_672, 32_000, 4096], 68_976_648_192),
    ("codellama-7b", "llama", [32, 4096, 32, 32, 128, 11_008, 32_016, 16_384], 6_738_546_688),
    ("codellama-13b", "llama", [40, 5120, 40, 40, 128, 13_824, 32_016, 16_384], 13_016_028_160),
    ("codellama-34b", "llama", [48, 8192, 64, 8, 128, 22_016, 32_000, 16_384], 33_743_970_304),
    ("llama-3-8b", "llama", [32, 4096, 32, 8, 128, 14_336, 128_256, 8192], 8_030_261_248),
    ("llama-3-70b", "llama", [80, 8192, 64, 8, 128, 28_672, 128_256, 8192], 70_553_706_496),
    ("llama-3.1-8b", "llama", [32, 4096, 32, 8, 128, 14_336, 128_256, 131_072], 8_030_261_248),
    ("llama-3.1-70b", "llama", [80, 8192, 64, 8, 128, 28_672, 128_256, 131_072], 70_553_706_496),
    ("llama-3.1-405b", "llama", [126, 16_384, 128, 8, 128, 53_248, 128_256, 131_072], 405_853_388_800),
    ("mistral-7b", "mistral", [32, 4096, 32, 8, 128, 14_336, 32_000, 32_768], 7_241_732_096),
    ("qwen2.5-7b", "qwen2", [28, 3584, 28, 4, 128, 18_944, 152_064, 32_768], 7_615_616_512),
    ("qwen2.5-32b", "qwen2", [64, 5120, 40, 8, 128, 27_648, 152_064, 32_768], 32_763_876_352),
    ("qwen2.5-72b", "qwen2", [80, 8192, 64, 8, 128, 29_568, 152_064, 32_768], 72_706_203_648),
    ("qwen3-8b", "qwen3", [36, 4096, 32, 8, 128, 12_288, 151_936, 40_960], 8_190_735_360),
    ("qwen3-32b", "qwen3", [64, 5120, 64, 8, 128, 25_600, 151_936, 40_960], 32_762_123_264),
    ("opt-13b", "opt", [40, 5120, 40, 40, 128, 20_480, 50_272, 2048], 12_853_473_280),
    ("opt-30b", "opt", [48, 7168, 56, 56, 128, 28_672, 50_272, 2048], 29_974_540_288),
    ("opt-66b", "opt", [64, 9216, 72, 72, 128, 36_864, 50_272, 2048], 0),
    ("gpt2", "gpt2", [12, 768, 12, 12, 64, 3072, 50_257, 1024], 124_439_808),
    ("gpt2-xl", "gpt2", [48, 1600, 25, 25, 64, 6400, 50_257, 1024], 1_557_611_200),
    ("gpt-neox-20b", "gpt_neox", [44, 6144, 64, 64, 96, 24_576, 50_432, 2048], 20_554_567_680),
    ("pythia-6.9b", "gpt_neox", [32, 4096, 32, 32, 128, 16_384, 50_432, 2048], 6_857_302_016),
];

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

impl DecoderConfig {
    /// A decoder of a family.
    #[must_use]
    pub fn of_family(family: &Family, name: &str, sizes: Sizes) -> Self {
        let Family { mlp, norm, bias, qk_norm, positions, tied, .. } = *family;
        let [layers, hidden, heads, kv_heads, head_size, intermediate, vocabulary, max_positions] = sizes;
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
            mlp,
            norm,
            bias,
            qk_norm,
            positions,
            tied,
            remarks: Vec::new(),
        }
    }
}

/// A published model by its name, in any case, with or without an organisation.
///
/// # Errors
/// When there is none of this name; the message has the nearest.
pub fn named_config(name: &str) -> Result<DecoderConfig, Refusal> {
    let wanted = plain(name);
    let found = MODELS.iter().find(|(known, ..)| plain(known) == wanted);
    let made = found.and_then(|(name, of, sizes, _)| Some(DecoderConfig::of_family(family(of)?, name, *sizes)));
    made.ok_or_else(|| {
        refuse!("no language model '{name}'; the nearest are {}", nearest_text(name, model_names()))
            .advise("give its config.json with --model-config")
    })
}

/// Letters and digits of a name, without its organisation: `meta-llama/Llama-2-7b-hf` is `llama27b`.
fn plain(name: &str) -> String {
    let last = name.trim().rsplit('/').next().unwrap_or(name).to_lowercase();
    let last = last.strip_suffix("-hf").unwrap_or(&last);
    let last = last.strip_prefix("meta-").unwrap_or(last);
    last.chars().filter(|c| c.is_ascii_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameter_counts_are_the_published_ones() {
        for (name, .., published) in MODELS {
            let config = named_config(name).unwrap();
            config.check().unwrap();
            assert!(*published == 0 || config.parameters() == *published, "{name}: {}", config.parameters());
        }
    }

    #[test]
    fn names_are_found_as_tables_write_them() {
        for name in ["Llama-2-13b", "meta-llama/Llama-2-13b-hf", "LLAMA-2-13B"] {
            assert_eq!(named_config(name).unwrap().name, "llama-2-13b");
        }
        assert_eq!(named_config("Meta-Llama-3-8B").unwrap().name, "llama-3-8b");
        let error = named_config("lama-3-9b").unwrap_err();
        assert!(error.to_string().contains("llama-3-8b"), "{error}");
    }
}
