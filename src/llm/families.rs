//! Families of decoders, and published models: sizes from each model's `config.json`.

use super::config::{Activation, Bias, DecoderConfig, Mlp, Norm, NormPlace, Positions, QkNorm};

/// A field that is true or false, and what it changes.
pub type Switch = (&'static str, fn(&mut DecoderConfig, bool));

/// How experts of a family differ.
#[derive(Clone, Copy, Debug)]
pub struct ExpertRule {
    /// Numbers that the router adds for each expert.
    pub router_biases: u64,
    pub has_shared_gate: bool,
    /// Experts that see every token, unless a configuration says otherwise.
    pub shared: u64,
    /// Whether the feed-forward part of all tokens stands beside the experts.
    pub is_beside_dense: bool,
}

/// What all models of a family have in common.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// `model_type` of a config.json.
    pub name: &'static str,
    /// Other values of `model_type` for the same decoder.
    pub also: &'static [&'static str],
    pub mlp: Mlp,
    pub activation: Activation,
    pub norm: Norm,
    pub norm_place: NormPlace,
    pub bias: Bias,
    pub qk_norm: QkNorm,
    pub positions: Positions,
    /// Whether the head shares the word table, unless a configuration says otherwise.
    pub tied: bool,
    /// Whether the feed-forward part is four times as wide as a token, unless a configuration says otherwise.
    pub is_four_wide: bool,
    /// Of so many layers one sees all positions, where a configuration has a window and no list of layers; 1: none does. 0: the family has no
    /// windows.
    pub full_of: u64,
    pub experts: Option<ExpertRule>,
    pub is_latent: bool,
    pub has_attention_gate: bool,
    pub has_sinks: bool,
    /// Whether the words have a norm of their own before the first layer.
    pub has_word_norm: bool,
    pub switches: &'static [Switch],
}

const ATTENTION_BIAS: Switch = ("attention_bias", |c, on| (c.bias.qkv, c.bias.output) = (on, on));
const QKV_BIAS: Switch = ("attention_bias", |c, on| c.bias.qkv = on);
const MLP_BIAS: Switch = ("mlp_bias", |c, on| c.bias.mlp = on);
const HEAD_BIAS: Switch = ("lm_head_bias", |c, on| c.bias.head = on);
const USE_BIAS: Switch = ("use_bias", |c, on| c.bias = if on { Bias::ALL } else { Bias::NONE });
const SIDE_BY_SIDE: Switch = ("use_parallel_residual", |_, _| ());
const ONE_NORM: Switch =
    ("use_parallel_residual", |c, on| c.norm_place = if on { NormPlace::Shared } else { NormPlace::Before });
const ONE_KV_HEAD: Switch = ("multi_query", |c, on| c.kv_heads = if on { 1 } else { c.heads });
const fn qk_norm_if(on: bool, norm: QkNorm) -> QkNorm {
    if on { norm } else { QkNorm::None }
}
const FULL_QK_NORM: Switch = ("use_qk_norm", |c, on| c.qk_norm = qk_norm_if(on, QkNorm::Full));
const HEAD_QK_NORM: Switch = ("use_qk_norm", |c, on| c.qk_norm = qk_norm_if(on, QkNorm::Head));

const QKV: Bias = Bias { qkv: true, ..Bias::NONE };
const EXPERTS: ExpertRule = ExpertRule { router_biases: 0, has_shared_gate: false, shared: 0, is_beside_dense: false };

const LLAMA: Family = Family {
    name: "llama",
    also: &["mllama", "llava", "llama_text", "ministral", "smolvlm", "aria", "idefics3", "exaone", "internlm2"],
    mlp: Mlp::Gated,
    activation: Activation::Silu,
    norm: Norm::Rms,
    norm_place: NormPlace::Before,
    bias: Bias::NONE,
    qk_norm: QkNorm::None,
    positions: Positions::Rotary,
    tied: false,
    is_four_wide: false,
    full_of: 0,
    experts: None,
    is_latent: false,
    has_attention_gate: false,
    has_sinks: false,
    has_word_norm: false,
    switches: &[ATTENTION_BIAS, MLP_BIAS],
};

const PLAIN: Family = Family { also: &[], switches: &[], ..LLAMA };

const NEOX: Family = Family {
    name: "gpt_neox",
    mlp: Mlp::Plain,
    activation: Activation::Gelu,
    norm: Norm::Layer,
    bias: Bias::ALL,
    switches: &[("attention_bias", ATTENTION_BIAS.1), SIDE_BY_SIDE],
    ..PLAIN
};

