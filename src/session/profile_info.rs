//! What a profile is and where it came from.

use serde::{Deserialize, Serialize};

use super::{OperatorKind, ProfileKey};
use crate::base::Diagnostic;
use crate::bench::Configuration;
use crate::compiler::{CompileOptions, Workflow};
use crate::device::model_label;
use crate::profile::levels::{ALL_LEVELS, Level, is_level};
use crate::view::colours::Colours;
use crate::view::timeline::{Annotation, Outline};

/// What to profile. The same specification gives the same profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileSpec {
    /// Model in text form: `nn`, `matmult:n=1024,loop_count=2`.
    pub model: String,
    /// Samples of one execution; absent for the model's own default.
    pub batch_size: Option<u32>,
    /// How it is run.
    pub workflow: Workflow,
    /// Seed of weights and inputs.
    pub seed: u64,
    /// Instance type: `trn1.2xlarge`.
    pub instance: String,
    /// How it is compiled.
    pub options: CompileOptions,
}

impl ProfileSpec {
    /// The model and, where one is given, the batch size: `bert-base-uncased, batch 8`.
    #[must_use]
    pub fn title(&self) -> String {
        let model = model_label(&self.model);
        match self.batch_size {
            Some(batch_size) => format!("{model}, batch {batch_size}"),
            None => model.into_owned(),
        }
    }

    /// What a run of it is called: the title and the workflow, and what else is not as usual, so that runs of other
    /// specifications have other names: `nn mark_step on inf2.xlarge, --auto-cast none -O2`.
    #[must_use]
    pub fn run_title(&self) -> String {
        let usual = Self::default();
        let mut title = format!("{} {}", self.title(), self.workflow.name());
        if self.instance != usual.instance {
            title.push_str(&format!(" on {}", self.instance));
        }
        if self.options != usual.options {
            title.push_str(&format!(", {}", self.options));
        }
        if self.seed != usual.seed {
            title.push_str(&format!(", seed {}", self.seed));
        }
        title
    }
}

impl Default for ProfileSpec {
    fn default() -> Self {
        Self {
            model: "nn".to_owned(),
            batch_size: None,
            workflow: Workflow::default(),
            seed: 0,
            instance: "trn1.2xlarge".to_owned(),
            options: CompileOptions::default(),
        }
    }
}

/// A benchmark run to show as a timeline, as the profile type `trace` of `torch_neuronx` shows a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceSpec {
    /// The model, where it runs and how it is compiled.
    pub spec: ProfileSpec,
    /// What to run; without it a copy on each NeuronCore with two workers, for NeuronPerf's 60 s.
    pub configuration: Option<Box<Configuration>>,
    /// So much of the measured window is shown, seconds; the run and its figures are of all of it.
    pub shown_s: f64,
}

impl TraceSpec {
    /// How much of the measured window is shown by default, seconds.
    pub const SHOWN_S: f64 = 1.0;

    /// The run of what a specification profiles.
    #[must_use]
    pub fn of(spec: ProfileSpec) -> Self {
        Self { spec, configuration: None, shown_s: Self::SHOWN_S }
    }
}

impl From<Configuration> for TraceSpec {
    fn from(configuration: Configuration) -> Self {
        let spec = ProfileSpec {
            model: configuration.model.clone(),
            batch_size: Some(configuration.batch_size),
            workflow: configuration.options.workflow,
            seed: configuration.seed,
            instance: configuration.instance_type.clone(),
            options: configuration.compile_options(),
        };
        Self { configuration: Some(Box::new(configuration)), ..Self::of(spec) }
    }
}

/// Where a profile came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ProfileOrigin {
    /// Simulated from a specification: one execution.
    Simulated(ProfileSpec),
    /// A whole benchmark run, simulated.
    Benchmark(Box<TraceSpec>),
    /// Read from a file.
    File {
        /// Name of the file.
        name: String,
        /// Its size in bytes.
        bytes: u64,
        /// What it was recognised as: `Chrome trace`.
        format: String,
    },
}

