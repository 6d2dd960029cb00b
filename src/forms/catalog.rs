//! The models that can be run, with their parameters, and the instance types.

use serde::{Deserialize, Serialize};

use ns_base::Order;
use ns_device::{FIXED_MODEL, FIXED_PARAMETERS};
use ns_kernel::{BUILT_IN, TABLE_KERNEL};
use ns_model::training::{MAX_MICRO_BATCHES, Optimizer, TrainingCall};
use ns_model::zoo::{FORMS, ModelForm, ParamInfo, ParamKind};

/// All choices that a form offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    /// Models, the default one first.
    pub models: Vec<ModelInfo>,
    /// Instance types, the default one first.
    pub instances: Vec<InstanceInfo>,
    /// A system given by its stage times, instead of a model; only benchmarks can use it.
    pub fixed: ModelInfo,
    /// Instance types whose cores are not simulated: they run `fixed` and the measured processor.
    pub other_instances: Vec<InstanceInfo>,
}

/// A model that can be traced, benchmarked and profiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The name in links and on the command line: `nn`.
    pub name: String,
    /// A description in one line.
    pub title: String,
    /// The meaning of one request of batch size 1.
    pub summary: String,
    /// The parameters, in the order of the text form `nn:a=1,b=2`.
    pub parameters: Vec<ParameterInfo>,
}

/// One parameter of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterInfo {
    /// Its name in the text form.
    pub name: String,
    /// The values that it takes.
    pub kind: ParameterKind,
    /// The value used when none is given, as text.
    pub default: String,
    /// One sentence about it.
    pub help: String,
    /// Another parameter and its values with which this one has a meaning; `None` if it always has.
    pub only_with: Option<(String, Vec<String>)>,
}

impl ParameterInfo {
    /// Whether it has a meaning beside the other parameters, of which `value_of` gives the text.
    pub fn has_meaning<'v>(&self, value_of: impl Fn(&str) -> Option<&'v str>) -> bool {
        self.only_with
            .as_ref()
            .is_none_or(|(name, values)| value_of(name).is_some_and(|value| values.iter().any(|known| known == value)))
    }
}

/// The values a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParameterKind {
    /// A whole number in `min..=max`.
    Integer {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// `true` or `false`.
    Boolean,
    /// One of these names.
    Choice(Vec<String>),
    /// Any text.
    Text,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceInfo {
    /// Its name: `trn1.2xlarge`.
    pub name: String,
    /// Number of Neuron devices.
    pub devices: u32,
    /// Number of NeuronCores in all.
    pub cores: u32,
    /// Memory of the host, GiB.
    pub host_memory_gib: u32,
    /// On-demand price in US dollars per hour, if one is published.
    pub usd_per_hour: Option<f64>,
}

impl InstanceInfo {
    /// Its cores, memory and price in a line: `2 cores, 16 GiB, $0.7582/h`.
    pub fn facts(&self) -> String {
        let plural = if self.cores == 1 { "" } else { "s" };
        let price = self.usd_per_hour.map_or_else(|| ", no price".to_owned(), |usd| format!(", ${usd}/h"));
        format!("{} core{plural}, {} GiB{price}", self.cores, self.host_memory_gib)
    }
}

/// Makes the catalog.
pub fn catalog() -> Catalog {
    let default = ns_bench::BenchConfig::default().instance_type;
    let info = |i: &ns_machine::arch::Instance| InstanceInfo {
        name: i.name.to_owned(),
        devices: i.devices,
        cores: i.neuroncores,
        host_memory_gib: i.host_memory_gib,
        usd_per_hour: i.usd_per_hour,
    };
    // Instances that cannot be timed are not offered for models.
    let (simulated, others): (Vec<_>, Vec<_>) =
        ns_machine::arch::INSTANCES.iter().partition(|i| ns_device::is_simulated(i));
    let mut instances: Vec<InstanceInfo> = simulated.into_iter().map(info).collect();
    instances.order_by_key(|i| i.name != default);
    Catalog {
        models: FORMS.iter().map(model_info).collect(),
        instances,
        fixed: fixed_info(),
        other_instances: others.into_iter().map(info).collect(),
    }
}

fn fixed_info() -> ModelInfo {
    let parameter = |(name, help): &(&str, &str)| ParameterInfo {
        name: (*name).to_owned(),
        kind: ParameterKind::Text,
        default: "0".to_owned(),
        help: (*help).to_owned(),
        only_with: None,
    };
    ModelInfo {
        name: FIXED_MODEL.to_owned(),
        title: "a system given by its stage times".to_owned(),
        summary: "Milliseconds of each stage, the same at every batch size".to_owned(),
        parameters: FIXED_PARAMETERS.iter().map(parameter).collect(),
    }
}

fn model_info(model: &ModelForm) -> ModelInfo {
    ModelInfo {
        name: model.id.to_owned(),
        title: model.description.to_owned(),
        summary: model.batch_help.to_owned(),
        parameters: model.parameters.iter().map(parameter_info).chain(training()).collect(),
    }
}

/// The parameters of every model that make a call one of training.
fn training() -> [ParameterInfo; 2] {
    let steps = Optimizer::ALL.map(Optimizer::name).map(str::to_owned);
    let calls =
        ["none".to_owned()].into_iter().chain(steps.clone()).chain([TrainingCall::MicroBatch.name().to_owned()]);
    let training = ParameterInfo {
        name: "training".to_owned(),
        kind: ParameterKind::Choice(calls.collect()),
        default: "none".to_owned(),
        help: "a training step with this optimizer; accumulate: one without update".to_owned(),
        only_with: None,
    };
    let accumulate = ParameterInfo {
        name: "accumulate".to_owned(),
        kind: ParameterKind::Integer { min: 1, max: u64::from(MAX_MICRO_BATCHES) },
        default: "1".to_owned(),
        help: "micro-batches whose gradients a step adds up".to_owned(),
        only_with: Some((training.name.clone(), steps.into())),
    };
    [training, accumulate]
}

/// Kernels that need no file.
fn kernels() -> Vec<String> {
    std::iter::once(TABLE_KERNEL).chain(BUILT_IN.iter().map(|k| k.name)).map(str::to_owned).collect()
}

fn parameter_info(parameter: &ParamInfo) -> ParameterInfo {
    let (kind, default) = match parameter.kind {
        ParamKind::Int { default, min, max } => (ParameterKind::Integer { min, max }, default.to_string()),
        ParamKind::Bool { default } => (ParameterKind::Boolean, default.to_string()),
        ParamKind::Kernel { default } => (ParameterKind::Choice(kernels()), default.to_owned()),
        ParamKind::Operator { default } => (ParameterKind::Text, default.to_owned()),
        ParamKind::Shapes => (ParameterKind::Text, String::new()),
    };
    ParameterInfo { name: parameter.name.to_owned(), kind, default, help: parameter.help.to_owned(), only_with: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn micro_batches_have_a_meaning_in_a_training_step_alone() {
        let catalog = catalog();
        let nn = catalog.models.iter().find(|m| m.name == "nn").unwrap();
        let accumulate = nn.parameters.iter().find(|p| p.name == "accumulate").unwrap();
        let with =
            |training: Option<&'static str>| accumulate.has_meaning(|name| training.filter(|_| name == "training"));
        assert_eq!([Some("adamw"), Some("sgd"), Some("accumulate"), None].map(with), [true, true, false, false]);
        assert!(nn.parameters.iter().all(|p| p.name == "accumulate" || p.has_meaning(|_| None)));
    }
}
