//! From a row to a configuration, and from a configuration to a throughput.

use crate::base::NeverCancel;
use crate::bench::{BenchConfig, ConfigurationRun, ReportDetail, expand, service_times};
use crate::machine::arch::instance;
use crate::model::zoo::ModelSpec;

use super::PublishedRow;

/// Simulated seconds of a prediction: enough for a steady state of requests of milliseconds.
const DURATION_S: f64 = 4.0;
/// Rows of PyTorch 1.13 are of an earlier compiler and runtime, whose calls take longer by this factor (derived: the
/// shapes published for both generations). One factor for a generation, none for a model.
const TORCH_1_FACTOR: f64 = 1.09;

/// What is predicted for a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Model specification that was simulated.
    pub model: String,
    /// Inferences per second.
    pub throughput: f64,
}

/// Predicts the throughput of a row.
///
/// # Errors
/// With the reason a row can not be predicted: no such model or instance, not an inference, no batch size.
pub fn predict(row: &PublishedRow) -> Result<Prediction, String> {
    let config = configuration(row)?;
    let mut sweep = expand(&config).map_err(|e| e.to_string())?;
    let Some(configuration) = sweep.configurations.pop() else { return Err("no configuration".to_owned()) };
    let times = service_times(&configuration)?;
    let model = configuration.model.clone();
    let run = ConfigurationRun::new(configuration, Ok(&times)).run(&NeverCancel, ReportDetail::Summary);
    match (run.report.throughput_window, run.report.error) {
        (Some(throughput), _) => Ok(Prediction { model, throughput: throughput / generation_factor(&row.framework) }),
        (None, error) => Err(error.unwrap_or_else(|| "the run gave no throughput".to_owned())),
    }
}

fn generation_factor(framework: &str) -> f64 {
    if framework.contains(" 1.") { TORCH_1_FACTOR } else { 1.0 }
}

fn configuration(row: &PublishedRow) -> Result<BenchConfig, String> {
    if !row.kind.is_empty() && row.kind != "inference" {
        return Err(format!("a row of kind {}, not inference", row.kind));
    }
    let Some(size) = instance(&row.instance) else { return Err(format!("unknown instance '{}'", row.instance)) };
    let batch_size = row.batch_size.ok_or("no batch size")?;
    let model = specification(row)?;
    let (n_models, workers_per_model) = placement(row);
    Ok(BenchConfig {
        model,
        instance_type: size.name.to_owned(),
        n_models: Some(vec![n_models]),
        workers_per_model: Some(vec![workers_per_model]),
        batch_sizes: vec![batch_size],
        duration_s: DURATION_S,
        ..BenchConfig::default()
    })
}

/// The zoo's name for the row's model, with the sequence length where the model has one.
fn specification(row: &PublishedRow) -> Result<String, String> {
    let name = row.model.trim().to_ascii_lowercase();
    let plain: ModelSpec = name.parse().map_err(|_| format!("no model '{}' in the zoo", row.model))?;
    let has_sequence = plain.info().parameters.iter().any(|p| p.name == "seq");
    match row.sequence_or_image.parse::<u64>() {
        Ok(seq) if has_sequence => {
            let with = format!("{name}:seq={seq}");
            with.parse::<ModelSpec>().map_err(|e| e.to_string())?;
            Ok(with)
        }
        _ => Ok(name),
    }
}

/// Cores and workers: as the row says, else by the requests that were in flight.
fn placement(row: &PublishedRow) -> (u32, u32) {
    let outstanding = row.outstanding_requests.unwrap_or(1);
    match (row.n_models_or_cores, outstanding) {
        (Some(models), o) => (models.max(1), (o / models.max(1)).max(1)),
        (None, 0 | 1) => (1, 1),
        (None, o) => (2, (o / 2).max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_in_flight_decide_cores_and_workers() {
        let row = |outstanding| PublishedRow { outstanding_requests: Some(outstanding), ..PublishedRow::default() };
        assert_eq!([1, 2, 4, 6].map(|o| placement(&row(o))), [(1, 1), (2, 1), (2, 2), (2, 3)]);
        let said = PublishedRow { n_models_or_cores: Some(16), outstanding_requests: Some(32), ..row(0) };
        assert_eq!(placement(&said), (16, 2));
    }

    #[test]
    fn what_can_not_be_predicted_says_why() {
        let row =
            PublishedRow { model: "resnet9000".into(), instance: "inf2.xlarge".into(), ..PublishedRow::default() };
        assert_eq!(predict(&row).unwrap_err(), "no batch size");
        let row = PublishedRow { batch_size: Some(1), ..row };
        assert_eq!(predict(&row).unwrap_err(), "no model 'resnet9000' in the zoo");
    }
}
