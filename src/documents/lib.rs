//! What results look like: the documents of studies, benchmarks, experiments, models and profiles, the tables and sentences about a
//! profile, the files that are saved, and the runs that lead to them.
//!
//! A document is made once. The page draws it, the command line prints it, and a saved file holds it (`ns_view`).
//!
//! Start with:
//! - [`studies`]: each has a run, a step at a time, and the document of its results.
//! - [`results`]: the reports of a benchmark as columns, plots and a verdict; [`experiments`]: records as views; [`reports`]: commands about
//!   the text of files.
//! - [`inspect`]: a model as a picture; [`analysis`], [`overview`] and [`timeline`]: a profile.
//!
//! Invariants:
//! - The same specification and seed give the same document; nothing here reads a clock or a file by itself.
//! - Nothing here knows requests, jobs and messages, which `ns_session` has.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

pub mod analysis;
mod colours;
pub mod experiments;
mod export;
pub mod guide;
mod hardware;
pub mod inspect;
mod marks;
mod operators;
pub mod overview;
pub mod pages;
mod part;
mod profile_info;
mod recorder;
pub mod reports;
pub mod results;
pub mod studies;
mod summary_json;
mod summary_text;
pub mod timeline;
mod version;

pub use colours::colours_of;
pub use export::{ExportedFile, open_json, profile_json, summary_json};
pub use hardware::{Hardware, costs, costs_markdown};
pub use marks::{marks_of, with_marks};
pub use operators::{OperatorKind, OperatorRow, OperatorTable};
pub use part::part_of;
pub use profile_info::{ProfileInfo, ProfileKey};
pub use recorder::{Recorder, RecorderCall};
pub use summary_text::summary_text;
pub use version::{PROTOCOL_VERSION, build_id};
