//! The cross product of the options, and which combinations can run.

use serde::{Deserialize, Serialize};

use super::config::{Accelerator, Dynamo, ExperimentConfig, Test, TorchXla2, Xla};
use ns_base::{Refusal, refuse};

/// The rules that decide which combinations can run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanRules {
    /// The suite in May 2025, the version of its README: GPUs are planned without XLA's probe of a device.
    Seed,
    /// The suite since September 2025. Asking for a GPU together with XLA is an error there.
    Head,
    /// This program: processors are measured, NeuronCores simulated. GPUs and TPUs are planned as by [`Self::Seed`], and do not run.
    #[default]
    Neuron,
}

/// Lists of the options, each empty for its default. `None` in a list is the value null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpandOptions {
    pub accelerator: Vec<Accelerator>,
    /// Runtimes under XLA.
    pub xla: Vec<Option<Xla>>,
    /// Values of `XLA_FLAGS`.
    pub xla_flags: Vec<Option<String>>,
    /// Backends of torch.compile.
    pub dynamo: Vec<Option<Dynamo>>,
    /// torch_xla2 modes.
    pub torch_xla2: Vec<Option<TorchXla2>>,
    pub test: Vec<Test>,
    pub enable_functionalization: bool,
    /// Whether weights and inputs stay on the GPU.
    pub keep_model_data_on_cuda: bool,
    /// Accelerators that XLA finds on this machine, in capitals: `CPU`, `CUDA`, `TPU`.
    pub xla_devices: Vec<String>,
}

/// Every combination that can run, in the order of the product: the last option varies fastest. Each combination is listed once.
/// Fails when the rules themselves fail.
pub fn expand_experiments(options: &ExpandOptions, rules: PlanRules) -> Result<Vec<ExperimentConfig>, Refusal> {
    let mut found: Vec<ExperimentConfig> = Vec::new();
    for config in product(options, rules) {
        if problem(&config, options, rules)?.is_none() && !found.contains(&config) {
            found.push(config);
        }
    }
    Ok(found)
}

fn or<T: Clone>(given: &[T], otherwise: &[T]) -> Vec<T> {
    if given.is_empty() { otherwise.to_vec() } else { given.to_vec() }
}

fn product(options: &ExpandOptions, rules: PlanRules) -> Vec<ExperimentConfig> {
    use Accelerator::{Cpu, Cuda, Inf2, Tpu, Trn1, Trn2};
    let accelerators: &[Accelerator] = match rules {
        PlanRules::Seed => &[Cpu, Cuda, Tpu],
        PlanRules::Head => &[Cpu, Tpu],
        PlanRules::Neuron => &[Cpu, Trn1, Inf2, Trn2],
    };
    let keep = (rules == PlanRules::Seed).then_some(options.keep_model_data_on_cuda);
    let mut all = Vec::new();
    for accelerator in or(&options.accelerator, accelerators) {
        for xla in or(&options.xla, &[None, Some(Xla::Pjrt), Some(Xla::Xrt)]) {
            for xla_flags in or(&options.xla_flags, &[None]) {
                for dynamo in or(&options.dynamo, &[None, Some(Dynamo::Inductor), Some(Dynamo::Openxla)]) {
                    for torch_xla2 in or(&options.torch_xla2, &[None]) {
                        for test in or(&options.test, &[Test::Eval, Test::Train]) {
                            all.push(ExperimentConfig {
                                accelerator,
                                xla,
                                xla_flags: xla_flags.clone(),
                                dynamo,
                                torch_xla2,
                                test,
                                keep_model_data_on_cuda: keep,
                                enable_functionalization: options.enable_functionalization,
                            });
                        }
                    }
                }
            }
        }
    }
    all
}

