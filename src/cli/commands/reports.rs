//! Reports on stdout: as a table with a verdict, as CSV or as JSON; and reports in files.

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::Value;

use super::result_files::{path_of, refuse_index};
use crate::output::write;
use crate::output_args::TableArgs;
use crate::shell::Shell;
use ns_bench::export::{self, PRINT_COLS, TableOptions};
use ns_bench::{BenchConfig, REPORT_KEYS, Report, beside_lines, products_rate, sharing, verdict};
use ns_session::bench_page;
use ns_session::share::ResultsView;

/// Checks keys and files before anything runs. An error names the key that no report has, or the file that is a model index.
pub(super) fn check(shell: &Shell, args: &TableArgs) -> Result<()> {
    let keys = args.cols.iter().flatten().map(|k| ("--cols", k)).chain(args.sort_by.iter().map(|k| ("--sort-by", k)));
    for (flag, key) in keys {
        if !REPORT_KEYS.contains(&key.as_str()) {
            bail!("{flag}: no report has the key '{key}'; the keys are {}", REPORT_KEYS.join(", "));
        }
    }
    for (flag, file) in [("--csv-file", &args.csv_file), ("--json-file", &args.json_file)] {
        refuse_index(shell, flag, file.iter().flatten().next().map(|p| p.as_path()))?;
    }
    Ok(())
}

/// Writes the files that were asked for and prints a note with the name of each. A page links to `config`. Fails when a file cannot
/// be written.
pub(super) fn write_files(
    shell: &Shell,
    reports: &[Report],
    args: &TableArgs,
    config: Option<&BenchConfig>,
    eval_metrics: Option<&Value>,
    note: &mut dyn FnMut(String),
) -> Result<()> {
    let sorted = args.sort_by.as_ref().map(|key| export::sorted(reports, key, args.reverse));
    let sorted = sorted.as_deref().unwrap_or(reports);
    let cols: Option<Vec<&str>> = args.cols.as_ref().map(|cols| cols.iter().map(String::as_str).collect());
    let mut keep = |path: &Path, what: &str, text: Result<String>| -> Result<()> {
        write(shell, path, &text?)?;
        note(format!("note: the {what} in {}", path.display()));
        Ok(())
    };
    // Each of them, also when another cannot be written.
    let csv = args.csv_file.as_ref().map_or(Ok(()), |named| {
        let text = export::to_csv(sorted, cols.as_deref().unwrap_or(export::CSV_COLS));
        keep(&path_of(named, reports, "csv"), "reports are", text.map_err(Into::into))
    });
    let json = args.json_file.as_ref().map_or(Ok(()), |named| {
        let text = export::to_json_as(sorted, args.json_format, eval_metrics);
        keep(&path_of(named, reports, "json"), "reports are", text.map_err(Into::into))
    });
    let page = args.page.html.as_ref().map_or(Ok(()), |path| {
        let text = bench_page(config, &ResultsView::default(), sorted, &args.page.live);
        keep(path, "page is", text.map_err(Into::into))
    });
    csv.and(json).and(page)
}

/// Prints reports in the format asked for, with evaluation metrics if there are any. Fails when stdout cannot be written to.
pub(super) fn print(shell: &Shell, reports: &[Report], args: &TableArgs, eval_metrics: Option<&Value>) -> Result<()> {
    let cols: Option<Vec<&str>> = args.cols.as_ref().map(|cols| cols.iter().map(String::as_str).collect());
    let sorted = || match &args.sort_by {
        Some(key) => export::sorted(reports, key, args.reverse),
        None => reports.to_vec(),
    };
    if args.json {
        return shell.print(export::to_json_as(&sorted(), args.json_format, eval_metrics)?.as_bytes());
    }
    if args.csv {
        let cols = cols.as_deref().unwrap_or(export::CSV_COLS);
        return shell.print(export::to_csv(&sorted(), cols)?.as_bytes());
    }
    let columns = cols.unwrap_or_else(|| usual_columns(reports));
    let options = TableOptions { columns: &columns, sort_by: args.sort_by.as_deref(), reverse: args.reverse };
    let mut out = export::to_table(reports, &options);
    out.push_str(&failures(reports));
    let beside = beside_lines(reports);
    if !beside.is_empty() {
        out.push_str(&format!("\n{}\n", beside.join("\n")));
    }
    if let Some(verdict) = verdict(reports) {
        out.push_str(&format!("\n{verdict}\n"));
    }
    for sentence in products_rate(reports).into_iter().chain(sharing(reports)) {
        out.push_str(&format!("{sentence}\n"));
    }
    if let Some(Value::Object(metrics)) = eval_metrics {
        out.push('\n');
        for (name, value) in metrics {
            out.push_str(&format!("{name} {}\n", if value.is_null() { "N/A".to_owned() } else { value.to_string() }));
        }
    }
    shell.print(out.as_bytes())
}

/// A line for each reason of failure, with the configurations that failed.
fn failures(reports: &[Report]) -> String {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for report in reports.iter().filter(|r| !r.is_finished()) {
        let reason = report.error.as_deref().unwrap_or("no reason given");
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, labels)) => labels.push(report.label()),
            None => reasons.push((reason, vec![report.label()])),
        }
    }
    reasons.iter().map(|(reason, labels)| format!("failed: {}: {reason}\n", labels.join("; "))).collect()
}

/// NeuronPerf's columns, the compiler options in which rows differ, and operators whose cost is a guess.
fn usual_columns(reports: &[Report]) -> Vec<&'static str> {
    let mut columns = PRINT_COLS.to_vec();
    if reports.windows(2).any(|pair| pair[0].compiler_args != pair[1].compiler_args) {
        columns.push("compiler_args");
    }
    if reports.iter().any(|report| report.estimated_ops.is_some()) {
        columns.push("estimated_ops");
    }
    columns
}
