//! The stored part of the lines: one number for each series.

use std::collections::BTreeMap;
use std::hash::BuildHasherDefault;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHasher;

use super::accelerator::{AcceleratorChoice, known_accelerator};
use super::backend::Backend;
use super::batches::{BatchKey, Batches};
use super::measure::Measure;
use super::measure::Metric;
use crate::plan::{ModelFilter, Test};
use crate::record::{LineError, LineNotes, RawRecord, numbers, parse_line, timestamp, trimmed};
use ns_base::{Refusal, refuse};

type FxIndexMap<K, V> = IndexMap<K, V, BuildHasherDefault<FxHasher>>;

/// The selection of records, and the metric.
#[derive(Clone, Debug)]
pub struct Selection {
    pub accelerator: AcceleratorChoice,
    pub models: ModelFilter,
    /// Inference or training.
    pub test: Test,
    pub metric: Metric,
    /// Count unusable lines and go on, instead of failing.
    pub lenient: bool,
}

/// Records that failed or were skipped.
const NO_TIME: &str = "records have no time (failures, skipped models)";

/// Batch sizes by the number of a model, in order of first appearance.
pub(super) type Models = FxIndexMap<u32, Batches>;

/// The series of one timestamp.
#[derive(Clone, Debug, Default)]
pub(super) struct TimePoint {
    pub timestamp: f64,
    pub backends: [Models; Backend::ALL.len()],
}

/// Series by timestamp. Lines are pushed one after another.
#[derive(Clone, Debug)]
pub struct Aggregator {
    selection: Selection,
    /// Each model; with records of any accelerator also the accelerator, because times of two are not compared.
    models: IndexSet<(String, Option<String>), BuildHasherDefault<FxHasher>>,
    accelerators: IndexSet<String, BuildHasherDefault<FxHasher>>,
    points: BTreeMap<u64, TimePoint>,
    notes: LineNotes,
    /// Counts of the records that the selection leaves out, by the reason.
    left_out: LineNotes,
}

/// What a selection makes of a record.
enum Found {
    Selected(LineContent),
    /// Left out, because it is this.
    LeftOut(&'static str),
}

/// A record that was read before, in the form that reports need.
#[derive(Clone, Copy, Debug)]
pub struct RecordView<'a> {
    /// Kind of accelerator, if the record has it.
    pub kind: Option<&'a str>,
    /// Name of the accelerator's product.
    pub product: &'a str,
    /// Name of the model.
    pub model: &'a str,
    /// `eval` or `train`.
    pub test: &'a str,
    pub backend: Backend,
    /// Samples of one inference as the record writes them: a number, or `null`.
    pub batch: &'a str,
    /// Seconds since 1970.
    pub timestamp: f64,
    /// The measure in the metric of the selection; `None` for a record that failed or has too few repeats.
    pub measure: Option<Measure>,
}

/// The contents of a selected line.
struct LineContent {
    timestamp: f64,
    backend: Backend,
    model: String,
    batch: BatchKey,
    /// The measure, or why there is none.
    measure: Result<Measure, &'static str>,
    accelerator: String,
    /// Whether it is compared only with records of its accelerator.
    is_apart: bool,
}

/// What is said of records of the test that is not asked for.
const fn other_test(asked: Test) -> &'static str {
    match asked {
        Test::Eval => "records are of --test train",
        Test::Train => "records are of --test eval",
    }
}

impl Aggregator {
    pub fn new(selection: Selection) -> Self {
        Self {
            selection,
            models: IndexSet::default(),
            accelerators: IndexSet::default(),
            points: BTreeMap::new(),
            notes: LineNotes::default(),
            left_out: LineNotes::default(),
        }
    }

