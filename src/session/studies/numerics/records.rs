//! The answers of a model to the records of a data set, on the core and on the processor, and how good they are.

use serde::{Deserialize, Serialize};

use ns_base::{Refusal, refuse};
use ns_bench::dataset::{Records, read_records};
use ns_bench::evaluate::{Answering, Metrics, Record};
use ns_bench::{BenchConfig, Configuration, DeviceType, RunOptions, expand};
use ns_compiler::CompileOptions;
use ns_device::ModelLibrary;
use ns_neuron::numerics::{MetricValues, NumericsSpec};
use ns_tensor::{Shape, Tensor};

/// How messages call the data set.
const DATASET: &str = "dataset";

/// A comparison of values, for inputs from the seed or for records of the user's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NumericsStudy {
    pub compared: NumericsSpec,
    /// A table of numbers with a line for each record; empty for inputs from the seed.
    pub dataset: String,
    /// Names of metrics of the answers.
    pub metrics: Vec<String>,
    /// The column with the right answers; empty for the last one.
    pub target: String,
}

/// A model, and the records that it answers.
pub(super) struct RecordsRun {
    records: Records,
    targets: Vec<f64>,
    metrics: Vec<String>,
    configuration: Configuration,
    models: ModelLibrary,
}

impl RecordsRun {
    /// Fails when the data set has no records, or the model or the instance is not known.
    pub fn new(study: &NumericsStudy, models: &ModelLibrary) -> Result<Self, Refusal> {
        let NumericsSpec { model, instance, options, seed, batch_size, .. } = study.compared.clone();
        if batch_size.is_some_and(|size| size != 1) {
            return Err(refuse!(
                "batch_size: each record of a data set is a call of its own; leave the batch size out"
            ));
        }
        let records = read_records(DATASET, study.dataset.as_bytes())?;
        let target = Some(study.target.as_str()).filter(|name| !name.is_empty());
        let (records, targets) =
            if study.metrics.is_empty() { (records, Vec::new()) } else { records.with_targets(DATASET, target)? };
        let run = RunOptions { compile: options, ..RunOptions::default() };
        let config = BenchConfig { model, instance_type: instance, seed, options: run, ..BenchConfig::default() };
        let config = BenchConfig { n_models: Some(vec![1]), workers_per_model: Some(vec![1]), ..config };
        let configuration = expand(&config)?.configurations.into_iter().next();
        let configuration = configuration.ok_or_else(|| refuse!("model: it runs on no core of this instance"))?;
        Ok(Self { records, targets, metrics: study.metrics.clone(), configuration, models: models.clone() })
    }

    /// The answers with the casts of a core if options are given, as one tensor with a row for each record.
    pub fn compute(&self, casts: Option<&CompileOptions>) -> Result<Vec<Tensor>, Refusal> {
        let mut configuration = self.configuration.clone();
        if casts.is_none() {
            configuration.options.device_type = DeviceType::Cpu;
        }
        let answers = Answering::new(&configuration, &self.models)?.answers(DATASET, &self.records)?;
        let width = answers.first().map_or(0, Vec::len);
        let shape = Shape::f32([answers.len() as u64, width as u64]);
        Ok(vec![Tensor::new(shape, answers.concat()).map_err(|e| Refusal::new(e.to_string()))?])
    }

    /// The metrics of both answers. Fails when a metric cannot judge them.
    pub fn judge(&self, reference: &[Tensor], device: &[Tensor]) -> Result<Vec<MetricValues>, Refusal> {
        let value = |metric: &str, answers: &[Tensor]| {
            let data = answers.first().map(Tensor::data).unwrap_or_default();
            let rows = data.chunks((data.len() / self.targets.len().max(1)).max(1));
            let records: Vec<Record> =
                rows.zip(&self.targets).map(|(output, target)| Record { output, target: *target }).collect();
            Metrics::default()
                .evaluate(metric, &records)
                .map_err(|e| e.within(|what| format!("eval_metrics: {metric}: {what}")))
        };
        let values = |metric: &String| {
            let (reference, device) = (value(metric, reference)?, value(metric, device)?);
            Ok(MetricValues { metric: metric.clone(), reference, device })
        };
        self.metrics.iter().map(values).collect()
    }

    /// Lines of the data set that are left out, a sentence each.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.records.diagnostics.items().iter().map(|d| format!("{DATASET}: {d}"))
    }
}
