//! The Trace Event format of Chrome, Catapult and Perfetto, which many kinds of profilers write.
//!
//! Two forms: an object whose `traceEvents` is the array of events, and the array alone, which may be cut off. The
//! reader accepts what real producers write: ids as text or number, times as text or number with any number of decimals,
//! trailing commas, `NaN`, control characters, metadata before or after events, events that never end.

mod counter;
mod event;
mod ids;
mod memory;
pub mod metadata;
mod reader;
mod recovery;
mod samples;
mod skip;
mod stacks;
mod system;
mod tokenizer;

pub use super::decimal::{TimeError, us_text_to_ns};
pub use reader::ChromeReader;

/// Name of the object form in summaries.
pub const FORMAT_OBJECT: &str = "chrome-trace-object";
/// Name of the array form in summaries.
pub const FORMAT_ARRAY: &str = "chrome-trace-array";