/// Why a combination cannot run: the setting, and what it needs; `None` if it can.
fn problem(
    config: &ExperimentConfig,
    options: &ExpandOptions,
    rules: PlanRules,
) -> Result<Option<(&'static str, &'static str)>, Refusal> {
    let needs_device = config.xla.is_some() && config.torch_xla2.is_none();
    if let Some(problem) = problem_of_backend(config) {
        return Ok(Some(problem));
    }
    if needs_device && !has_xla_device(config.accelerator, options, rules)? {
        return Ok(Some(("XLA", "--xla-devices names no such accelerator")));
    }
    Ok(problem_of_accelerator(config, rules))
}

fn problem_of_backend(config: &ExperimentConfig) -> Option<(&'static str, &'static str)> {
    let uses_xla = config.xla.is_some();
    match config.dynamo {
        Some(_) if config.torch_xla2.is_some() => Some(("torch_xla2", "it needs --dynamo None")),
        Some(Dynamo::Inductor) if uses_xla => Some(("inductor", "it needs --xla None")),
        Some(Dynamo::Inductor) if config.accelerator == Accelerator::Tpu => Some(("inductor", "it has no TPU")),
        Some(Dynamo::Openxla) if !uses_xla => Some(("openxla", "it needs --xla PJRT")),
        _ => None,
    }
}

fn problem_of_accelerator(config: &ExperimentConfig, rules: PlanRules) -> Option<(&'static str, &'static str)> {
    let is_xrt = config.xla == Some(Xla::Xrt);
    match config.accelerator {
        Accelerator::Cpu | Accelerator::Cuda if is_xrt => Some(("XRT", "use --xla PJRT")),
        Accelerator::Cuda if rules == PlanRules::Head && config.xla.is_some() => Some(("XLA", "it has no GPU")),
        Accelerator::Tpu if config.xla.is_none() => Some(("a TPU without XLA", "use --xla PJRT")),
        Accelerator::Trn1 | Accelerator::Inf2 | Accelerator::Trn2
            if config.xla != Some(Xla::Pjrt) || config.torch_xla2.is_some() =>
        {
            Some((
                "a NeuronCore without PJRT",
                "it is reached through --xla PJRT alone, lazily or with --dynamo openxla",
            ))
        }
        _ if config.keep_model_data_on_cuda == Some(true) && config.dynamo != Some(Dynamo::Openxla) => {
            Some(("--keep-model-data-on-cuda", "it needs --dynamo openxla"))
        }
        _ => None,
    }
}

impl ExperimentConfig {
    /// Why this combination of settings can run nowhere here: the setting, and what it needs; `None` if it can.
    pub fn problem(&self) -> Option<(&'static str, &'static str)> {
        problem_of_backend(self).or_else(|| problem_of_accelerator(self, PlanRules::Neuron))
    }
}

/// A sentence for each backend and runtime that is asked for by name and that no combination with an accelerator has.
pub(super) fn left_out(options: &ExpandOptions, rules: PlanRules) -> Result<Vec<String>, Refusal> {
    let all = product(options, rules);
    let planned = expand_experiments(options, rules)?;
    let mut sentences = Vec::new();
    let mut say = |is_it: &dyn Fn(&ExperimentConfig) -> bool, what: &str| -> Result<(), Refusal> {
        for accelerator in Accelerator::ALL {
            let is_here = |c: &&ExperimentConfig| c.accelerator == accelerator && is_it(c);
            if planned.iter().any(|c| is_here(&c)) {
                continue;
            }
            let mut reasons: Vec<&str> = Vec::new();
            for config in all.iter().filter(is_here) {
                let needs = problem(config, options, rules)?.map(|(_, needs)| needs);
                reasons.extend(needs.filter(|needs| !reasons.contains(needs)));
            }
            if !reasons.is_empty() {
                sentences.push(format!("{what} is left out on {}: {}", accelerator.name(), reasons.join("; ")));
            }
        }
        Ok(())
    };
    for dynamo in options.dynamo.iter().flatten() {
        say(&|c| c.dynamo == Some(*dynamo), dynamo.name())?;
    }
    for xla in options.xla.iter().flatten() {
        say(&|c| c.xla == Some(*xla), xla.name())?;
    }
    Ok(sentences)
}

