//! The text log of the Linux kernel's ftrace, as `systrace` and `atrace` save it: alone, in a page, or
//! in a Chrome trace.
//!
//! `comm-pid (tgid) [cpu] flags seconds: function: text`. Marks that programs write (`B|pid|name`, `E`, `C`, `S`, `F`)
//! become slices, counters and async steps; `sched_switch` becomes the activity of each processor; other events are
//! instants of their processor.

mod embedded;
mod line;
mod log;
mod reader;

pub use embedded::EmbeddedLog;
pub use line::looks_ftrace;
pub use reader::FtraceReader;

/// Name of the format in summaries.
pub const FORMAT: &str = "systrace";
