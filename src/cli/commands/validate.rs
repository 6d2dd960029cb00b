//! `neuronscope validate FILE.csv`

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use serde::Serialize;

use super::text;
use crate::args::ValidateArgs;
use ns_base::units::format_share;
use ns_fidelity::{Calibrator, PlacementBasis, PublishedRow, Summary, Validation, read_rows, validate};

/// `neuronscope validate --json`.
#[derive(Serialize)]
struct ValidateJson {
    rows: Vec<Validation>,
    summary: Summary,
}

pub(super) fn run(args: ValidateArgs) -> Result<()> {
    let shown = args.file.display();
    let table = fs::read(&args.file).with_context(|| format!("{shown}: cannot be read"))?;
    let published = read_rows(&table).with_context(|| format!("{shown}: is not a table of published figures"))?;
    if args.calibrate {
        return text::print(calibrate(&published).as_bytes());
    }
    let rows: Vec<Validation> = published.iter().map(validate).collect();
    let summary = Summary::of(rows.iter());
    if args.json {
        let mut json = serde_json::to_vec_pretty(&ValidateJson { rows, summary })?;
        json.push(b'\n');
        return text::print(&json);
    }
    text::print(describe(&rows, &summary).as_bytes())
}

/// The fit to all rows, and for each model the errors of a fit without that model's rows.
fn calibrate(published: &[PublishedRow]) -> String {
    let mut calibrator = Calibrator::new(published);
    let fit = calibrator.fit(|_| true);
    let mut out = format!("{:#?}\n{}", fit.calibration, line("all", &fit.summary));
    let left_out = calibrator.leave_one_model_out();
    let all: Vec<f64> = left_out.iter().flat_map(|l| l.ratios.iter().copied()).collect();
    out.push_str(&line("each model by the fit without it", &Summary::of_ratios(&all)));
    for left_out in left_out {
        let c = left_out.fit.calibration;
        out.push_str(&line(&format!("without {}", left_out.model), &left_out.errors));
        out.push_str(&format!(
            "  host call {} ns, outputs {} B/us, PyTorch 1 {}; ratios {:.4?}\n",
            c.host_call_ns, c.host_output_bytes_per_us, c.torch_1_permille, left_out.ratios
        ));
    }
    out
}

fn describe(rows: &[Validation], summary: &Summary) -> String {
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| format!("{x:.1}"));
    let cells: Vec<Vec<String>> = rows
        .iter()
        .filter(|r| r.skipped.is_none())
        .map(|r| {
            let batch = r.batch_size.map_or_else(String::new, |b| b.to_string());
            let ratio = r.ratio.map_or_else(String::new, |x| format!("{x:.3}"));
            vec![r.model.clone(), r.instance.clone(), batch, placed(r), number(r.published), number(r.predicted), ratio]
        })
        .collect();
    let mut out =
        text::table(&["Model", "Instance", ">Batch", ">Cores x workers", ">Published", ">Predicted", ">Ratio"], &cells);
    let mut by_model: BTreeMap<&str, Vec<&Validation>> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.judges()) {
        by_model.entry(&row.model).or_default().push(row);
    }
    out.push('\n');
    for (model, rows) in by_model {
        out.push_str(&line(model, &Summary::of(rows.into_iter())));
    }
    out.push_str(&line("all", summary));
    for row in rows {
        if let Some(constant) = &row.solved {
            out.push_str(&format!("not counted: {constant} was solved from the row of {}\n", row.model));
        }
    }
    if rows.iter().any(|r| r.placed_by == Some(PlacementBasis::LittlesLaw)) {
        out.push_str("* from the requests in flight: Little's law over the row's throughput and latency\n");
    }
    let skipped = rows.iter().filter(|r| r.skipped.is_some()).count();
    if skipped > 0 {
        out.push_str(&format!("{skipped} rows were skipped; --json says why\n"));
    }
    out
}

/// `2 x 1`, with a star where it comes from Little's law.
fn placed(row: &Validation) -> String {
    let Some((models, workers)) = row.n_models.zip(row.workers_per_model) else { return String::new() };
    let star = if row.placed_by == Some(PlacementBasis::LittlesLaw) { "*" } else { "" };
    format!("{models} x {workers}{star}")
}

fn line(name: &str, s: &Summary) -> String {
    let percent = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format_share(x * 100.0));
    let bias = s.geomean_ratio.map_or_else(|| "-".to_owned(), |x| format!("{x:.3}"));
    format!(
        "{name}: {} rows, median error {}, p90 {}, bias {bias}\n",
        s.n,
        percent(s.median_abs_error),
        percent(s.p90_abs_error)
    )
}
