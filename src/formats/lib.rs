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
mod ftrace_page;
mod json_reader;
mod layer;
mod magic;
mod memory_timeline;
mod neuron;
mod plugin;
mod profile_reader;
mod protobuf;
mod rocprof;
mod sampled;
mod sniff;
mod utf16;
mod write;

/// Chrome traces: the reader and the writer.
pub mod chrome {
    pub use crate::write::chrome::{write_chrome_trace, write_to_string};
    pub use ns_traces::chrome::{ChromeReader, FORMAT_ARRAY, FORMAT_OBJECT, TimeError, us_text_to_ns};
}

use ns_traces::{document, ftrace, interface, json, nodes, perfetto, stacks, xplane};

pub use ns_traces::json::name_json_object;
pub use ns_traces::{ChunkedReader, ReadLimits, ReadProgress, decimal};
pub use plugin::is_plugin_file;
pub use profile_reader::{ProfileReader, read_bytes};
pub use sampled::is_of_stacks;
pub use sniff::{FileKind, SNIFF_BYTES, sniff};
pub use write::WriteFormat;
