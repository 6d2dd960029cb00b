//! Reports as JSON: NeuronPerf's array, our own object, results with timers. Of a file that is cut off, the complete rows are read.
//!
//! A row is read at a time: as values, a text of numbers takes ten times its room.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::columns::Columns;
use super::{ImportedReports, timers};
use crate::reports::report::Report;
use crate::reports::results::get_reports;
use ns_base::without_nan;
use ns_base::{Refusal, refuse};

/// Most values of a row; a report has some hundreds, and two for each latency that it lists.
const MOST_VALUES: usize = 1 << 20;

pub(super) fn read(text: &str, cost_per_hour: Option<f64>) -> Result<ImportedReports, Refusal> {
    let text = without_nan(text);
    let mut imported = ImportedReports::default();
    let no_list = || refuse!("this JSON has no list of reports");
    let rows: Vec<&str> = match serde_json::from_str::<&RawValue>(&text) {
        Err(e) => {
            imported.diagnostics.add("truncated", None, || {
                format!("the JSON is not complete ({e}); the rows before the error are read")
            });
            whole_objects(&text)
        }
        Ok(list) if list.get().starts_with('[') => rows_of(list)?,
        Ok(object) => {
            let keys: BTreeMap<String, &RawValue> = serde_json::from_str(object.get()).map_err(|_| no_list())?;
            if keys.contains_key("neuronscope_matmult") {
                return Err(refuse!(
                    "it holds results of neuronscope matmult, which are no reports of a benchmark; its --csv writes them as a table"
                ));
            }
            if keys.contains_key("results") {
                let (reports, skipped) = get_reports(&text, cost_per_hour)?;
                for message in skipped {
                    imported.diagnostics.add("bad_row", None, || message);
                }
                return Ok(ImportedReports { reports, ..imported });
            }
            match keys.get("reports") {
                Some(list) if list.get().starts_with('[') => rows_of(list)?,
                _ if keys.contains_key("throughput_avg") => vec![object.get()],
                _ => return Err(no_list()),
            }
        }
    };
    let columns = Columns::new();
    for (row, number) in rows.into_iter().zip(1..) {
        match report(row, cost_per_hour, &columns, &mut imported) {
            Ok(report) => imported.reports.push(report),
            Err(problem) => {
                imported.diagnostics.add("bad_row", None, || format!("row {number}: {problem}; it is left out"))
            }
        }
    }
    Ok(imported)
}

fn rows_of(list: &RawValue) -> Result<Vec<&str>, Refusal> {
    let rows: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(|e| refuse!("this JSON has no list: {e}"))?;
    Ok(rows.into_iter().map(RawValue::get).collect())
}

fn report(
    row: &str,
    cost_per_hour: Option<f64>,
    columns: &Columns,
    imported: &mut ImportedReports,
) -> Result<Report, Refusal> {
    if let Some(pair) = timers::pair(row) {
        return timers::read(&pair, cost_per_hour, columns, &mut imported.diagnostics);
    }
    if row.bytes().filter(|byte| *byte == b',').count() > MOST_VALUES {
        return Err(refuse!("it has more than {MOST_VALUES} values"));
    }
    match serde_json::from_str(row) {
        Ok(Value::Object(row)) if is_report(&row) => {
            let values = row.iter().map(|(key, value)| (key.as_str(), value.clone()));
            Ok(columns.report(values, &mut imported.diagnostics))
        }
        _ => Err(refuse!("it is not a report")),
    }
}

fn is_report(row: &Map<String, Value>) -> bool {
    ["throughput_avg", "latency_ms_p50", "status", "n_models"].iter().any(|key| row.contains_key(*key))
}

/// The complete objects of the first list in a text that ends too early.
fn whole_objects(text: &str) -> Vec<&str> {
    let Some(list) = text.find('[') else { return Vec::new() };
    let mut rest = &text[list + 1..];
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ', '\n', '\r', '\t']);
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match stream.next() {
            Some(Ok(value)) => found.push(value.get()),
            _ => return found,
        }
        rest = &rest[stream.byte_offset()..];
    }
}
