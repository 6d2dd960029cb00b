//! Reports over many records: speed-ups of backends over a baseline, by date and by model.
//!
//! ```text
//! lines -> Aggregator (one mean and deviation for each series) -> speedups -> report -> Table -> CSV, framed table
//! ```
//!
//! Memory depends on the number of series (timestamp, backend, model, batch size), not on the number of lines.

mod accelerator;
mod backend;
mod batches;
mod changes;
mod datetime;
mod fancy_grid;
mod measure;
mod report;
mod speedup;
mod store;
mod table;
mod unlike;

pub use accelerator::{AcceleratorChoice, KNOWN_ACCELERATORS, known_accelerator};
pub use backend::{Backend, BackendNames};
pub use datetime::datetime_utc;
pub use measure::{Measure, Metric, WARM_UP};
pub use report::{Report, ReportKind};
pub use speedup::{BackendSpeedups, Baseline, TimeSpeedups, speedups};
pub use store::{Aggregator, RecordView, Selection};
pub use table::{Cell, Heading, Table};
pub use unlike::{UnlikeBatches, unlike_batches};
