//! The records of a benchmark's data set: whether they fit its model, and what metrics say of the answers. `neuronscope bench --dataset FILE`.

use ns_base::{Refusal, refuse};
use ns_bench::dataset::Records;
use ns_bench::evaluate::{JudgedRecords, check_records, find_metric};
use ns_device::ModelKind;

/// The metrics that a benchmark asks for.
#[derive(Clone, Copy, Debug)]
pub struct MetricsAsk<'a> {
    /// Their names; empty for none.
    pub names: &'a [String],
    /// The column with the right answers; `None` for the last one.
    pub target: Option<&'a str>,
}

/// Checks the metrics of a benchmark whose data set is called so. Fails with the metric that does not exist, and when the data set is only a
/// number of records.
pub fn check_metrics(ask: MetricsAsk<'_>, dataset: &str) -> Result<(), Refusal> {
    for name in ask.names {
        find_metric(name.trim()).map_err(|e| refuse!("--eval-metrics: {e}"))?;
    }
    match is_count(dataset) && !ask.names.is_empty() {
        true => {
            Err(refuse!("--eval-metrics: {dataset} records have no values; name the dataset's file with --dataset"))
        }
        false => Ok(()),
    }
}

/// Whether a data set is a number of records, and no file.
pub fn is_count(dataset: &str) -> bool {
    dataset.trim().parse::<i64>().is_ok()
}

/// The records of a benchmark's data set with the metrics that it asks for. `model` is empty where an index names the models: no sizes are
/// compared then. Fails when the target column does not exist, or a record has another size than the input of the model.
pub fn bench_records(file: &str, all: Records, ask: MetricsAsk<'_>, model: &str) -> Result<JudgedRecords, Refusal> {
    let fits = if !model.is_empty() && ModelKind::of(model) == ModelKind::Zoo {
        check_records(file, &all, model).map_err(|e| refuse!("--dataset: {e}"))
    } else {
        Ok(())
    };
    let judged = JudgedRecords::new(file, all, ask.names, ask.target).map_err(|e| refuse!("--eval-metrics: {e}"))?;
    fits.map(|()| judged)
}
