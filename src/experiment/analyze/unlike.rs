//! Models that were run with several batch sizes on one product: their rows must not be compared.

use std::collections::{BTreeMap, BTreeSet};

use super::fields::AnalyzedRecord;

/// Batch sizes by model, product and test, each with the backends that had it.
#[derive(Default)]
pub(super) struct BatchSizes(BTreeMap<[String; 3], BTreeMap<String, BTreeSet<String>>>);

impl BatchSizes {
    /// Takes a record. A failure has no batch size.
    pub fn push(&mut self, record: &AnalyzedRecord) {
        let batch = record.get("batch_size").csv();
        if record.error.is_some() || batch.is_empty() {
            return;
        }
        let key = ["model_name", "accelerator_model", "test"].map(|column| record.get(column).csv());
        let backend = ["xla", "dynamo"].map(|column| format!("{column}={}", record.get(column).dimension())).join(" ");
        self.0.entry(key).or_default().entry(batch).or_default().insert(backend);
    }

    /// A sentence for each model whose backends do not all have the same batch sizes.
    pub fn unlike(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter(|(_, batches)| !are_alike(batches)).map(|([model, product, test], batches)| {
            let of = |(batch, backends): (&String, &BTreeSet<String>)| {
                format!("{batch} with {}", backends.iter().map(String::as_str).collect::<Vec<_>>().join(" and "))
            };
            format!("{model} on {product}, {test}: {}", batches.iter().map(of).collect::<Vec<_>>().join("; "))
        })
    }
}

/// Whether every batch size has the same backends.
fn are_alike(batches: &BTreeMap<String, BTreeSet<String>>) -> bool {
    let mut all = batches.values();
    let first = all.next();
    all.all(|backends| Some(backends) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(records: &[(&str, u32)]) -> Vec<String> {
        let mut sizes = BatchSizes::default();
        for (dynamo, batch) in records {
            let line = format!(
                r#"{{"model": {{"model_name": "m"}}, "experiment": {{"accelerator_model": "p", "xla": null, "dynamo": {dynamo}, "test": "eval", "batch_size": {batch}}}, "metrics": {{"total_time": [1]}}}}"#
            );
            sizes.push(&AnalyzedRecord::of(line.as_bytes()).unwrap());
        }
        sizes.unlike().collect()
    }

    #[test]
    fn only_backends_with_other_batch_sizes_are_named() {
        let both = [("null", 1), ("\"inductor\"", 1), ("null", 8), ("\"inductor\"", 8)];
        assert_eq!(sizes(&both), [""; 0]);
        assert_eq!(sizes(&both[..2]), [""; 0]);
        assert_eq!(
            sizes(&[both[0], both[3]]),
            ["m on p, eval: 1 with xla=None dynamo=None; 8 with xla=None dynamo=inductor"]
        );
    }
}
