//! `neuronscope parquet`

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::aggregate::jsonl_files;
use super::analysis::list;
use super::profile::exported;
use crate::analysis_args::ListingOutput;
use crate::driver::Driver;
use crate::file::{self, Lines};
use crate::output::{self, Output};
use crate::parquet::{self, RecordSheet};
use crate::parquet_args::{ParquetArgs, ParquetTableArg};
use crate::shell::Shell;
use crate::source;
use ns_analysis::GroupBy;
use ns_session::reports::results_of;
use ns_session::{ExportKind, GroupsOf, Listing, WriteFormat};

pub(super) fn run(shell: &Shell, args: ParquetArgs) -> Result<()> {
    let mut out = output::create(&args.output)?;
    let rows = match args.table {
        ParquetTableArg::Records => records(shell, &args, &mut out),
        ParquetTableArg::Reports => reports(shell, &args, &mut out),
        ParquetTableArg::Slices | ParquetTableArg::Operators => profile(shell, &args, &mut out),
    };
    let rows = rows.map_err(|error| out.reason(error))?;
    out.finish()?;
    shell.note(&format!("{}: {rows} rows", args.output.display()));
    Ok(())
}

/// The files that the arguments name; for a folder, its .jsonl files.
fn files(sources: &[String]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for source in sources.iter().map(PathBuf::from) {
        if source.is_dir() {
            all.append(&mut jsonl_files(&source)?);
        } else {
            all.push(source);
        }
    }
    Ok(all)
}

fn records(shell: &Shell, args: &ParquetArgs, out: &mut Output) -> Result<u64> {
    let files = files(&args.sources)?;
    if files.is_empty() {
        bail!("there is no .jsonl file; name a file of records, or a folder with .jsonl files");
    }
    let mut sheet = RecordSheet::new(out)?;
    for path in files {
        let place = path.display().to_string();
        let mut lines = Lines::open(&path).with_context(|| format!("{place}: cannot be opened"))?;
        while let Some((number, line)) = lines.read()? {
            sheet.push_line(line, &place, number)?;
        }
    }
    let (rows, notes) = sheet.finish()?;
    notes.describe().lines().for_each(|line| shell.say(line));
    Ok(rows)
}

fn reports(shell: &Shell, args: &ParquetArgs, out: &mut Output) -> Result<u64> {
    let mut all = Vec::new();
    for path in &args.sources {
        let bytes = file::read(shell, Path::new(path))?;
        let mut imported = results_of(path, &bytes, None)?;
        for diagnostic in imported.diagnostics.items() {
            shell.note(&format!("{path}: {diagnostic}"));
        }
        all.append(&mut imported.reports);
    }
    parquet::reports(out, &all)
}

/// A profile is one source; several profiles are written one by one.
fn profile(shell: &Shell, args: &ParquetArgs, out: &mut Output) -> Result<u64> {
    let [source] = args.sources.as_slice() else {
        bail!(
            "a profile table is written from one source, but {} are named; run the command once for each",
            args.sources.len()
        );
    };
    let mut driver = Driver::new(shell);
    let info = source::open(&mut driver, source)?;
    if args.table == ParquetTableArg::Slices {
        let csv = exported(&mut driver, info.profile, ExportKind::Trace(WriteFormat::SlicesCsv))?;
        driver.remark_left_out(&args.output.display().to_string(), &csv.left_out);
        return parquet::slices(out, &csv.bytes);
    }
    let what = Listing::Groups(GroupsOf { by: GroupBy::Name, range: None, tracks: None, level: args.level.clone() });
    let all = ListingOutput { json: true, csv: false, top: usize::MAX };
    let listed = list(&mut driver, info.profile, what, &all)?;
    parquet::table(out, "operators", &listed.table)
}
