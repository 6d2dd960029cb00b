//! From a program that the user brings to the compiler's HLO.
//!
//! A program has any element type, any arrangement of dimensions, calls, loops and constants; HLO here has only what code generation
//! can place. So calls are inlined, and loops with a known number of turns are unrolled. A value that depends on weights and constants
//! alone becomes a weight (it is computed when the model is loaded). Products and convolutions get the arrangement that the array
//! takes. An operation without a rule of its own becomes [`Work`](crate::hlo::Work), placed by a cost; [`HloProgram::estimates`]
//! lists these operations.

mod activations;
mod affine;
mod arrange;
mod constant_forms;
mod emit;
mod flatten;
mod fold;
mod layouts;
mod moves;
mod ops;
mod placement;
mod products;
mod simplify;

mod permutation;
mod windows;

use std::collections::BTreeMap;

use ns_base::{Refusal, refuse};
use ns_program::Program;

use super::Workflow;
use super::hlo::{HloModule, verify};

pub use placement::UnknownOpPolicy;
pub use placement::engine_of;

#[derive(Clone, Debug, PartialEq)]
pub struct HloProgram {
    pub module: HloModule,
    /// Operators that are placed by an estimate.
    pub estimates: BTreeMap<String, GuessedCost>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// An operator whose cost is a guess.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuessedCost {
    /// How often it occurs.
    pub count: u64,
    /// The name of its first operation.
    pub first: String,
    /// Whether nothing is known about its cost: it has no known meaning, and the user gave no estimate. It counts as one pass over its
    /// largest array, which is the least that it can do.
    pub is_unknown: bool,
}

/// Converts a program to HLO.
///
/// `assumed` says how operators without a known meaning are placed, by name; [`UnknownOpPolicy::Elementwise`] is the default. Fails
/// when it calls itself, has a loop whose number of turns depends on data, or has more instructions than can be placed.
pub fn from_program(
    program: &Program,
    workflow: Workflow,
    assumed: &BTreeMap<String, UnknownOpPolicy>,
) -> Result<HloProgram, Refusal> {
    finished(program, flatten::flatten(program)?, workflow, assumed)
}

/// A program that [`from_program`] refuses, as HLO for display: an instruction that cannot be placed stands as one operation. It
/// cannot be compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramOutline {
    pub placed: HloProgram,
    /// Names of the operations that stand for refused instructions, with the reason for each.
    pub refused: BTreeMap<String, String>,
}

/// Converts a program that cannot be compiled to HLO for display. Fails when it has more instructions than can be displayed, or no
/// result depends on an input.
pub fn outline(
    program: &Program,
    workflow: Workflow,
    assumed: &BTreeMap<String, UnknownOpPolicy>,
) -> Result<ProgramOutline, Refusal> {
    let (flat, refused) = flatten::flatten_what_can_be(program)?;
    let mut placed = finished(program, flat, workflow, assumed)?;
    // A refusal is not an estimate.
    placed.estimates.retain(|name, _| !refused.contains_key(name));
    Ok(ProgramOutline { placed, refused })
}

fn finished(
    program: &Program,
    mut flat: flatten::Flat,
    workflow: Workflow,
    assumed: &BTreeMap<String, UnknownOpPolicy>,
) -> Result<HloProgram, Refusal> {
    simplify::simplify(&mut flat);
    let mut placed = emit::emit(program, &flat, workflow, assumed)?;
    activations::recognise(&mut placed.module);
    layouts::assign(&mut placed.module);
    verify(&placed.module).map_err(|e| refuse!("the program makes an invalid module: {e}"))?;
    Ok(placed)
}
