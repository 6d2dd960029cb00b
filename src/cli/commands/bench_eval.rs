//! `neuronscope bench --eval-metrics`: how good the answers are, in addition to how fast they come.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Map, Value};

use crate::bench_args::BenchArgs;
use crate::dataset;
use ns_base::stats::round_to;
use ns_bench::Configuration;
use ns_bench::dataset::Records;
use ns_bench::evaluate::{Answering, Metrics, Record, check_records, find_metric};
use ns_session::{ModelKind, ModelLibrary, model_label};

/// The dataset and the metrics to compute.
pub(super) struct Evaluation {
    metrics: Vec<String>,
    file: String,
    records: Records,
    targets: Vec<f64>,
}

/// Reads the dataset and checks names and sizes before anything runs; `None` when no metric is asked for. An error names the metric
/// that does not exist, or says what is wrong with the dataset.
pub(super) fn prepare(args: &BenchArgs) -> Result<Option<Evaluation>> {
    let Some(metrics) = &args.eval.eval_metrics else { return Ok(None) };
    for name in metrics {
        find_metric(name.trim()).map_err(|e| anyhow!("--eval-metrics: {e}"))?;
    }
    let text = args.options.text("dataset").unwrap_or_default();
    if text.trim().parse::<i64>().is_ok() {
        bail!("--eval-metrics: {text} records have no values; name the dataset's file with --dataset");
    }
    let all = dataset::read(Path::new(text))?;
    let (records, targets) = all.with_targets(text, args.eval.eval_target_col.as_deref()).context("--eval-metrics")?;
    Ok(Some(Evaluation { metrics: metrics.clone(), file: text.to_owned(), records, targets }))
}

/// Notes about the dataset of a benchmark, and whether its records fit the model. Fails when the records differ in size from the
/// model's inputs.
pub(super) fn check_dataset(args: &BenchArgs, model: &str) -> Result<Vec<String>> {
    let Some(text) = args.options.text("dataset").filter(|t| t.trim().parse::<i64>().is_err()) else {
        return Ok(Vec::new());
    };
    let records = dataset::read(Path::new(text))?;
    if !model.is_empty() && ModelKind::of(model) == ModelKind::Zoo {
        check_records(text, &records, model).map_err(|e| anyhow!("--dataset: {e}"))?;
    }
    Ok(records.diagnostics.items().iter().map(|d| format!("note: {text}: {d}")).collect())
}

impl Evaluation {
    /// Names and values of the metrics. Each model is evaluated once for each way to compile it; the name holds the
    /// configuration where there are several. Fails when a model cannot be computed, or a metric cannot judge its answers.
    pub fn run(&self, configurations: &[Configuration], models: &ModelLibrary) -> Result<Value> {
        let key = |c: &Configuration| (c.model.clone(), c.options.device_type.name(), c.compile_options().to_string());
        let mut distinct: Vec<&Configuration> = Vec::new();
        for c in configurations {
            if !distinct.iter().any(|d| key(d) == key(c)) {
                distinct.push(c);
            }
        }
        let mut values = Map::new();
        for c in &distinct {
            let answers = Answering::new(c, models).and_then(|a| a.answers(&self.file, &self.records));
            let answers = answers.map_err(|e| anyhow!("--eval-metrics: {e}"))?;
            let records: Vec<Record> =
                answers.iter().zip(&self.targets).map(|(output, target)| Record { output, target: *target }).collect();
            for name in &self.metrics {
                let value = Metrics::default().evaluate(name.trim(), &records);
                let value = value.map_err(|e| anyhow!("--eval-metrics: {}: {name}: {e}", self.file))?;
                let label = if distinct.len() > 1 {
                    format!("{name} ({} {})", model_label(&c.model), key(c).2)
                } else {
                    name.clone()
                };
                values.insert(label, value.map_or(Value::Null, |v| round_to(v, 6).into()));
            }
        }
        Ok(Value::Object(values))
    }
}