fn has_xla_device(accelerator: Accelerator, options: &ExpandOptions, rules: PlanRules) -> Result<bool, Refusal> {
    let device = accelerator.name().to_ascii_uppercase();
    if rules == PlanRules::Head && accelerator == Accelerator::Cuda {
        return Err(refuse!("ValueError: {device}"));
    }
    // Whoever asks for a GPU or a TPU gets the suite's plan, and of each experiment a record that says why it did not run.
    let is_elsewhere = rules == PlanRules::Neuron && accelerator != Accelerator::Cpu;
    Ok(is_elsewhere || options.xla_devices.iter().any(|d| d.eq_ignore_ascii_case(&device)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_planned_as_the_document_lists() {
        let options = ExpandOptions {
            accelerator: vec![Accelerator::Cuda],
            xla: vec![Some(Xla::Pjrt), None],
            dynamo: vec![Some(Dynamo::Openxla), Some(Dynamo::Inductor)],
            xla_devices: vec!["CPU".to_owned()],
            ..ExpandOptions::default()
        };
        let configs = expand_experiments(&options, PlanRules::Neuron).unwrap();
        let pjrt = Some(Xla::Pjrt);
        let expected = [
            (pjrt, Some(Dynamo::Openxla), Test::Eval),
            (pjrt, Some(Dynamo::Openxla), Test::Train),
            (None, Some(Dynamo::Inductor), Test::Eval),
            (None, Some(Dynamo::Inductor), Test::Train),
        ];
        assert_eq!(configs.iter().map(|c| (c.xla, c.dynamo, c.test)).collect::<Vec<_>>(), expected);
        let lazy = ExpandOptions { dynamo: vec![Some(Dynamo::Openxla)], xla: vec![None], ..options };
        assert!(expand_experiments(&lazy, PlanRules::Neuron).unwrap().is_empty());
    }

    #[test]
    fn a_backend_that_is_left_out_is_said_with_its_reason() {
        let options = ExpandOptions {
            accelerator: vec![Accelerator::Trn1],
            xla: vec![Some(Xla::Pjrt), None],
            dynamo: vec![Some(Dynamo::Openxla), Some(Dynamo::Inductor)],
            xla_devices: vec!["CPU".to_owned()],
            ..ExpandOptions::default()
        };
        let said = left_out(&options, PlanRules::Neuron).unwrap();
        assert!(
            matches!(&said[..], [one] if one.starts_with("inductor is left out on trn1: it needs --xla None; ")),
            "{said:?}"
        );
        let gpu = ExpandOptions { accelerator: vec![Accelerator::Cuda], ..options.clone() };
        let said = left_out(&gpu, PlanRules::Seed).unwrap();
        assert!(said[0].starts_with("openxla is left out on cuda: --xla-devices names no such"), "{said:?}");
        assert!(left_out(&gpu, PlanRules::Neuron).unwrap().is_empty());
        assert!(
            left_out(&ExpandOptions { dynamo: Vec::new(), xla: Vec::new(), ..options }, PlanRules::Neuron)
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn a_processor_has_four_backends_and_a_neuron_core_two() {
        let of = |accelerator| {
            let options = ExpandOptions {
                accelerator: vec![accelerator],
                test: vec![Test::Eval],
                xla_devices: vec!["CPU".to_owned()],
                ..ExpandOptions::default()
            };
            let configs = expand_experiments(&options, PlanRules::Neuron).unwrap();
            configs.iter().map(|c| (c.xla, c.dynamo)).collect::<Vec<_>>()
        };
        let pjrt = Some(Xla::Pjrt);
        assert_eq!(of(Accelerator::Trn1), [(pjrt, None), (pjrt, Some(Dynamo::Openxla))]);
        assert_eq!(
            of(Accelerator::Cpu),
            [(None, None), (None, Some(Dynamo::Inductor)), (pjrt, None), (pjrt, Some(Dynamo::Openxla))]
        );
    }
}
