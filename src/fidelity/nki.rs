//! Measured NKI kernels beside what the model makes of them.

use std::collections::BTreeMap;

use csv::ReaderBuilder;
use serde::Serialize;

use ns_base::convert::u64_to_f64;
use ns_base::stats::percentile_sorted;
use ns_base::{Order, Refusal, refuse};
use ns_nki::Answer;

/// A measured kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KernelRow {
    pub variant: String,
    /// File and function, from the folder of the table.
    pub kernel: String,
    /// Each as `NAME=VALUE`.
    pub settings: Vec<String>,
    pub shapes: String,
    /// Flags of the compiler.
    pub flags: Vec<String>,
    /// Time on the device; absent if it did not build.
    pub measured_us: Option<f64>,
    pub tensor_percent: Option<f64>,
    pub hbm_read_mb: Option<f64>,
    pub hbm_write_mb: Option<f64>,
    /// What was spilled, as far as it is known.
    pub spill_mb: Option<f64>,
}

/// Reads a table of kernels. Columns are found by name. Fails when it is not CSV.
pub fn read_kernels(csv: &[u8]) -> Result<Vec<KernelRow>, Refusal> {
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(csv);
    let error = |e: csv::Error| refuse!("line {}: {e}", e.position().map_or(0, csv::Position::line));
    let headers = reader.headers().map_err(error)?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(error)?;
        let cell = |name: &str| {
            let place = headers.iter().position(|h| h.trim().eq_ignore_ascii_case(name));
            place.and_then(|i| record.get(i)).unwrap_or("").trim().to_owned()
        };
        let words = |name: &str| cell(name).split_whitespace().map(str::to_owned).collect();
        let number = |name: &str| cell(name).parse().ok();
        rows.push(KernelRow {
            variant: cell("variant"),
            kernel: cell("kernel"),
            settings: words("settings"),
            shapes: cell("shapes"),
            flags: words("flags"),
            measured_us: number("measured_us"),
            tensor_percent: number("tensor_percent"),
            hbm_read_mb: number("hbm_read_mb"),
            hbm_write_mb: number("hbm_write_mb"),
            spill_mb: number("spill_mb"),
        });
    }
    Ok(rows)
}

/// A kernel beside its prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelComparison {
    pub row: KernelRow,
    pub total_us: Option<f64>,
    /// Predicted over measured time, less one.
    pub error: Option<f64>,
    /// Percent of the time for which the tensor engine is busy.
    pub tensor_percent: f64,
    pub read_mb: f64,
    pub write_mb: f64,
    pub spill_mb: f64,
    /// Whether it builds or fails as it did.
    pub builds_as_measured: bool,
    /// Whether it spills or not as it did, where that is known.
    pub spills_as_measured: Option<bool>,
}

/// Compares an answer with its row.
pub fn compare_kernel(row: &KernelRow, answer: &Answer) -> KernelComparison {
    let mb = |bytes: u64| u64_to_f64(bytes) / 1e6;
    let error = answer.total_us.zip(row.measured_us).map(|(here, measured)| here / measured - 1.0);
    let known = row.spill_mb.filter(|_| answer.builds);
    KernelComparison {
        total_us: answer.total_us,
        error,
        tensor_percent: answer.engines.get("tensor").map_or(0.0, |b| 100.0 * b.share),
        read_mb: mb(answer.hbm.read_bytes),
        write_mb: mb(answer.hbm.write_bytes),
        spill_mb: mb(answer.spill.bytes),
        builds_as_measured: answer.builds == row.measured_us.is_some(),
        spills_as_measured: known.map(|spill| (spill > 0.0) == (answer.spill.bytes > 0)),
        row: row.clone(),
    }
}

/// The errors of a group of kernels.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KernelSummary {
    /// The operator, or `all`.
    pub group: String,
    pub kernels: usize,
    /// Absolute errors of the times.
    pub median: f64,
    pub p90: f64,
    /// Mean error with its sign.
    pub bias: f64,
    /// Kendall's tau over all pairs, and over those whose times differ by more than 5 %.
    pub tau: f64,
    pub tau_above_5: f64,
    /// How much slower the predicted best is than the best.
    pub regret: f64,
    /// Rows whose build, and whose spill, is not as measured.
    pub wrong_builds: usize,
    pub wrong_spills: usize,
}

