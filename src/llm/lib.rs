//! Language models on many NeuronCores: how fast a sharded decoder reads a prompt and writes tokens, and whether it fits.
//!
//! ```text
//! DecoderConfig -> Shard (one core's part) -> Segment: the graph between two collectives -> compiled, simulated once a shape
//!     step = host + layers x (attention + all-reduce + feed-forward + all-reduce) + head
//! ```
//!
//! All ranks do the same, so one core is simulated; [`RankProgram`] is what each of them runs, as one program with its collectives. A segment ends where the ranks exchange their sums, and nothing of the
//! next one is fetched before: collectives are moved by the DMA engines that fetch weights.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod config;
mod config_family;
mod config_fields;
mod config_file;
mod config_json;
mod config_remarks;
mod config_values;
mod costs;
mod families;
mod fit;
mod generate;
mod gguf;
mod layer_work;
mod linear;
mod memory;
mod model_names;
mod model_rows;
mod models;
#[cfg(test)]
mod numerics;
mod plan;
mod prompt;
mod rank_program;
#[cfg(test)]
mod ranks;
mod request;
mod route;
mod segment;
mod serve;
mod shard;
mod step;
mod token;
mod weights;
mod windows;

pub use config::{
    Activation, Bias, DecoderConfig, Experts, Latent, LayerKind, Mlp, Norm, NormPlace, Positions, QkNorm,
};
pub use config_fields::known_fields;
pub use config_file::{MAX_CONFIG_BYTES, read_config};
pub use costs::{FITTED, LlmCalibration, cost_entries};
pub use families::FAMILIES;
pub use fit::{FitGrid, FitRow, distinct_instances, fit, fit_models};
pub use generate::{Breakdown, Generation, generate, generate_with, median_program, prompt_of};
pub use gguf::{config_of_gguf, is_gguf};
pub use layer_work::{UnitWork, layer_work};
pub use memory::Memory;
pub use models::{MODEL_CHOICES, hub_name, is_known_name, model_names, named_config};
pub use plan::{Plan, best_plan, cheapest_plan, note_of};
pub use prompt::PromptParts;
pub use rank_program::{COLLECTIVE, RankProgram};
pub use request::{LONGEST_ROW, Request, Speculation, llm_instance};
pub use route::Route;
pub use serve::{LimitMiss, Limits, RateFigures, ServeReport, Traffic, serve};
pub use shard::{Cut, Shard, degrees};
pub use step::{Decoder, StepParts};
pub use token::{TokenPart, token_parts};
pub use weights::{WEIGHT_CHOICES, Weights};
pub use windows::KnownTimes;
