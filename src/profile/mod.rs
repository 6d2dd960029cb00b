//! A profile: what happened when, on which process and thread, stored in columns.
//!
//! * Make one with [`ProfileBuilder`] (the simulator's capture does) or by reading a file ([`formats`]).
//! * Look at one through [`Profile`] and its tables: processes, tracks, slices, instants, link events, counters.
//! * Every slice belongs to one level ([`levels`]): what shows the same work is never added up.
//! * Ask it: statistics, trees and comparisons ([`analysis`]), the Neuron operator tables ([`neuron`]), the summary that
//!   `open FILE --json` prints ([`summary`]), level of detail for drawing ([`lod`], [`marks`]), look-ups ([`query`]).
//!
//! Times are integer nanoseconds relative to [`ProfileMeta::origin_ns`]; nothing here reads a clock or a file.

pub mod analysis;
mod args;
mod assemble;
pub mod asyncs;
mod builder;
mod counters;
pub mod density;
pub mod flows;
pub mod formats;
pub mod levels;
pub mod lod;
pub mod marks;
mod nesting;
pub mod neuron;
mod neuron_names;
mod packed;
mod phases;
mod plugin_run;
mod points;
pub mod query;
mod rows;
mod slices;
mod store;
pub mod summary;
mod tracks;
mod unit;

pub use args::{ArgsArena, ArgsId};
pub use builder::{LinkEvent, ProfileBuilder};
pub use counters::{Counter, CounterId, CounterTable, Series, SeriesId};
pub use phases::PhaseCounts;
pub use points::{InstantId, InstantTable, JoinColumns, LinkId, LinkTable, LinkValue, PointTable, ScopeColumn};
pub use slices::{SliceFlags, SliceId, SliceTable};
pub use store::{MetadataRow, Profile, ProfileMeta};
pub use tracks::{NeuronCoreId, Process, ProcessId, Track, TrackId, TrackKind};
pub use unit::Unit;
