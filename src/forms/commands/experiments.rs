//! The `neuronscope experiment` command for a run of the page of experiments.

use crate::options::{command_line, default_experiments};
use ns_experiment::run::Verification;
use ns_experiment::sweep::ExperimentsRequest;

/// Options that are written even if they have the page's default: the command line has another one.
const ALWAYS: [&str; 5] = ["run_suite", "run_models", "run_accelerator", "run_test", "run_repeat"];

/// The command that writes the same records to `output/results.jsonl`.
pub fn experiment_command(request: &ExperimentsRequest) -> String {
    let line =
        command_line("experiment", request, &default_experiments(), &ALWAYS, |line, option, text| match option.key() {
            // The mean relative error is the command line's default.
            "run_verify" if request.settings.verify == Some(Verification::Current) => {
                line.flag("verify", true).option("verify-rules", text)
            }
            "run_verify" => line.flag("verify", true),
            _ => option.on(line, text),
        });
    line.print()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::PlanOption;

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
        let end = "--filter '^nn$' --filter mlp --accelerator trn1 --test eval --dynamo None,openxla --repeat 10 --verify --verify-rules current";
        assert_eq!(command, format!("neuronscope experiment --suite-name torchbench {end}"));
    }
}
