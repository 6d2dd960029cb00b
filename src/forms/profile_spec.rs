//! The specification of a profile, and its origin.

use serde::{Deserialize, Serialize};

use crate::options::{Opt, Options, compiler_rows, flag, opt, some};
use crate::studies::{FieldKind, field};
use ns_bench::Configuration;
use ns_compiler::{CompileOptions, Workflow};
use ns_device::model_label;

/// The specification of a profile. The same specification gives the same profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileSpec {
    /// Model in text form: `nn`, `matmult:n=1024,loop_count=2`.
    pub model: String,
    /// Samples of one execution; absent for the model's own default.
    pub batch_size: Option<u32>,
    /// How the model is run.
    pub workflow: Workflow,
    /// Seed of weights and inputs.
    pub seed: u64,
    /// Instance type: `trn1.2xlarge`.
    pub instance: String,
    /// How the model is compiled.
    pub options: CompileOptions,
}

impl ProfileSpec {
    /// The model and, if given, the batch size: `bert-base-uncased, batch 8`.
    pub fn title(&self) -> String {
        let model = model_label(&self.model);
        match self.batch_size {
            Some(batch_size) => format!("{model}, batch {batch_size}"),
            None => model.into_owned(),
        }
    }

    /// The name of its run: the title, the workflow and everything that is not the default, so that runs of other
    /// specifications have other names: `nn mark_step on inf2.xlarge, --auto-cast none -O2`.
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

type Row = Opt<ProfileSpec>;

impl Options for ProfileSpec {
    const OPTIONS: &'static [&'static [Row]] = &[RUN, &compiler_rows!(|s| s.options)];
}

const WORKFLOWS: &[(&str, &str)] = &[
    ("mark_step", "Lazily executed graph: inputs are transferred in the step"),
    ("trace", "Ahead-of-time compiled model"),
];

#[rustfmt::skip]
const RUN: &[Row] = &[
    opt(field("model", "Model", "", "", FieldKind::Model),
        flag("MODEL", "Model, with parameters after a colon: nn, mlp:kernel=FILE.cpp; or a model file: resnet50.onnx"),
        |s| s.model.clone(), |s, given| { s.model = given.some_text().unwrap_or_else(|| s.model.clone()); Ok(()) }),
    opt(field("batch_size", "Batch size", "Samples of one execution", "the model\u{2019}s own", FieldKind::Line),
        flag("COUNT", "Samples of one execution [default: the model's own]"),
        |s| some(s.batch_size), |s, given| given.some_count().map(|n| s.batch_size = n)),
    opt(field("workflow", "Workflow", "How the model is run", "", FieldKind::Choice(WORKFLOWS)),
        flag("WORKFLOW", "").values(WORKFLOWS),
        |s| s.workflow.to_string(),
        |s, given| Workflow::from_name(given.text).ok_or_else(|| given.wrong("mark_step or trace")).map(|w| s.workflow = w)),
    opt(field("instance", "Instance type", "", "", FieldKind::Instance),
        flag("TYPE", "Instance type, or a family for its smallest size").aliases(&["instance-type"]),
        |s| s.instance.clone(), |s, given| { s.instance = given.some_size().unwrap_or_else(|| s.instance.clone()); Ok(()) }),
    opt(field("seed", "Seed", "Seed of weights and inputs", "0", FieldKind::Line),
        flag("NUMBER", ""),
        |s| s.seed.to_string(), |s, given| given.number("a whole number from 0 to 18446744073709551615").map(|n| s.seed = n)),
];

/// A benchmark run to show as a timeline, like a program in the profile type `trace` of `torch_neuronx`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceSpec {
    /// The model, where it runs and how it is compiled.
    pub spec: ProfileSpec,
    /// The configuration to run; if absent, a copy on each NeuronCore with two workers, for NeuronPerf's 60 s.
    pub configuration: Option<Box<Configuration>>,
    /// How much of the measured window is shown, seconds; the run and its figures cover the whole window.
    pub timeline_s: f64,
}

impl TraceSpec {
    /// How much of the measured window is shown by default, seconds.
    pub const TIMELINE_S: f64 = 1.0;

    /// The benchmark run of a profile's specification.
    pub fn of(spec: ProfileSpec) -> Self {
        Self { spec, configuration: None, timeline_s: Self::TIMELINE_S }
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
        /// The recognised format: `Chrome trace`.
        format: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_compiler::AutoCast;

    #[test]
    fn runs_of_other_specifications_have_other_names() {
        let usual = ProfileSpec::default();
        assert_eq!(usual.run_title(), "nn mark_step");
        let options = CompileOptions { auto_cast: AutoCast::None, ..CompileOptions::default() };
        let other = ProfileSpec { instance: "inf2.xlarge".to_owned(), options, seed: 7, batch_size: Some(4), ..usual };
        assert_eq!(other.run_title(), "nn, batch 4 mark_step on inf2.xlarge, --auto-cast none -O2, seed 7");
    }
}
