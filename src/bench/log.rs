//! Log lines of a benchmark in NeuronPerf's wording.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use ns_base::{Refusal, SimTime, refuse};

use crate::config::bench_config::BenchConfig;
use crate::config::configuration::Configuration;
use crate::index::ModelEntry;
use crate::measured::measurement::Measurement;
use crate::reports::report::Report;
use crate::sweep::plan::remaining_text;

/// How much is logged: NeuronPerf's `verbosity`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verbosity {
    /// 0: errors only.
    Silent,
    /// 1: each configuration.
    #[default]
    Info,
    /// 2: every step.
    Debug,
}

impl FromStr for Verbosity {
    type Err = Refusal;

    /// Reads a number or the name that NeuronPerf's guide has for it: `2`, `VERBOSE`, `DEBUG`.
    fn from_str(text: &str) -> Result<Self, Refusal> {
        match text.to_ascii_lowercase().as_str() {
            "0" | "silent" => Ok(Self::Silent),
            "1" | "info" => Ok(Self::Info),
            "2" | "verbose" | "debug" => Ok(Self::Debug),
            _ => Err(refuse!("'{text}' is not a verbosity; write 0 (silent), 1 (info) or 2 (debug)")),
        }
    }
}

impl Verbosity {
    /// A log line, if its level is logged at this verbosity: `INFO:neuronperf.benchmarking - ...`.
    pub fn line(self, level: Self, text: &str) -> Option<String> {
        let word = match level {
            Self::Silent => "ERROR",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
        };
        (level <= self).then(|| format!("{word}:neuronperf.benchmarking - {text}"))
    }

    /// The lines before anything runs: a note if no cast was specified.
    pub fn at_start(self, config: &BenchConfig) -> Vec<String> {
        let default = BenchConfig::default();
        let names_a_cast = config.index.as_ref().is_some_and(|index| index.finished().any(ModelEntry::names_a_cast))
            || config.performance_levels != default.performance_levels
            || config.options.compile != default.options.compile
            || config.compile != default.compile;
        let line = self.line(Self::Debug, "Cast mode was not specified, assuming default.");
        line.filter(|_| !names_a_cast).into_iter().collect()
    }

    /// The lines when a configuration of a model or an index of this name starts, with the time of all that remain. A configuration that cannot start
    /// has no benchmarkers.
    pub fn before(self, name: &str, configuration: &Configuration, remaining_s: f64) -> Vec<String> {
        let remaining = remaining_text(SimTime::from_secs_f64(remaining_s));
        let begin = self.line(Self::Info, &format!("Benchmarking '{name}', ~{remaining} remaining."));
        let config = Report::described(configuration);
        let running = self.line(Self::Debug, &format!("Running model config: {}", python_dict(configuration, &config)));
        let level = config.performance_level.map_or_else(String::new, |level| format!(", performance level {level}"));
        let place = self.line(Self::Debug, &format!("Simulated on {}{level}.", config.instance_type));
        let place = place.filter(|_| config.device_type == "neuron");
        let mut lines: Vec<String> = begin.into_iter().chain(running).chain(place).collect();
        if self == Self::Debug && configuration.check().is_ok() {
            for model in 0..configuration.n_models {
                lines.extend(self.line(Self::Debug, &format!("Benchmarker {model} started.")));
                let workers = 0..configuration.workers_per_model;
                let started = |w| self.line(Self::Debug, &format!("Benchmarker {model}, Worker {w} started."));
                lines.extend(workers.filter_map(started));
            }
        }
        lines
    }

    /// The lines after a configuration has run.
    pub fn after(
        self,
        configuration: &Configuration,
        measurement: Option<&Measurement>,
        error: Option<&str>,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(measurement) = measurement.filter(|_| self == Self::Debug) {
            let mut say = |text: String| lines.extend(self.line(Self::Debug, &text));
            let per_model = configuration.workers_per_model.max(1) as usize;
            for (model, workers) in measurement.timers.e2e.chunks(per_model).enumerate() {
                for (w, timer) in workers.iter().enumerate() {
                    say(format!("Benchmarker {model}, Worker {w} finished after {} inferences.", timer.count));
                }
                say(format!("Benchmarker {model} finished."));
            }
        }
        if let Some(error) = error {
            lines.extend(self.line(Self::Silent, &format!("Failure benchmarking config: {error}")));
        }
        lines
    }
}

