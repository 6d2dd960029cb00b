//! JSON of reports: our own object `{"reports": [...]}` with every key always present, or NeuronPerf's bare array with the
//! keys it knows. Indented by two spaces, never NaN.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::cell;
use crate::Report;
use crate::reports::report::NEURONPERF_KEYS;
use ns_base::{Refusal, refuse};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonFormat {
    /// Our own: `{"reports": [...]}`.
    #[default]
    Neuronscope,
    /// NeuronPerf's: `[...]`, as `write_json` makes it and scripts read it.
    Neuronperf,
}

/// Our own object.
#[derive(serde::Serialize)]
struct Document<'a> {
    reports: Vec<Report>,
    /// Evaluation metrics beside the reports, if answers were evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    eval_metrics: Option<&'a Value>,
}

impl<'a> Document<'a> {
    fn of(reports: &[Report], eval_metrics: Option<&'a Value>) -> Self {
        Self { reports: reports.iter().map(Report::in_file_decimals).collect(), eval_metrics }
    }
}

/// A report with NeuronPerf's keys, in their order, and its error if it has one: a failed configuration is a row here and
/// is left out there.
struct NeuronperfRow(Map<String, Value>);

impl Serialize for NeuronperfRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let error = self.0.get("error").filter(|e| !e.is_null()).map(|_| "error");
        for key in NEURONPERF_KEYS.iter().copied().chain(error) {
            // Long lists are written only if they were asked for, as in NeuronPerf.
            let is_list = matches!(key, "throughput_hist" | "e2e_durations_ms");
            match self.0.get(key) {
                Some(Value::Null) | None if is_list => {}
                value => map.serialize_entry(key, &value)?,
            }
        }
        map.end()
    }
}

/// The reports as a JSON document that ends in a newline. A value that is missing, or not a number, is `null`. Fails when the
/// encoder fails, which does not happen for text in memory.
pub fn to_json(reports: &[Report]) -> Result<String, Refusal> {
    ended(serde_json::to_string_pretty(&Document::of(reports, None)))
}

/// As [`to_json`], in a format, with evaluation metrics (an object of names and values) beside our own reports. Fails as
/// [`to_json`].
pub fn to_json_as(reports: &[Report], format: JsonFormat, eval_metrics: Option<&Value>) -> Result<String, Refusal> {
    ended(match format {
        JsonFormat::Neuronscope => serde_json::to_string_pretty(&Document::of(reports, eval_metrics)),
        JsonFormat::Neuronperf => {
            let rows: Vec<NeuronperfRow> = reports.iter().map(|r| NeuronperfRow(cell::values(r))).collect();
            serde_json::to_string_pretty(&rows)
        }
    })
}

fn ended(text: Result<String, serde_json::Error>) -> Result<String, Refusal> {
    let mut text = text.map_err(|e| refuse!("the reports could not be written as JSON: {e}"))?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_a_number_is_null() {
        let report = Report { throughput_avg: Some(f64::NAN), e2e_avg_ms: Some(f64::INFINITY), ..Report::default() };
        let text = to_json(&[report]).unwrap();
        assert!(text.contains("\"throughput_avg\": null") && text.contains("\"e2e_avg_ms\": null"));
        assert!(text.starts_with("{\n  \"reports\": [\n    {") && text.ends_with("]\n}\n"));
        assert_eq!(to_json(&[]).unwrap(), "{\n  \"reports\": []\n}\n");
    }

    #[test]
    fn neuronperfs_array_has_its_keys_in_its_order() {
        assert_eq!(NEURONPERF_KEYS.last(), Some(&"e2e_durations_ms"));
        let report = Report { throughput_hist: Some(vec![3]), error: Some("no room".into()), ..Report::default() };
        let text = to_json_as(&[report], JsonFormat::Neuronperf, None).unwrap();
        assert!(text.starts_with("[\n  {\n    \"model_filename\": \"\",\n    \"model_name\""), "{text}");
        let mut at = 0;
        for key in NEURONPERF_KEYS.iter().filter(|k| **k != "e2e_durations_ms").chain(&["error"]) {
            let found = text[at..].find(&format!("\"{key}\":"));
            at += found.unwrap_or_else(|| panic!("{key} is missing or out of order in {text}"));
        }
        assert!(!text.contains("throughput_window") && !text.contains("e2e_durations_ms"), "{text}");
        let metrics = serde_json::json!({"Accuracy": 0.5});
        let own = to_json_as(&[], JsonFormat::Neuronscope, Some(&metrics)).unwrap();
        assert!(own.contains("\"eval_metrics\": {\n    \"Accuracy\": 0.5"), "{own}");
    }
}
