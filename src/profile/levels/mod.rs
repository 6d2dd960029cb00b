//! Levels: groups of slices of which no two show the same work.
//!
//! A profile often shows one piece of work several times: a module, the operator in it, its instructions; a step, the call
//! in it, the kernel it starts. Adding those up counts time twice. So every slice belongs to exactly one level, and
//! statistics, flame graphs, comparisons and queries work on one level ([`Levels::default_level`] when nobody chooses).
//!
//! Levels are told by what producers write into names of tracks and categories, so a file that is written and read again has
//! the same ones. Spans that only wrap others (steps, the profiler's own, compilation) have levels of their own, which lead
//! no list ([`wrappers`]).

mod classify;
mod family;
mod places;
pub mod wrappers;

pub use classify::{ALL_LEVELS, Level, LevelId, Levels, UnknownLevel, is_level};
pub use family::Family;
