//! `neuronscope analyze`

#![allow(clippy::disallowed_methods, reason = "a report holds the time at which it was made")]

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use super::aggregate::jsonl_files;
use crate::experiment_args::{AnalyzeArgs, AnalyzeFormatArg};
use crate::file::Lines;
use crate::host;
use crate::output::{append, write};
use ns_experiment::analyze::Analyzer;

pub(super) fn run(args: AnalyzeArgs) -> Result<()> {
    let folder = &args.output_dirname;
    if !folder.is_dir() {
        bail!("{}: is not a folder; name the folder of the results with --output-dirname", folder.display());
    }
    let mut analyzer = Analyzer::new(args.timestamp.unwrap_or_else(now_s), args.hide_errors);
    for file in jsonl_files(folder)? {
        read(&mut analyzer, &file)?;
    }
    eprint!("{}", analyzer.notes().describe());
    match args.output_format {
        AnalyzeFormatArg::Jsonl => {
            let report = std::path::absolute(folder)?.join("metric_report.jsonl");
            super::text::print(format!("Saving report to: {}\n", report.display()).as_bytes())?;
            write(&report, &analyzer.to_jsonl()?)
        }
        AnalyzeFormatArg::Csv => {
            let csv = analyzer.to_csv(true)?;
            let report = folder.join("metric_report.csv");
            write(&report, &csv)?;
            host::say(&format!(
                "note: the report is in {}, and its rows in {}",
                report.display(),
                args.database.display()
            ));
            if args.database.exists() {
                // As the suite does, whatever columns the file has.
                append(&args.database, &analyzer.to_csv(false)?)
            } else {
                write(&args.database, &csv)
            }
        }
    }
}

/// Seconds since 1970.
pub(super) fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

fn read(analyzer: &mut Analyzer, path: &Path) -> Result<()> {
    let shown = path.display();
    let mut lines = Lines::open(path).with_context(|| format!("{shown}: cannot be opened"))?;
    while let Some((number, line)) = lines.read()? {
        analyzer.push_line(line, || format!("{shown}:{number}"));
    }
    Ok(())
}
