//! Reports as text: the terminal table, CSV and JSON. Each returns text; a shell writes it.

mod cell;
mod csv;
mod json;
mod table;

pub use cell::cell;
pub use csv::{CSV_COLS, to_csv};
pub use json::{JsonFormat, to_json, to_json_as};
pub use table::{PRINT_COLS, TableOptions, sorted, to_table};
