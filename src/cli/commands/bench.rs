//! `neuronscope bench`

use anyhow::{Result, bail};

use super::text;
use crate::bench::export::{self, TableOptions};
use crate::bench::{Report, verdict};
use crate::cli::bench_args::BenchArgs;
use crate::cli::driver::Driver;
use crate::session::{Event, Request};

pub(super) fn run(args: BenchArgs) -> Result<()> {
    let (json, csv) = (args.output.json, args.output.csv);
    let config = Box::new(args.config()?);
    let events = Driver::new().run(|job| Request::Bench { job, config }, None)?;
    let reports: Vec<Report> = events
        .into_iter()
        .filter_map(|e| match e {
            Event::Report { report, .. } => Some(*report),
            _ => None,
        })
        .collect();
    if json {
        text::print(export::to_json(&reports)?.as_bytes())?;
    } else if csv {
        text::print(export::to_csv(&reports, export::CSV_COLS)?.as_bytes())?;
    } else {
        text::print(describe(&reports).as_bytes())?;
    }
    // Rows that failed are in the output; a run of which nothing came is not a success.
    let first = reports.iter().find(|r| !r.is_finished()).and_then(|r| r.error.as_deref());
    match first {
        Some(error) if !reports.iter().any(Report::is_finished) => bail!("no configuration could run: {error}"),
        _ => Ok(()),
    }
}

fn describe(reports: &[Report]) -> String {
    let mut out = export::to_table(reports, &TableOptions::default());
    for report in reports.iter().filter(|r| !r.is_finished()) {
        out.push_str(&format!(
            "failed: {}: {}\n",
            report.label(),
            report.error.as_deref().unwrap_or("no reason given")
        ));
    }
    if let Some(verdict) = verdict(reports) {
        out.push_str(&format!("\n{verdict}\n"));
    }
    out
}