/// Summaries of each operator, then of all: tau and regret only inside an operator.
pub fn summarise_kernels(all: &[KernelComparison]) -> Vec<KernelSummary> {
    let mut groups: BTreeMap<String, Vec<&KernelComparison>> = BTreeMap::new();
    for comparison in all {
        let group = comparison.row.kernel.split("::").next().unwrap_or_default();
        let stem = group.rsplit('/').next().unwrap_or(group).trim_end_matches(".py");
        groups.entry(stem.to_owned()).or_default().push(comparison);
    }
    let mut summaries: Vec<KernelSummary> = groups.iter().map(|(name, group)| summary(name, group)).collect();
    let mean = |of: fn(&KernelSummary) -> f64| {
        let values: Vec<f64> = summaries.iter().map(of).collect();
        ns_base::stats::mean(&values).unwrap_or_default()
    };
    let (tau, tau_above_5, regret) = (mean(|s| s.tau), mean(|s| s.tau_above_5), mean(|s| s.regret));
    let whole: Vec<&KernelComparison> = all.iter().collect();
    summaries.push(KernelSummary { tau, tau_above_5, regret, ..summary("all", &whole) });
    summaries
}

fn summary(group: &str, all: &[&KernelComparison]) -> KernelSummary {
    let errors: Vec<f64> = all.iter().filter_map(|c| c.error).collect();
    let mut sizes: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
    sizes.order_by(f64::total_cmp);
    let times: Vec<(f64, f64)> = all.iter().filter_map(|c| c.row.measured_us.zip(c.total_us)).collect();
    let best = |by: fn(&(f64, f64)) -> f64| times.iter().copied().min_by(|a, b| by(a).total_cmp(&by(b)));
    let regret = best(|t| t.1).zip(best(|t| t.0)).map_or(0.0, |(chosen, best)| chosen.0 / best.0 - 1.0);
    KernelSummary {
        group: group.to_owned(),
        kernels: all.len(),
        median: percentile_sorted(&sizes, 50.0).unwrap_or_default(),
        p90: percentile_sorted(&sizes, 90.0).unwrap_or_default(),
        bias: ns_base::stats::mean(&errors).unwrap_or_default(),
        tau: tau(&times, 0.0),
        tau_above_5: tau(&times, 0.05),
        regret,
        wrong_builds: all.iter().filter(|c| !c.builds_as_measured).count(),
        wrong_spills: all.iter().filter(|c| c.spills_as_measured == Some(false)).count(),
    }
}

/// Kendall's tau of measured and predicted times, over pairs whose measured times differ by more than a part.
fn tau(times: &[(f64, f64)], part: f64) -> f64 {
    let (mut same, mut other) = (0u32, 0u32);
    for (at, a) in times.iter().enumerate() {
        for b in &times[at + 1..] {
            if (a.0 / b.0 - 1.0).abs() > part {
                let order = (a.0 - b.0) * (a.1 - b.1);
                same += u32::from(order > 0.0);
                other += u32::from(order < 0.0);
            }
        }
    }
    (f64::from(same) - f64::from(other)) / f64::from((same + other).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_errors_are_of_an_operator() {
        let row = |kernel: &str, measured: f64, here: f64| {
            let row = KernelRow { kernel: kernel.to_owned(), measured_us: Some(measured), ..KernelRow::default() };
            compare_kernel(&row, &Answer { total_us: Some(here), builds: true, ..Answer::default() })
        };
        let all = [row("a/x.py::f", 100.0, 110.0), row("a/x.py::g", 200.0, 190.0), row("y.py", 50.0, 50.0)];
        let summaries = summarise_kernels(&all);
        let names: Vec<&str> = summaries.iter().map(|s| s.group.as_str()).collect();
        assert_eq!(names, ["x", "y", "all"]);
        assert!((summaries[0].tau - 1.0).abs() < 1e-9 && summaries[0].regret.abs() < 1e-9);
        assert!((summaries[2].median - 0.05).abs() < 1e-9, "{summaries:?}");
        assert_eq!(tau(&[(1.0, 2.0), (2.0, 1.0)], 0.05), -1.0);
    }

    #[test]
    fn a_row_that_does_not_build_has_no_time() {
        let csv = b"variant,kernel,settings,shapes,measured_us,spill_mb\na,k.py,N=1 M=2,\"1x2,3\",,\nb,k.py,,4,7,0\n";
        let rows = read_kernels(csv).unwrap();
        assert_eq!((rows[0].settings.len(), rows[0].measured_us, rows[0].shapes.as_str()), (2, None, "1x2,3"));
        let right = compare_kernel(&rows[0], &Answer::default());
        assert!(right.builds_as_measured && right.spills_as_measured.is_none());
        assert!(!compare_kernel(&rows[1], &Answer::default()).builds_as_measured);
    }
}
