//! `neuronscope aggregate`

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::CommandFactory;
use clap::error::ErrorKind;

use super::experiment::model_filter;
use super::text;
use crate::args::Args;
use crate::experiment_args::{AggregateArgs, AggregateFormatArg, TestArg};
use crate::file::Lines;
use crate::host;
use crate::png::png;
use ns_experiment::aggregate::{
    AcceleratorChoice, Aggregator, Backend, KNOWN_ACCELERATORS, Report, ReportKind, Selection, known_accelerator,
    speedups, unlike_batches,
};
use ns_experiment::figure::{FigureSize, figure};
use ns_experiment::plan::Test;

/// Warning about models whose times cannot be compared.
const UNLIKE: &str = "models have different batch sizes in a backend and the baseline";
/// Size of a picture in characters: what a terminal has at least.
const COLUMNS: u32 = 79;
const ROWS: u32 = 24;

pub(super) fn run(mut args: AggregateArgs) -> Result<()> {
    args.lenient |= are_own(&args);
    let mut backends = backends(&args.backends)?;
    let selection = selection(&args)?;
    let metric = selection.metric;
    let mut records = Aggregator::new(selection);
    for file in &args.files {
        read(&mut records, file, args.lenient)?;
    }
    // Runs of NeuronCores have no Inductor to compare with.
    let present = records.backends();
    if args.lenient && args.backends.is_empty() && !backends.iter().all(|b| present.contains(b)) {
        backends = present;
    }
    for unlike in unlike_batches(&records, &backends) {
        records.note(UNLIKE, || unlike.to_string());
    }
    if args.lenient {
        warn_of_a_mix(&records, args.accelerator.is_none());
        eprint!("{}", records.notes().describe());
    } else {
        eprint!("{}", records.notes().describe_only(UNLIKE));
    }
    if records.is_empty() {
        bail!("no results found");
    }
    let (baseline, kind) = (args.baseline, args.report);
    let times = speedups(&records, &backends, baseline)?;
    let report = Report { kind, times: &times, backends: &backends, baseline };
    let Some(table) = report.table() else {
        let shown = args.accelerator.as_deref().unwrap_or(if args.lenient { "any" } else { DEFAULT_ACCELERATOR });
        host::say(&format!("cannot find data for accelerator {shown}"));
        return Ok(());
    };
    match args.format {
        AggregateFormatArg::Csv => text::print(table.to_csv().as_bytes()),
        AggregateFormatArg::Tab => text::print(table.to_framed().as_bytes()),
        AggregateFormatArg::Png | AggregateFormatArg::Svg | AggregateFormatArg::Ascii => {
            if kind == ReportKind::Changes {
                bail!("--report changes is a list and cannot be drawn; use --format csv or tab");
            }
            // A terminal cannot show a picture of pixels: it gets one of characters.
            let is_text = args.format == AggregateFormatArg::Ascii
                || (args.format == AggregateFormatArg::Png && std::io::stdout().is_terminal());
            let size = FigureSize { width_in: args.fig_width, height_in: args.fig_height };
            let size = if is_text { FigureSize::of_characters(COLUMNS, ROWS) } else { size };
            let drawing = figure(&report, metric, size, args.title.as_deref());
            match args.format {
                _ if is_text => text::print(drawing.to_characters().as_bytes()),
                AggregateFormatArg::Svg => text::print(drawing.to_svg().as_bytes()),
                _ => text::print(&png(&drawing)?),
            }
        }
    }
}

/// The records that are read.
fn selection(args: &AggregateArgs) -> Result<Selection> {
    Ok(Selection {
        accelerator: accelerator(args),
        models: model_filter(&args.models)?,
        test: match args.test {
            TestArg::Inference => Test::Eval,
            TestArg::Training => Test::Train,
        },
        metric: args.metric,
        lenient: args.lenient,
    })
}

/// The accelerator of reports that do not name one.
const DEFAULT_ACCELERATOR: &str = "v100";

