//! Reports as JSON: NeuronPerf's array, our own object, results with timers. Of a file that is cut off, the complete rows are read.

use serde_json::{Map, Value};

use super::columns::Columns;
use super::{ImportedReports, timers};
use ns_base::without_nan;
use crate::reports::results::get_reports;
use ns_base::{Refusal, refuse};

pub(super) fn read(text: &str, cost_per_hour: Option<f64>) -> Result<ImportedReports, Refusal> {
    let text = without_nan(text);
    let mut imported = ImportedReports::default();
    let value = match serde_json::from_str::<Value>(&text) {
        Ok(value) => value,
        Err(e) => {
            imported.diagnostics.add("truncated", None, || {
                format!("the JSON is not complete ({e}); the rows before the error are read")
            });
            Value::Array(whole_objects(&text))
        }
    };
    if value.get("results").is_some() {
        let (reports, skipped) = get_reports(&text, cost_per_hour)?;
        for message in skipped {
            imported.diagnostics.add("bad_row", None, || message);
        }
        return Ok(ImportedReports { reports, ..imported });
    }
    let rows = match value {
        Value::Array(rows) => rows,
        Value::Object(mut map) => match (map.remove("reports"), map.contains_key("throughput_avg")) {
            (Some(Value::Array(rows)), _) => rows,
            (_, true) => vec![Value::Object(map)],
            _ => return Err(refuse!("this JSON has no list of reports")),
        },
        _ => return Err(refuse!("this JSON has no list of reports")),
    };
    if rows.iter().any(timers::is_pair) {
        imported.reports = timers::read(&rows, cost_per_hour, &mut imported.diagnostics);
        return Ok(imported);
    }
    let columns = Columns::new();
    for (i, row) in rows.into_iter().enumerate() {
        match row {
            Value::Object(row) if is_report(&row) => {
                let values = row.iter().map(|(key, value)| (key.as_str(), value.clone()));
                let report = columns.report(values, &mut imported.diagnostics);
                imported.reports.push(report);
            }
            _ => imported.diagnostics.add("bad_row", None, || format!("row {} is not a report and is left out", i + 1)),
        }
    }
    Ok(imported)
}

fn is_report(row: &Map<String, Value>) -> bool {
    ["throughput_avg", "latency_ms_p50", "status", "n_models"].iter().any(|key| row.contains_key(*key))
}

/// The complete objects of the first list in a text that ends too early.
fn whole_objects(text: &str) -> Vec<Value> {
    let Some(list) = text.find('[') else { return Vec::new() };
    let mut rest = &text[list + 1..];
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ', '\n', '\r', '\t']);
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => found.push(value),
            _ => return found,
        }
        rest = &rest[stream.byte_offset()..];
    }
}
