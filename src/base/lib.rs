//! Basics that every other crate may use and that do not depend on NeuronCores: time, units, typed indexes, interned
//! text, seeded random numbers, statistics, diagnostics, and the interfaces that a shell implements.
//!
//! Start with:
//! - [`SimTime`] (simulated, picoseconds), [`TraceNs`] (of a file) and [`WallNs`] (measured): three types, so that they are never mixed.
//! - [`names!`]: an enum whose variants have texts.
//! - [`Refusal`], made by [`refuse!`]: why something cannot be done and what to do instead. [`Diagnostics`] lists what was left out of a
//!   file whose rest is read.
//! - [`Clock`] and [`Cancel`], which a shell implements.
//!
//! Invariants:
//! - Nothing here reads a clock or a file; random numbers come from a seed ([`Rng`]).
//! - Numbers change their type through [`convert`], whose names say what happens at the edge, and become text through [`units`].

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod calendar;
pub mod convert;
mod diag;
mod digest;
mod few;
mod index;
mod intern;
mod names;
mod nearest;
mod numerals;
mod order;
mod printable;
mod python_json;
mod refusal;
mod rng;
mod seams;
pub mod stats;
mod sweep;
mod time;
pub mod units;
pub mod wire;

pub use calendar::moment_utc;
pub use diag::{Diagnostic, Diagnostics};
pub use digest::{Digest, digest64};
pub use few::Few;
pub use index::{Idx, IndexVec};
pub use intern::{StrId, StringTable};
pub use nearest::{likely_name, nearest, nearest_text};
pub use numerals::{truth_of, without_underscores};
pub use order::Order;
pub use printable::{beginning, printable};
pub use python_json::{QUOTED_NAN, quoted_nan, without_nan};
pub use refusal::Refusal;
pub use rng::Rng;
pub use rustc_hash::{FxHashMap, FxHashSet};
pub use seams::{Cancel, Clock, ManualClock, NeverCancel};
pub use sweep::Sweep;
pub use time::{Interval, SimTime, TraceNs, WallNs};
