//! How a configuration is run, apart from the parameters that are swept: on which device, in which processes, with which work around the
//! call, on which data, and when its clock starts.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::host_step::step::HostStep;
use ns_base::{Refusal, names, refuse};
use ns_compiler::{CompileOptions, Workflow};

/// Longest cost of a step given in milliseconds: an hour.
pub const MAX_STEP_MS: f64 = 3_600_000.0;
/// Most items of a dataset.
pub const MAX_DATASET: u64 = 100_000_000;

/// The device that runs the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceType {
    /// Simulated NeuronCores.
    #[default]
    Neuron,
    /// The processor of the machine the product runs on, measured with its clock.
    Cpu,
}

impl DeviceType {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Neuron => "neuron",
            Self::Cpu => "cpu",
        }
    }

    /// The device of a name, in any case. Also `None` for `cuda` and `gpu`, which NeuronPerf supports and this program does not.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Neuron, Self::Cpu].into_iter().find(|d| d.name().eq_ignore_ascii_case(name.trim()))
    }
}

/// Which workers share an interpreter: NeuronPerf's `multiprocess` and `multiinterpreter`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Processes {
    /// Each model copy in a process of its own (`multiprocess`).
    #[default]
    PerModel,
    /// All copies in one process: one worker at a time fetches inputs, preprocesses or postprocesses
    /// (`multiprocess=False`).
    Shared,
    /// Each copy in an interpreter started for this configuration (`multiinterpreter`).
    Fresh,
}

/// A dataset instead of inputs that repeat forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dataset {
    /// Records in one pass: samples, of which one inference takes a batch.
    pub length: u64,
    /// Begin again until the duration is over (`loop_dataset`); otherwise each model copy goes through it once, whatever
    /// the duration.
    pub looped: bool,
}

impl Dataset {
    /// Inferences of one pass at a batch size. The last batch may have fewer records: it is filled up, because the shapes
    /// of a compiled model are fixed.
    pub fn calls(&self, batch_size: u32) -> u64 {
        self.length.div_ceil(u64::from(batch_size.max(1)))
    }
}

/// When the clock of a configuration's duration starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Accounting {
    /// When every copy is loaded and warm: the whole duration is measured.
    #[default]
    Window,
    /// Before the copies are set up, as in NeuronPerf: loading and warm-up count towards the duration.
    Original,
}

names! {
    /// Which generation of the Neuron SDK runs the model, named after its PyTorch. Published tables of the two differ for
    /// the same model, so a figure can only be compared with a run of the same generation.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SdkGeneration {
        /// The compiler and runtime that came with PyTorch 1 (through 1.13): a call's time is multiplied by
        /// [`RuntimeCosts::torch_1_permille`](ns_machine::cost::RuntimeCosts::torch_1_permille) / 1000.
        Pt1 = "pt1",
        /// The compiler and runtime of PyTorch 2.
        #[default]
        Pt2 = "pt2",
    }

    /// Its name in flags and links.
    pub const fn name(self) -> &'static str;
}

impl SdkGeneration {
    /// The generation of a framework as published tables write it, `PyTorch 1.13.1`. A text without a PyTorch release
    /// means the present generation.
    pub fn of_framework(framework: &str) -> Self {
        let mut words = framework.split_whitespace();
        let is_pytorch = |word: &str| word.eq_ignore_ascii_case("pytorch") || word.eq_ignore_ascii_case("torch");
        let release = words.find(|word| is_pytorch(word)).and_then(|_| words.next());
        match release.and_then(|release| release.split('.').next()) {
            Some("1") => Self::Pt1,
            _ => Self::Pt2,
        }
    }
}

/// What calls lose on the path between the host and devices where other copies run too: a stall, as long for each call that meets one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedOverhead {
    /// Length of a stall, milliseconds.
    pub stall_ms: f64,
    /// One call in so many meets one.
    pub calls: u32,
}

impl FromStr for SharedOverhead {
    type Err = Refusal;

    /// Reads `0.5/60`: one call in 60 takes 0.5 ms longer.
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let parts = text
            .split_once('/')
            .map(|(ms, calls)| (ms.trim().trim_end_matches("ms").trim().parse(), calls.trim().parse()));
        match parts {
            Some((Ok(stall_ms), Ok(calls))) if (0.0..=MAX_STEP_MS).contains(&stall_ms) && calls > 0 => {
                Ok(Self { stall_ms, calls })
            }
            _ => Err(refuse!(
                "'{text}' is not a stall in milliseconds and the calls of which one meets it, such as 0.5/60"
            )),
        }
    }
}

impl Display for SharedOverhead {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.stall_ms, self.calls)
    }
}

