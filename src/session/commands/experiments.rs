//! The `neuronscope experiment` command for a run of the page of experiments.

use super::shell::CommandLine;
use crate::options::{PLAN_OPTIONS, PlanFlag, PlanOption, default_experiments};
use ns_experiment::run::Verification;
use ns_experiment::sweep::ExperimentsRequest;

/// Options that are written even if they have the page's default: the command line has another one.
const ALWAYS: [&str; 5] = ["run_suite", "run_models", "run_accelerator", "run_test", "run_repeat"];

/// The command that writes the same records to `output/results.jsonl`.
pub fn experiment_command(request: &ExperimentsRequest) -> String {
    let default = default_experiments();
    let said = |option: &&PlanOption| {
        let text = option.text(request);
        !text.is_empty() && (text != option.text(&default) || ALWAYS.contains(&option.key()))
    };
    let line = CommandLine::new("experiment");
    PLAN_OPTIONS.iter().filter(said).fold(line, |line, option| with_option(line, option, request)).print()
}

fn with_option(line: CommandLine, option: &PlanOption, request: &ExperimentsRequest) -> CommandLine {
    let text = option.text(request);
    match option.flag {
        PlanFlag::Value(name) => line.option(name, &text),
        // Lists of regular expressions have spaces between them, the others commas.
        PlanFlag::Each(name) => text.split([',', ' ']).fold(line, |line, word| line.option(name, word)),
        // The mean relative error is the command line's default.
        PlanFlag::Verify => {
            let line = line.flag("verify", true);
            if request.settings.verify == Some(Verification::Current) {
                line.option("verify-rules", &text)
            } else {
                line
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_what_the_command_line_does_not_assume() {
        let mut request = default_experiments();
        assert_eq!(
            experiment_command(&request),
            "neuronscope experiment --suite-name torchbench --models alexnet,resnet18,resnet50 --accelerator trn1 --test eval --repeat 10"
        );
        for (key, text) in [("run_models", ""), ("run_filter", "^nn$ mlp"), ("run_dynamo", "None,openxla")] {
            PlanOption::find(key).unwrap().set(&mut request, text).unwrap();
        }
        PlanOption::find("run_verify").unwrap().set(&mut request, "current").unwrap();
        let command = experiment_command(&request);
        let end = "--filter '^nn$' --filter mlp --accelerator trn1 --test eval --dynamo None --dynamo openxla --repeat 10 --verify --verify-rules current";
        assert_eq!(command, format!("neuronscope experiment --suite-name torchbench {end}"));
    }
}
