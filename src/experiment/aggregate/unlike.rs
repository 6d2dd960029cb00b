//! Models whose batch sizes differ between a backend and the baseline: a time at one batch size says nothing about a time at
//! another, so these pairs have no speed-up.

use ns_base::Order;
use std::collections::BTreeMap;

use super::backend::Backend;
use super::batches::BatchKey;
use super::store::Aggregator;

/// A model that a backend and the baseline's backend ran with different batch sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlikeBatches {
    pub model: String,
    pub backend: Backend,
    /// Batch sizes of the backend that the baseline never has, as in records.
    pub alone: Vec<String>,
    /// Batch sizes of the baseline's backend.
    pub baseline: Vec<String>,
    /// Whether they have no batch size in common, so that the backend's reports leave the model out.
    pub is_left_out: bool,
}

/// Models of the chosen backends with batch sizes that the first of them never has, in order of backends and names.
pub fn unlike_batches(records: &Aggregator, backends: &[Backend]) -> Vec<UnlikeBatches> {
    let Some((first, others)) = backends.split_first() else { return Vec::new() };
    let baseline = batches_of(records, *first);
    let mut found = Vec::new();
    for backend in others {
        for (model, batches) in batches_of(records, *backend) {
            let Some(known) = baseline.get(&model) else { continue };
            let alone: Vec<String> = batches.iter().filter(|b| !known.contains(b)).cloned().collect();
            if !alone.is_empty() {
                let is_left_out = alone.len() == batches.len();
                let baseline = known.clone();
                found.push(UnlikeBatches { model, backend: *backend, alone, baseline, is_left_out });
            }
        }
    }
    found
}

/// Every batch size that a backend ever had, by model; numbers in order, then the rest.
fn batches_of(records: &Aggregator, backend: Backend) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<&BatchKey>> = BTreeMap::new();
    for point in records.points() {
        for (model, batches) in &point.backends[backend.index()] {
            all.entry(records.model_name(*model)).or_default().extend(batches.iter().map(|(batch, _)| batch));
        }
    }
    let named = |(model, mut batches): (_, Vec<&BatchKey>)| {
        batches.order_by(|a, b| a.order().total_cmp(&b.order()).then_with(|| a.to_string().cmp(&b.to_string())));
        batches.dedup();
        (model, batches.into_iter().map(ToString::to_string).collect())
    };
    all.into_iter().map(named).collect()
}

impl std::fmt::Display for UnlikeBatches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { model, backend, alone, baseline, is_left_out } = self;
        write!(f, "{model}: {} has {}, the baseline {}", backend.name(), alone.join(", "), baseline.join(", "))?;
        f.write_str(if *is_left_out { "; it is left out" } else { "; only the common ones count" })
    }
}
