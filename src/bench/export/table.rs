//! The table `print_reports` shows in a terminal.

use ns_base::Order;
use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::cell;
use crate::Report;

/// NeuronPerf's default columns.
pub const PRINT_COLS: &[&str] = &[
    "throughput_avg",
    "latency_ms_p50",
    "latency_ms_p99",
    "n_models",
    "pipeline_size",
    "workers_per_model",
    "batch_size",
    "model_filename",
];

/// Width of a column with the space after it, as in the tables of NeuronPerf's benchmark guide.
const COLUMN_WIDTH: usize = 15;

/// The columns, and the order of the rows.
#[derive(Clone, Debug)]
pub struct TableOptions<'a> {
    /// Keys of a report.
    pub columns: &'a [&'a str],
    /// Key to sort by, shown or not; rows without a value come last. `None` keeps the order of the sweep, which is
    /// which is also the effect of NeuronPerf's default: its sort key is not among its columns, so it does not sort.
    pub sort_by: Option<&'a str>,
    /// Largest first.
    pub reverse: bool,
}

impl Default for TableOptions<'_> {
    fn default() -> Self {
        Self { columns: PRINT_COLS, sort_by: None, reverse: false }
    }
}

/// The table of the guide: left-aligned, each column 15 wide (wider where its name or a value needs it), no
/// spaces at the ends of lines.
pub fn to_table(reports: &[Report], options: &TableOptions) -> String {
    if reports.is_empty() {
        return "No reports were found. Did benchmarking succeed?\n".to_owned();
    }
    let sorted = options.sort_by.map(|key| sorted(reports, key, options.reverse));
    let rows: Vec<Map<String, Value>> = sorted.as_deref().unwrap_or(reports).iter().map(cell::values).collect();
    let mut lines = vec![options.columns.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>()];
    lines.extend(rows.iter().map(|row| options.columns.iter().map(|c| cell::text(row.get(*c))).collect()));
    let widths: Vec<usize> = (0..options.columns.len())
        .map(|i| lines.iter().map(|line| line[i].chars().count()).fold(COLUMN_WIDTH - 1, usize::max) + 1)
        .collect();
    let mut text = String::new();
    for line in &lines {
        let padded: String = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(padded.trim_end());
        text.push('\n');
    }
    text
}

/// The reports by the exact values of a key, rows without a value last.
pub fn sorted(reports: &[Report], key: &str, reverse: bool) -> Vec<Report> {
    let mut rows: Vec<(Map<String, Value>, &Report)> = reports.iter().map(|r| (cell::exact_values(r), r)).collect();
    rows.order_by(|a, b| compare(a.0.get(key), b.0.get(key), reverse));
    rows.into_iter().map(|(_, report)| report.clone()).collect()
}

/// Orders numbers by value, text alphabetically, missing values last either way.
fn compare(a: Option<&Value>, b: Option<&Value>, reverse: bool) -> Ordering {
    let present = |v: Option<&Value>| v.is_some_and(|v| !v.is_null());
    match (present(a), present(b)) {
        (true, true) => {
            let number = |v: Option<&Value>| v.and_then(Value::as_f64);
            let order = match (number(a), number(b)) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => cell::text(a).cmp(&cell::text(b)),
            };
            if reverse { order.reverse() } else { order }
        }
        (a, b) => b.cmp(&a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n_models: u32, throughput_avg: Option<f64>) -> Report {
        Report { n_models, throughput_avg, ..Report::default() }
    }

    #[test]
    fn columns_are_as_wide_as_the_guides() {
        let heading = to_table(&[row(1, None)], &TableOptions::default());
        assert_eq!(
            heading.lines().next(),
            Some(
                "throughput_avg latency_ms_p50 latency_ms_p99 n_models       pipeline_size  workers_per_model batch_size     model_filename"
            )
        );
        let options = TableOptions { columns: &["n_models", "throughput_avg", "nothing"], ..TableOptions::default() };
        let text = to_table(&[row(1, Some(2746.0)), row(16, None)], &options);
        assert_eq!(
            text,
            "n_models       throughput_avg nothing\n1              2746.0         N/A\n16             N/A            N/A\n"
        );
        assert_eq!(to_table(&[], &options), "No reports were found. Did benchmarking succeed?\n");
    }

    #[test]
    fn sorting_keeps_missing_values_last() {
        let reports = [row(1, Some(5.0)), row(2, None), row(3, Some(20.0))];
        let order = |reverse| {
            let columns = &["n_models"];
            let text = to_table(&reports, &TableOptions { columns, sort_by: Some("throughput_avg"), reverse });
            text.lines().skip(1).collect::<Vec<_>>().join(" ")
        };
        assert_eq!((order(false).as_str(), order(true).as_str()), ("1 3 2", "3 1 2"));
    }
}
