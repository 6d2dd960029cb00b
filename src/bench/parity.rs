//! Compares a model file with the zoo's version of the same model: both should be equally fast.

use super::config::bench_config::BenchConfig;
use super::run::configuration_run::{ConfigurationRun, RunDetail};
use super::run::times::service_times;
use super::sweep::expand::expand;
use ns_base::units::format_change;
use ns_base::{NeverCancel, Refusal, refuse};
use ns_device::{ModelLibrary, model_label};

/// Simulated seconds of each run. The runs have no jitter, so a longer one would give the same result.
const DURATION_S: f64 = 2.0;

/// Throughput of a model file and of a model of the zoo, at one batch size.
#[derive(Clone, Debug, PartialEq)]
pub struct Parity {
    /// The file, by its name.
    pub file: String,
    /// The model of the zoo.
    pub zoo: String,
    /// Samples of one inference.
    pub batch_size: u32,
    /// Samples a second of the model of the zoo.
    pub zoo_per_s: f64,
    /// Samples a second of the file; or why it has none, for example because it was exported for another batch size.
    pub file_per_s: Result<f64, Refusal>,
}

impl Parity {
    /// How much faster the file is, as a fraction of the zoo's throughput; `None` if the file has no throughput.
    pub fn difference(&self) -> Option<f64> {
        self.file_per_s.as_ref().ok().map(|file| file / self.zoo_per_s - 1.0)
    }
}

/// Runs a model of the zoo and a model file on all NeuronCores of an instance, with two workers each and without jitter. Fails when
/// the model of the zoo cannot run there.
pub fn parity(
    zoo: &str,
    file: &str,
    instance: &str,
    batch_size: u32,
    models: &ModelLibrary,
) -> Result<Parity, Refusal> {
    Ok(Parity {
        file: model_label(file).into_owned(),
        zoo: zoo.to_owned(),
        batch_size,
        zoo_per_s: throughput(zoo, instance, batch_size, models)?,
        file_per_s: throughput(file, instance, batch_size, models),
    })
}

fn throughput(model: &str, instance: &str, batch_size: u32, models: &ModelLibrary) -> Result<f64, Refusal> {
    let config = BenchConfig {
        model: model.to_owned(),
        instance_type: instance.to_owned(),
        batch_sizes: vec![batch_size],
        workers_per_model: Some(vec![2]),
        duration_s: DURATION_S,
        jitter: 0.0,
        ..BenchConfig::default()
    };
    let sweep = expand(&config)?;
    let busiest = sweep.configurations.into_iter().max_by_key(|c| c.n_models);
    let configuration = busiest.ok_or_else(|| refuse!("{}: nothing to run", model_label(model)))?;
    let times = service_times(&configuration, models)?;
    let run = ConfigurationRun::new(configuration, Ok(&times)).run(&NeverCancel, RunDetail::default());
    let error = run.report.error.map_or(refuse!("the run measured no throughput"), Refusal::new);
    run.report.throughput_window.ok_or(error)
}

/// Several comparisons as a Markdown table. Rows without a throughput of the file are left out; a column gives the difference.
pub fn parity_markdown(rows: &[Parity]) -> String {
    let mut out = "| file | model of the zoo | batch | zoo, samples/s | file, samples/s | difference |\n|---|---|--:|--:|--:|--:|\n".to_owned();
    for row in rows {
        let (Ok(file), Some(difference)) = (&row.file_per_s, row.difference()) else { continue };
        out.push_str(&format!(
            "| `{}` | `{}` | {} | {:.1} | {file:.1} | {} |\n",
            row.file,
            row.zoo,
            row.batch_size,
            row.zoo_per_s,
            format_change(difference * 100.0)
        ));
    }
    out
}
