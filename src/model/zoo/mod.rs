//! The models that ship with the program, each with its parameters, ranges and example inputs.

mod info;
mod listing;
mod matmult;
mod mlp;
mod nn;
mod spec;

pub use info::{ModelInfo, ParamInfo, ParamKind, Settings};
pub use listing::{InputListing, ModelListing, ModelSummary, ParamListing, list, summarize};
pub use matmult::Matmult;
pub use mlp::Mlp;
pub use nn::Nn;
pub use spec::{MAX_BATCH_SIZE, ModelSpec, SpecError};

/// Every model, in the order lists show them.
pub static MODELS: [&ModelInfo; 3] = [&nn::INFO, &matmult::INFO, &mlp::INFO];
