//! The experiments that were run before: a resumed run does only the missing ones.

use rustc_hash::FxHashMap;

use super::experiment::Experiment;
use crate::record::{Record, RecordExperiment};

/// Everything that decides what an experiment measures. Unlike the suite's, it includes repeats, iterations, seed and
/// verification; only the time of the run and its outcome are left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint as text, for programs that keep it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The fingerprint of an experiment to run.
    pub fn of(experiment: &Experiment<'_>) -> Self {
        let record = experiment.record(crate::record::Metrics::default(), None);
        Self::of_record(&record)
    }

    /// The fingerprint of a record. The batch size is the requested one: the real one is not known if a run failed.
    pub fn of_record(record: &Record) -> Self {
        let RecordExperiment {
            accelerator, xla, xla_flags, dynamo, torch_xla2, test, enable_functionalization, ..
        } = &record.experiment;
        let request = record.request.clone().unwrap_or_default();
        let parts = (
            (&record.model.suite_name, &record.model.model_name),
            (accelerator, xla, xla_flags, dynamo, torch_xla2, test, enable_functionalization),
            (record.repeat, record.iterations_per_run, request.batch_size, request.seed),
            (request.verify, request.verify_iterations, request.pure_wall_time),
        );
        Self(serde_json::to_string(&parts).unwrap_or_default())
    }
}

/// How experiments of earlier runs ended.
#[derive(Clone, Debug, Default)]
pub struct DoneBefore {
    ended: FxHashMap<Fingerprint, bool>,
    /// Lines that are not records.
    pub bad_lines: u64,
}

impl DoneBefore {
    /// Takes a line of the results. The last record of an experiment counts.
    pub fn push_line(&mut self, line: &str) {
        match serde_json::from_str::<Record>(line) {
            Ok(record) => {
                let failed = record.metrics.error.as_deref().is_some_and(|e| e != "SKIP");
                self.ended.insert(Fingerprint::of_record(&record), !failed);
            }
            Err(_) if line.trim().is_empty() => {}
            Err(_) => self.bad_lines += 1,
        }
    }

    /// Whether an experiment should run: it never did, or, with `retry_failed`, it did and failed.
    pub fn wants(&self, experiment: &Experiment<'_>, retry_failed: bool) -> bool {
        match self.ended.get(&Fingerprint::of(experiment)) {
            None => !retry_failed,
            Some(succeeded) => retry_failed && !succeeded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Accelerator, ExperimentConfig, Test};
    use crate::record::Metrics;
    use crate::run::{Suite, SuiteModel};

    fn experiment<'a>(model: &'a SuiteModel, config: &'a ExperimentConfig, repeat: u32) -> Experiment<'a> {
        Experiment {
            suite: Suite::Dummy,
            model,
            config,
            repeat,
            iterations_per_run: 1,
            batch_size: None,
            seed: 1,
            verify: None,
            verify_iterations: 1,
            pure_wall_time: false,
            timestamp: 0.0,
            processor: "p",
        }
    }

    #[test]
    fn a_run_is_done_when_all_of_its_configuration_is_the_same() {
        let model = Suite::Dummy.model("dummy").unwrap();
        let config = ExperimentConfig {
            accelerator: Accelerator::Cpu,
            xla: None,
            xla_flags: None,
            dynamo: None,
            torch_xla2: None,
            test: Test::Eval,
            keep_model_data_on_cuda: None,
            enable_functionalization: false,
        };
        let first = experiment(&model, &config, 3);
        let mut before = DoneBefore::default();
        assert!(before.wants(&first, false) && !before.wants(&first, true));
        before.push_line(&first.record(Metrics::failed("died".to_owned()), None).to_line().unwrap());
        assert!(!before.wants(&first, false) && before.wants(&first, true));
        let later = Experiment { timestamp: 9.0, processor: "q", ..first };
        before.push_line(&later.record(Metrics::default(), Some(16)).to_line().unwrap());
        before.push_line("{");
        assert!(!before.wants(&first, false) && !before.wants(&first, true));
        assert!(before.wants(&Experiment { repeat: 4, ..first }, false));
        assert!(before.wants(&Experiment { batch_size: Some(16), ..first }, false));
        assert!(before.wants(&Experiment { pure_wall_time: true, ..first }, false));
        assert!(before.wants(&Experiment { verify_iterations: 2, ..first }, false));
        assert_eq!(before.bad_lines, 1);
    }
}
