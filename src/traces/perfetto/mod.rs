//! Perfetto's own traces (protocol buffers): packets of track events, with interned names, counters and flows, and
//! the scheduling records of the kernel's ftrace.
//!
//! Schema: <https://perfetto.dev/docs/reference/trace-packet-proto>. Packets of other data sources are counted.

mod annotations;
mod clocks;
mod event;
mod ftrace;
mod reader;
mod sequence;
mod tracks;

pub use reader::PerfettoReader;

/// Name of the format in summaries.
pub const FORMAT: &str = "perfetto";
