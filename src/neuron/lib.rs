//! A simulated NeuronCore: the discrete-event simulator, the runtime around it, and the numbers that the core
//! computes.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

pub mod gpsimd;
pub mod numerics;
pub mod runtime;
pub mod sim;

#[cfg(test)]
#[path = "../../tests/support/hlo_text.rs"]
mod hlo_text;
