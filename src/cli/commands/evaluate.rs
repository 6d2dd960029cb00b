//! `neuronscope evaluate`

use anyhow::{Context, Result, anyhow, bail};

use super::text;
use crate::args::EvaluateArgs;
use ns_base::convert::f64_to_f32;
use ns_base::units::format_figures;
use ns_bench::evaluate::{Metrics, Record, metrics_to_text};

pub(super) fn run(args: EvaluateArgs) -> Result<()> {
    let Some(path) = &args.file else { return text::print(metrics_to_text().as_bytes()) };
    let shown = path.display();
    let bytes = crate::file::read(path)?;
    let table =
        read(&bytes, args.eval_target_col.as_deref()).with_context(|| format!("{shown}: cannot be evaluated"))?;
    let records: Vec<Record> = table.iter().map(|(output, target)| Record { output, target: *target }).collect();
    let mut metrics = Metrics::default();
    for text in &args.registered {
        metrics.register(text).map_err(|e| anyhow!("--register: {e}"))?;
    }
    for name in &args.metrics {
        let value = metrics.evaluate(name, &records).with_context(|| format!("{shown}: {name}"))?;
        let value = value.map_or_else(|| "N/A".to_owned(), format_figures);
        text::print(format!("{name} {value}\n").as_bytes())?;
    }
    Ok(())
}

/// Outputs and target of each line.
fn read(bytes: &[u8], target_column: Option<&str>) -> Result<Vec<(Vec<f32>, f64)>> {
    let mut reader = csv::Reader::from_reader(bytes);
    let headings = reader.headers()?.clone();
    let target = match target_column {
        Some(name) => headings.iter().position(|h| h.trim() == name).ok_or_else(|| anyhow!("no column '{name}'"))?,
        None => headings.len().saturating_sub(1),
    };
    if headings.len() < 2 {
        bail!("it has {} columns; write columns for the outputs and the target", headings.len());
    }
    let mut table = Vec::new();
    for (i, line) in reader.records().enumerate() {
        let numbers: Vec<f64> = line?
            .iter()
            .map(|cell| cell.trim().parse::<f64>().map_err(|_| anyhow!("record {}: '{cell}' is not a number", i + 1)))
            .collect::<Result<_>>()?;
        let output = numbers.iter().enumerate().filter(|(c, _)| *c != target).map(|(_, x)| f64_to_f32(*x)).collect();
        table.push((output, numbers.get(target).copied().unwrap_or(f64::NAN)));
    }
    Ok(table)
}
