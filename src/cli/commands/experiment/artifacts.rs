//! Files that an experiment writes beside its record: HLO and profiles, in files with the suite's names.

use std::path::PathBuf;

use anyhow::Result;

use crate::commands::profile::write_trace;
use crate::commands::profile_info;
use crate::driver::Driver;
use crate::experiment_args::ExperimentArgs;
use crate::output;
use crate::shell::Shell;
use ns_experiment::plan::{Dynamo, ExperimentConfig};
use ns_experiment::run::Experiment;
use ns_session::{CompileOptions, JobRequest, ProfileSpec, Workflow, WriteFormat};

/// Writes the files that the flags request.
pub(super) fn write(shell: &Shell, args: &ExperimentArgs, experiment: &Experiment<'_>) -> Result<()> {
    if args.suite.wants_hlo() {
        let path = folder(args, experiment, "hlo").join("module.hlo.txt");
        output::write(shell, &path, experiment.hlo()?)?;
    }
    if args.suite.profile_xla {
        profile(shell, args, experiment)?;
    }
    Ok(())
}

/// The execution on a simulated core; a measured execution cannot be profiled.
fn profile(shell: &Shell, args: &ExperimentArgs, experiment: &Experiment<'_>) -> Result<()> {
    let Some(instance) = experiment.config.accelerator.instance() else {
        shell.note(&format!("{}: --profile-xla: only simulated executions have a profile", experiment.model.name));
        return Ok(());
    };
    let traced = experiment.config.dynamo == Some(Dynamo::Openxla);
    let spec = ProfileSpec {
        model: experiment.model.specification.clone(),
        batch_size: experiment.batch_size.or(experiment.model.batch_size),
        workflow: if traced { Workflow::Trace } else { Workflow::MarkStep },
        seed: experiment.seed,
        instance: instance.to_owned(),
        options: CompileOptions::default(),
    };
    let mut driver = Driver::new(shell);
    let info = profile_info(driver.run(JobRequest::Profile(spec), None)?)?;
    let path = folder(args, experiment, "xplane").join("neuronscope.xplane.pb");
    write_trace(&mut driver, info.profile, WriteFormat::XPlane, &path)
}

/// `MODEL/KIND-CONFIGURATION` in the folder of the results.
fn folder(args: &ExperimentArgs, experiment: &Experiment<'_>, kind: &str) -> PathBuf {
    let model = &experiment.model.name;
    args.output_dirname.join(model).join(format!("{kind}-{}-{model}", basename(experiment.config)))
}

/// The values of a configuration in order of their keys, in Python's spelling.
fn basename(config: &ExperimentConfig) -> String {
    let or_none = |text: Option<&str>| text.unwrap_or("None").replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let truth = |is_so: bool| if is_so { "True" } else { "False" }.to_owned();
    [
        config.accelerator.name().to_owned(),
        or_none(config.dynamo.map(|d| d.name())),
        truth(config.enable_functionalization),
        config.test.name().to_owned(),
        or_none(config.torch_xla2.map(|t| t.name())),
        or_none(config.xla.map(|x| x.name())),
        or_none(config.xla_flags.as_deref()),
    ]
    .join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_suites_names() {
        let text = r#"{"accelerator":"cpu","xla":"PJRT","xla_flags":null,"dynamo":"openxla","torch_xla2":null,"test":"eval","enable_functionalization":false}"#;
        assert_eq!(basename(&serde_json::from_str(text).unwrap()), "cpu-openxla-False-eval-None-PJRT-None");
    }
}
