//! Published models by name, as their makers and the hub write it.

use super::config::{DecoderConfig, LayerKind};
use super::config_json::config_of;
use super::families::Family;
use super::weights::Weights;
use ns_base::{Refusal, nearest_text, refuse};
use serde_json::{Map, Value};

/// Layers, hidden size, query heads, key/value heads, head size, intermediate size, vocabulary, positions.
pub type Sizes = [u64; 8];

/// Published models: name, family, sizes, further fields of their config.json, parameters as their pages print them (0 where none is exact).
const MODELS: &[(&str, &str, Sizes, &str, u64)] = &[
    ("llama-2-7b", "llama", [32, 4096, 32, 32, 128, 11_008, 32_000, 4096], "", 6_738_415_616),
    ("llama-2-13b", "llama", [40, 5120, 40, 40, 128, 13_824, 32_000, 4096], "", 13_015_864_320),
    ("llama-2-70b", "llama", [80, 8192, 64, 8, 128, 28_672, 32_000, 4096], "", 68_976_648_192),
    ("codellama-7b", "llama", [32, 4096, 32, 32, 128, 11_008, 32_016, 16_384], "", 6_738_546_688),
    ("codellama-13b", "llama", [40, 5120, 40, 40, 128, 13_824, 32_016, 16_384], "", 13_016_028_160),
    ("codellama-34b", "llama", [48, 8192, 64, 8, 128, 22_016, 32_000, 16_384], "", 33_743_970_304),
    ("llama-3-8b", "llama", [32, 4096, 32, 8, 128, 14_336, 128_256, 8192], "", 8_030_261_248),
    ("llama-3-70b", "llama", [80, 8192, 64, 8, 128, 28_672, 128_256, 8192], "", 70_553_706_496),
    ("llama-3.1-8b", "llama", [32, 4096, 32, 8, 128, 14_336, 128_256, 131_072], "", 8_030_261_248),
    ("llama-3.1-70b", "llama", [80, 8192, 64, 8, 128, 28_672, 128_256, 131_072], "", 70_553_706_496),
    ("llama-3.1-405b", "llama", [126, 16_384, 128, 8, 128, 53_248, 128_256, 131_072], "", 405_853_388_800),
    ("mistral-7b", "mistral", [32, 4096, 32, 8, 128, 14_336, 32_000, 32_768], "", 7_241_732_096),
    (
        "mistral-7b-v0.1",
        "mistral",
        [32, 4096, 32, 8, 128, 14_336, 32_000, 32_768],
        r#""sliding_window":4096"#,
        7_241_732_096,
    ),
    ("mistral-7b-v0.3", "mistral", [32, 4096, 32, 8, 128, 14_336, 32_768, 32_768], "", 7_248_023_552),
    ("qwen2.5-7b", "qwen2", [28, 3584, 28, 4, 128, 18_944, 152_064, 32_768], "", 7_615_616_512),
    ("qwen2.5-32b", "qwen2", [64, 5120, 40, 8, 128, 27_648, 152_064, 32_768], "", 32_763_876_352),
    ("qwen2.5-72b", "qwen2", [80, 8192, 64, 8, 128, 29_568, 152_064, 32_768], "", 72_706_203_648),
    ("qwen3-8b", "qwen3", [36, 4096, 32, 8, 128, 12_288, 151_936, 40_960], "", 8_190_735_360),
    ("qwen3-32b", "qwen3", [64, 5120, 64, 8, 128, 25_600, 151_936, 40_960], "", 32_762_123_264),
    ("opt-13b", "opt", [40, 5120, 40, 40, 128, 20_480, 50_272, 2048], "", 12_853_473_280),
    ("opt-30b", "opt", [48, 7168, 56, 56, 128, 28_672, 50_272, 2048], "", 29_974_540_288),
    ("opt-66b", "opt", [64, 9216, 72, 72, 128, 36_864, 50_272, 2048], "", 0),
    ("gpt2", "gpt2", [12, 768, 12, 12, 64, 3072, 50_257, 1024], "", 124_439_808),
    ("gpt2-xl", "gpt2", [48, 1600, 25, 25, 64, 6400, 50_257, 1024], "", 1_557_611_200),
    ("gpt-neox-20b", "gpt_neox", [44, 6144, 64, 64, 96, 24_576, 50_432, 2048], "", 20_554_567_680),
    ("pythia-6.9b", "gpt_neox", [32, 4096, 32, 32, 128, 16_384, 50_432, 2048], "", 6_857_302_016),
    ("tinyllama-1.1b", "llama", [22, 2048, 32, 4, 64, 5632, 32_000, 2048], "", 1_100_048_384),
    (
        "llama-3.2-1b",
        "llama",
        [16, 2048, 32, 8, 64, 8192, 128_256, 131_072],
        r#""tie_word_embeddings":true"#,
        1_235_814_400,
    ),
    (
        "llama-3.2-3b",
        "llama",
        [28, 3072, 24, 8, 128, 8192, 128_256, 131_072],
        r#""tie_word_embeddings":true"#,
        3_212_749_824,
    ),
    ("llama-3.3-70b", "llama", [80, 8192, 64, 8, 128, 28_672, 128_256, 131_072], "", 70_553_706_496),
    ("smollm2-135m", "llama", [30, 576, 9, 3, 64, 1536, 49_152, 8192], r#""tie_word_embeddings":true"#, 134_515_008),
    ("smollm2-360m", "llama", [32, 960, 15, 5, 64, 2560, 49_152, 8192], r#""tie_word_embeddings":true"#, 361_821_120),
    (
        "smollm2-1.7b",
        "llama",
        [24, 2048, 32, 32, 64, 8192, 49_152, 8192],
        r#""tie_word_embeddings":true"#,
        1_711_376_384,
    ),
    ("smollm3-3b", "smollm3", [36, 2048, 16, 4, 128, 11_008, 128_256, 65_536], "", 3_075_098_624),
    ("mistral-nemo", "mistral", [40, 5120, 32, 8, 128, 14_336, 131_072, 131_072], "", 12_247_782_400),
    ("mistral-small-24b", "mistral", [40, 5120, 32, 8, 128, 32_768, 131_072, 32_768], "", 23_572_403_200),
    (
        "qwen2.5-0.5b",
        "qwen2",
        [24, 896, 14, 2, 64, 4864, 151_936, 32_768],
        r#""tie_word_embeddings":true"#,
        494_032_768,
    ),
    (
        "qwen2.5-1.5b",
        "qwen2",
        [28, 1536, 12, 2, 128, 8960, 151_936, 32_768],
        r#""tie_word_embeddings":true"#,
        1_543_714_304,
    ),
    (
        "qwen2.5-3b",
        "qwen2",
        [36, 2048, 16, 2, 128, 11_008, 151_936, 32_768],
        r#""tie_word_embeddings":true"#,
        3_085_938_688,
    ),
    ("qwen2.5-14b", "qwen2", [48, 5120, 40, 8, 128, 13_824, 152_064, 32_768], "", 14_770_033_664),
    (
        "qwen3-0.6b",
        "qwen3",
        [28, 1024, 16, 8, 128, 3072, 151_936, 40_960],
        r#""tie_word_embeddings":true"#,
        596_049_920,
    ),
    (
        "qwen3-1.7b",
        "qwen3",
        [28, 2048, 16, 8, 128, 6144, 151_936, 40_960],
        r#""tie_word_embeddings":true"#,
        1_720_574_976,
    ),
    (
        "qwen3-4b",
        "qwen3",
        [36, 2560, 32, 8, 128, 9728, 151_936, 40_960],
        r#""tie_word_embeddings":true"#,
        4_022_468_096,
    ),
    ("qwen3-14b", "qwen3", [40, 5120, 40, 8, 128, 17_408, 151_936, 40_960], "", 14_768_307_200),
    ("opt-125m", "opt", [12, 768, 12, 12, 64, 3072, 50_272, 2048], "", 125_239_296),
    ("opt-1.3b", "opt", [24, 2048, 32, 32, 64, 8192, 50_272, 2048], "", 1_315_758_080),
    ("opt-2.7b", "opt", [32, 2560, 32, 32, 80, 10_240, 50_272, 2048], "", 2_651_596_800),
    ("opt-6.7b", "opt", [32, 4096, 32, 32, 128, 16_384, 50_272, 2048], "", 6_658_473_984),
    ("gpt2-medium", "gpt2", [24, 1024, 16, 16, 64, 4096, 50_257, 1024], "", 354_823_168),
    ("gpt2-large", "gpt2", [36, 1280, 20, 20, 64, 5120, 50_257, 1024], "", 774_030_080),
    ("pythia-160m", "gpt_neox", [12, 768, 12, 12, 64, 3072, 50_304, 2048], "", 162_322_944),
    ("pythia-410m", "gpt_neox", [24, 1024, 16, 16, 64, 4096, 50_304, 2048], "", 405_334_016),
    ("pythia-1b", "gpt_neox", [16, 2048, 8, 8, 256, 8192, 50_304, 2048], "", 1_011_781_632),
    ("pythia-1.4b", "gpt_neox", [24, 2048, 16, 16, 128, 8192, 50_304, 2048], "", 1_414_647_808),
    ("pythia-2.8b", "gpt_neox", [32, 2560, 32, 32, 80, 10_240, 50_304, 2048], "", 2_775_208_960),
    ("pythia-12b", "gpt_neox", [36, 5120, 40, 40, 128, 20_480, 50_688, 2048], "", 11_846_072_320),
    ("gemma-2b", "gemma", [18, 2048, 8, 1, 256, 16_384, 256_000, 8192], "", 2_506_172_416),
    ("gemma-7b", "gemma", [28, 3072, 16, 16, 256, 24_576, 256_000, 8192], "", 8_537_680_896),
    (
        "gemma-2-2b",
        "gemma2",
        [26, 2304, 8, 4, 256, 9216, 256_000, 8192],
        r#""sliding_window":4096,"attn_logit_softcapping":50.0,"final_logit_softcapping":30.0"#,
        2_614_341_888,
    ),
    (
        "gemma-2-9b",
        "gemma2",
        [42, 3584, 16, 8, 256, 14_336, 256_000, 8192],
        r#""sliding_window":4096,"attn_logit_softcapping":50.0,"final_logit_softcapping":30.0"#,
        9_241_705_984,
    ),
    (
        "gemma-2-27b",
        "gemma2",
        [46, 4608, 32, 16, 128, 36_864, 256_000, 8192],
        r#""sliding_window":4096,"attn_logit_softcapping":50.0,"final_logit_softcapping":30.0"#,
        27_227_128_320,
    ),
    ("gemma-3-1b", "gemma3", [26, 1152, 4, 1, 256, 6912, 262_144, 32_768], r#""sliding_window":512"#, 999_885_952),
    (
        "gemma-3-4b",
        "gemma3",
        [34, 2560, 8, 4, 256, 10_240, 262_208, 131_072],
        r#""sliding_window":1024"#,
        3_880_263_168,
    ),
    ("gemma-3-12b", "gemma3", [48, 3840, 16, 8, 256, 15_360, 262_208, 131_072], r#""sliding_window":1024"#, 0),
    ("gemma-3-27b", "gemma3", [62, 5376, 32, 16, 128, 21_504, 262_208, 131_072], r#""sliding_window":1024"#, 0),
    ("phi-1.5", "phi", [24, 2048, 32, 32, 64, 8192, 51_200, 2048], "", 1_418_270_720),
    ("phi-2", "phi", [32, 2560, 32, 32, 80, 10_240, 51_200, 2048], "", 2_779_683_840),
    ("phi-3-mini", "phi3", [32, 3072, 32, 32, 96, 8192, 32_064, 4096], r#""sliding_window":2047"#, 3_821_079_552),
    (
        "phi-3.5-mini",
        "phi3",
        [32, 3072, 32, 32, 96, 8192, 32_064, 131_072],
        r#""sliding_window":262144"#,
        3_821_079_552,
    ),
    ("phi-3-medium", "phi3", [40, 5120, 40, 10, 128, 17_920, 32_064, 4096], "", 13_960_238_080),
    ("phi-4", "phi3", [40, 5120, 40, 10, 128, 17_920, 100_352, 16_384], "", 14_659_507_200),
    (
        "phi-4-mini",
        "phi3",
        [32, 3072, 24, 8, 128, 8192, 200_064, 131_072],
        r#""tie_word_embeddings":true,"sliding_window":262144"#,
        3_836_021_760,
    ),
    ("olmo-2-7b", "olmo2", [32, 4096, 32, 32, 128, 11_008, 100_352, 4096], "", 7_298_617_344),
    ("olmo-2-13b", "olmo2", [40, 5120, 40, 40, 128, 13_824, 100_352, 4096], "", 13_716_198_400),
    ("olmo-2-32b", "olmo2", [64, 5120, 40, 8, 128, 27_648, 100_352, 4096], "", 32_234_279_936),
    ("olmo-3-7b", "olmo3", [32, 4096, 32, 32, 128, 11_008, 100_278, 65_536], r#""sliding_window":4096"#, 7_298_011_136),
    ("falcon-7b", "falcon", [32, 4544, 71, 1, 64, 18_176, 65_024, 2048], r#""multi_query":true"#, 6_921_720_704),
    ("mpt-7b", "mpt", [32, 4096, 32, 32, 128, 16_384, 50_432, 2048], "", 6_649_286_656),
    ("mpt-30b", "mpt", [48, 7168, 64, 64, 112, 28_672, 50_432, 8192], "", 0),
    ("gpt-j-6b", "gptj", [28, 4096, 16, 16, 256, 16_384, 50_400, 2048], "", 6_050_882_784),
    ("santacoder", "gpt_bigcode", [24, 2048, 16, 1, 128, 8192, 49_280, 2048], "", 1_124_886_528),
    ("starcoder", "gpt_bigcode", [40, 6144, 48, 1, 128, 24_576, 49_152, 8192], "", 15_517_456_384),
    (
        "starcoder2-3b",
        "starcoder2",
        [30, 3072, 24, 2, 128, 12_288, 49_152, 16_384],
        r#""sliding_window":4096"#,
        3_030_371_328,
    ),
    (
        "starcoder2-7b",
        "starcoder2",
        [32, 4608, 36, 4, 128, 18_432, 49_152, 16_384],
        r#""sliding_window":4096"#,
        7_173_923_840,
    ),
    (
        "starcoder2-15b",
        "starcoder2",
        [40, 6144, 48, 4, 128, 24_576, 49_152, 16_384],
        r#""sliding_window":4096,"tie_word_embeddings":false"#,
        15_957_889_024,
    ),
    ("stablelm-3b", "stablelm", [32, 2560, 32, 32, 80, 6912, 50_304, 4096], "", 2_795_443_200),
    (
        "stablelm-2-1.6b",
        "stablelm",
        [24, 2048, 32, 32, 64, 5632, 100_352, 4096],
        r#""use_qkv_bias":true"#,
        1_644_515_328,
    ),
    (
        "stablelm-2-12b",
        "stablelm",
        [40, 5120, 32, 8, 160, 13_824, 100_352, 4096],
        r#""use_parallel_residual":true,"qk_layernorm":true"#,
        12_143_185_920,
    ),
    ("glm-4-9b", "glm", [40, 4096, 32, 2, 128, 13_696, 151_552, 131_072], "", 9_399_951_360),
    ("glm-4-9b-0414", "glm4", [40, 4096, 32, 2, 128, 13_696, 151_552, 32_768], "", 9_400_279_040),
    ("granite-3.1-8b", "granite", [40, 4096, 32, 8, 128, 12_800, 49_155, 131_072], "", 8_170_848_256),
    (
        "exaone-4.0-1.2b",
        "exaone4",
        [30, 2048, 32, 8, 64, 4096, 102_400, 65_536],
        r#""tie_word_embeddings":true"#,
        1_279_391_488,
    ),
    (
        "exaone-4.0-32b",
        "exaone4",
        [64, 5120, 40, 8, 128, 27_392, 102_400, 131_072],
        r#""sliding_window":4096"#,
        32_003_216_384,
    ),
    ("internlm3-8b", "internlm3", [48, 4096, 32, 2, 128, 10_240, 128_512, 32_768], "", 8_804_241_408),
    ("command-r", "cohere", [40, 8192, 64, 64, 128, 22_528, 256_000, 131_072], "", 34_980_831_232),
    (
        "command-r7b",
        "cohere2",
        [32, 4096, 32, 8, 128, 14_336, 256_000, 132_096],
        r#""sliding_window":4096"#,
        8_028_033_024,
    ),
    (
        "hunyuan-7b",
        "hunyuan_v1_dense",
        [32, 4096, 32, 8, 128, 14_336, 128_167, 32_768],
        r#""tie_word_embeddings":true"#,
        0,
    ),
    ("seed-oss-36b", "seed_oss", [64, 5120, 80, 8, 128, 27_648, 155_136, 524_288], "", 36_151_104_512),
    ("mimo-7b", "mimo", [36, 4096, 32, 8, 128, 11_008, 151_680, 32_768], "", 0),
    ("helium-1-2b", "helium", [28, 2048, 16, 8, 128, 8192, 64_000, 4096], "", 0),
    ("ernie-4.5-0.3b", "ernie4_5", [18, 1024, 16, 2, 128, 3072, 103_424, 131_072], "", 360_748_032),
    ("afm-4.5b", "arcee", [36, 2560, 20, 4, 128, 18_432, 128_004, 65_536], "", 0),
    ("persimmon-8b", "persimmon", [36, 4096, 64, 64, 64, 16_384, 262_144, 16_384], "", 0),
    ("xglm-564m", "xglm", [24, 1024, 16, 16, 64, 4096, 256_008, 2048], "", 564_463_616),
    (
        "mixtral-8x7b",
        "mixtral",
        [32, 4096, 32, 8, 128, 14_336, 32_000, 32_768],
        r#""num_local_experts":8,"num_experts_per_tok":2"#,
        46_702_792_704,
    ),
    (
        "mixtral-8x22b",
        "mixtral",
        [56, 6144, 48, 8, 128, 16_384, 32_000, 65_536],
        r#""num_local_experts":8,"num_experts_per_tok":2"#,
        140_620_634_112,
    ),
    (
        "qwen1.5-moe-a2.7b",
        "qwen2_moe",
        [24, 2048, 16, 16, 128, 5632, 151_936, 8192],
        r#""num_experts":60,"num_experts_per_tok":4,"moe_intermediate_size":1408,"shared_expert_intermediate_size":5632"#,
        14_315_784_192,
    ),
    (
        "qwen3-30b-a3b",
        "qwen3_moe",
        [48, 2048, 32, 4, 128, 6144, 151_936, 40_960],
        r#""num_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":768"#,
        30_532_122_624,
    ),
    (
        "qwen3-235b-a22b",
        "qwen3_moe",
        [94, 4096, 64, 4, 128, 12_288, 151_936, 40_960],
        r#""num_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":1536"#,
        235_093_634_560,
    ),
    (
        "llama-4-scout",
        "llama4",
        [48, 5120, 40, 8, 128, 8192, 202_048, 10_485_760],
        r#""num_local_experts":16,"num_experts_per_tok":1,"intermediate_size_mlp":16384,"attention_chunk_size":8192"#,
        0,
    ),
    (
        "gpt-oss-20b",
        "gpt_oss",
        [24, 2880, 64, 8, 64, 2880, 201_088, 131_072],
        r#""num_experts_per_tok":4,"sliding_window":128,"num_local_experts":32"#,
        20_914_757_184,
    ),
    (
        "gpt-oss-120b",
        "gpt_oss",
        [36, 2880, 64, 8, 64, 2880, 201_088, 131_072],
        r#""num_experts_per_tok":4,"sliding_window":128,"num_local_experts":128"#,
        116_829_156_672,
    ),
    (
        "deepseek-v3",
        "deepseek_v3",
        [61, 7168, 128, 128, 128, 18_432, 129_280, 163_840],
        r#""num_experts_per_tok":8,"moe_intermediate_size":2048,"n_shared_experts":1,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"n_routed_experts":256,"first_k_dense_replace":3"#,
        671_026_419_200,
    ),
    (
        "kimi-k2",
        "deepseek_v3",
        [61, 7168, 64, 64, 112, 18_432, 163_840, 131_072],
        r#""num_experts_per_tok":8,"moe_intermediate_size":2048,"n_shared_experts":1,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"n_routed_experts":384,"first_k_dense_replace":1"#,
        0,
    ),
    (
        "deepseek-v2-lite",
        "deepseek_v2",
        [27, 2048, 16, 16, 128, 10_944, 102_400, 163_840],
        r#""num_experts_per_tok":6,"moe_intermediate_size":1408,"n_shared_experts":2,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"n_routed_experts":64,"first_k_dense_replace":1"#,
        15_706_484_224,
    ),
    (
        "glm-4.5-air",
        "glm4_moe",
        [46, 4096, 96, 8, 128, 10_944, 151_552, 131_072],
        r#""num_experts_per_tok":8,"moe_intermediate_size":1408,"n_shared_experts":1,"n_routed_experts":128,"first_k_dense_replace":1,"attention_bias":true"#,
        0,
    ),
    (
        "minimax-m2",
        "minimax_m2",
        [62, 3072, 48, 8, 128, 1536, 200_064, 196_608],
        r#""num_local_experts":256,"num_experts_per_tok":8"#,
        0,
    ),
    (
        "phi-3.5-moe",
        "phimoe",
        [32, 4096, 32, 8, 128, 6400, 32_064, 131_072],
        r#""num_local_experts":16,"num_experts_per_tok":2,"attention_bias":true,"lm_head_bias":true"#,
        41_873_153_344,
    ),
    (
        "gemma-4-26b-a4b",
        "gemma4",
        [30, 2816, 16, 8, 256, 2112, 262_144, 262_144],
        r#""num_experts":128,"top_k_experts":8,"moe_intermediate_size":704,"sliding_window":1024,"num_global_key_value_heads":2,"global_head_dim":512,"attention_k_eq_v":true,"final_logit_softcapping":30.0"#,
        0,
    ),
    (
        "deepseek-v3.2",
        "glm_moe_dsa",
        [61, 7168, 128, 128, 128, 18_432, 129_280, 163_840],
        r#""num_experts_per_tok":8,"moe_intermediate_size":2048,"n_shared_experts":1,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"n_routed_experts":256,"first_k_dense_replace":3"#,
        0,
    ),
    (
        "granite-3.1-3b-a800m",
        "granitemoe",
        [32, 1536, 24, 8, 64, 512, 49_155, 131_072],
        r#""num_local_experts":40,"num_experts_per_tok":8"#,
        0,
    ),
    (
        "step-3.7-flash",
        "step3p7",
        [45, 4096, 64, 8, 128, 11_264, 128_896, 65_536],
        r#""sliding_window":512,"first_k_dense_replace":3,"num_experts":288,"num_experts_per_tok":8,"moe_intermediate_size":1280,"n_shared_experts":1"#,
        0,
    ),
    (
        "trinity-mini",
        "afmoe",
        [32, 2048, 32, 4, 128, 6144, 200_192, 131_072],
        r#""num_experts":128,"num_experts_per_tok":8,"num_shared_experts":1,"num_dense_layers":2,"sliding_window":2048,"moe_intermediate_size":1024"#,
        0,
    ),
    (
        "trinity-nano",
        "afmoe",
        [56, 1024, 8, 2, 128, 3072, 200_192, 131_072],
        r#""num_experts":128,"num_experts_per_tok":8,"num_shared_experts":1,"num_dense_layers":2,"sliding_window":2048,"moe_intermediate_size":256"#,
        0,
    ),
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
    let Some((known, family, sizes, more, _)) = row else {
        let refusal = refuse!("no language model '{name}'; the nearest are {}", nearest_text(name, model_names()));
        return Err(refusal.advise("give its config.json with --model-config"));
    };
    let mut config = config_of(known, &fields_of(family, *sizes, more))?;
    let words = words(name);
    if let Some(word) = words.iter().find(|word| STORED.contains(&word.as_str())) {
        config
            .remarks
            .push(format!("The name says {word}, which is not used: --weights says how many bytes a weight has."));
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
    ("mixtral", "mixtral-8x7b"),
    ("minimax-m2.5", "minimax-m2"),
    ("smollm-135m", "smollm2-135m"),
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
];

/// Words that say how weights are stored.
const STORED: &[&str] =
    &["fp8", "gptq", "awq", "int4", "int8", "bf16", "fp16", "mxfp4", "nvfp4", "w4a16", "w8a8", "4bit", "8bit", "gguf"];

/// Words of models with further parts.
const SEES: &[&str] = &["vl", "vision", "omni", "audio"];

/// The words of a name without its organisation.
fn words(name: &str) -> Vec<String> {
    let last = name.trim().trim_end_matches('/').rsplit('/').next().unwrap_or(name).to_lowercase();
    last.split(['-', ' ', '_']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Whether a word is a version (`v0.2`), a date (`2507`) or a length (`128k`).
fn is_version(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_length =
        word.strip_suffix('k').or_else(|| word.strip_suffix('m')).is_some_and(|n| is_number(n) && !n.contains('.'));
    word.strip_prefix('v').is_some_and(is_number)
        || is_length
        || (is_number(word) && !word.contains('.') && (word.len() >= 4 || word == "12"))
}

/// Whether a text names a model: the letters and digits of the model in order, and else only words that change no size.
fn is_name_of(text: &str, known: &str) -> bool {
    let known: String = words(known).concat();
    let mut left = known.as_str();
    for word in words(text) {
        if let Some(rest) = left.strip_prefix(&word).filter(|_| !word.is_empty()) {
            left = rest;
        } else if !([WITHOUT_SIZE, STORED, SEES].iter().any(|list| list.contains(&word.as_str())) || is_version(&word))
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
        for (name, .., published) in MODELS {
            let config = named_config(name).unwrap();
            assert_eq!(config.name, *name);
            if *published != 0 && config.parameters() != *published {
                wrong.push(format!("{name}: {} instead of {published}", config.parameters()));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        for family in FAMILIES {
            assert!(MODELS.iter().any(|(_, of, ..)| *of == family.name), "{} has no model", family.name);
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
        ] {
            assert_eq!(named_config(written).map(|config| config.name).as_deref(), Ok(known), "{written}");
        }
        assert!(named_config("Qwen3-VL-8B-FP8").unwrap().remarks.len() == 2);
        for unknown in ["lama-3-9b", "llama-3-8b-medusa", "8b", "", "/"] {
            assert!(named_config(unknown).is_err(), "{unknown}");
        }
        let error = named_config("lama-3-9b").unwrap_err();
        assert!(error.to_string().contains("llama-3-8b"), "{error}");
    }
}
