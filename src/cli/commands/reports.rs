//! Reports on stdout: as a table with a verdict, as CSV or as JSON.

use anyhow::{Result, bail};

use super::text;
use crate::bench::export::{self, PRINT_COLS, TableOptions};
use crate::bench::{REPORT_KEYS, Report, verdict};
use crate::cli::bench_args::TableArgs;

/// Checks the keys before anything runs.
///
/// # Errors
/// With the key that no report has.
pub(super) fn check(args: &TableArgs) -> Result<()> {
    let keys = args.cols.iter().flatten().map(|k| ("--cols", k)).chain(args.sort_by.iter().map(|k| ("--sort-by", k)));
    for (flag, key) in keys {
        if !REPORT_KEYS.contains(&key.as_str()) {
            bail!("{flag}: no report has '{key}'; there are {}", REPORT_KEYS.join(", "));
        }
    }
    Ok(())
}

/// Prints reports the way it was asked for.
///
/// # Errors
/// When stdout can not be written.
pub(super) fn print(reports: &[Report], args: &TableArgs) -> Result<()> {
    let cols: Option<Vec<&str>> = args.cols.as_ref().map(|cols| cols.iter().map(String::as_str).collect());
    let sorted = || match &args.sort_by {
        Some(key) => export::sorted(reports, key, args.reverse),
        None => reports.to_vec(),
    };
    if args.json {
        return text::print(export::to_json(&sorted())?.as_bytes());
    }
    if args.csv {
        let cols = cols.as_deref().unwrap_or(export::CSV_COLS);
        return text::print(export::to_csv(&sorted(), cols)?.as_bytes());
    }
    let columns = cols.unwrap_or_else(|| usual_columns(reports));
    let options = TableOptions { columns: &columns, sort_by: args.sort_by.as_deref(), reverse: args.reverse };
    let mut out = export::to_table(reports, &options);
    out.push_str(&failures(reports));
    if let Some(verdict) = verdict(reports) {
        out.push_str(&format!("\n{verdict}\n"));
    }
    text::print(out.as_bytes())
}

/// A line for each reason that configurations failed for, with the configurations.
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

/// NeuronPerf's columns, and how models were compiled where rows differ in that.
fn usual_columns(reports: &[Report]) -> Vec<&'static str> {
    let mut columns = PRINT_COLS.to_vec();
    if reports.windows(2).any(|pair| pair[0].compiler_args != pair[1].compiler_args) {
        columns.push("compiler_args");
    }
    columns
}