const GEMMA: Family =
    Family { name: "gemma", activation: Activation::Gelu, tied: true, switches: &[ATTENTION_BIAS], ..PLAIN };
const GEMMA_3: Family = Family {
    name: "gemma3",
    also: &["gemma3_text"],
    norm_place: NormPlace::Around,
    qk_norm: QkNorm::Head,
    full_of: 6,
    ..GEMMA
};
const OLMO_2: Family =
    Family { name: "olmo2", norm_place: NormPlace::After, qk_norm: QkNorm::Full, switches: &[ATTENTION_BIAS], ..PLAIN };
const QWEN_2: Family =
    Family { name: "qwen2", also: &["qwen2_vl", "qwen2_5_vl", "qwen2_5_omni"], bias: QKV, full_of: 1, ..PLAIN };
const QWEN_3: Family = Family {
    name: "qwen3",
    also: &["qwen3_vl", "qwen3_omni"],
    qk_norm: QkNorm::Head,
    full_of: 1,
    switches: &[ATTENTION_BIAS],
    ..PLAIN
};
const COHERE: Family = Family {
    name: "cohere",
    norm: Norm::LayerWeight,
    norm_place: NormPlace::Shared,
    tied: true,
    switches: &[ATTENTION_BIAS, FULL_QK_NORM],
    ..PLAIN
};
const GLM: Family = Family { name: "glm", bias: QKV, switches: &[QKV_BIAS], ..PLAIN };
const DEEPSEEK_3: Family = Family {
    name: "deepseek_v3",
    also: &["kimi_k2", "kimi_k25"],
    is_latent: true,
    experts: Some(ExpertRule { router_biases: 1, ..EXPERTS }),
    ..PLAIN
};
const PHI: Family = Family {
    name: "phi",
    norm_place: NormPlace::Shared,
    bias: Bias { head: true, ..Bias::ALL },
    switches: &[],
    ..NEOX
};

