//! Files that hold a profile: how the kind of a file is found, how a file is read in chunks, how a profile is written.
//!
//! Readers are sans-IO: a shell pushes bytes as it gets them ([`ChunkedReader::push`]) and asks for the profile at the
//! end ([`ChunkedReader::finish`]). Memory is bounded by the columns of the profile, not by the text.
//!
//! ```
//! use ns_formats::{ChunkedReader, ProfileReader};
//!
//! let mut reader = Box::new(ProfileReader::new("two.json"));
//! reader.push(br#"[{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"na"#)?;
//! reader.push(br#"me":"dot"}]"#)?;
//! let profile = reader.finish()?;
//! assert_eq!(profile.slices().len(), 1);
//! # Ok::<(), ns_base::Refusal>(())
//! ```

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod archive;
pub mod chrome;
pub mod decimal;
mod document;
mod ftrace;
mod interface;
mod json;
mod json_reader;
mod layer;
mod magic;
mod memory_timeline;
mod neuron;
mod perfetto;
mod pieces;
mod plugin;
mod profile_reader;
mod protobuf;
mod rocprof;
mod sampled;
mod sniff;
mod stacks;
mod utf16;
mod write;
mod xplane;

pub use interface::{ChunkedReader, ReadLimits, ReadProgress};
pub use plugin::is_plugin_file;
pub use profile_reader::{ProfileReader, read_bytes};
pub use sampled::is_of_stacks;
pub use sniff::{FileKind, SNIFF_BYTES, name_json_object, sniff};
pub use write::WriteFormat;