/// The configuration as Python prints a dictionary: NeuronPerf's keys in its order.
fn python_dict(configuration: &Configuration, report: &Report) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    let python = |b: bool| if b { "True" } else { "False" };
    format!(
        "{{'model_filename': {}, 'device_type': {}, 'input_idx': {}, 'batch_size': {}, 'n_models': {}, 'workers_per_model': {}, 'pipeline_size': {}, 'cast_mode': {}, 'multiprocess': {}, 'multiinterpreter': {}, 'start_dts': {}, 'duration': {}}}",
        quoted(&report.model_filename),
        quoted(&report.device_type),
        configuration.input_idx,
        report.batch_size,
        report.n_models,
        report.workers_per_model,
        report.pipeline_size,
        configuration.cast_mode.as_deref().map_or_else(|| "None".to_owned(), quoted),
        python(report.multiprocess),
        python(report.multiinterpreter),
        quoted(&report.start_dts),
        quoted(&report.duration),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConfigurationRun, RunDetail, ServiceTimes, expand};
    use ns_base::NeverCancel;

    #[test]
    fn an_index_says_its_casts_and_inputs() {
        let text = |cast: &str| {
            format!(
                r#"{{"version": "0", "model_configs": [{{"filename": "a.pt", "model": "nn", "input_idx": 1, "cast_mode": {cast}}}]}}"#
            )
        };
        let config = |cast: &str| BenchConfig {
            index: Some(crate::ModelIndex::read(&text(cast)).unwrap().index),
            ..BenchConfig::default()
        };
        assert_eq!(Verbosity::Debug.at_start(&config("null")).len(), 1);
        assert!(Verbosity::Debug.at_start(&config("\"all\"")).is_empty());
        let row = expand(&config("\"all\"")).unwrap().configurations.remove(0);
        let line = &Verbosity::Debug.before("nn", &row, 5.0)[1];
        assert!(line.contains("'input_idx': 1, ") && line.contains("'cast_mode': 'all', "), "{line}");
    }

    #[test]
    fn the_lines_are_those_of_the_guide() {
        let config = BenchConfig {
            model_name: Some("resnet50.json".into()),
            duration_s: 5.0,
            n_models: Some(vec![1]),
            workers_per_model: Some(vec![2]),
            ..BenchConfig::default()
        };
        let configuration = expand(&config).unwrap().configurations.remove(0);
        let times = ServiceTimes { device: vec![SimTime::from_us(3_000)], ..ServiceTimes::default() };
        let detail = RunDetail { timers: true, ..RunDetail::default() };
        let run = ConfigurationRun::new(configuration.clone(), Ok(&times)).run(&NeverCancel, detail);
        let cast = "DEBUG:neuronperf.benchmarking - Cast mode was not specified, assuming default.";
        assert_eq!(Verbosity::Debug.at_start(&config), [cast]);
        let asked = BenchConfig { performance_levels: vec![0], ..config.clone() };
        assert!(Verbosity::Debug.at_start(&asked).is_empty() && Verbosity::Info.at_start(&config).is_empty());
        let before = Verbosity::Debug.before(&configuration.model_name, &configuration, 5.0);
        assert_eq!(before[0], "INFO:neuronperf.benchmarking - Benchmarking 'resnet50.json', ~5 seconds remaining.");
        assert!(
            before[1].starts_with("DEBUG:neuronperf.benchmarking - Running model config: {'model_filename': 'models/")
        );
        let keys: Vec<&str> =
            before[1].split("'").skip(1).step_by(2).filter(|t| before[1].contains(&format!("'{t}': "))).collect();
        let guide = [
            "model_filename",
            "device_type",
            "input_idx",
            "batch_size",
            "n_models",
            "workers_per_model",
            "pipeline_size",
        ];
        assert_eq!(keys[..7], guide, "{}", before[1]);
        assert!(
            before[1].contains("'input_idx': 0, ") && before[1].contains("'cast_mode': None, 'multiprocess': True")
        );
        assert!(
            before[1].contains("'workers_per_model': 2") && before[1].ends_with("'duration': '5'}"),
            "{}",
            before[1]
        );
        assert!(before[2].ends_with("Simulated on trn1.2xlarge, performance level 3."), "{}", before[2]);
        let after = Verbosity::Debug.after(&configuration, run.measurement.as_ref(), None);
        let debug = "DEBUG:neuronperf.benchmarking - Benchmarker 0";
        let started = [" started.", ", Worker 0 started.", ", Worker 1 started."].map(|end| format!("{debug}{end}"));
        assert_eq!(before[3..], started);
        assert_eq!((after.len(), &after[2]), (3, &format!("{debug} finished.")));
        assert!(after[0].contains("Worker 0 finished after 8") && after[0].ends_with(" inferences."), "{}", after[0]);
        let too_many = Configuration { n_models: 64, ..configuration.clone() };
        assert_eq!(Verbosity::Debug.before("nn", &too_many, 5.0).len(), 3);
        assert_eq!("info".parse::<Verbosity>().unwrap().before("nn", &configuration, 480.0).len(), 1);
        assert!(Verbosity::Silent.before("nn", &configuration, 480.0).is_empty());
        assert_eq!(Verbosity::Silent.after(&configuration, None, Some("no room")).len(), 1);
    }
}
