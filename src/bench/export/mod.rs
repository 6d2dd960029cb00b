//! Reports as text: the terminal table, CSV and JSON. Each returns text; a shell writes it.

mod cell;
mod csv;
mod json;
mod table;

use thiserror::Error;

pub use cell::cell;
pub use csv::{CSV_COLS, to_csv};
pub use json::{JsonFormat, to_json, to_json_as};
pub use table::{PRINT_COLS, TableOptions, sorted, to_table};

/// A report that could not be written as text.
#[derive(Debug, Error)]
#[non_exhaustive]
#[error("the reports could not be written as {format}: {reason}")]
pub struct ExportError {
    /// `CSV` or `JSON`.
    pub format: &'static str,
    pub reason: String,
}
