//! One experiment from its configuration to its record, and the HLO that its backend compiles.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::error::RunError;
use super::network::Network;
use super::noise::NoiseReport;
use super::on_neuroncore::simulate;
use super::on_processor::measure;
use super::suite::{Suite, SuiteModel};
use super::verify::{RuleVerdict, verify_all};
use crate::plan::{Accelerator, Dynamo, ExperimentConfig, Test};
use crate::record::{Metrics, Record, RecordExperiment, RecordModel, RecordRequest, SKIP};
use ns_base::{Clock, Refusal};
use ns_compiler::hlo::print;
use ns_compiler::{CompileOptions, Pipeline, Workflow};
use ns_device::{ModelKind, ModelLibrary};
use ns_model::ModelSpec;
use ns_model::training::{Optimizer, TrainingCall};

/// The rules of verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verification {
    /// The mean relative error of the README.
    MeanRelativeError,
    /// The rules in force.
    Current,
}

impl Verification {
    /// The name in options and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MeanRelativeError => "mre",
            Self::Current => "current",
        }
    }
}

/// The experiment to run.
#[derive(Clone, Copy, Debug)]
pub struct Experiment<'a> {
    /// Suite of the model.
    pub suite: Suite,
    pub model: &'a SuiteModel,
    pub config: &'a ExperimentConfig,
    /// Timed runs.
    pub repeat: u32,
    /// Inferences in one timed run.
    pub iterations_per_run: u32,
    /// Samples of one inference, or the model's default.
    pub batch_size: Option<u32>,
    /// Seed of weights and inputs.
    pub seed: u64,
    /// Whether to verify instead of timing.
    pub verify: Option<Verification>,
    /// Seeds that are verified, beginning with `seed`.
    pub verify_iterations: u32,
    /// Whether to time each iteration as the shortest of many calls; measured runs only.
    pub pure_wall_time: bool,
    /// Seconds since 1970.
    pub timestamp: f64,
    /// Name of the processor.
    pub processor: &'a str,
}

/// A record, and notes for the user.
#[derive(Clone, Debug)]
pub struct FinishedExperiment {
    pub record: Record,
    /// Why it failed or was skipped.
    pub error: Option<RunError>,
    /// The noise of the times, if they were measured.
    pub noise: Option<NoiseReport>,
}

/// Runs an experiment. It never fails: an experiment that cannot run is a record with an error.
pub fn run_experiment(experiment: &Experiment<'_>, clock: &dyn Clock) -> FinishedExperiment {
    run_experiment_of(experiment, &ModelLibrary::default(), clock)
}

/// As [`run_experiment`], of a model of the zoo or of `models`.
pub fn run_experiment_of(experiment: &Experiment<'_>, models: &ModelLibrary, clock: &dyn Clock) -> FinishedExperiment {
    let trained = experiment.called_model();
    let experiment = match &trained {
        Ok(model) => &Experiment { model, ..*experiment },
        Err(_) => experiment,
    };
    let check = |experiment: &Experiment<'_>| trained.clone().and_then(|_| check(experiment));
    let (outcome, code, error_value, reason) = match experiment.verify {
        Some(rules) => match check(experiment).and_then(|()| verify_all(experiment, rules)) {
            Ok(RuleVerdict { code, error, reason }) => (Ok(ExperimentTimes::default()), code, error, reason),
            Err(error) => (Err(error), "VERIFIER_SKIPPED".to_owned(), None, None),
        },
        None => {
            let outcome = check(experiment).and_then(|()| time(experiment, models, clock));
            let code = if outcome.is_ok() { "VERIFIER_SKIPPED" } else { "VERIFIER_DIDNT_RUN" };
            (outcome, code.to_owned(), None, None)
        }
    };
    let noise = outcome.as_ref().ok().filter(|_| experiment.config.accelerator == Accelerator::Cpu);
    let noise = noise.and_then(|t| NoiseReport::of(&t.metrics.total_time, clock.resolution_ns(), &t.calibration_ns));
    let (metrics, batch_size, error) = match outcome {
        Ok(timed) => (timed.metrics, timed.batch, None),
        Err(error) if error.is_skip() => (Metrics::failed(SKIP.to_owned()), None, Some(error)),
        Err(error) => (Metrics::failed(error.to_string()), None, Some(error)),
    };
    let mut record = experiment.record(metrics, batch_size);
    (record.verification_code, record.verification_reason) = (code, reason);
    (record.verification_mean_rel_error, record.verification_limit) = error_value.unzip();
    FinishedExperiment { record, error, noise }
}

