//! Verification of an experiment: two eager runs, and the experiment's own.
//!
//! There is no double-precision run as a reference, so the current rules compare directions when values are not close, as
//! the suite does for a model whose double-precision run raises an exception.

use std::rc::Rc;

use super::error::RunError;
use super::experiment::{Experiment, Verification};
use super::network::Network;
use crate::plan::{Dynamo, Test};
use crate::record::PASS;
use crate::verify::{ElementType, Outcome, Output, SameSettings, TensorValue, mean_relative_error_rules, same_rules};
use ns_base::units::format_figures;
use ns_neuron::numerics::{DEFAULT_TOLERANCE, NumericsProgress, NumericsRun, NumericsSpec, SizeLimits};
use ns_tensor::Tensor;

/// The verdict of the rules.
pub(super) struct RuleVerdict {
    pub code: String,
    /// The mean relative error, and the limit of the rules; absent where none can be computed.
    pub error: Option<(f64, f64)>,
    /// Why a simulated core's outputs are beyond the limit.
    pub reason: Option<String>,
}

/// Tolerance of inference under the current rules.
const INFERENCE_TOLERANCE: f64 = 1e-2;

/// Verifies with each requested seed; returns the first verdict that is not a pass, or the pass with the largest error.
pub(super) fn verify_all(experiment: &Experiment<'_>, rules: Verification) -> Result<RuleVerdict, RunError> {
    let mut worst: Option<RuleVerdict> = None;
    for offset in 0..experiment.verify_iterations.max(1) {
        let one = verify(&Experiment { seed: experiment.seed.wrapping_add(u64::from(offset)), ..*experiment }, rules)?;
        if one.code != PASS {
            return Ok(one);
        }
        let error = |v: &RuleVerdict| v.error.map(|(error, _)| error);
        if worst.as_ref().is_none_or(|w| error(w) < error(&one)) {
            worst = Some(one);
        }
    }
    worst.map_or_else(|| verify(experiment, rules), Ok)
}

/// Verifies by the rules.
fn verify(experiment: &Experiment<'_>, rules: Verification) -> Result<RuleVerdict, RunError> {
    if let Some(instance) = experiment.config.accelerator.instance() {
        return on_device(experiment, instance, rules);
    }
    let network = Network::new(experiment.model, experiment.batch_size, experiment.seed)?;
    let run = |fused| -> Result<Outcome, RunError> {
        let outputs = network.bind(network.compile(fused)?)?.run()?;
        // These rules compare one tensor: of a training step the loss, which is its first result.
        let compared = if experiment.config.test == Test::Train { outputs.get(..1) } else { None };
        Ok(Outcome::Returned(output(compared.unwrap_or(&outputs))))
    };
    let eager = [run(false)?, run(false)?];
    let fused = experiment.config.xla.is_some() || experiment.config.dynamo == Some(Dynamo::Inductor);
    let test = run(fused)?;
    Ok(judge([&eager[0], &eager[1]], &test, rules))
}

fn judge(eager: [&Outcome; 2], test: &Outcome, rules: Verification) -> RuleVerdict {
    let limit = limit_of(rules);
    let by_mean = mean_relative_error_rules(eager, test, limit);
    let error = by_mean.error.filter(|e| e.is_finite()).map(|error| (error, limit));
    match rules {
        Verification::MeanRelativeError => RuleVerdict { code: name_of(by_mean.code), error, reason: None },
        Verification::Current => {
            let settings = SameSettings { tolerance: limit, cosine: false };
            let code = name_of(same_rules(eager, &Outcome::Raised, test, settings));
            // These rules compare elements; the mean says how wrong outputs are.
            RuleVerdict { error: error.filter(|_| code != PASS), code, reason: None }
        }
    }
}

const fn limit_of(rules: Verification) -> f64 {
    match rules {
        Verification::MeanRelativeError => DEFAULT_TOLERANCE,
        Verification::Current => INFERENCE_TOLERANCE,
    }
}

fn name_of(code: impl serde::Serialize) -> String {
    serde_json::to_value(code).ok().and_then(|c| c.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Values as a NeuronCore computes them, against the reference: by the mean relative error of each output, whichever
/// rules were requested, with their tolerance.
fn on_device(experiment: &Experiment<'_>, instance: &str, rules: Verification) -> Result<RuleVerdict, RunError> {
    let failed = |reason: String| RunError::Model { model: experiment.model.name.clone(), reason };
    let spec = NumericsSpec {
        model: experiment.model.specification.clone(),
        batch_size: Some(experiment.batch()?),
        instance: instance.to_owned(),
        seed: experiment.seed,
        tolerance: limit_of(rules),
        ..NumericsSpec::default()
    };
    let mut run = NumericsRun::new(spec, SizeLimits::NATIVE).map_err(|e| failed(e.to_string()))?;
    loop {
        match run.step(u64::MAX).map_err(|e| failed(e.to_string()))? {
            NumericsProgress::More { .. } => {}
            NumericsProgress::Done(report) => {
                // Of a training step the loss is judged, as on a processor.
                let is_step = experiment.config.test == Test::Train;
                let judged = if is_step { report.outputs.get(..1) } else { None }.unwrap_or(&report.outputs);
                let worst = judged.iter().filter_map(|o| o.mean_relative_error).reduce(f64::max);
                let code = if is_step && judged.iter().all(|o| o.passed) { PASS.to_owned() } else { report.status };
                let largest = judged.iter().filter_map(|o| o.max_abs_error).reduce(f64::max);
                let reason = largest.filter(|_| code != PASS).map(|largest| {
                    format!(
                        "products are cast to bf16, as the compiler does by default, and the mean counts elements near zero most: the largest difference of an element is {}",
                        format_figures(largest)
                    )
                });
                return Ok(RuleVerdict { code, error: worst.map(|error| (error, limit_of(rules))), reason });
            }
        }
    }
}

fn output(tensors: &[Rc<Tensor>]) -> Output {
    let tensor = |t: &Rc<Tensor>| {
        Output::Tensor(TensorValue {
            element: ElementType::F32,
            shape: t.dims().iter().map(|d| usize::try_from(*d).unwrap_or(usize::MAX)).collect(),
            values: t.data().iter().map(|v| f64::from(*v)).collect(),
        })
    };
    match tensors {
        [one] => tensor(one),
        many => Output::Sequence(many.iter().map(tensor).collect()),
    }
}
