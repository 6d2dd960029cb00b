//! `neuronscope analyze`

#![allow(clippy::disallowed_methods, reason = "a report holds the time at which it was made")]

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use super::aggregate::jsonl_files;
use crate::experiment_args::{AnalyzeArgs, AnalyzeFormatArg};
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
            write(&folder.join("metric_report.csv"), &csv)?;
            if args.database.exists() {
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
    let mut reader = BufReader::new(File::open(path).with_context(|| format!("{shown}: cannot be opened"))?);
    let (mut line, mut number) = (Vec::new(), 0_u64);
    while reader.read_until(b'\n', &mut line).with_context(|| format!("{shown}: cannot be read"))? > 0 {
        number += 1;
        analyzer.push_line(&line, || format!("{shown}:{number}"));
        line.clear();
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("{}: cannot be created", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("{}: cannot be written", path.display()))
}

/// Appends rows to the file, as the suite does, whatever columns the file has.
fn append(path: &Path, rows: &str) -> Result<()> {
    let shown = path.display();
    let mut file = OpenOptions::new().append(true).open(path).with_context(|| format!("{shown}: cannot be opened"))?;
    file.write_all(rows.as_bytes()).with_context(|| format!("{shown}: cannot be written"))
}
