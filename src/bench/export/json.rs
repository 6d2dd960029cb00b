//! JSON: `{"reports": [...]}`, indented by two spaces, every key always there, never NaN.

use serde::Serialize;

use super::ExportError;
use crate::bench::Report;

#[derive(Serialize)]
struct Document<'a> {
    reports: &'a [Report],
}

/// The reports as a JSON document that ends in a newline. A value that is missing, or not a number, is `null`.
///
/// # Errors
/// When the encoder refuses, which text in memory gives it no reason to.
pub fn to_json(reports: &[Report]) -> Result<String, ExportError> {
    let mut text = serde_json::to_string_pretty(&Document { reports })
        .map_err(|e| ExportError { format: "JSON", reason: e.to_string() })?;
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
}
