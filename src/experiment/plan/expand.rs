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
    /// Whether functionalization is on.
    pub enable_functionalization: bool,
    /// Whether weights and inputs stay on the GPU.
    pub keep_model_data_on_cuda: bool,
    /// Accelerators that XLA finds on this machine, in capitals: `CPU`, `CUDA`, `TPU`.
    pub xla_devices: Vec<String>,
}

/// Every combination that can run, in the order of the product: the last option varies fastest. Each combination is listed once.
///
/// # Errors
/// When the rules themselves fail.
pub fn expand_experiments(options: &ExpandOptions, rules: PlanRules) -> Result<Vec<ExperimentConfig>, Refusal> {
    let mut found: Vec<ExperimentConfig> = Vec::new();
    for config in product(options, rules) {
        if is_possible(&config, options, rules)? && !found.contains(&config) {
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

fn is_possible(config: &ExperimentConfig, options: &ExpandOptions, rules: PlanRules) -> Result<bool, Refusal> {
    let uses_xla = config.xla.is_some();
    let backend_fits = match config.dynamo {
        None => true,
        Some(_) if config.torch_xla2.is_some() => false,
        Some(Dynamo::Inductor) => !uses_xla && config.accelerator != Accelerator::Tpu,
        Some(Dynamo::Openxla) => uses_xla,
    };
    if !backend_fits {
        return Ok(false);
    }
    if uses_xla && config.torch_xla2.is_none() && !has_xla_device(config.accelerator, options, rules)? {
        return Ok(false);
    }
    let accelerator_fits = match config.accelerator {
        Accelerator::Cpu => config.xla != Some(Xla::Xrt),
        Accelerator::Tpu => uses_xla,
        Accelerator::Cuda if rules == PlanRules::Head => !uses_xla,
        Accelerator::Cuda => config.xla != Some(Xla::Xrt),
        // A NeuronCore is reached only through XLA.
        Accelerator::Trn1 | Accelerator::Inf2 | Accelerator::Trn2 => {
            config.xla == Some(Xla::Pjrt) && config.torch_xla2.is_none()
        }
    };
    let data_fits = config.keep_model_data_on_cuda != Some(true) || config.dynamo == Some(Dynamo::Openxla);
    Ok(accelerator_fits && data_fits)
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