/// All settings of a run that are the same in all configurations of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunOptions {
    /// The device that runs the model.
    pub device_type: DeviceType,
    /// How a model is compiled for a simulated device.
    pub compile: CompileOptions,
    pub sdk_generation: SdkGeneration,
    /// How a model reaches its NeuronCore. It has no meaning for a system given by its times and for a measured processor.
    pub workflow: Workflow,
    /// Which workers share an interpreter.
    pub processes: Processes,
    /// Work before the call, on each inference.
    pub preprocess: HostStep,
    /// Work after the call, on each inference.
    pub postprocess: HostStep,
    /// Work of each copy before it loads, milliseconds (`env_setup_fn`).
    pub env_setup_ms: f64,
    /// Work of each copy after it has loaded, milliseconds (`setup_fn`).
    pub setup_ms: f64,
    /// What copies share besides the ways that are simulated.
    pub shared_overhead: Option<SharedOverhead>,
    /// A dataset instead of endless inputs.
    pub dataset: Option<Dataset>,
    /// When the duration starts.
    pub accounting: Accounting,
    /// About how many inferences of all workers are enough: a simulated run whose duration has more ends after them.
    pub max_inferences: Option<u32>,
    /// Seconds between samples of the host while the processor is measured.
    pub stats_interval_s: f64,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            device_type: DeviceType::Neuron,
            compile: CompileOptions::default(),
            sdk_generation: SdkGeneration::Pt2,
            // NeuronPerf compiles a model ahead and calls it.
            workflow: Workflow::Trace,
            processes: Processes::PerModel,
            preprocess: HostStep::None,
            postprocess: HostStep::None,
            env_setup_ms: 0.0,
            setup_ms: 0.0,
            shared_overhead: None,
            dataset: None,
            accounting: Accounting::Window,
            max_inferences: None,
            stats_interval_s: 0.5,
        }
    }
}

/// A parameter out of its range: name, value, range, remedy.
pub(crate) type RangeProblem = (&'static str, String, String, &'static str);

impl RunOptions {
    /// Every option that cannot be used.
    pub(crate) fn problems(&self) -> Vec<RangeProblem> {
        let mut found = Vec::new();
        let times = [("env_setup_ms", self.env_setup_ms), ("setup_ms", self.setup_ms)];
        let steps = [("preprocess", self.preprocess.custom_ms()), ("postprocess", self.postprocess.custom_ms())];
        let steps = steps.into_iter().filter_map(|(name, ms)| ms.map(|ms| (name, ms)));
        for (name, ms) in times.into_iter().chain(steps) {
            if !(0.0..=MAX_STEP_MS).contains(&ms) {
                let allowed = format!("a number of milliseconds from 0 to {MAX_STEP_MS}");
                found.push((name, ms.to_string(), allowed, "Leave it out for no such work"));
            }
        }
        if let Some(dataset) = self.dataset
            && !(1..=MAX_DATASET).contains(&dataset.length)
        {
            let allowed = format!("a whole number of inferences from 1 to {MAX_DATASET}");
            found.push(("dataset", dataset.length.to_string(), allowed, "Leave it out for inputs that repeat"));
        }
        if !(0.01..=3_600.0).contains(&self.stats_interval_s) {
            let allowed = "a number of seconds from 0.01 to 3600".to_owned();
            found.push(("stats_interval", self.stats_interval_s.to_string(), allowed, "NeuronPerf uses 0.5"));
        }
        found
    }

    /// Whether each copy has a process of its own.
    pub fn is_multiprocess(&self) -> bool {
        self.processes != Processes::Shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overhead_is_a_stall_and_how_many_calls_share_it() {
        let read = |text: &str| text.parse::<SharedOverhead>();
        assert_eq!(read("1.4/170").unwrap(), SharedOverhead { stall_ms: 1.4, calls: 170 });
        assert_eq!(read(" 1.4ms / 170").unwrap().to_string(), "1.4/170");
        for wrong in ["1.4", "1.4/0", "-1/3", "nan/3", "1/2.5", "/"] {
            assert!(read(wrong).unwrap_err().to_string().contains("such as 0.5/60"), "{wrong}");
        }
    }

    #[test]
    fn the_generation_of_a_framework_is_its_major_release() {
        let of = SdkGeneration::of_framework;
        assert_eq!(of("PyTorch 1.13.1"), SdkGeneration::Pt1);
        assert_eq!(of("torch 1.9"), SdkGeneration::Pt1);
        for later in ["PyTorch 2.9", "PyTorch 10.1", "PyTorch (torch-neuron)", "NKI 1.0", "Transformers 1.2", ""] {
            assert_eq!(of(later), SdkGeneration::Pt2, "{later}");
        }
    }
}
