//! Benchmark reports: a row for each report, a column for each key.

use std::io::Write;

use anyhow::{Context, Result};
use serde_json::Value as Json;

use super::sheet::{Field, Kind, Sheet, Value};
use ns_bench::{REPORT_KEYS, REPORT_KINDS, Report, ReportKind};

/// Lists and fields of their own have no column: a table of scalars cannot hold them; `report --json-file` keeps them.
fn fields() -> Vec<Field> {
    let field = |(key, kind): (&&str, &ReportKind)| {
        let kind = match kind {
            ReportKind::Text => Kind::Text,
            ReportKind::Bool => Kind::Bool,
            ReportKind::Whole => Kind::Integer,
            ReportKind::Float => Kind::Number,
            ReportKind::List | ReportKind::Published | ReportKind::Interval | ReportKind::Estimate => return None,
        };
        Some(Field::new(key, kind))
    };
    REPORT_KEYS.iter().zip(REPORT_KINDS).filter_map(field).collect()
}

/// Writes reports; returns how many rows the file has. Fails when the file cannot be written.
pub(crate) fn reports<W: Write + Send>(out: W, reports: &[Report]) -> Result<u64> {
    let fields = fields();
    let mut sheet = Sheet::new(out, "reports", &fields)?;
    for report in reports {
        let json = serde_json::to_value(report.in_file_decimals()).context("a report has no JSON form")?;
        let row: Vec<Value<'_>> = fields.iter().map(|f| cell(json.get(&f.name), f.kind)).collect();
        sheet.push(&row)?;
    }
    sheet.finish()
}

fn cell(value: Option<&Json>, kind: Kind) -> Value<'_> {
    match (value, kind) {
        (Some(Json::String(text)), _) => Value::Text(text),
        (Some(Json::Bool(truth)), _) => Value::Bool(*truth),
        (Some(Json::Number(number)), Kind::Integer) => number.as_i64().into(),
        (Some(Json::Number(number)), _) => number.as_f64().into(),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_fits_a_full_report() {
        let mut full = serde_json::to_value(Report::default()).unwrap();
        for field in fields() {
            let value = match field.kind {
                Kind::Text => Json::from("x"),
                Kind::Bool => Json::from(true),
                Kind::Integer => Json::from(3),
                Kind::Number => Json::from(0.5),
            };
            full[&field.name] = value;
        }
        let report: Report = serde_json::from_value(full).unwrap();
        assert_eq!(reports(Vec::new(), &[report, Report::default()]).unwrap(), 2);
    }
}
