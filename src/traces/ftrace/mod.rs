//! The text log of the Linux kernel's ftrace, as `systrace` and `atrace` save it: alone, in a page, or
//! in a Chrome trace.
//!
//! `comm-pid (tgid) [cpu] flags seconds: function: text`. Marks that programs write (`B|pid|name`, `E`, `C`, `S`, `F`)
//! become slices, counters and async steps; `sched_switch` becomes the activity of each processor; other events are
//! instants of their processor.

mod line;
mod log;
mod reader;
mod system_trace_events;

pub use line::looks_ftrace;
pub use reader::FtraceReader;
pub use system_trace_events::EmbeddedLog;

/// Name of the format in summaries.
pub const FORMAT: &str = "systrace";
