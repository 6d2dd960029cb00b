//! Values by key, from any writer, as a [`Report`].

use std::collections::BTreeMap;

use serde::Deserialize as _;
use serde_json::{Map, Number, Value};

use crate::reports::beside::{Interval, PublishedFigures};
use crate::reports::report::{REPORT_KEYS, REPORT_KINDS, Report};
use crate::reports::value::ReportKind;
use ns_base::Diagnostics;
use ns_base::convert::f64_to_u64;
use ns_device::EstimateMark;

/// The kind of every key of a report.
pub(super) struct Columns {
    kinds: BTreeMap<&'static str, ReportKind>,
    empty: Map<String, Value>,
}

impl Columns {
    pub fn new() -> Self {
        let empty = match serde_json::to_value(Report::default()) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let kinds = REPORT_KEYS.iter().copied().zip(REPORT_KINDS.iter().copied()).collect();
        Self { kinds, empty }
    }

    /// Whether any report has this key.
    pub fn knows(&self, key: &str) -> bool {
        self.kinds.contains_key(key)
    }

    /// A report of these values. A missing value is absent; so is one of the wrong type, which is counted.
    pub fn report<'a>(&self, values: impl Iterator<Item = (&'a str, Value)>, diagnostics: &mut Diagnostics) -> Report {
        let mut map = self.empty.clone();
        for (key, value) in values {
            let Some(kind) = self.kinds.get(key) else {
                diagnostics.add("unknown_key", None, || format!("'{key}' is not a key of a report and is left out"));
                continue;
            };
            if value.is_null() {
                continue;
            }
            match coerced(*kind, &value) {
                Some(value) if is_below_zero(&value) => diagnostics.add("bad_value", None, || {
                    format!("{key}: {value} is below zero, which no figure of a report is; it is left out")
                }),
                Some(value) => drop(map.insert(key.to_owned(), value)),
                None => diagnostics.add("bad_value", None, || {
                    format!("{key}: {value} has the wrong type for this key; it is left out")
                }),
            }
        }
        // Every value has the type of its key by now.
        let mut report: Report = serde_json::from_value(Value::Object(map)).unwrap_or_default();
        complete(&mut report);
        report
    }
}

fn is_below_zero(value: &Value) -> bool {
    value.as_f64().is_some_and(|n| n < 0.0)
}

/// Keys that older reports leave out follow from the other keys.
fn complete(report: &mut Report) {
    for count in
        [&mut report.n_models, &mut report.workers_per_model, &mut report.pipeline_size, &mut report.batch_size]
    {
        *count = (*count).max(1);
    }
    if report.n_devices == 0 {
        report.n_devices = u64::from(report.n_models) * u64::from(report.pipeline_size);
    }
    if report.status.is_empty() {
        let measured = report.throughput_avg.is_some() || report.latency_ms_p50.is_some();
        report.status = if measured { "finished" } else { "error" }.to_owned();
        if !measured {
            report.error.get_or_insert_with(|| "the file has no measures for this row".to_owned());
        }
    }
    if report.model_name.is_empty() {
        report.model_name = report.model_filename.clone();
    }
}

fn coerced(kind: ReportKind, value: &Value) -> Option<Value> {
    match kind {
        ReportKind::Text => match value {
            Value::String(text) => Some(Value::String(text.clone())),
            Value::Number(n) => Some(Value::String(n.to_string())),
            _ => None,
        },
        ReportKind::Bool => match value {
            Value::Bool(_) => Some(value.clone()),
            Value::String(text) => match text.to_ascii_lowercase().as_str() {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                _ => None,
            },
            _ => None,
        },
        ReportKind::Whole => {
            let n = number(value)?;
            // Bounded so that every count fits its field; no real table has 4294967295 models.
            let is_whole = n >= 0.0 && n <= f64::from(u32::MAX) * 1_000.0 && libm::floor(n) == n;
            is_whole.then(|| Value::from(f64_to_u64(n)))
        }
        ReportKind::Float => number(value).and_then(Number::from_f64).map(Value::Number),
        ReportKind::Published => PublishedFigures::deserialize(value).is_ok().then(|| value.clone()),
        ReportKind::Estimate => EstimateMark::deserialize(value).is_ok().then(|| value.clone()),
        ReportKind::Interval => Interval::deserialize(value).is_ok().then(|| value.clone()),
        ReportKind::List => {
            value.as_array().filter(|list| list.iter().all(|v| number(v).is_some())).map(|_| value.clone())
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|n: &f64| n.is_finite()),
        _ => None,
    }
}
