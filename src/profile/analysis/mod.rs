//! Questions about a profile whose answers are tables, trees and sentences.
//!
//! Every question walks over a [`Selection`] of slices in a bounded number at a time (`advance`), so that a session can
//! report and cancel between; each has a function that walks to the end at once. All of them share three rules:
//!
//! * a slice that never ended is in no statistics;
//! * *self time* is a slice's duration without the part that its direct children cover;
//! * with a span of time, slices count whole or with the part inside ([`RangeRule`]).

pub mod calltree;
pub mod compare;
pub mod counters;
pub mod critical;
pub mod flame;
pub mod grouping;
pub mod histogram;
pub mod idle;
pub mod in_order;
pub mod members;
pub mod modules;
pub mod opcode;
pub mod operators;
pub mod query;
pub mod scopes;
mod selection;
pub mod sentences;
pub mod work;

pub use grouping::{GroupBy, Grouping};
pub use selection::{RangeRule, Selection, SliceCursor};