/// What a shell knows of a profile without asking further.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileInfo {
    /// Its key in further requests.
    pub profile: ProfileKey,
    /// Short name of the run, for the Run selector: `nn mark_step`, `trace.json.gz`.
    pub name: String,
    /// Where it came from.
    pub origin: ProfileOrigin,
    /// Number of events it holds.
    pub events: u64,
    /// Sections, tracks and the span of time.
    pub outline: Outline,
    /// The operator tables it has, the most telling first.
    pub operators: Vec<OperatorKind>,
    /// The levels that have slices, those that only wrap others last.
    pub levels: Vec<Level>,
    /// The level that answers are of when a question names none; `all` where that is all of them.
    pub default_level: String,
    /// Whether it is of sampled stacks, which a flame graph shows best.
    pub is_stacks: bool,
    /// Which kind of operation has which colour, in every view.
    pub colours: Colours,
    /// Figures for a line of summary, name and value, as text: `Device window`, `7.20 us`.
    pub facts: Vec<(String, String)>,
    /// Problems met while reading.
    pub diagnostics: Vec<Diagnostic>,
    /// Marks and ranges that it was written with.
    pub marks: Vec<Annotation>,
    /// The other profiles of the same file, if it is an archive of several. Each has its own key.
    pub also: Vec<Self>,
}

impl ProfileInfo {
    /// What is wrong with the name of a level, with the names there are; nothing where the profile has it.
    #[must_use]
    pub fn level_problem(&self, name: &str) -> Option<String> {
        if self.own_level(name).is_some() {
            return None;
        }
        let mut known: Vec<&str> = self.levels.iter().map(|l| l.name.as_str()).collect();
        known.push(ALL_LEVELS);
        let (run, known, default) = (&self.name, known.join(", "), &self.default_level);
        Some(format!("level: {run} has no level '{name}': it has {known}. {default} is used."))
    }

    /// A level as this profile spells it, from its name in any case and with `-` for spaces.
    #[must_use]
    pub fn own_level(&self, name: &str) -> Option<String> {
        let mut own = self.levels.iter().map(|l| l.name.as_str()).chain([ALL_LEVELS]);
        own.find(|own| is_level(own, name)).map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::AutoCast;

    #[test]
    fn a_level_that_is_not_there_is_told_with_those_that_are() {
        let level = |name: &str| Level { name: name.to_owned(), slices: 1, wraps: false };
        let info = ProfileInfo {
            profile: ProfileKey(0),
            name: "run.json".to_owned(),
            origin: ProfileOrigin::Simulated(ProfileSpec::default()),
            events: 2,
            outline: Outline::default(),
            operators: Vec::new(),
            levels: vec![level("CPU ops"), level("runtime calls")],
            default_level: "CPU ops".to_owned(),
            is_stacks: false,
            colours: Colours::default(),
            facts: Vec::new(),
            diagnostics: Vec::new(),
            marks: Vec::new(),
            also: Vec::new(),
        };
        assert_eq!(info.own_level("runtime-calls").as_deref(), Some("runtime calls"));
        assert_eq!((info.level_problem("cpu_ops"), info.level_problem("ALL")), (None, None));
        assert_eq!(
            info.level_problem("cpu").unwrap(),
            "level: run.json has no level 'cpu': it has CPU ops, runtime calls, all. CPU ops is used."
        );
    }

    #[test]
    fn runs_of_other_specifications_have_other_names() {
        let usual = ProfileSpec::default();
        assert_eq!(usual.run_title(), "nn mark_step");
        let options = CompileOptions { auto_cast: AutoCast::None, ..CompileOptions::default() };
        let other = ProfileSpec { instance: "inf2.xlarge".to_owned(), options, seed: 7, batch_size: Some(4), ..usual };
        assert_eq!(other.run_title(), "nn, batch 4 mark_step on inf2.xlarge, --auto-cast none -O2, seed 7");
    }
}
