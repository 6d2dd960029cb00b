//! One value of a report as NeuronPerf writes it into tables.

use serde_json::{Map, Value};

use crate::Report;

/// A report's values by key, with the decimals of files.
pub(super) fn values(report: &Report) -> Map<String, Value> {
    exact_values(&report.in_file_decimals())
}

/// A report's values by key.
pub(super) fn exact_values(report: &Report) -> Map<String, Value> {
    match serde_json::to_value(report) {
        Ok(Value::Object(map)) => map,
        // A struct of numbers and text is an object; an empty one shows N/A everywhere.
        _ => Map::new(),
    }
}

/// A value as Python prints it: `True`, `2746.0`, and `N/A` for one that is missing.
pub(super) fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "N/A".to_owned(),
        Some(Value::Bool(true)) => "True".to_owned(),
        Some(Value::Bool(false)) => "False".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(fields)) => {
            let present = fields.iter().filter(|(_, value)| !value.is_null());
            present.map(|(key, value)| format!("{key} {}", text(Some(value)))).collect::<Vec<_>>().join(", ")
        }
        Some(other) => other.to_string(),
    }
}

/// The text of one key of a report; `N/A` when the report has no such key or no value for it.
pub fn cell(report: &Report, key: &str) -> String {
    text(values(report).get(key))
}
