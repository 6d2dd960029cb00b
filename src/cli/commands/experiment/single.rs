//! One experiment in this process.

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::plan::model_of;
use super::{artifacts, results};
use crate::commands::analyze::now_s;
use crate::commands::cpu::{SystemClock, Ticks, processor};
use crate::driver::Driver;
use crate::experiment_args::ExperimentArgs;
use crate::model_args::ModelFileFlags;
use crate::output;
use crate::shell::Shell;
use crate::suite_args::LogLevelArg;
use ns_experiment::plan::ExperimentConfig;
use ns_experiment::python::from_python;
use ns_experiment::run::run_experiment_of;
use ns_experiment::sweep::ExperimentsRequest;

/// `--model-config`
#[derive(Deserialize)]
struct ModelConfig {
    model_name: String,
}

/// Runs the experiment described by two JSON texts and appends its record.
pub(super) fn run(
    shell: &Shell,
    args: &ExperimentArgs,
    request: &ExperimentsRequest,
    config: &str,
    model: &str,
) -> Result<()> {
    let config: ExperimentConfig = from_python(config).context("--experiment-config")?;
    let model: ModelConfig = from_python(model).context("--model-config")?;
    let mut model = model_of(args, request.plan.suite, &model.model_name)?;
    let mut driver = Driver::new(shell);
    if args.model_file.iter().any(|(known, _)| *known == model.name) {
        // The batch size of the file is its own.
        let opened = ModelFileFlags::default().open(&mut driver, &model.specification)?;
        let opened = opened.with_context(|| format!("{}: is not a model file", model.specification))?;
        model.batch_size = u32::try_from(opened.batch.own()).ok();
        model.specification = opened.id;
    }
    let name = processor();
    let timestamp = request.timestamp.unwrap_or_else(now_s);
    let experiment = request.settings.experiment(request.plan.suite, &model, &config, &name, timestamp);
    let before = Ticks::now();
    let finished = run_experiment_of(&experiment, driver.models(), &SystemClock::new());
    let others_busy = before.and_then(|before| Ticks::now()?.others_since(&before));
    if let Some(error) = finished.error.as_ref().filter(|_| args.suite.says(LogLevelArg::Error)) {
        let error = error.to_string();
        let named = if error.starts_with(&model.name) { error } else { format!("{}: {error}", model.name) };
        shell.note(&named);
    }
    let unverified = finished.record.unverified();
    let is_new = finished.error.is_none() && args.suite.says(LogLevelArg::Error);
    if let Some(reason) = unverified.as_ref().filter(|_| is_new) {
        shell.note(&format!("{}: {reason}", model.name));
    }
    let noise = finished.noise.iter().filter(|_| args.suite.says(LogLevelArg::Warning));
    for advice in noise.flat_map(|n| n.advice(others_busy)) {
        shell.note(&format!("{}: {advice}", model.name));
    }
    let file = results::path(args);
    output::create_folder(&args.output_dirname)?;
    results::append(&file, &finished.record)?;
    // A failed experiment has no execution to write.
    if finished.error.is_none() && args.model_file.iter().all(|(known, _)| *known != model.name) {
        artifacts::write(shell, args, &experiment)?;
    }
    if !args.in_a_run && args.suite.says(LogLevelArg::Info) {
        let stand_in = model.stand_in().map(|sentence| format!("note: {}: {sentence}", model.name));
        stand_in.into_iter().for_each(|line| shell.say(&line));
        shell.note(&format!("the record is in {}", file.display()));
    }
    match unverified.filter(|_| args.strict) {
        Some(reason) => bail!("{}: {reason}", model.name),
        None => Ok(()),
    }
}
