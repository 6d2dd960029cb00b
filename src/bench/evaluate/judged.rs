//! Records with the right answers, and the metrics that judge what models answer.

use serde_json::{Map, Value};

use super::answers::Answering;
use super::registry::Metrics;
use crate::config::configuration::Configuration;
use crate::dataset::Records;
use ns_base::Refusal;
use ns_base::stats::round_to;
use ns_device::{ModelLibrary, model_label};

/// Records, and the metrics that judge answers to them.
pub struct JudgedRecords {
    file: String,
    /// What a model reads.
    pub records: Records,
    targets: Vec<f64>,
    metrics: Vec<String>,
}

impl JudgedRecords {
    /// The column with the right answers is the one with this name, or the last one; without metrics there is none. Fails when there is no
    /// such column.
    pub fn new(file: &str, all: Records, metrics: &[String], target: Option<&str>) -> Result<Self, Refusal> {
        let (records, targets) = if metrics.is_empty() { (all, Vec::new()) } else { all.with_targets(file, target)? };
        Ok(Self { file: file.to_owned(), records, targets, metrics: metrics.to_vec() })
    }

    /// The answers of a model. Fails when it cannot be computed, or the records are not its inputs.
    pub fn answers(&self, of: &Configuration, models: &ModelLibrary) -> Result<Vec<Vec<f32>>, Refusal> {
        Answering::new(of, models)?.answers(&self.file, &self.records)
    }

    /// Each metric of answers with its value, if it has one. Fails with the metric that does not exist or cannot judge them.
    pub fn judge<'a>(
        &self,
        known: &Metrics,
        answers: impl Iterator<Item = &'a [f32]>,
    ) -> Result<Vec<(&str, Option<f64>)>, Refusal> {
        let values = known.judge(&self.metrics, answers, &self.targets)?;
        Ok(self.metrics.iter().map(String::as_str).zip(values).collect())
    }

    /// Names and values of the metrics. Each model is evaluated once for each way to compile it; the name holds the configuration where
    /// there are several. Fails as [`Self::answers`] and [`Self::judge`].
    pub fn judge_each(&self, configurations: &[Configuration], models: &ModelLibrary) -> Result<Value, Refusal> {
        let key = |c: &Configuration| (c.model.clone(), c.options.device_type.name(), c.compile_options().to_string());
        let mut distinct: Vec<&Configuration> = Vec::new();
        for c in configurations {
            if !distinct.iter().any(|d| key(d) == key(c)) {
                distinct.push(c);
            }
        }
        let mut values = Map::new();
        for c in &distinct {
            let answers = self.answers(c, models)?;
            let judged = self.judge(&Metrics::default(), answers.iter().map(Vec::as_slice));
            for (name, value) in judged.map_err(|e| e.within(|what| format!("{}: {what}", self.file)))? {
                let of_several = || format!("{name} ({} {})", model_label(&c.model), key(c).2);
                let label = if distinct.len() > 1 { of_several() } else { name.to_owned() };
                values.insert(label, value.map_or(Value::Null, |v| round_to(v, 6).into()));
            }
        }
        Ok(Value::Object(values))
    }
}
