//! A sweep as a table, CSV or JSON.

use serde::Serialize;

use super::config::MatmultCase;
use super::report::MatmultReport;
use ns_base::{Refusal, refuse};
use ns_device::EstimateMark;

/// Version of the JSON.
pub const MATMULT_FORMAT: u32 = 1;

/// Columns of the CSV, in their order; those of JSON have the same names.
pub const MATMULT_COLS: &[&str] = &[
    "instance_type",
    "dtype",
    "workflow",
    "model",
    "matrix_dim",
    "batch_size",
    "loop_count",
    "add_bias",
    "chained",
    "sync",
    "num_warmup_iterations",
    "num_timed_iterations",
    "clock_tick_ns",
    "seed",
    "compiler_args",
    "status",
    "error",
    "modelled_compile_s",
    "load_s",
    "warmup_s",
    "benchmark_s",
    "iteration_s",
    "iteration_min_s",
    "iteration_p50_s",
    "iteration_max_s",
    "host_s",
    "link_s",
    "hidden_s",
    "device_s",
    "tops",
    "tops_computed",
    "peak_tops",
    "peak_percent",
    "products_asked",
    "products_computed",
    "limited_by",
    "spread_percent",
    "findings",
    "operator",
    "shapes",
    "dma_bytes",
    "dma_gb_per_s",
    "peak_gb_per_s",
    "estimate",
];

/// The reports as one JSON object, ended by a newline, each with the rate that is published for its case, TFLOPS.
///
/// # Errors
/// When the encoder fails, which does not happen for numbers in memory.
pub fn matmult_json(
    reports: &[MatmultReport],
    published_tops: impl Fn(&MatmultCase) -> Option<f64>,
) -> Result<String, Refusal> {
    #[derive(Serialize)]
    struct Row<'a> {
        #[serde(flatten)]
        report: &'a MatmultReport,
        published_tops: Option<f64>,
    }
    #[derive(Serialize)]
    struct File<'a> {
        neuronscope_matmult: u32,
        times: &'static str,
        reports: Vec<Row<'a>>,
    }
    let times = "simulated; modelled_compile_s is modelled";
    let row = |report| Row { report, published_tops: published_tops(&report.case) };
    let reports = reports.iter().map(row).collect();
    let file = File { neuronscope_matmult: MATMULT_FORMAT, times, reports };
    let failed = |e: serde_json::Error| refuse!("the reports could not be written as JSON: {e}");
    let mut text = serde_json::to_string_pretty(&file).map_err(failed)?;
    text.push('\n');
    Ok(text)
}

