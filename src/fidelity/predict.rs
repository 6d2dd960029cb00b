//! From a row to a configuration, and from a configuration to a throughput.

use serde::Serialize;

use ns_base::{NeverCancel, Refusal, refuse};
use ns_bench::{
    BenchConfig, Configuration, ConfigurationRun, RunDetail, RunOptions, SdkGeneration, ServiceTimes, expand,
    service_times,
};
use ns_device::ModelLibrary;
use ns_machine::arch::{INSTANCES, Instance, instance};
use ns_model::zoo::ModelSpec;

use super::PublishedRow;
use super::micro::Micro;

/// Simulated seconds of a prediction: enough for a steady state of requests of milliseconds.
const DURATION_S: f64 = 4.0;

/// The prediction for a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Model specification that was simulated.
    pub model: String,
    /// Inferences per second.
    pub throughput: f64,
    /// The number of cores and workers.
    pub placement: Placement,
    /// The constant of the cost table that was solved from this row, which is therefore no test of that constant.
    pub solved: Option<&'static str>,
}

/// Cores and workers of a row, and how they were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Model copies, each on a core of its own.
    pub n_models: u32,
    pub workers_per_model: u32,
    /// How they were found.
    pub basis: PlacementBasis,
}

/// How the cores and workers of a row were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlacementBasis {
    /// Stated in the table.
    Stated,
    /// From the requests in flight, which are throughput times latency over the batch size: Little's law with
    /// measured figures. It only decides between a few whole numbers and affects a prediction in no other way.
    LittlesLaw,
    /// Not stated in the table: one core and one worker are assumed.
    Assumed,
}

/// Predicts the throughput of a row. Fails with the reason why the row cannot be predicted: the model or instance is unknown, it is
/// not an inference, or it has no batch size.
pub fn predict(row: &PublishedRow) -> Result<Prediction, Refusal> {
    if row.model.is_empty() {
        return Err(refuse!("no model"));
    }
    if let Some(micro) = Micro::of(row) {
        return micro.predict(row);
    }
    let configuration = configuration(row)?;
    let times = service_times(&configuration, &ModelLibrary::default())?;
    let model = configuration.model.clone();
    let placement = placement(row);
    let throughput = throughput(configuration, &times)?;
    Ok(Prediction { model, throughput, placement, solved: None })
}

/// Inferences per second of a configuration with these stage times.
pub(super) fn throughput(configuration: Configuration, times: &ServiceTimes) -> Result<f64, Refusal> {
    let run = ConfigurationRun::new(configuration, Ok(times)).run(&NeverCancel, RunDetail::default());
    match (run.report.throughput_window, run.report.error) {
        (Some(throughput), _) => Ok(throughput),
        (None, error) => Err(error.map_or_else(|| refuse!("the run measured no throughput"), Refusal::new)),
    }
}

/// The benchmark that a row describes.
pub(super) fn configuration(row: &PublishedRow) -> Result<Configuration, Refusal> {
    let mut sweep = expand(&sweep_of(row)?)?;
    sweep.configurations.pop().ok_or_else(|| refuse!("no configuration"))
}

fn sweep_of(row: &PublishedRow) -> Result<BenchConfig, Refusal> {
    if !row.kind.is_empty() && !row.kind.eq_ignore_ascii_case("inference") {
        return Err(refuse!("a row of kind {}, not inference", row.kind));
    }
    if row.model.to_ascii_lowercase().contains("gpt2") && row.task.contains("(AutoModel)") {
        return Err(refuse!("the row names AutoModel, which has no head, and {} is a model with its head", row.model));
    }
    let model = specification(row)?;
    let unit = row.throughput_unit.to_ascii_lowercase();
    if !unit.is_empty() && !SAMPLE_UNITS.iter().any(|u| unit.starts_with(u)) {
        return Err(refuse!("throughput in {}, which is not samples a second", row.throughput_unit));
    }
    let size = instance_of(&row.instance)?;
    let batch_size = row.batch_size.ok_or_else(|| refuse!("no batch size"))?;
    let Placement { n_models, workers_per_model, .. } = placement(row);
    Ok(BenchConfig {
        model,
        instance_type: size.name.to_owned(),
        n_models: Some(vec![n_models]),
        workers_per_model: Some(vec![workers_per_model]),
        batch_sizes: vec![batch_size],
        duration_s: DURATION_S,
        options: RunOptions { sdk_generation: SdkGeneration::of_framework(&row.framework), ..RunOptions::default() },
        ..BenchConfig::default()
    })
}

/// Prefixes of units that count samples per second: inf/s, inferences/s, samples/s, images/s, sequences/s, tokens/s
/// of a decoder.
const SAMPLE_UNITS: [&str; 6] = ["inf", "sample", "image", "img", "seq", "token"];

/// The instance that a text names: `Inf2.xlarge`, `trn1.2xlarge or inf2.xlarge (1 NeuronCore-v2)`, or a family alone,
/// `trn2 (1 NC-v3)`, which means its smallest size.
pub(super) fn instance_of(text: &str) -> Result<&'static Instance, Refusal> {
    let words = || text.split(|c: char| c.is_whitespace() || c == '(' || c == ',').filter(|w| !w.is_empty());
    let family = |word: &str| {
        let of_family = |i: &&Instance| i.name.split('.').next().is_some_and(|f| f.eq_ignore_ascii_case(word));
        INSTANCES.iter().find(of_family)
    };
    match words().find_map(|w| instance(w).or_else(|| family(w))) {
        Some(found) => Ok(found),
        None if text.is_empty() => Err(refuse!("no instance")),
        None => Err(refuse!("unknown instance '{text}'")),
    }
}