/// Families that a config.json may name. A new one is a row, and a published count of parameters in `MODELS`.
pub const FAMILIES: &[Family] = &[
    LLAMA,
    Family { name: "mistral", also: &["mistral3", "ministral3", "pixtral", "voxtral"], full_of: 1, ..LLAMA },
    QWEN_2,
    QWEN_3,
    Family {
        name: "opt",
        activation: Activation::Relu,
        positions: Positions::Learned { extra: 2 },
        tied: true,
        switches: &[("enable_bias", USE_BIAS.1)],
        ..NEOX
    },
    Family {
        name: "gpt2",
        positions: Positions::Learned { extra: 0 },
        tied: true,
        is_four_wide: true,
        switches: &[],
        ..NEOX
    },
    NEOX,
    GEMMA,
    Family { name: "gemma2", norm_place: NormPlace::Around, full_of: 2, ..GEMMA },
    GEMMA_3,
    Family {
        name: "gemma4",
        also: &["gemma4_text"],
        experts: Some(ExpertRule { is_beside_dense: true, ..EXPERTS }),
        ..GEMMA_3
    },
    PHI,
    Family {
        name: "phi3",
        also: &["phi3_v", "phi4mm", "phi4_multimodal"],
        full_of: 1,
        switches: &[ATTENTION_BIAS, HEAD_BIAS],
        ..PLAIN
    },
    Family { name: "smollm3", tied: true, full_of: 1, ..LLAMA_ONLY },
    OLMO_2,
    Family { name: "olmo3", full_of: 4, ..OLMO_2 },
    Family {
        name: "falcon",
        bias: Bias::NONE,
        norm_place: NormPlace::Shared,
        tied: true,
        is_four_wide: true,
        switches: &[
            ("bias", USE_BIAS.1),
            ("parallel_attn", ONE_NORM.1),
            ONE_KV_HEAD,
            ("new_decoder_architecture", |c, on| {
                if on {
                    c.norm_place = NormPlace::Before
                }
            }),
            ("alibi", |c, on| {
                if on {
                    c.positions = Positions::Weightless
                }
            }),
        ],
        ..NEOX
    },
    Family {
        name: "mpt",
        norm: Norm::LayerWeight,
        bias: Bias::NONE,
        positions: Positions::Weightless,
        tied: true,
        is_four_wide: true,
        switches: &[("no_bias", |c, off| {
            c.bias = if off { Bias::NONE } else { Bias::ALL };
            c.norm = if off { Norm::LayerWeight } else { Norm::Layer };
        })],
        ..NEOX
    },
    Family {
        name: "bloom",
        positions: Positions::Weightless,
        tied: true,
        is_four_wide: true,
        has_word_norm: true,
        switches: &[],
        ..NEOX
    },
    Family {
        name: "gptj",
        also: &["codegen"],
        norm_place: NormPlace::Shared,
        bias: Bias { mlp: true, head: true, ..Bias::NONE },
        is_four_wide: true,
        switches: &[],
        ..NEOX
    },
    Family {
        name: "gpt_bigcode",
        positions: Positions::Learned { extra: 0 },
        tied: true,
        is_four_wide: true,
        switches: &[ONE_KV_HEAD],
        ..NEOX
    },
    Family { name: "starcoder2", tied: true, full_of: 1, switches: &[USE_BIAS], ..NEOX },
    Family {
        name: "stablelm",
        norm: Norm::Layer,
        switches: &[("use_qkv_bias", QKV_BIAS.1), ONE_NORM, ("qk_layernorm", FULL_QK_NORM.1)],
        ..PLAIN
    },
    GLM,
    Family { name: "glm4", also: &["glm4v", "glm4v_text"], norm_place: NormPlace::Around, ..GLM },
    Family { name: "granite", also: &["minicpm"], tied: true, ..LLAMA_ONLY },
    Family { name: "exaone4", norm_place: NormPlace::After, qk_norm: QkNorm::Head, full_of: 4, ..PLAIN },
    Family {
        name: "internlm3",
        full_of: 0,
        switches: &[("qkv_bias", QKV_BIAS.1), ("bias", |c, on| (c.bias.output, c.bias.mlp) = (on, on))],
        ..PLAIN
    },
    COHERE,
    Family { name: "cohere2", also: &["cohere2_vision"], full_of: 4, switches: &[ATTENTION_BIAS], ..COHERE },
    Family {
        name: "hunyuan_v1_dense",
        also: &["hunyuan"],
        qk_norm: QkNorm::Head,
        switches: &[ATTENTION_BIAS, HEAD_QK_NORM],
        ..PLAIN
    },
    Family {
        name: "seed_oss",
        bias: QKV,
        switches: &[QKV_BIAS, ("attention_out_bias", |c, on| c.bias.output = on), MLP_BIAS],
        ..PLAIN
    },
    Family { name: "mimo", switches: &[QKV_BIAS], bias: QKV, full_of: 1, ..PLAIN },
    Family { name: "helium", ..LLAMA_ONLY },
    Family { name: "ernie4_5", tied: true, switches: &[USE_BIAS], ..PLAIN },
    Family { name: "nemotron", mlp: Mlp::Plain, activation: Activation::SquaredRelu, norm: Norm::Layer, ..LLAMA_ONLY },
    Family {
        name: "apertus",
        mlp: Mlp::Plain,
        qk_norm: QkNorm::Head,
        switches: &[ATTENTION_BIAS, ("qk_norm", HEAD_QK_NORM.1)],
        ..PLAIN
    },
    Family { name: "arcee", mlp: Mlp::Plain, activation: Activation::SquaredRelu, ..LLAMA_ONLY },
    Family {
        name: "persimmon",
        activation: Activation::SquaredRelu,
        qk_norm: QkNorm::Head,
        switches: &[("qk_layernorm", HEAD_QK_NORM.1)],
        ..NEOX
    },
    Family { name: "xglm", tied: true, positions: Positions::Weightless, switches: &[], ..NEOX },
    Family { name: "mixtral", experts: Some(EXPERTS), full_of: 1, ..PLAIN },
    Family {
        name: "qwen2_moe",
        experts: Some(ExpertRule { has_shared_gate: true, ..EXPERTS }),
        switches: &[("qkv_bias", QKV_BIAS.1)],
        ..QWEN_2_ONLY
    },
    Family { name: "qwen3_moe", also: &["qwen3_vl_moe", "qwen3_omni_moe"], experts: Some(EXPERTS), ..QWEN_3 },
    Family {
        name: "llama4",
        also: &["llama4_text"],
        experts: Some(ExpertRule { shared: 1, ..EXPERTS }),
        full_of: 4,
        switches: &[ATTENTION_BIAS],
        ..PLAIN
    },
    Family {
        name: "gpt_oss",
        bias: Bias::ALL,
        has_sinks: true,
        full_of: 2,
        experts: Some(ExpertRule { router_biases: 1, ..EXPERTS }),
        switches: &[ATTENTION_BIAS],
        ..PLAIN
    },
    DEEPSEEK_3,
    Family { name: "deepseek_v2", also: &[], experts: Some(EXPERTS), ..DEEPSEEK_3 },
    Family { name: "glm_moe_dsa", also: &["deepseek_v32", "glm4_moe_lite"], ..DEEPSEEK_3 },
    Family {
        name: "glm4_moe",
        also: &["glm4v_moe", "glm4v_moe_text"],
        experts: Some(ExpertRule { router_biases: 1, ..EXPERTS }),
        switches: &[QKV_BIAS, HEAD_QK_NORM],
        ..GLM
    },
    Family {
        name: "minimax_m2",
        qk_norm: QkNorm::Full,
        experts: Some(ExpertRule { router_biases: 1, ..EXPERTS }),
        switches: &[FULL_QK_NORM],
        ..PLAIN
    },
    Family {
        name: "phimoe",
        norm: Norm::Layer,
        full_of: 1,
        experts: Some(EXPERTS),
        switches: &[ATTENTION_BIAS, HEAD_BIAS],
        ..PLAIN
    },
    Family { name: "olmoe", qk_norm: QkNorm::Full, experts: Some(EXPERTS), switches: &[ATTENTION_BIAS], ..PLAIN },
    Family {
        name: "granitemoe",
        also: &["granitemoehybrid"],
        tied: true,
        experts: Some(EXPERTS),
        switches: &[ATTENTION_BIAS],
        ..PLAIN
    },
    Family { name: "deepseek", experts: Some(EXPERTS), switches: &[ATTENTION_BIAS], ..PLAIN },
    Family { name: "dots1", qk_norm: QkNorm::Head, ..SIGMOID },
    Family { name: "ernie4_5_moe", tied: true, switches: &[USE_BIAS], ..SIGMOID },
    Family {
        name: "bailing_moe",
        also: &["bailing_moe_v2"],
        switches: &[HEAD_QK_NORM, ("use_qkv_bias", QKV_BIAS.1)],
        ..SIGMOID
    },
    Family {
        name: "hunyuan_v1_moe",
        qk_norm: QkNorm::Head,
        experts: Some(EXPERTS),
        switches: &[ATTENTION_BIAS, HEAD_QK_NORM],
        ..PLAIN
    },
    Family {
        name: "afmoe",
        norm_place: NormPlace::Around,
        qk_norm: QkNorm::Head,
        full_of: 4,
        has_attention_gate: true,
        experts: Some(ExpertRule { router_biases: 1, ..EXPERTS }),
        ..PLAIN
    },
    Family {
        name: "step3p7",
        full_of: 4,
        experts: Some(ExpertRule { router_biases: 1, ..EXPERTS }),
        switches: &[HEAD_QK_NORM],
        ..PLAIN
    },
];

