//! Metrics under user-defined names: NeuronPerf's `register_metric` and `register_metric_from_existing`.

use super::formula::Formula;
use super::metric::{Metric, Record, evaluate, find_metric, positive};
use super::{Confusion, METRICS};
use ns_base::{Refusal, refuse};

/// The known metrics and those that were registered.
#[derive(Clone, Default)]
pub struct Metrics {
    own: Vec<(String, Own)>,
}

#[derive(Clone)]
enum Own {
    Known(Metric),
    Formula(Formula),
}

impl Metrics {
    /// Registers `name=formula`, such as `balanced=(TPR+TNR)/2`, or `name=metric` for another name of a known metric, such as
    /// `best3=topk_3`. Fails when the name is taken or not valid, or its definition cannot be read.
    pub fn register(&mut self, text: &str) -> Result<(), Refusal> {
        let Some((name, meaning)) = text.split_once('=') else {
            return Err(refuse!(
                "'{text}' is not a metric; write name=formula, such as balanced=(TPR+TNR)/2, or name=metric"
            ));
        };
        let (name, meaning) = (name.trim(), meaning.trim());
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(refuse!("'{name}' cannot be the name of a metric; use letters, digits and _"));
        }
        if METRICS.iter().any(|m| m.name.eq_ignore_ascii_case(name)) || self.find(name).is_some() {
            return Err(refuse!("there is already a metric '{name}'; choose another name"));
        }
        let own = match find_metric(meaning) {
            Ok(metric) => Own::Known(metric),
            Err(_) => Own::Formula(Formula::parse(meaning)?),
        };
        self.own.push((name.to_owned(), own));
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&Own> {
        self.own.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, own)| own)
    }

    /// Computes the metric with this name over records; `None` when it has no value. Fails when the metric is unknown, or when it
    /// cannot judge a record; the error names the first one.
    pub fn evaluate(&self, name: &str, records: &[Record]) -> Result<Option<f64>, Refusal> {
        match self.find(name) {
            None => evaluate(find_metric(name)?, records),
            Some(Own::Known(metric)) => evaluate(*metric, records),
            Some(Own::Formula(formula)) => {
                let mut counts = Confusion::default();
                for (i, record) in records.iter().enumerate() {
                    let (predicted, target) =
                        positive(record).map_err(|problem| refuse!("record {}: {problem}", i + 1))?;
                    counts.add(predicted, target);
                }
                Ok(if records.is_empty() { None } else { formula.value(&counts) })
            }
        }
    }

    /// The values of metrics of the answers to records with these targets, in the order of the names. Fails as [`Self::evaluate`], with the
    /// name of the metric.
    pub fn judge<'a>(
        &self,
        names: &[String],
        answers: impl Iterator<Item = &'a [f32]>,
        targets: &[f64],
    ) -> Result<Vec<Option<f64>>, Refusal> {
        let record = |(output, target): (&'a [f32], &f64)| Record { output, target: *target };
        let records: Vec<Record> = answers.zip(targets).map(record).collect();
        let value = |name: &String| {
            self.evaluate(name.trim(), &records).map_err(|e| e.within(|what| format!("{name}: {what}")))
        };
        names.iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_metrics_stand_beside_the_known_ones() {
        let mut metrics = Metrics::default();
        metrics.register("balanced = (TPR + TNR) / 2").unwrap();
        metrics.register("best2=topk_2").unwrap();
        let rows: [(&[f32], f64); 4] = [(&[0.9], 1.0), (&[0.6], 0.0), (&[0.4], 1.0), (&[0.7], 1.0)];
        let records: Vec<Record> = rows.iter().map(|(output, target)| Record { output, target: *target }).collect();
        assert_eq!(metrics.evaluate("Balanced", &records).unwrap(), Some((2.0 / 3.0) / 2.0));
        assert_eq!(metrics.evaluate("Recall", &records).unwrap(), Some(2.0 / 3.0));
        let scores: [(&[f32], f64); 2] = [(&[0.1, 0.7, 0.2], 2.0), (&[0.5, 0.2, 0.3], 1.0)];
        let scores: Vec<Record> = scores.iter().map(|(output, target)| Record { output, target: *target }).collect();
        assert_eq!(metrics.evaluate("best2", &scores).unwrap(), Some(0.5));
        assert!(metrics.evaluate("balanced", &scores).unwrap_err().to_string().contains("record 1"));
        assert_eq!(metrics.evaluate("balanced", &[]).unwrap(), None);
        assert!(metrics.evaluate("speed", &records).is_err());
    }

    #[test]
    fn names_are_checked() {
        let mut metrics = Metrics::default();
        let mut said = |text: &str| metrics.register(text).err().map(|e| e.to_string()).unwrap_or_default();
        assert_eq!(said("a=TP"), "");
        assert!(said("A=FP").contains("already") && said("accuracy=TP").contains("already"));
        assert!(said("a b=TP").contains("cannot be the name") && said("TP").contains("name=formula"));
        assert!(said("b=TP+").contains("something is missing"));
    }
}
