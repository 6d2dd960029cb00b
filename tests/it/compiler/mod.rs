//! From models to HLO: whole-module snapshots, numerics before and after the passes, and text.

mod blocks;
mod functions;
mod numerics;
mod passes;
mod random;
mod snapshots;
mod text;

use neuronscope::compiler::hlo::HloModule;
use neuronscope::compiler::{Workflow, lower};
use neuronscope::model::ModelSpec;

fn lowered(spec: &str, workflow: Workflow) -> HloModule {
    let spec: ModelSpec = spec.parse().unwrap();
    lower(&spec.trace(1).unwrap(), workflow).unwrap()
}
