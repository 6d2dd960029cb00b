//! A sweep as a table, CSV or JSON.

use serde::Serialize;

use super::config::MatmultCase;
use super::report::MatmultReport;
use ns_base::{Refusal, refuse};
use ns_device::EstimateMark;

/// Version of the JSON.
pub const MATMULT_FORMAT: u32 = 1;

/// A column: its name, and its text in a report that has it.
type Column = (&'static str, fn(&MatmultReport) -> Option<String>);

/// Columns of the CSV, in their order; those of JSON have the same names.
const COLUMNS: [Column; 44] = [
    ("instance_type", |r| Some(r.case.instance.clone())),
    ("dtype", |r| Some(r.dtype.clone())),
    ("workflow", |r| Some(r.case.run.workflow.to_string())),
    ("model", |r| Some(r.case.specification())),
    ("matrix_dim", |r| Some(r.case.matrix_dim.to_string())),
    ("batch_size", |r| Some(r.case.batch_size.to_string())),
    ("loop_count", |r| Some(r.case.loop_count.to_string())),
    ("add_bias", |r| Some(r.case.run.add_bias.to_string())),
    ("chained", |r| Some(r.case.run.chained.to_string())),
    ("sync", |r| Some(r.case.run.sync.to_string())),
    ("num_warmup_iterations", |r| Some(r.case.run.warmup_iterations.to_string())),
    ("num_timed_iterations", |r| Some(r.case.run.timed_iterations.to_string())),
    ("clock_tick_ns", |r| Some(r.case.run.clock_tick_ns.to_string())),
    ("seed", |r| Some(r.case.run.seed.to_string())),
    ("compiler_args", |r| Some(r.compiler_args.clone())),
    ("status", |r| Some(r.status.clone())),
    ("error", |r| r.error.clone()),
    ("modelled_compile_s", |r| number(r.modelled_compile_s)),
    ("load_s", |r| number(r.load_s)),
    ("warmup_s", |r| number(r.warmup_s)),
    ("benchmark_s", |r| number(r.benchmark_s)),
    ("iteration_s", |r| number(r.iteration_s)),
    ("iteration_min_s", |r| number(r.iteration_min_s)),
    ("iteration_p50_s", |r| number(r.iteration_p50_s)),
    ("iteration_max_s", |r| number(r.iteration_max_s)),
    ("host_s", |r| number(r.host_s)),
    ("link_s", |r| number(r.link_s)),
    ("hidden_s", |r| number(r.hidden_s)),
    ("device_s", |r| number(r.device_s)),
    ("tops", |r| number(r.tops)),
    ("tops_computed", |r| number(r.tops_computed)),
    ("peak_tops", |r| number(r.peak_tops)),
    ("peak_percent", |r| number(r.peak_percent)),
    ("products_asked", |r| r.products_asked.map(|n| n.to_string())),
    ("products_computed", |r| r.products_computed.map(|n| n.to_string())),
    ("limited_by", |r| r.limit.as_ref().map(|l| l.by.clone())),
    ("spread_percent", |r| number(r.verification.as_ref().map(|v| v.spread_percent))),
    ("findings", |r| Some(r.findings.iter().map(|f| f.pitfall.code()).collect::<Vec<_>>().join(" "))),
    ("operator", |r| r.case.operator.clone()),
    ("shapes", |r| r.case.operator.as_ref().map(|_| r.case.shapes.clone())),
    ("dma_bytes", |r| r.dma_bytes.map(|n| n.to_string())),
    ("dma_gb_per_s", |r| number(r.dma_gb_per_s)),
    ("peak_gb_per_s", |r| number(r.peak_gb_per_s)),
    ("estimate", |r| r.estimate.map(EstimateMark::note)),
];

/// The names of the columns.
pub fn matmult_cols() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|(name, _)| *name)
}

fn number(value: Option<f64>) -> Option<String> {
    value.map(|v| v.to_string())
}

/// The reports as one JSON object, ended by a newline, each with the rate that is published for its case, TFLOPS. Fails when the
/// encoder fails, which does not happen for numbers in memory.
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

/// The reports as CSV: a header, and a line for each. A missing figure is `N/A`, as in the reports of `bench`. Fails when the
/// encoder fails, which does not happen for text in memory.
pub fn matmult_csv(reports: &[MatmultReport]) -> Result<String, Refusal> {
    let failed = |reason: String| refuse!("the reports could not be written as CSV: {reason}");
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(matmult_cols()).map_err(|e| failed(e.to_string()))?;
    for report in reports {
        let cell = |(_, text): &Column| text(report).unwrap_or_else(|| "N/A".to_owned());
        writer.write_record(COLUMNS.iter().map(cell)).map_err(|e| failed(e.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|e| failed(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| failed(e.to_string()))
}

/// Headings (right-aligned ones begin with `>`) and rows of the table of a sweep. For operators, the bytes that they move replace
/// the loop column of layers.
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
        for (name, text) in COLUMNS.iter().filter(|(c, _)| !["error", "operator", "shapes", "estimate"].contains(c)) {
            assert_ne!(text(&reports[0]), None, "{name}");
        }
        let csv = matmult_csv(&reports).unwrap();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!((lines.len(), lines[0].split(',').count()), (3, COLUMNS.len()));
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
