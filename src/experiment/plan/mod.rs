//! The plan of a run: the cross product of the options, the combinations that are possible, and the models.

mod config;
mod expand;
mod filter;
mod request;
mod tiers;

pub use config::{Accelerator, Dynamo, ExperimentConfig, Test, TorchXla2, Xla};
pub use expand::{ExpandOptions, PlanRules, expand_experiments};
pub use filter::{ModelFilter, partition};
pub use request::{Plan, PlanRequest};
pub use tiers::{TIER_1, TIER_2, TIER_3, tier_models};
