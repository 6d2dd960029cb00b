//! `neuronscope open FILE`

use anyhow::{Context, Result};

use super::profile::export;
use super::text;
use crate::base::units::{format_count, format_ns};
use crate::cli::args::OpenArgs;
use crate::cli::driver::Driver;
use crate::cli::source;
use crate::profile::summary::OpenSummary;
use crate::session::ExportKind;

pub(super) fn run(args: OpenArgs) -> Result<()> {
    let mut driver = Driver::new();
    let info = source::open_file(&mut driver, &args.file)?;
    let json = export(&mut driver, info.profile, ExportKind::OpenJson)?;
    if args.json {
        return text::print(&json);
    }
    let summary: OpenSummary = serde_json::from_slice(&json).context("the summary can't be read back")?;
    text::print(describe(&summary, args.top).as_bytes())
}

fn describe(summary: &OpenSummary, top: usize) -> String {
    let phases: Vec<String> =
        summary.by_phase.sorted().iter().map(|(ph, n)| format!("{ph} {}", format_count(*n))).collect();
    let mut out = format!(
        "{}: {} events ({}), {} on {} tracks of {} processes\n",
        summary.format,
        format_count(summary.events),
        phases.join(", "),
        format_ns(summary.span_ns as f64),
        format_count(summary.tracks),
        format_count(summary.processes),
    );
    for d in &summary.diagnostics {
        out.push_str(&format!("note: {d}\n"));
    }
    let rows: Vec<Vec<String>> = summary
        .operators
        .iter()
        .take(top)
        .map(|o| {
            vec![shorten(&o.name, 72), format_count(o.count), format_ns(o.total_ns as f64), format_ns(o.self_ns as f64)]
        })
        .collect();
    if !rows.is_empty() {
        out.push('\n');
        out.push_str(&text::table(&["Operator", ">Count", ">Total", ">Self"], &rows));
    }
    if summary.operators.len() > top {
        out.push_str(&format!("... and {} more (--top N shows more)\n", summary.operators.len() - top));
    }
    out
}

fn shorten(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most - 1).chain(['\u{2026}']).collect()
}
