//! CSV as `write_csv` makes it: a header, one row for each report, `N/A` for missing values.

use super::cell;
use crate::Report;
use ns_base::{Refusal, refuse};

/// NeuronPerf's default columns, in its newer order.
pub const CSV_COLS: &[&str] = &[
    "model_name",
    "n_models",
    "workers_per_model",
    "pipeline_size",
    "batch_size",
    "throughput_avg",
    "throughput_peak",
    "latency_ms_p0",
    "latency_ms_p50",
    "latency_ms_p90",
    "latency_ms_p95",
    "latency_ms_p99",
    "latency_ms_p100",
    "cpu_avg_percent",
    "cpu_percent_p50",
    "mem_avg_percent",
    "mem_percent_p50",
    "e2e_avg_ms",
    "infer_avg_ms",
    "total_infs",
    "total_s",
    "performance_level",
    "model_filename",
    "device_type",
    "instance_type",
    "cost_per_1m_inf",
];

/// The reports as CSV with these columns; a column that no report has is `N/A`. Lines end in a plain newline. Fails when the
/// encoder fails, which does not happen for text in memory.
pub fn to_csv(reports: &[Report], columns: &[&str]) -> Result<String, Refusal> {
    let failed = |reason: String| refuse!("the reports could not be written as CSV: {reason}");
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns).map_err(|e| failed(e.to_string()))?;
    for report in reports {
        let values = cell::values(report);
        let row = columns.iter().map(|column| cell::text(values.get(*column)));
        writer.write_record(row).map_err(|e| failed(e.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|e| failed(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| failed(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_separators_is_quoted_and_missing_values_are_na() {
        let report = Report { model_name: "matmult:n=4,\"x\"".into(), multiprocess: true, ..Report::default() };
        let text = to_csv(&[report], &["model_name", "multiprocess", "throughput_avg", "no_such_key"]).unwrap();
        assert_eq!(
            text,
            "model_name,multiprocess,throughput_avg,no_such_key\n\"matmult:n=4,\"\"x\"\"\",True,N/A,N/A\n"
        );
    }
}
