//! A simulated NeuronCore: the discrete-event simulator, what a step costs around it, and the numbers that the
//! core computes.
//!
//! Start with:
//! - [`sim::simulate`]: one execution, in integer picoseconds; an [`Observer`](sim::Observer) is told what ran and when.
//! - [`step`]: the host, the link and the device of one call. Whatever says how long a model takes says it from here.
//! - [`numerics`]: the values of a core with the roundings of a cast, compared with single precision; [`gpsimd`]: custom operators.
//!
//! Invariants:
//! - Time is a function of the executable and the costs. An observer changes nothing.
//! - Items of a unit run in order; a program whose waits can never be satisfied is an error, not a hang.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

pub mod gpsimd;
pub mod numerics;
pub mod sim;
pub mod step;

#[cfg(test)]
#[path = "../../tests/support/hlo_text.rs"]
mod hlo_text;