/// The accelerator that is asked for. A name that the suite does not know is wrong usage, like any bad choice.
fn accelerator(args: &AggregateArgs) -> AcceleratorChoice {
    match (&args.accelerator, args.lenient) {
        (Some(name), true) => AcceleratorChoice::Named(name.clone()),
        (None, true) => AcceleratorChoice::Any,
        (given, false) => {
            let name = given.as_deref().unwrap_or(DEFAULT_ACCELERATOR);
            let known = KNOWN_ACCELERATORS.map(|(known, _)| known);
            if !known.contains(&name) {
                let known = known.join(", ");
                let message = format!("--accelerator {name}: choose from {known}, or add --lenient for any other");
                Args::command().error(ErrorKind::InvalidValue, message).exit();
            }
            AcceleratorChoice::Known(name.to_owned())
        }
    }
}

fn backends(names: &[String]) -> Result<Vec<Backend>> {
    if names.is_empty() {
        return Ok(vec![Backend::Inductor, Backend::OpenxlaDynamo]);
    }
    let known = || Backend::ALL.map(Backend::name).join(", ");
    let named = |name: &String| {
        Backend::from_name(name)
            .ok_or_else(|| anyhow!("{name} is not a backend; choose from {}. Write -- after the last backend", known()))
    };
    names.iter().map(named).collect()
}

/// Reads a file line by line; a folder's .jsonl files in order of their names, with `--lenient`.
fn read(records: &mut Aggregator, path: &Path, lenient: bool) -> Result<()> {
    let shown = path.display();
    if path.is_dir() {
        if !lenient {
            bail!("{shown}: is a folder; name its files, or add --lenient to read every .jsonl file in it");
        }
        let files = jsonl_files(path)?;
        if files.is_empty() {
            records.note("folders have no .jsonl file", || shown.to_string());
        }
        return files.iter().try_for_each(|file| read(records, file, lenient));
    }
    let mut lines = match Lines::open(path) {
        Ok(lines) => lines,
        Err(error) if lenient => {
            records.note("files cannot be opened", || format!("{shown}: {error}"));
            return Ok(());
        }
        Err(error) => return Err(error).with_context(|| format!("{shown}: cannot be opened")),
    };
    let mut is_empty = true;
    while let Some((number, line)) = lines.read()? {
        is_empty = false;
        let place = || format!("{shown}:{number}");
        records.push_line(line, place).with_context(place)?;
    }
    if is_empty && lenient {
        records.note("files are empty", || shown.to_string());
    }
    Ok(())
}

/// The .jsonl files of a folder, without those that `analyze` writes.
pub(super) fn jsonl_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let shown = folder.display();
    let entries = fs::read_dir(folder).with_context(|| format!("{shown}: cannot be read"))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| format!("{shown}: cannot be read"))?.path();
        let is_report = path.file_stem().is_some_and(|stem| stem == "metric_report");
        if path.extension().is_some_and(|e| e == "jsonl") && !is_report && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Times of different accelerators are not compared without a warning.
fn warn_of_a_mix(records: &Aggregator, all: bool) {
    let products: Vec<&str> = records.accelerators().collect();
    if all && products.len() > 1 {
        let (count, names) = (products.len(), products.join("; "));
        host::say(&format!(
            "note: records of {count} accelerators are mixed, and each is compared with itself; choose one with --accelerator: {names}"
        ));
    }
}

/// Whether the records are of an accelerator that the suite does not know, as all of this program's own are, and no flag asks for one that
/// it does.
fn are_own(args: &AggregateArgs) -> bool {
    let is_known = |name: &String| KNOWN_ACCELERATORS.iter().any(|(known, _)| known == name);
    let names_known = args.accelerator.as_ref().is_some_and(is_known);
    let Some(file) = args.files.first().filter(|_| !names_known && !args.lenient) else { return false };
    let Ok(mut lines) = Lines::open(file) else { return false };
    let mut first: Option<serde_json::Value> = None;
    while let Ok(Some((_, line))) = lines.read() {
        if !line.trim_ascii().is_empty() {
            first = serde_json::from_slice(line).ok();
            break;
        }
    }
    let product = first.as_ref().and_then(|record| record.pointer("/experiment/accelerator_model")?.as_str());
    product.is_some_and(|product| known_accelerator(product).is_none())
}
