//! Tables of NeuronPerf, with either order of columns: columns are found by their names.

use serde_json::Value;

use super::ImportedReports;
use super::columns::Columns;
use ns_base::{Refusal, refuse};

/// Columns of which a table of results has at least one.
pub(super) const TELLING: [&str; 4] = ["throughput_avg", "latency_ms_p50", "throughput_peak", "status"];

pub(super) fn read(text: &str) -> Result<ImportedReports, Refusal> {
    let columns = Columns::new();
    let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|e| Refusal::new(e.to_string()))?.clone();
    if !headers.iter().any(|h| TELLING.contains(&h)) {
        return Err(refuse!("no column of it is named {}", TELLING.join(" or ")));
    }
    let mut imported = ImportedReports::default();
    for header in headers.iter().filter(|h| !columns.knows(h)) {
        imported
            .diagnostics
            .add("unknown_key", None, || format!("column '{header}' is not a key of a report and is left out"));
    }
    // The older tables, which have no model_name, count the workers of all copies together.
    let workers_are_total = headers.iter().any(|h| h == "worker_avg_s") && !headers.iter().any(|h| h == "model_name");
    for (i, record) in reader.records().enumerate() {
        let record = match record {
            Ok(record) => record,
            Err(e) => {
                imported.diagnostics.add("bad_row", None, || format!("row {}: {e}; it is left out", i + 1));
                continue;
            }
        };
        if record == headers {
            imported.diagnostics.add("heading_again", None, || {
                format!("row {} is the heading again, as in tables that were joined; it is left out", i + 1)
            });
            continue;
        }
        if record.len() < headers.len() {
            imported.diagnostics.add("truncated", None, || {
                let (has, wanted) = (record.len(), headers.len());
                format!("row {} has {has} of {wanted} values; it is left out; the file may be cut off", i + 1)
            });
            continue;
        }
        let known = headers.iter().zip(record.iter()).filter(|(h, _)| columns.knows(h));
        let values = known.map(|(header, cell)| (header, value(cell)));
        let mut report = columns.report(values, &mut imported.diagnostics);
        if workers_are_total && report.workers_per_model.is_multiple_of(report.n_models) && report.n_models > 1 {
            imported.diagnostics.add("total_workers", None, || {
                let (total, n) = (report.workers_per_model, report.n_models);
                format!(
                    "row {}: this older table counts all {total} workers of {n} models together; {} for each",
                    i + 1,
                    total / n
                )
            });
            report.workers_per_model /= report.n_models;
        }
        imported.reports.push(report);
    }
    Ok(imported)
}

/// A cell; the spellings of a missing value in Python and in spreadsheets give null.
fn value(cell: &str) -> Value {
    match cell {
        "" | "N/A" | "None" | "nan" | "NaN" | "inf" | "-inf" => Value::Null,
        text => Value::String(text.to_owned()),
    }
}