impl Experiment<'_> {
    /// Why it cannot run here, as far as that is known before it runs.
    pub fn problem(&self) -> Option<RunError> {
        check(self).err()
    }

    /// The record of this experiment with these metrics.
    pub fn record(&self, metrics: Metrics, batch_size: Option<u32>) -> Record {
        let accelerator = self.config.accelerator;
        let product = match (accelerator, accelerator.instance()) {
            (_, Some(instance)) => format!("NeuronCore of {instance}, simulated"),
            (Accelerator::Cpu, None) => self.processor.to_owned(),
            (_, None) => format!("no {} on this machine", accelerator.name()),
        };
        Record {
            model: RecordModel { suite_name: self.suite.name().to_owned(), model_name: self.model.name.clone() },
            experiment: RecordExperiment::new(self.config, &product, batch_size),
            repeat: self.repeat,
            iterations_per_run: self.iterations_per_run,
            metrics,
            timestamp: self.timestamp,
            verification_code: "VERIFIER_DIDNT_RUN".to_owned(),
            verification_mean_rel_error: None,
            verification_limit: None,
            verification_reason: None,
            request: Some(RecordRequest {
                batch_size: self.batch_size,
                seed: self.seed,
                verify: self.verify.map(|v| v.name().to_owned()),
                verify_iterations: self.verify_iterations,
                pure_wall_time: self.pure_wall_time,
            }),
        }
    }

    /// The model as it is called: in training, a call is a step with stochastic gradient descent.
    fn called_model(&self) -> Result<SuiteModel, RunError> {
        if self.config.test != Test::Train {
            return Ok(self.model.clone());
        }
        if ModelKind::of(&self.model.specification) == ModelKind::File {
            let instead = "a file holds the forward pass alone; use --test eval, or a model of the suite";
            return Err(RunError::NotHere { what: "training of a model file", instead });
        }
        let spec: Result<ModelSpec, _> = self.model.specification.parse();
        let spec = spec.map_err(|e| RunError::Model { model: self.model.name.clone(), reason: e.to_string() })?;
        let specification = spec.with_training(Some(TrainingCall::step(Optimizer::Sgd))).to_string();
        Ok(SuiteModel { specification, ..self.model.clone() })
    }

    pub(super) fn batch(&self) -> Result<u32, RunError> {
        // The batch size of a model file is known when it is opened.
        if let Some(batch) = self.batch_size.or(self.model.batch_size) {
            return Ok(batch);
        }
        let spec: Result<ModelSpec, _> = self.model.specification.parse();
        let spec = spec.map_err(|e| RunError::Model { model: self.model.name.clone(), reason: e.to_string() })?;
        Ok(u32::try_from(spec.info().default_batch_size).unwrap_or(1))
    }
}

fn check(experiment: &Experiment<'_>) -> Result<(), RunError> {
    let config = experiment.config;
    let refused = |what, instead| Err(RunError::NotHere { what, instead });
    match config.accelerator {
        Accelerator::Cuda => {
            return refused(
                "a GPU",
                "use cpu (measured), or trn1, inf2, trn2 (simulated); where torch finds a GPU, python -m neuronscope experiment with the same flags measures it",
            );
        }
        Accelerator::Tpu => return refused("a TPU", "use cpu (measured), or trn1, inf2, trn2 (simulated)"),
        _ => {}
    }
    if let Some((what, instead)) = config.problem() {
        return refused(what, instead);
    }
    let is_file = ModelKind::of(&experiment.model.specification) == ModelKind::File;
    if is_file && (config.accelerator == Accelerator::Cpu || experiment.verify.is_some()) {
        return refused(
            "a model file on the processor",
            "use trn1, inf2 or trn2 without --verify; neuronscope bench FILE --device-type cpu measures it, and neuronscope numerics FILE checks its values",
        );
    }
    if config.torch_xla2.is_some() {
        return refused("torch_xla2", "leave --torch-xla2 out");
    }
    if experiment.pure_wall_time && config.accelerator != Accelerator::Cpu {
        return refused(
            "--pure-wall-time on a simulated core",
            "its time is the same at every call; leave the flag out",
        );
    }
    Ok(())
}

/// The times of an experiment; empty if outputs were verified instead.
#[derive(Default)]
struct ExperimentTimes {
    metrics: Metrics,
    batch: Option<u32>,
    /// Times of the work between the repeats; empty if nothing was measured.
    calibration_ns: Vec<u64>,
}

fn time(experiment: &Experiment<'_>, models: &ModelLibrary, clock: &dyn Clock) -> Result<ExperimentTimes, RunError> {
    if let Some(instance) = experiment.config.accelerator.instance() {
        let batch = experiment.batch()?;
        let metrics = simulate(experiment, models, instance, batch)?;
        return Ok(ExperimentTimes { metrics, batch: Some(batch), calibration_ns: Vec::new() });
    }
    let network = Network::new(experiment.model, experiment.batch_size, experiment.seed)?;
    let (metrics, calibration_ns) = measure(experiment, &network, clock)?;
    Ok(ExperimentTimes { metrics, batch: Some(network.batch()), calibration_ns })
}

