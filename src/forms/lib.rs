//! What a user can ask, as data: the options of commands, the forms of pages, links to pages, the commands that pages print, and the
//! items that a browser keeps.
//!
//! A page, the command line and Python read the same rows, so an option is written once.
//!
//! Start with:
//! - [`options`]: an option is a row, from which field, flag, link, help and printed command come.
//! - [`studies`]: the studies, a row each, with their specification and their form.
//! - [`share`]: links to pages; [`commands`]: the commands that pages print; [`shelf`]: what a browser keeps between visits.
//!
//! Invariants:
//! - Nothing runs here. What a specification leads to is made in `ns_documents`, and worked on in steps by `ns_session`.
//! - A link or a file of an older version opens with the same specification, and what cannot be used is named.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod bundle;
mod catalog;
pub mod commands;
mod example;
mod experiments;
mod file_kind;
mod inspect;
pub mod options;
mod profile_spec;
mod questions;
pub mod results;
mod script;
pub mod share;
pub mod shelf;
pub mod studies;

pub use bundle::{BundleLayout, Piece, files_to_open};
pub use catalog::{Catalog, InstanceInfo, ModelInfo, ParameterInfo, ParameterKind, catalog};
pub use example::{EXAMPLE_INSTANCE, EXAMPLE_MODEL};
pub use experiments::{ExperimentField, ExperimentSpec, ExperimentView};
pub use file_kind::{HEAD_BYTES, Kind, sniff};
pub use inspect::{InspectField, InspectSpec, InspectView};
pub use profile_spec::{ProfileOrigin, ProfileSpec, TraceSpec};
pub use questions::{ModelQuestions, OPERATOR_PLACES, OperatorQuestion, SizeQuestion};
pub use script::{calls_neuronperf, is_known_script, neuronperf_command, refuse_script};
