//! Tiers of torchbench's models: their order of importance. The names are those of PyTorch/XLA's
//! `benchmarks/tiers.py`.

/// The models that matter most.
pub const TIER_1: &[&str] = &[
    "BERT_pytorch",
    "cm3leon_generate",
    "DALLE2_pytorch",
    "dlrm",
    "hf_GPT2",
    "hf_GPT2_large",
    "GPT_3",
    "hf_T5",
    "hf_T5_base",
    "hf_T5_generate",
    "hf_T5_large",
    "llama_v2_7b_16h",
    "stable_diffusion_xl",
];

pub const TIER_2: &[&str] = &[
    "alexnet",
    "attention_is_all_you_need_pytorch",
    "Background_Matting",
    "basic_gnn_gcn",
    "basic_gnn_gin",
    "basic_gnn_sage",
    "dcgan",
    "densenet121",
    "detectron2_fasterrcnn_r_101_c4",
    "detectron2_fasterrcnn_r_101_dc5",
    "detectron2_fasterrcnn_r_101_fpn",
    "detectron2_fasterrcnn_r_50_c4",
    "detectron2_fasterrcnn_r_50_dc5",
    "detectron2_fasterrcnn_r_50_fpn",
    "detectron2_fcos_r_50_fpn",
    "detectron2_maskrcnn",
    "detectron2_maskrcnn_r_101_c4",
    "detectron2_maskrcnn_r_101_fpn",
    "detectron2_maskrcnn_r_50_c4",
    "detectron2_maskrcnn_r_50_fpn",
    "fastNLP_Bert",
    "functorch_dp_cifar10",
    "hf_Albert",
    "hf_Bart",
    "hf_Bert",
    "hf_Bert_large",
    "llama",
];

pub const TIER_3: &[&str] = &["doctr_det_predictor", "doctr_reco_predictor", "drq", "functorch_maml_omniglot"];

/// The models of a tier, 1 to 3. `None` for any other number, which options ignore.
pub fn tier_models(tier: i64) -> Option<&'static [&'static str]> {
    match tier {
        1 => Some(TIER_1),
        2 => Some(TIER_2),
        3 => Some(TIER_3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_have_their_sizes_and_share_no_model() {
        assert_eq!([TIER_1.len(), TIER_2.len(), TIER_3.len()], [13, 27, 4]);
        let mut all = [TIER_1, TIER_2, TIER_3].concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 44);
        assert_eq!(tier_models(4), None);
    }
}
