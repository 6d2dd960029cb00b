//! From a program that a person brought to the compiler's HLO.
//!
//! A program has any element type, any arrangement of dimensions, calls, loops and constants; HLO here has what the code generator
//! places. So calls are put in the place of the call, loops with a known number of turns are unrolled, what weights and constants alone
//! give becomes a weight (it is computed when the model is loaded), products and convolutions get the arrangement the array
//! takes, and what has no rule of its own becomes [`Work`](crate::compiler::hlo::Work), placed by a cost that
//! [`Placed::estimates`] tells.

mod activations;
mod arrange;
mod emit;
mod error;
mod flat;
mod flatten;
mod fold;
mod given;
mod moves;
mod ops;
mod products;
mod windows;

use std::collections::BTreeMap;

use crate::import::program::Program;

use super::Workflow;
use super::hlo::{HloModule, verify};

pub use error::FromProgramError;

/// How an operator without a rule of its own is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stand {
    /// One pass of the vector engine over the larger of operands and result.
    Elementwise,
    /// Bytes out to device memory and back.
    Move,
    /// Passes of the GpSimd engine, as many as the logarithm of the elements.
    Sort,
}

/// A program as HLO.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The module, verified.
    pub module: HloModule,
    /// Operators that are placed by an estimate, with how often and the first place each.
    pub estimates: BTreeMap<String, (u64, String)>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Makes HLO of a program.
///
/// `assumed` says how operators without a known meaning are placed, by name; [`Stand::Elementwise`] is the default.
///
/// # Errors
/// When it calls itself, loops a number of times that data decides, or has more instructions than can be placed.
pub fn from_program(
    program: &Program,
    workflow: Workflow,
    assumed: &BTreeMap<String, Stand>,
) -> Result<Placed, FromProgramError> {
    let flat = flatten::flatten(program)?;
    let mut placed = emit::emit(program, &flat, workflow, assumed)?;
    activations::recognise(&mut placed.module);
    verify(&placed.module).map_err(FromProgramError::Invalid)?;
    Ok(placed)
}