    /// Takes a line. `place` is its position for messages: `file:line`. Fails when the line cannot be used; if the selection is
    /// lenient, it is only noted.
    pub fn push_line(&mut self, line: &[u8], place: impl Fn() -> String) -> Result<(), LineError> {
        let found = trimmed(line).and_then(|text| parse_line(text, |record| self.find(record)));
        match found {
            Ok(Found::Selected(found)) => self.keep(found, place),
            Ok(Found::LeftOut(what)) => self.left_out.add(what, String::new),
            Err(error) if self.selection.lenient => {
                self.notes.add("lines cannot be used", || format!("{}: {error}", place()));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Takes a record that was read before; a record that is not selected is left out.
    pub fn take(&mut self, seen: &RecordView<'_>) {
        let Selection { accelerator, models, test, .. } = &self.selection;
        let wanted = accelerator.wants(seen.kind, seen.product).unwrap_or(false);
        if !wanted || !models.keeps(seen.model) || seen.test != test.name() {
            return;
        }
        let found = LineContent {
            timestamp: seen.timestamp,
            backend: seen.backend,
            model: seen.model.to_owned(),
            batch: BatchKey::of(seen.batch),
            measure: seen.measure.ok_or(NO_TIME),
            accelerator: known_accelerator(seen.product).unwrap_or(seen.product).to_owned(),
            is_apart: false,
        };
        self.keep(found, String::new);
    }

    /// The notes about lines.
    pub fn notes(&self) -> &LineNotes {
        &self.notes
    }

    /// Notes something about a file, such as that it is empty.
    pub fn note(&mut self, what: &'static str, example: impl FnOnce() -> String) {
        self.notes.add(what, example);
    }

    /// Products of the stored records, in order of first appearance.
    pub fn accelerators(&self) -> impl Iterator<Item = &str> {
        self.accelerators.iter().map(String::as_str)
    }

    /// Backends that have records, in the order of [`Backend::ALL`].
    pub fn backends(&self) -> Vec<Backend> {
        let has = |b: &Backend| self.points.values().any(|point| !point.backends[b.index()].is_empty());
        Backend::ALL.into_iter().filter(has).collect()
    }

    /// Whether no record is stored.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Fails when no record is stored, with what the records are that were read.
    pub fn check_some(&self) -> Result<(), Refusal> {
        let kinds = self.left_out.kinds().iter().chain(self.notes.kinds());
        let read: Vec<String> = kinds.map(|kind| format!("{} {}", kind.count, kind.what)).collect();
        match (self.is_empty(), read.is_empty()) {
            (false, _) => Ok(()),
            (true, true) => Err(refuse!("no results found")),
            (true, false) => Err(refuse!("no results found: {}", read.join("; "))),
        }
    }

    /// Timestamps in order, with their series.
    pub(super) fn points(&self) -> impl DoubleEndedIterator<Item = &TimePoint> {
        self.points.values()
    }

    /// The model's name, with its accelerator if there are several.
    pub(super) fn model_name(&self, model: u32) -> String {
        match self.models.get_index(model as usize) {
            Some((name, Some(accelerator))) if self.accelerators.len() > 1 => format!("{name} on {accelerator}"),
            Some((name, _)) => name.clone(),
            None => String::new(),
        }
    }

    fn find(&self, record: &RawRecord<'_>) -> Result<Found, LineError> {
        let Selection { accelerator, models, test, metric, lenient } = &self.selection;
        let experiment = &record.experiment;
        let product = experiment.accelerator_model.as_ref();
        let unknown = || {
            refuse!(
                "accelerator_model '{product}' is not one of the known ones (One of Tesla V100, NVIDIA A100-SXM4-40GB, One of Quadro P1000, NVIDIA RTX A6000); --lenient takes any"
            )
        };
        let wanted = accelerator.wants(experiment.accelerator.as_deref(), product).ok_or_else(unknown)?;
        let is_of_test = experiment.test == test.name();
        for (is_kept, what) in [
            (wanted, "records are of another accelerator"),
            (models.keeps(&record.model.model_name), "records are of models that the filters leave out"),
            (is_of_test, other_test(*test)),
        ] {
            if !is_kept {
                return Ok(Found::LeftOut(what));
            }
        }
        let backend = Backend::of(experiment.dynamo.as_deref(), experiment.xla.as_deref())?;
        let timestamp = timestamp(record.timestamp.get())?;
        let measure = match record.metrics.total_time {
            None => Err(NO_TIME),
            Some(null) if *lenient && null.get() == "null" => Err(NO_TIME),
            Some(times) => metric.of(&numbers("metrics.total_time", times.get())?).ok_or(metric.too_few_repeats()),
        };
        let batch = BatchKey::of(experiment.batch_size.get());
        let accelerator = known_accelerator(product).unwrap_or(product).to_owned();
        let model = record.model.model_name.as_ref().to_owned();
        let is_apart = self.selection.accelerator == AcceleratorChoice::Any;
        Ok(Found::Selected(LineContent { timestamp, backend, model, batch, measure, accelerator, is_apart }))
    }

    fn keep(&mut self, found: LineContent, place: impl Fn() -> String) {
        let measure = match found.measure {
            Ok(measure) => measure,
            Err(why) => return self.notes.add(why, place),
        };
        let apart = found.is_apart.then(|| found.accelerator.clone());
        self.accelerators.insert(found.accelerator);
        let (model, _) = self.models.insert_full((found.model, apart));
        let model = u32::try_from(model).unwrap_or(u32::MAX);
        // Zero has one key, whatever its sign.
        let timestamp = found.timestamp + 0.0;
        let point = self.points.entry(in_order(timestamp)).or_default();
        point.timestamp = timestamp;
        let batches = point.backends[found.backend.index()].entry(model).or_default();
        if batches.replace(found.batch, measure) {
            self.notes.add("records repeat an earlier one and replace it", place);
        }
    }
}

/// Bits that compare in the same order as the numbers.
fn in_order(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_keep_their_order_as_bits() {
        let times = [-2.5, -1.0, 0.0, 1e-9, 1.0, 1_699_680_738.723_406_8];
        assert!(times.map(in_order).is_sorted());
    }
}