/// The reports as CSV: a header, and a line for each. A missing figure is `N/A`, as in the reports of `bench`.
///
/// # Errors
/// When the encoder fails, which does not happen for text in memory.
pub fn matmult_csv(reports: &[MatmultReport]) -> Result<String, Refusal> {
    let failed = |reason: String| refuse!("the reports could not be written as CSV: {reason}");
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(MATMULT_COLS).map_err(|e| failed(e.to_string()))?;
    for report in reports {
        writer.write_record(MATMULT_COLS.iter().map(|c| cell(report, c))).map_err(|e| failed(e.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|e| failed(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| failed(e.to_string()))
}

fn cell(report: &MatmultReport, column: &str) -> String {
    let (case, run) = (&report.case, &report.case.run);
    let number = |v: Option<f64>| v.map(|v| v.to_string());
    let found = match column {
        "instance_type" => Some(case.instance.clone()),
        "dtype" => Some(report.dtype.clone()),
        "workflow" => Some(run.workflow.to_string()),
        "model" => Some(case.specification()),
        "matrix_dim" => Some(case.matrix_dim.to_string()),
        "batch_size" => Some(case.batch_size.to_string()),
        "loop_count" => Some(case.loop_count.to_string()),
        "add_bias" => Some(run.add_bias.to_string()),
        "chained" => Some(run.chained.to_string()),
        "sync" => Some(run.sync.to_string()),
        "num_warmup_iterations" => Some(run.warmup_iterations.to_string()),
        "num_timed_iterations" => Some(run.timed_iterations.to_string()),
        "clock_tick_ns" => Some(run.clock_tick_ns.to_string()),
        "seed" => Some(run.seed.to_string()),
        "compiler_args" => Some(report.compiler_args.clone()),
        "status" => Some(report.status.clone()),
        "error" => report.error.clone(),
        "modelled_compile_s" => number(report.modelled_compile_s),
        "load_s" => number(report.load_s),
        "warmup_s" => number(report.warmup_s),
        "benchmark_s" => number(report.benchmark_s),
        "iteration_s" => number(report.iteration_s),
        "iteration_min_s" => number(report.iteration_min_s),
        "iteration_p50_s" => number(report.iteration_p50_s),
        "iteration_max_s" => number(report.iteration_max_s),
        "host_s" => number(report.host_s),
        "link_s" => number(report.link_s),
        "hidden_s" => number(report.hidden_s),
        "device_s" => number(report.device_s),
        "tops" => number(report.tops),
        "tops_computed" => number(report.tops_computed),
        "peak_tops" => number(report.peak_tops),
        "peak_percent" => number(report.peak_percent),
        "products_asked" => report.products_asked.map(|n| n.to_string()),
        "products_computed" => report.products_computed.map(|n| n.to_string()),
        "limited_by" => report.limit.as_ref().map(|l| l.by.clone()),
        "spread_percent" => number(report.verification.as_ref().map(|v| v.spread_percent)),
        "operator" => case.operator.clone(),
        "shapes" => case.operator.as_ref().map(|_| case.shapes.clone()),
        "dma_bytes" => report.dma_bytes.map(|n| n.to_string()),
        "dma_gb_per_s" => number(report.dma_gb_per_s),
        "peak_gb_per_s" => number(report.peak_gb_per_s),
        "estimate" => report.estimate.map(EstimateMark::note),
        "findings" => Some(report.findings.iter().map(|f| f.pitfall.code()).collect::<Vec<_>>().join(" ")),
        _ => None,
    };
    found.unwrap_or_else(|| "N/A".to_owned())
}

/// Headings (right-aligned ones begin with `>`) and rows of the table of a sweep. For operators, the bytes that they move replace
/// the loop column of layers.
#[must_use]
pub fn matmult_rows(reports: &[MatmultReport]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let of_operators = reports.iter().any(|r| r.case.operator.is_some());
    let headings = vec![
        "Instance",
        "Dtype",
        if of_operators { "Operator" } else { ">N" },
        ">Batch",
        if of_operators { ">GB/s" } else { ">Loop" },
        ">Iteration ms",
        ">Host ms",
        ">Device ms",
        ">TOPS",
        ">Peak",
        ">% of peak",
        "Limited by",
        "Found",
    ];
    let fixed = |v: Option<f64>, scale: f64, digits: usize| {
        v.map_or_else(|| "N/A".to_owned(), |v| format!("{:.digits$}", v * scale))
    };
    let row = |r: &MatmultReport| {
        let time = |v: Option<f64>| format!("{}{}", r.estimate.map_or("", EstimateMark::before_time), fixed(v, 1e3, 3));
        let rate = |v: Option<f64>, digits: usize| {
            format!("{}{}", r.estimate.map_or("", EstimateMark::before_rate), fixed(v, 1.0, digits))
        };
        let host = r.host_s.zip(r.link_s).map(|(host, link)| host + link);
        let found: Vec<&str> = r.findings.iter().map(|f| f.pitfall.code()).collect();
        vec![
            r.case.instance.clone(),
            r.dtype.clone(),
            r.case
                .operator
                .as_ref()
                .map_or_else(|| r.case.matrix_dim.to_string(), |o| format!("{o} {}", r.case.shapes)),
            r.case.batch_size.to_string(),
            if of_operators { fixed(r.dma_gb_per_s, 1.0, 2) } else { r.case.loop_count.to_string() },
            time(r.iteration_s),
            fixed(host, 1e3, 3),
            time(r.device_s),
            rate(r.tops, 2),
            fixed(r.peak_tops, 1.0, 2),
            rate(r.peak_percent, 1),
            r.limit.as_ref().map_or_else(|| r.status.clone(), |l| l.by.clone()),
            found.join(", "),
        ]
    };
    (headings, reports.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matmult::{MatmultConfig, run_case};

    #[test]
    fn every_column_has_a_value_in_a_case_that_finished_and_a_failed_one_keeps_its_row() {
        let config = MatmultConfig { matrix_dims: vec![128], loop_counts: vec![4], ..MatmultConfig::default() };
        let mut cases = config.cases().unwrap();
        let mut failing = cases[0].clone();
        failing.instance = "inf1.xlarge".to_owned();
        cases.push(failing);
        let models = ns_device::ModelLibrary::default();
        let reports: Vec<MatmultReport> = cases.iter().map(|case| run_case(case, &models)).collect();
        for column in MATMULT_COLS.iter().filter(|c| !["error", "operator", "shapes", "estimate"].contains(c)) {
            assert_ne!(cell(&reports[0], column), "N/A", "{column}");
        }
        let csv = matmult_csv(&reports).unwrap();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!((lines.len(), lines[0].split(',').count()), (3, MATMULT_COLS.len()));
        assert!(
            lines[2].starts_with("inf1.xlarge,bf16,trace,")
                && lines[2].contains(",128,1,4,")
                && lines[2].contains(",error,"),
            "{csv}"
        );
        let (headings, rows) = matmult_rows(&reports);
        assert!(rows.iter().all(|r| r.len() == headings.len()));
        let unknown = Some(EstimateMark { unknown: 1, estimated: 0 });
        let (_, marked) = matmult_rows(&[MatmultReport { estimate: unknown, ..reports[0].clone() }]);
        for (cell, plain) in marked[0].iter().zip(&rows[0]) {
            let at_a_bound = [format!("at least {plain}"), format!("at most {plain}")];
            assert!(cell == plain || at_a_bound.contains(cell), "{cell}");
        }
        let bounds = |word: &str| marked[0].iter().filter(|cell| cell.starts_with(word)).count();
        assert_eq!((bounds("at least "), bounds("at most ")), (2, 2));
        let json: serde_json::Value = serde_json::from_str(&matmult_json(&reports, |_| None).unwrap()).unwrap();
        assert_eq!((&json["neuronscope_matmult"], &json["reports"][1]["status"]), (&1.into(), &"error".into()));
    }
}
