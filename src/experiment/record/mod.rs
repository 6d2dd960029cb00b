//! A line of `results.jsonl`: one experiment, as the suite's runner writes it.

mod error;
mod flat;
mod notes;
mod number;
mod parse;
mod writer;

pub use error::LineError;
pub use flat::{FLAT_METRICS, FlatRecord};
pub use notes::{LineNotes, NoteKind};
pub use number::{numbers, python_number, timestamp};
pub use parse::{RawExperiment, RawMetrics, RawModel, RawRecord, parse_line, trimmed};
pub use writer::{Metrics, PASS, Record, RecordExperiment, RecordModel, RecordRequest, SKIP};
