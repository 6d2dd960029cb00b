//! `neuronscope analyze`

#![allow(clippy::disallowed_methods, reason = "a report holds the time at which it was made")]

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use super::aggregate::jsonl_files;
use crate::experiment_args::AnalyzeArgs;
use crate::file::Lines;
use crate::output::{append, write};
use crate::shell::Shell;
use ns_session::reports::{AnalysisReport, RecordAnalysis};

pub(super) fn run(shell: &Shell, args: AnalyzeArgs) -> Result<()> {
    let results = args.results.as_ref().unwrap_or(&args.output_dirname);
    let (folder, files) = match results.parent() {
        Some(folder) if results.is_file() => {
            (if folder == Path::new("") { Path::new(".") } else { folder }, vec![results.clone()])
        }
        _ if results.is_dir() => (results.as_path(), jsonl_files(results)?),
        _ => bail!("{}: is not a folder; name the folder of the results with --output-dirname", results.display()),
    };
    let mut analysis = RecordAnalysis::default();
    args.options.put_into(&mut analysis, &[])?;
    let mut run = analysis.start(now_s());
    for file in files {
        let place = file.display();
        let mut lines = Lines::open(&file).with_context(|| format!("{place}: cannot be opened"))?;
        while let Some((number, line)) = lines.read()? {
            run.push_line(line, || format!("{place}:{number}"));
        }
    }
    run.remarks().lines().for_each(|line| shell.say(line));
    match run.report()? {
        AnalysisReport::Jsonl(lines) => {
            let report = std::path::absolute(folder)?.join("metric_report.jsonl");
            shell.print(format!("Saving report to: {}\n", report.display()).as_bytes())?;
            write(shell, &report, &lines)
        }
        AnalysisReport::Csv { report: csv, rows } => {
            let (report, database) = (folder.join("metric_report.csv"), &args.database);
            write(shell, &report, &csv)?;
            shell.note(&format!("the report is in {}, and its rows in {}", report.display(), database.display()));
            // As the suite does, whatever columns the file has.
            if database.exists() { append(database, &rows) } else { write(shell, database, &csv) }
        }
    }
}

/// Seconds since 1970.
pub(super) fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}
