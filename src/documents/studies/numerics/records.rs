//! The answers of a model to the records of a data set, on the core and on the processor, and how good they are.

use ns_base::convert::u64_to_usize;
use ns_base::{Refusal, refuse};
use ns_bench::dataset::read_records;
use ns_bench::evaluate::{JudgedRecords, Metrics};
use ns_bench::{BenchConfig, Configuration, DeviceType, RunOptions, expand};
use ns_compiler::CompileOptions;
use ns_device::ModelLibrary;
use ns_forms::studies::NumericsStudy;
use ns_neuron::numerics::{MetricValues, NumericsSpec};
use ns_tensor::{Shape, Tensor};

/// How messages call the data set.
pub(super) const DATASET: &str = "dataset";

/// A model, and the records that it answers.
pub(super) struct RecordsRun {
    judged: JudgedRecords,
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
        let judged = JudgedRecords::new(DATASET, records, &study.metrics, target)?;
        let run = RunOptions { compile: options, ..RunOptions::default() };
        let config = BenchConfig { model, instance_type: instance, seed, options: run, ..BenchConfig::default() };
        let config = BenchConfig { n_models: Some(vec![1]), workers_per_model: Some(vec![1]), ..config };
        let configuration = expand(&config)?.configurations.into_iter().next();
        let configuration = configuration.ok_or_else(|| refuse!("model: it runs on no core of this instance"))?;
        Ok(Self { judged, configuration, models: models.clone() })
    }

    /// The answers with the casts of a core if options are given, as one tensor with a row for each record.
    pub fn compute(&self, casts: Option<&CompileOptions>) -> Result<Vec<Tensor>, Refusal> {
        let mut configuration = self.configuration.clone();
        if casts.is_none() {
            configuration.options.device_type = DeviceType::Cpu;
        }
        let answers = self.judged.answers(&configuration, &self.models)?;
        let width = answers.first().map_or(0, Vec::len);
        let shape = Shape::f32([answers.len() as u64, width as u64]);
        Ok(vec![Tensor::new(shape, answers.concat()).map_err(|e| Refusal::new(e.to_string()))?])
    }

    /// The metrics of both answers. Fails when a metric cannot judge them.
    pub fn judge(&self, reference: &[Tensor], device: &[Tensor]) -> Result<Vec<MetricValues>, Refusal> {
        let values = |answers: &[Tensor]| {
            let data = answers.first().map(Tensor::data).unwrap_or_default();
            let width = answers.first().and_then(|t| t.shape().dims.last().copied()).unwrap_or(1);
            let judged = self.judged.judge(&Metrics::default(), data.chunks(u64_to_usize(width.max(1))));
            judged.map_err(|e| e.within(|what| format!("eval_metrics: {what}")))
        };
        let both = values(reference)?.into_iter().zip(values(device)?);
        let of = |((metric, reference), (_, device)): ((&str, _), (_, _))| MetricValues {
            metric: metric.to_owned(),
            reference,
            device,
        };
        Ok(both.map(of).collect())
    }

    /// Lines of the data set that are left out, a sentence each.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.judged.records.diagnostics.items().iter().map(|d| format!("{DATASET}: {d}"))
    }
}
