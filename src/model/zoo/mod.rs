//! The models that ship with the program, each with its parameters, ranges and example inputs.

mod info;
mod listing;
mod matmult;
mod mlp;
mod nn;
#[cfg(test)]
mod published;
mod spec;
pub mod text;
pub mod vision;

pub use info::{ModelInfo, ParamInfo, ParamKind, Settings};
pub use listing::{InputListing, ModelListing, ModelSummary, ParamListing, list, summarize};
pub use matmult::Matmult;
pub use mlp::Mlp;
pub use nn::Nn;
pub use spec::{MAX_BATCH_SIZE, ModelSpec, SpecError};

/// Every model, in the order lists show them.
pub static MODELS: [&ModelInfo; 13] = [
    &nn::INFO,
    &matmult::INFO,
    &mlp::INFO,
    &text::BERT_BASE,
    &text::BERT_LARGE,
    &text::ROBERTA_BASE,
    &text::ROBERTA_LARGE,
    &text::ELECTRA_BASE,
    &vision::RESNET18,
    &vision::RESNET34,
    &vision::RESNET50,
    &vision::RESNET101,
    &vision::RESNET152,
];