/// The switches of llama, without its other names.
const LLAMA_ONLY: Family = Family { also: &[], ..LLAMA };
const QWEN_2_ONLY: Family = Family { also: &[], ..QWEN_2 };

/// Experts whose router adds a number for each.
const SIGMOID: Family =
    Family { experts: Some(ExpertRule { router_biases: 1, ..EXPERTS }), switches: &[ATTENTION_BIAS], ..PLAIN };

/// The sizes of a family's class in transformers, which a part of a file leaves out where they are its own.
#[rustfmt::skip]
pub const DEFAULTS: &[(&str, &str)] = &[
    ("llama", r#"{"num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,"intermediate_size":11008,"vocab_size":32000,"max_position_embeddings":2048}"#),
    ("mistral", r#"{"num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":32000,"max_position_embeddings":131072,"sliding_window":4096}"#),
    ("qwen2", r#"{"num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":22016,"vocab_size":151936,"max_position_embeddings":32768}"#),
    ("qwen3", r#"{"num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":32,"head_dim":128,"intermediate_size":22016,"vocab_size":151936,"max_position_embeddings":32768}"#),
    ("gemma", r#"{"num_hidden_layers":28,"hidden_size":3072,"num_attention_heads":16,"num_key_value_heads":16,"head_dim":256,"intermediate_size":24576,"vocab_size":256000,"max_position_embeddings":8192}"#),
    ("gemma2", r#"{"num_hidden_layers":26,"hidden_size":2304,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"intermediate_size":9216,"vocab_size":256000,"max_position_embeddings":8192,"sliding_window":4096}"#),
    ("gemma3", r#"{"num_hidden_layers":26,"hidden_size":2304,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,"intermediate_size":9216,"vocab_size":262208,"max_position_embeddings":131072,"sliding_window":4096}"#),
];

/// The family of this `model_type`; the part for text of a model for pictures has a name of its own.
pub fn family(name: &str) -> Option<&'static Family> {
    let bare = name.strip_suffix("_model").unwrap_or(name);
    let bare = bare.strip_suffix("_text").unwrap_or(bare);
    FAMILIES.iter().find(|f| f.name == name || f.also.contains(&name) || f.name == bare || f.also.contains(&bare))
}
