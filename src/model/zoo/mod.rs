//! The models that ship with the program, each with its parameters, ranges and example inputs.

mod info;
mod listing;
mod matmult;
mod mlp;
mod nn;
pub mod operator;
#[cfg(test)]
mod published;
mod spec;
pub mod text;
pub mod vision;

pub use info::{ModelForm, ModelInfo, ParamInfo, ParamKind, Settings};
pub use listing::{InputListing, ModelListing, ModelSummary, ParamListing, list, summarize};
pub use matmult::Matmult;
pub use mlp::Mlp;
pub use nn::tutorial_network;
pub use spec::{MAX_BATCH_SIZE, ModelSpec, named_model};

/// Every model, in the order of the listing.
pub static MODELS: [&ModelInfo; 26] = [
    &nn::INFO,
    &matmult::INFO,
    &mlp::INFO,
    &text::BERT_BASE,
    &text::BERT_LARGE,
    &text::ROBERTA_BASE,
    &text::ROBERTA_LARGE,
    &text::DISTILBERT_BASE,
    &text::ALBERT_BASE,
    &text::ELECTRA_BASE,
    &vision::RESNET18,
    &vision::RESNET34,
    &vision::RESNET50,
    &vision::RESNET101,
    &vision::RESNET152,
    &vision::VGG11,
    &vision::VGG16,
    &vision::ALEXNET,
    &vision::VIT_BASE,
    &vision::CLIP_BASE,
    &vision::CLIP_LARGE,
    &vision::UNET,
    &text::GPT2_INFO,
    &text::LLAMA_2_7B_INFO,
    &text::LLAMA_2_13B_INFO,
    &text::LLAMA_3_8B_INFO,
];

/// What a form says about each of [`MODELS`], worked out by the compiler.
pub static FORMS: [ModelForm; MODELS.len()] = {
    let mut forms = [MODELS[0].form(); MODELS.len()];
    let mut at = 1;
    while at < MODELS.len() {
        forms[at] = MODELS[at].form();
        at += 1;
    }
    forms
};
