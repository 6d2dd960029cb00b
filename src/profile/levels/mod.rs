//! Levels: groups of slices of which no two show the same work.
//!
//! A profile often shows one piece of work several times: a module, the operator in it, its instructions; a step, the call
//! in it, the kernel it starts. Adding those up counts time twice. So every slice belongs to exactly one level, and
//! statistics, flame graphs, comparisons and queries work on one level ([`Levels::default_level`] unless one is chosen).
//!
//! Names of tracks and categories decide the levels, so a file that is written and read again has the same levels. Spans
//! that only wrap others (steps, the profiler's own spans, compilation) have separate levels, which never come first
//! in a list ([`wrappers`]); neither do waits ([`waits`]).

mod classify;
mod family;
mod places;
pub mod waits;
pub mod wrappers;

pub use classify::{ALL_LEVELS, Level, LevelId, Levels, level_of};
pub use family::Family;
