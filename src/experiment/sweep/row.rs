//! An experiment that has ended.

use serde::{Deserialize, Serialize};

use super::kind::ExperimentsRun;
use super::plan_rows::PlannedExperiment;
use crate::aggregate::Metric;
use crate::record::{Metrics, Record};
use crate::run::{Experiment, FinishedExperiment, SuiteModel, run_experiment};
use ns_base::Clock;

/// The result of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentRow {
    /// Its record, as a line of `results.jsonl` without the line's end.
    pub line: String,
    /// Seconds of one inference once warm; `None` without enough repeats.
    pub iteration_s: Option<f64>,
    /// The verifier's code, if values were verified.
    pub verdict: Option<String>,
    /// Why it has no times.
    pub error: Option<String>,
    /// Whether the error is that it cannot run here, which another try does not change.
    pub is_skip: bool,
    /// Wrong outputs, and what makes times doubtful, one sentence each.
    pub notes: Vec<String>,
}

impl ExperimentRow {
    /// Runs an experiment. It never fails: an experiment that cannot run is a row with an error.
    pub fn run(run: &ExperimentsRun, planned: &PlannedExperiment, clock: &dyn Clock) -> Self {
        let suite = run.request.plan.suite;
        let parsed = suite.model(&planned.model).map_err(|e| e.to_string());
        let config = serde_json::from_str(&planned.config).map_err(|e| format!("--experiment-config: {e}"));
        let (model, config) = match parsed.and_then(|model| Ok((model, config?))) {
            Ok(both) => both,
            Err(message) => return Self::failed(run, planned, message),
        };
        let settings = &run.request.settings;
        let experiment = settings.experiment(suite, &model, &config, &run.processor, run.timestamp);
        Self::of(&run_experiment(&experiment, clock), &experiment)
    }

    /// The row of an experiment that ended without one: its worker died, for instance.
    pub fn failed(run: &ExperimentsRun, planned: &PlannedExperiment, message: String) -> Self {
        // The record needs the name of the model, not its network.
        let model = SuiteModel { name: planned.model.clone(), specification: String::new(), batch_size: None };
        let record = serde_json::from_str(&planned.config).ok().map(|config| {
            let settings = &run.request.settings;
            let suite = run.request.plan.suite;
            let experiment = settings.experiment(suite, &model, &config, &run.processor, run.timestamp);
            experiment.record(Metrics::failed(message.clone()), None)
        });
        Self {
            line: record.as_ref().map(line_of).unwrap_or_default(),
            iteration_s: None,
            verdict: None,
            error: Some(message),
            is_skip: false,
            notes: Vec::new(),
        }
    }

    fn of(finished: &FinishedExperiment, experiment: &Experiment<'_>) -> Self {
        let record = &finished.record;
        let unverified = record.unverified().filter(|_| finished.error.is_none());
        let noise = finished.noise.iter().flat_map(|noise| noise.advice(None));
        let warm = Metric::Execution.of(&record.metrics.per_iter_time);
        Self {
            line: line_of(record),
            iteration_s: warm.map(|measure| measure.avg),
            verdict: experiment.verify.map(|_| record.verification_code.clone()),
            error: finished.error.as_ref().map(ToString::to_string),
            is_skip: record.is_skip(),
            notes: unverified.into_iter().chain(noise).collect(),
        }
    }
}

fn line_of(record: &Record) -> String {
    // A record of this program has no number without a JSON form.
    record.to_line().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Accelerator, ExpandOptions, PlanRequest, Test};
    use crate::record::PASS;
    use crate::run::{RunSettings, Verification};
    use crate::sweep::ExperimentsRequest;
    use ns_base::ManualClock;

    fn run(accelerator: Vec<Accelerator>, verify: Option<Verification>) -> ExperimentsRun {
        let expand = ExpandOptions {
            accelerator,
            test: vec![Test::Eval],
            xla_devices: vec!["CPU".to_owned()],
            ..ExpandOptions::default()
        };
        let plan = PlanRequest { expand, ..PlanRequest::default() };
        let settings = RunSettings { repeat: 4, verify, ..RunSettings::default() };
        let request = ExperimentsRequest { plan, settings, timestamp: None };
        ExperimentsRun { request, timestamp: 5.5, processor: "browser".to_owned() }
    }

    fn rows(run: &ExperimentsRun) -> Vec<(PlannedExperiment, ExperimentRow)> {
        let clock = ManualClock::default();
        let plan = run.request.plan();
        assert_eq!((plan.problem, plan.suite_models), (None, vec!["dummy".to_owned()]));
        plan.rows.into_iter().map(|p| (p.clone(), ExperimentRow::run(run, &p, &clock))).collect()
    }

    #[test]
    fn a_row_is_a_record_with_its_time() {
        let run = run(vec![Accelerator::Trn1], None);
        for (planned, row) in rows(&run) {
            assert!(!planned.is_measured && planned.problem.is_none());
            let record: Record = serde_json::from_str(&row.line).unwrap();
            assert_eq!((record.timestamp, record.metrics.total_time.len()), (5.5, 4));
            assert_eq!(row.iteration_s, Some(record.metrics.per_iter_time[3]));
            assert_eq!((row.error, row.verdict, row.is_skip), (None, None, false));
            let died = ExperimentRow::failed(&run, &planned, "the worker died".to_owned());
            let record: Record = serde_json::from_str(&died.line).unwrap();
            assert_eq!(record.metrics.error.as_deref(), Some("the worker died"));
        }
    }

    #[test]
    fn a_gpu_is_a_row_that_says_why_it_was_skipped() {
        let all = rows(&run(vec![Accelerator::Cuda], None));
        assert!(!all.is_empty());
        for (planned, row) in all {
            assert_eq!(planned.problem, row.error);
            assert!(row.is_skip && row.error.unwrap().starts_with("a GPU cannot be run"));
            assert!(row.line.contains(r#""error": "SKIP""#), "{}", row.line);
        }
    }

    #[test]
    fn a_processor_is_measured_unless_its_values_are_verified() {
        assert!(rows(&run(vec![Accelerator::Cpu], None)).iter().all(|(planned, _)| planned.is_measured));
        for (planned, row) in rows(&run(vec![Accelerator::Cpu], Some(Verification::MeanRelativeError))) {
            assert!(!planned.is_measured);
            assert_eq!(row.verdict.as_deref(), Some(PASS));
        }
    }
}