/// The zoo's name for the row's model, with the sequence length where the model has one.
fn specification(row: &PublishedRow) -> Result<String, Refusal> {
    let name = row.model.trim().to_ascii_lowercase();
    let plain: ModelSpec = name.parse().map_err(|_| refuse!("no model '{}' in the zoo", row.model))?;
    let has_sequence = plain.info().parameters.iter().any(|p| p.name == "seq");
    match row.sequence_or_image.parse::<u64>() {
        Ok(seq) if has_sequence && !name.contains("seq=") => {
            let joint = if name.contains(':') { ',' } else { ':' };
            let with = format!("{name}{joint}seq={seq}");
            with.parse::<ModelSpec>()?;
            Ok(with)
        }
        Err(_) if is_other_image(&row.sequence_or_image) => {
            Err(refuse!("images of {}; the zoo's models take {IMAGE} x {IMAGE}", row.sequence_or_image))
        }
        _ => Ok(name),
    }
}

/// Side of the images that the zoo's models take.
const IMAGE: u64 = 224;

/// Whether a text is an image size, such as `224x224` or `3x224x224`, that differs from the zoo's.
fn is_other_image(text: &str) -> bool {
    let sizes: Option<Vec<u64>> = text.split(['x', 'X']).map(|n| n.trim().parse().ok()).collect();
    sizes.is_some_and(|sizes| sizes.len() >= 2 && sizes.iter().rev().take(2).any(|n| *n != IMAGE))
}

/// Cores and workers: as stated in the row, else from the requests in flight.
fn placement(row: &PublishedRow) -> Placement {
    let outstanding = row.outstanding_requests.unwrap_or(1);
    let of = |n_models: u32, workers: u32, basis| Placement { n_models, workers_per_model: workers.max(1), basis };
    let by_requests =
        if row.outstanding_requests.is_some() { PlacementBasis::LittlesLaw } else { PlacementBasis::Assumed };
    match (row.n_models_or_cores.map(|models| models.max(1)), row.workers_per_model) {
        (Some(models), Some(workers)) => of(models, workers, PlacementBasis::Stated),
        (Some(models), None) => of(models, outstanding / models, by_requests),
        (None, _) if outstanding <= 1 => of(1, 1, by_requests),
        (None, _) => of(2, outstanding / 2, by_requests),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_in_flight_decide_cores_and_workers() {
        let row = |outstanding| PublishedRow { outstanding_requests: Some(outstanding), ..PublishedRow::default() };
        let placed = |row: &PublishedRow| {
            let p = placement(row);
            (p.n_models, p.workers_per_model, p.basis)
        };
        use PlacementBasis::{Assumed, LittlesLaw, Stated};
        let by_law = [(1, 1, LittlesLaw), (2, 1, LittlesLaw), (2, 2, LittlesLaw), (2, 3, LittlesLaw)];
        assert_eq!([1, 2, 4, 6].map(|o| placed(&row(o))), by_law);
        let models_said = PublishedRow { n_models_or_cores: Some(16), ..row(32) };
        assert_eq!(placed(&models_said), (16, 2, LittlesLaw));
        let all_said = PublishedRow { workers_per_model: Some(3), ..models_said };
        assert_eq!(placed(&all_said), (16, 3, Stated));
        assert_eq!(placed(&PublishedRow::default()), (1, 1, Assumed));
    }

    #[test]
    fn unpredictable_rows_have_a_reason() {
        let row =
            PublishedRow { model: "resnet9000".into(), instance: "inf2.xlarge".into(), ..PublishedRow::default() };
        assert_eq!(predict(&row).unwrap_err().to_string(), "no model 'resnet9000' in the zoo");
        let row = PublishedRow { model: "ResNet50".into(), ..row };
        assert_eq!(predict(&row).unwrap_err().to_string(), "no batch size");
        let large = PublishedRow { sequence_or_image: "512x512".into(), ..row.clone() };
        assert_eq!(predict(&large).unwrap_err().to_string(), "images of 512x512; the zoo's models take 224 x 224");
        let tflops = PublishedRow { throughput_unit: "HFU %".into(), ..row };
        assert_eq!(predict(&tflops).unwrap_err().to_string(), "throughput in HFU %, which is not samples a second");
        assert_eq!(predict(&PublishedRow::default()).unwrap_err().to_string(), "no model");
    }

    #[test]
    fn instances_are_recognised_in_cells() {
        let name = |text| instance_of(text).map(|i| i.name);
        assert_eq!(name("INF2.XLARGE"), Ok("inf2.xlarge"));
        assert_eq!(name("trn1.2xlarge or inf2.xlarge (1 NeuronCore-v2)"), Ok("trn1.2xlarge"));
        assert_eq!(name("trn1"), Ok("trn1.2xlarge"));
        assert_eq!(name("inf1.6xlarge (MAX=16)"), Ok("inf1.6xlarge"));
        assert_eq!(name("").unwrap_err().what(), "no instance");
        assert_eq!(name("p5.48xlarge").unwrap_err().what(), "unknown instance 'p5.48xlarge'");
    }

    #[test]
    fn sequence_lengths_and_organisations_are_understood() {
        let row = |model: &str, size: &str| PublishedRow {
            model: model.into(),
            sequence_or_image: size.into(),
            ..PublishedRow::default()
        };
        assert_eq!(specification(&row("BERT-base-uncased", "64")).unwrap(), "bert-base-uncased:seq=64");
        assert_eq!(specification(&row("bert-base-uncased:seq=32", "64")).unwrap(), "bert-base-uncased:seq=32");
        assert_eq!(specification(&row("vit-base-patch16-224", "3x224x224")).unwrap(), "vit-base-patch16-224");
        assert!(specification(&row("bert-base-uncased", "9999")).is_err());
    }
}
