//! `neuronscope numerics`

use anyhow::{Context, Result, bail};

use super::text;
use crate::cli::args::NumericsArgs;
use crate::cli::driver::Driver;
use crate::session::{
    Event, NumericsReport, NumericsSpec, OutputComparison, Request, Sample, value_text, without_source,
};

pub(super) fn run(args: NumericsArgs) -> Result<()> {
    let spec = Box::new(NumericsSpec {
        model: args.model,
        batch_size: args.batch_size,
        instance: args.instance,
        options: args.compile.options(),
        rounding: args.rounding.into(),
        seed: args.seed,
        tolerance: args.tolerance,
    });
    let events = Driver::new().run(|job| Request::Numerics { job, spec }, None)?;
    let found = events.into_iter().find_map(|e| match e {
        Event::Numerics { report, .. } => Some(report),
        _ => None,
    });
    let report = found.context("the session gave no comparison")?;
    let said = if args.json { report.to_json().map_err(anyhow::Error::msg)? } else { describe(&report) };
    text::print(said.as_bytes())?;
    let failed = report.outputs.iter().filter(|o| !o.passed).count();
    if failed > 0 {
        bail!("{failed} of {} outputs are not within the tolerance", report.outputs.len());
    }
    Ok(())
}

fn describe(report: &NumericsReport) -> String {
    let spec = &report.spec;
    let mut out = format!(
        "{}: {} of {}, {}, rounding {}, seed {}\n\n",
        without_source(&spec.model),
        report.core,
        spec.instance,
        spec.options,
        spec.rounding,
        spec.seed
    );
    for output in &report.outputs {
        out.push_str(&values(output));
    }
    let error = |e: Option<f64>, digits: usize| e.map_or_else(|| "-".to_owned(), |e| format!("{e:.digits$e}"));
    let rows: Vec<Vec<String>> = report
        .outputs
        .iter()
        .map(|o| {
            vec![
                o.index.to_string(),
                o.shape.clone(),
                error(o.mean_relative_error, 3),
                error(o.max_abs_error, 3),
                o.tolerance.to_string(),
                o.nan.to_string(),
                o.inf.to_string(),
                if o.passed { "PASS" } else { "FAIL" }.to_owned(),
            ]
        })
        .collect();
    let headings =
        ["Output", "Shape", ">Mean relative error", ">Max abs error", ">Tolerance", ">NaN", ">Inf", "Result"];
    out.push_str(&text::table(&headings, &rows));
    for reason in report.outputs.iter().filter_map(|o| Some(format!("output {}: {}", o.index, o.reason.as_ref()?))) {
        out.push_str(&format!("{reason}\n"));
    }
    for note in &report.notes {
        out.push_str(&format!("note: {note}\n"));
    }
    out.push_str(&format!("\n{}\n", report.status));
    out
}

/// Both sides as the tutorial prints them.
fn values(output: &OutputComparison) -> String {
    let s = &output.sample;
    let head = |side: &str| format!("=={side} OUTPUT {}== {} {}\n", output.index, output.shape, output.path);
    format!("{}{}\n{}{}\n", head("CPU"), matrix(s, &s.reference), head("DEVICE"), matrix(s, &s.device))
}

fn matrix(sample: &Sample, values: &[f32]) -> String {
    let mut out = String::new();
    let columns = sample.columns.max(1) as usize;
    let cells: Vec<String> = values.iter().map(|v| value_text(*v)).collect();
    let width = cells.iter().map(String::len).max().unwrap_or(0);
    for row in cells.chunks(columns) {
        let row: Vec<String> = row.iter().map(|c| format!("{c:>width$}")).collect();
        let more = if u64::from(sample.columns) < sample.all_columns { ", ..." } else { "" };
        out.push_str(&format!("  [{}{more}]\n", row.join(", ")));
    }
    if u64::from(sample.rows) < sample.all_rows {
        out.push_str(&format!("  ... {} rows of {} values\n", sample.all_rows, sample.all_columns));
    }
    out
}
