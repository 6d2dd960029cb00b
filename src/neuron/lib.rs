//! A simulated NeuronCore: the discrete-event simulator, what a step costs around it, and the numbers that the
//! core computes.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

pub mod gpsimd;
pub mod numerics;
pub mod sim;
pub mod step;

#[cfg(test)]
#[path = "../../tests/support/hlo_text.rs"]
mod hlo_text;
