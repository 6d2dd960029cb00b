//! A profile: the activity of processes and threads over time, stored in columns.
//!
//! * Make one with [`ProfileBuilder`], as readers of files (`formats`) and the simulator's capture do.
//! * Read one through [`Profile`] and its tables: processes, tracks, slices, instants, link events, counters.
//! * Every slice belongs to one level ([`levels`]), so that slices that show the same work are never added up.
//! * Draw one with the level of detail ([`lod`], [`marks`]); the Neuron operator tables are in [`neuron`],
//!   the times of a device in [`device`].
//!
//! The store does not depend on file formats or analyses: statistics, trees, comparisons and look-ups are in `analysis`.
//! Times are integer nanoseconds relative to [`ProfileMeta::origin_ns`]; nothing here reads a clock or a file.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod args;
mod assemble;
pub mod asyncs;
mod builder;
mod counters;
pub mod density;
pub mod device;
pub mod flows;
pub mod fused;
mod implausible;
pub mod levels;
pub mod lod;
pub mod marks;
pub mod memory;
mod nesting;
pub mod neuron;
mod occurrences;
mod packed;
mod phases;
mod plugin_run;
mod points;
mod rows;
mod slices;
mod store;
mod tracks;
mod unit;

pub use args::{ArgsArena, ArgsId};
pub use builder::{LinkEvent, Point, ProfileBuilder, Row};
pub use counters::{Counter, CounterId, CounterTable, Series, SeriesId};
pub use occurrences::{NUM_OCCURRENCES, Occurrences, Stretch};
pub use phases::PhaseCounts;
pub use points::{InstantId, InstantTable, JoinColumns, LinkId, LinkTable, LinkValue, PointTable, ScopeColumn};
pub use slices::{SliceFlags, SliceId, SliceTable};
pub use store::{MetadataRow, Profile, ProfileMeta};
pub use tracks::{NeuronCoreId, Process, ProcessId, Track, TrackId, TrackKind};
pub use unit::Unit;
