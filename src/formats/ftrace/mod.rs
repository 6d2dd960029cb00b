//! The text log of the Linux kernel's ftrace, as `systrace` and `atrace` save it: alone, in a page, or
//! in a Chrome trace.
//!
//! `comm-pid (tgid) [cpu] flags seconds: function: text`. Marks that programs write (`B|pid|name`, `E`, `C`, `S`, `F`)
//! become slices, counters and async steps; `sched_switch` becomes the activity of each processor; other events are
//! instants of their processor.

mod embedded;
mod line;
mod log;
mod page;
mod reader;

pub(super) use embedded::EmbeddedLog;
pub(super) use line::looks_ftrace;
pub(super) use page::read_page;
pub(super) use reader::FtraceReader;

/// Name of the format in summaries.
pub(super) const FORMAT: &str = "systrace";
