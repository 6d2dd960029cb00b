//! `neuronscope validate FILE.csv`

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use serde::Serialize;

use super::text;
use crate::cli::args::ValidateArgs;
use crate::fidelity::{Summary, Validation, read_rows, validate};

/// `neuronscope validate --json`.
#[derive(Serialize)]
struct ValidateJson {
    rows: Vec<Validation>,
    summary: Summary,
}

pub(super) fn run(args: ValidateArgs) -> Result<()> {
    let shown = args.file.display();
    let table = fs::read(&args.file).with_context(|| format!("{shown}: can't be read"))?;
    let published = read_rows(&table).with_context(|| format!("{shown}: is not a table of published figures"))?;
    let rows: Vec<Validation> = published.iter().map(validate).collect();
    let summary = Summary::of(rows.iter());
    if args.json {
        let mut json = serde_json::to_vec_pretty(&ValidateJson { rows, summary })?;
        json.push(b'\n');
        return text::print(&json);
    }
    text::print(describe(&rows, &summary).as_bytes())
}

fn describe(rows: &[Validation], summary: &Summary) -> String {
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| format!("{x:.1}"));
    let cells: Vec<Vec<String>> = rows
        .iter()
        .filter(|r| r.skipped.is_none())
        .map(|r| {
            let batch = r.batch_size.map_or_else(String::new, |b| b.to_string());
            let ratio = r.ratio.map_or_else(String::new, |x| format!("{x:.3}"));
            vec![r.model.clone(), r.instance.clone(), batch, number(r.published), number(r.predicted), ratio]
        })
        .collect();
    let mut out = text::table(&["Model", "Instance", ">Batch", ">Published", ">Predicted", ">Ratio"], &cells);
    let mut by_model: BTreeMap<&str, Vec<&Validation>> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.ratio.is_some()) {
        by_model.entry(&row.model).or_default().push(row);
    }
    out.push('\n');
    for (model, rows) in by_model {
        out.push_str(&line(model, &Summary::of(rows.into_iter())));
    }
    out.push_str(&line("all", summary));
    let skipped = rows.iter().filter(|r| r.skipped.is_some()).count();
    if skipped > 0 {
        out.push_str(&format!("{skipped} rows were skipped; --json says why\n"));
    }
    out
}

fn line(name: &str, s: &Summary) -> String {
    let percent = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| format!("{:.1} %", x * 100.0));
    let bias = s.geomean_ratio.map_or_else(|| "-".to_owned(), |x| format!("{x:.3}"));
    format!(
        "{name}: {} rows, median error {}, p90 {}, bias {bias}\n",
        s.n,
        percent(s.median_abs_error),
        percent(s.p90_abs_error)
    )
}
