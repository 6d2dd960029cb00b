//! Rows of a table of measured instructions, transfers and rates, read by column name.

use csv::ReaderBuilder;
use ns_base::{Refusal, refuse};

/// One measurement of something smaller than a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredRow {
    /// Who published it.
    pub source: String,
    /// `instruction`, `dma`, `memory`, `host_link`, `throttle` or `kernel`.
    pub level: String,
    /// Instance type.
    pub instance: String,
    /// What was measured: `MATMUL free=512`, `DMA read 128 part x 2 KiB`.
    pub what: String,
    pub dtype: String,
    /// The quantity: `instr_latency_median`.
    pub metric: String,
    /// Unit of the value.
    pub unit: String,
    /// The value as the table writes it.
    pub value: String,
}

/// Columns without which a table is not one of measurements.
const NEEDED: [&str; 4] = ["what", "metric", "unit", "value"];

/// Reads a table of measurements. Columns are found by name; their order and additional columns do not matter. Fails when it is not
/// CSV, or a needed column is missing.
pub fn read_measured(csv: &[u8]) -> Result<Vec<MeasuredRow>, Refusal> {
    let text = String::from_utf8_lossy(csv.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(csv));
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let error = |e: csv::Error| refuse!("line {}: {e}", e.position().map_or(0, csv::Position::line));
    let headers = reader.headers().map_err(error)?.clone();
    let find = |name: &str| headers.iter().position(|h| h.trim().eq_ignore_ascii_case(name));
    if let Some(missing) = NEEDED.iter().find(|name| find(name).is_none()) {
        let found = headers.iter().collect::<Vec<_>>().join(", ");
        return Err(refuse!("the table has no column {missing}; its columns are {found}"));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(error)?;
        let cell = |name: &str| find(name).and_then(|i| record.get(i)).unwrap_or("").trim().to_owned();
        rows.push(MeasuredRow {
            source: cell("source"),
            level: cell("level"),
            instance: cell("instance"),
            what: cell("what"),
            dtype: cell("dtype"),
            metric: cell("metric"),
            unit: cell("unit"),
            value: cell("value"),
        });
    }
    Ok(rows)
}
