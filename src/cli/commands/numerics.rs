//! `neuronscope numerics`

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::model_values::Compared;
use super::text;
use crate::cli::args::NumericsArgs;
use crate::cli::driver::Driver;
use crate::cli::model_file;
use crate::neuron::numerics::DEFAULT_TOLERANCE;
use crate::session::{
    BatchRule, JobRequest, JobResult, NumericsReport, NumericsSpec, OutputComparison, Sample, Told, value_text,
    without_source,
};

pub(super) fn run(args: NumericsArgs) -> Result<()> {
    let model = args.file.model_file.as_deref().unwrap_or(&args.model);
    if model_file::is_meant(model) {
        return of_file(model, &args);
    }
    if args.arrays.inputs.is_some() || !args.brought.settings()?.is_empty() {
        bail!("--inputs, --expect, --dim and --assume are about a model file, and {model} is not one");
    }
    let spec = Box::new(NumericsSpec {
        model: args.model,
        batch_size: args.batch_size,
        instance: args.instance,
        options: args.compile.options(),
        rounding: args.rounding.into(),
        seed: args.seed,
        tolerance: args.tolerance.unwrap_or(DEFAULT_TOLERANCE),
    });
    let told = Driver::new().run(JobRequest::Numerics(spec), None)?;
    let Some(Told::Done(JobResult::Numerics(report))) = told else { bail!("the session gave no comparison") };
    let said = if args.json { report.to_json()? } else { describe(&report) };
    text::print(said.as_bytes())?;
    let failed = report.outputs.iter().filter(|o| !o.passed).count();
    if failed > 0 {
        bail!("{failed} of {} outputs are not within the tolerance", report.outputs.len());
    }
    Ok(())
}

/// Values of a model file beside those that its framework gave.
fn of_file(path: &str, args: &NumericsArgs) -> Result<()> {
    let mut settings = args.brought.settings()?;
    let (mut imported, bytes) = model_file::read(Path::new(path), &settings)?;
    if let Some(batch_size) = args.batch_size.map(u64::from) {
        match BatchRule::of(&imported.inspection) {
            BatchRule::Open { dimension, .. } => {
                settings.dims.insert(dimension, batch_size);
                (imported, _) = model_file::read(Path::new(path), &settings)?;
            }
            BatchRule::Fixed { size } if size == batch_size => {}
            BatchRule::Fixed { size } => {
                bail!("{path}: --batch-size {batch_size}: its batch size is {size} and not open")
            }
        }
    }
    let compared = Compared::of(&imported, &bytes, &args.arrays, args.tolerance)?;
    let compared = compared.with_context(|| {
        format!("{path}: give --inputs X.npz and --expect Y.npz, what the model takes and what its framework gave")
    })?;
    let said = if args.json {
        let json =
            serde_json::json!({ "model": path, "format": imported.inspection.format, "values": compared.json() });
        serde_json::to_string_pretty(&json)? + "\n"
    } else {
        compared.describe()
    };
    text::print(said.as_bytes())?;
    compared.verdict()
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
