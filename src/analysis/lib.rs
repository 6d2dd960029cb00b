//! Questions about a profile whose answers are tables, trees and sentences.
//!
//! Every question walks over a [`Selection`] of slices, a bounded number at a time (`advance`), so that a session can
//! report progress and cancel between the steps; each also has a function that walks to the end at once. All of them
//! share these rules:
//!
//! * a slice that never ended is in no statistics;
//! * *self time*: at each instant of a thread the time belongs to the slice that began last ([`self_time`]);
//! * with a span of time, only the part of a slice inside the span counts;
//! * with a level ([`ns_profile::levels`]), only its slices count, and only they reduce one another's self time.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

pub mod calltree;
pub mod compare;
pub mod counters;
pub mod critical;
pub mod device;
pub mod extent;
pub mod flame;
pub mod grouping;
pub mod histogram;
pub mod idle;
pub mod in_order;
pub mod lookup;
pub mod members;
pub mod memory;
pub mod module_flame;
pub mod modules;
pub mod names;
mod on_stack;
pub mod opcode;
pub mod operators;
pub mod query;
pub mod scopes;
mod selection;
pub mod self_time;
pub mod sentences;
mod signature;
pub mod summary;
mod threads;
pub mod work;

pub use grouping::{GroupBy, Grouping};
pub use names::{Instances, Names};
pub use selection::{Selection, SliceCursor};
pub use threads::Threads;