impl Experiment<'_> {
    /// The module as text: as lowered for eager runs, with fused loops for the others, and for a simulated core with the
    /// transfers of its workflow. Fails when the model cannot be built or compiled.
    pub fn hlo(&self) -> Result<String, RunError> {
        let model = self.called_model()?;
        if self.config.accelerator.instance().is_none() {
            let fused = self.config.dynamo.is_some() || self.config.xla.is_some();
            return Ok(print(&*Network::new(&model, self.batch_size, self.seed)?.compile(fused)?));
        }
        let named =
            |e: &dyn std::fmt::Display| RunError::Model { model: self.model.name.clone(), reason: e.to_string() };
        let traced = self.config.dynamo == Some(Dynamo::Openxla);
        let workflow = if traced { Workflow::Trace } else { Workflow::MarkStep };
        let spec: ModelSpec = model.specification.parse().map_err(|e: Refusal| named(&e))?;
        let graph = spec.trace(u64::from(self.batch()?)).map_err(|e| named(&e))?;
        let pipeline = Pipeline::of_graph(Rc::new(graph), workflow, CompileOptions::default());
        pipeline.optimised().map(|optimised| print(&optimised.module)).map_err(|e| named(&e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Dynamo, Xla};
    use ns_base::ManualClock;

    fn config(accelerator: Accelerator, xla: bool, dynamo: Option<Dynamo>) -> ExperimentConfig {
        ExperimentConfig {
            accelerator,
            xla: xla.then_some(Xla::Pjrt),
            xla_flags: None,
            dynamo,
            torch_xla2: None,
            test: Test::Eval,
            keep_model_data_on_cuda: None,
            enable_functionalization: false,
        }
    }

    fn run(config: &ExperimentConfig, verify: Option<Verification>) -> Record {
        let model = Suite::Dummy.model("dummy").unwrap();
        let experiment = Experiment {
            suite: Suite::Dummy,
            model: &model,
            config,
            repeat: 3,
            iterations_per_run: 2,
            batch_size: None,
            seed: 1,
            verify,
            verify_iterations: 1,
            pure_wall_time: false,
            timestamp: 5.0,
            processor: "a processor",
        };
        run_experiment(&experiment, &ManualClock::default()).record
    }

    #[test]
    fn simulated_runs_are_deterministic_and_traced_models_do_less() {
        let lazy = run(&config(Accelerator::Trn1, true, None), None);
        let traced = run(&config(Accelerator::Trn1, true, Some(Dynamo::Openxla)), None);
        assert_eq!(lazy, run(&config(Accelerator::Trn1, true, None), None));
        let times = &lazy.metrics.total_time;
        assert!(times[0] > times[1] && times[1] == times[2] && times[1] > traced.metrics.total_time[1]);
        assert_eq!(lazy.metrics.per_iter_time[1], times[1] / 2.0);
        assert_eq!((lazy.metrics.compile_number, lazy.experiment.batch_size), (vec![1, 0, 0], Some(16)));
    }

    #[test]
    fn impossible_experiments_are_skipped() {
        let record = run(&config(Accelerator::Cuda, false, None), None);
        assert_eq!(record.metrics.error.as_deref(), Some("SKIP"));
        assert_eq!((record.verification_code.as_str(), record.experiment.batch_size), ("VERIFIER_DIDNT_RUN", None));
    }

    #[test]
    fn a_combination_that_cannot_run_has_no_times_of_another() {
        for (accelerator, xla, dynamo) in [
            (Accelerator::Trn1, true, Some(Dynamo::Inductor)),
            (Accelerator::Trn1, false, None),
            (Accelerator::Trn2, false, Some(Dynamo::Openxla)),
            (Accelerator::Cpu, true, Some(Dynamo::Inductor)),
        ] {
            let record = run(&config(accelerator, xla, dynamo), None);
            assert_eq!(
                (record.metrics.error.as_deref(), record.metrics.total_time.len()),
                (Some("SKIP"), 0),
                "{dynamo:?}"
            );
        }
    }

    #[test]
    fn a_training_step_takes_longer_than_an_inference_and_agrees_with_eager() {
        let eval = config(Accelerator::Trn1, true, Some(Dynamo::Openxla));
        let train = ExperimentConfig { test: Test::Train, ..eval.clone() };
        let (inference, step) = (run(&eval, None), run(&train, None));
        assert_eq!((&step.metrics.error, step.experiment.test.as_str()), (&None, "train"));
        assert!(step.metrics.total_time[1] > inference.metrics.total_time[1]);
        for accelerator in [Accelerator::Cpu, Accelerator::Trn1] {
            let traced = config(accelerator, true, Some(Dynamo::Openxla));
            let record = run(&ExperimentConfig { test: Test::Train, ..traced }, Some(Verification::MeanRelativeError));
            assert_eq!(record.verification_code, "PASS", "{accelerator:?}");
        }
    }

    #[test]
    fn every_backend_agrees_with_eager() {
        for rules in [Verification::Current, Verification::MeanRelativeError] {
            for config in [
                config(Accelerator::Cpu, false, None),
                config(Accelerator::Cpu, false, Some(Dynamo::Inductor)),
                config(Accelerator::Cpu, true, None),
                config(Accelerator::Trn1, true, Some(Dynamo::Openxla)),
            ] {
                let record = run(&config, Some(rules));
                assert_eq!(record.verification_code, "PASS", "{config:?} {rules:?}");
                assert_eq!(record.metrics, Metrics::default());
            }
        }
    }
}
