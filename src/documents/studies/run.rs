//! A running study.

use std::cell::RefCell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::nki::KernelAnswers;
use super::{customop, fidelity, llm, matmult, nki, numerics};
use crate::recorder::Recorder;
use ns_base::Clock;
use ns_bench::matmult::MatmultReport;
use ns_device::ModelLibrary;
use ns_forms::studies::StudySpec;
use ns_neuron::gpsimd::{CustomOpReport, CustomOpSpec};
use ns_neuron::numerics::NumericsReport;
use ns_profile::Profile;
use ns_view::document::Document;

/// The result of a study, final or intermediate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyResult {
    /// The document to show.
    pub document: Document,
    /// Files that can be saved; available when the study is over.
    pub files: Vec<StudyFile>,
    /// What a later run of the same study takes up, while the study runs; empty for nothing.
    pub resume: String,
    /// The cases so far, for a shell of the same process; messages to a page leave them out.
    #[serde(skip)]
    pub reports: StudyReports,
}

/// The cases of a study.
#[derive(Clone, Debug, Default)]
pub enum StudyReports {
    #[default]
    None,
    Matmult(Vec<MatmultReport>),
    Customop {
        reports: Vec<(CustomOpSpec, CustomOpReport)>,
        /// The processors of the first one.
        timeline: Option<Rc<Profile>>,
    },
    Numerics(Box<NumericsReport>),
}

/// Results are equal by what a page has of them, which holds all of this.
impl PartialEq for StudyReports {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// How often the result of many cases is shown before they have ended.
const MOST_SHOWN: usize = 50;

/// Whether the result is shown after this number of cases.
pub(super) const fn is_shown(done: usize, total: usize) -> bool {
    done.is_multiple_of(total.div_ceil(MOST_SHOWN))
}

/// A file that a study made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudyFile {
    /// Label of its button: `CSV`.
    pub label: String,
    /// File name: `matmult.csv`.
    pub name: String,
    /// Media type.
    pub mime: String,
    pub text: String,
}

/// Media type of a trace that the profile page opens.
pub const TRACE_MIME: &str = "application/json; profile=trace";

impl StudyFile {
    /// What `--json` of the command prints.
    pub(super) fn json(name: &str, text: String) -> Self {
        Self { label: "JSON".to_owned(), name: name.to_owned(), mime: "application/json".to_owned(), text }
    }

    pub(super) fn trace(name: &str, text: String) -> Self {
        Self { label: "trace".to_owned(), name: name.to_owned(), mime: TRACE_MIME.to_owned(), text }
    }

    /// Whether it is a trace, which can be opened as a timeline.
    pub fn is_trace(&self) -> bool {
        self.mime == TRACE_MIME
    }
}

pub trait StudyRun {
    /// Works for about `budget_events` simulated events, or the next part that cannot be divided. Fails when nothing can be shown:
    /// what was wrong and what to do.
    fn step(&mut self, budget_events: u32) -> Result<StudyStep, String>;
}

/// State of a study after a step.
pub enum StudyStep {
    /// There is more to do.
    More {
        /// Parts done.
        done: u64,
        /// Parts in all.
        total: u64,
        /// The next part: `n 1024, batch 1`.
        label: String,
        /// The intermediate result, if it has grown.
        so_far: Option<Box<StudyResult>>,
    },
    Done(Box<StudyResult>),
}

/// What a shell lends to a study.
#[derive(Clone, Default)]
pub struct StudyTools {
    /// Given when the shell can measure.
    pub clock: Option<Rc<dyn Clock>>,
    pub models: ModelLibrary,
    /// Given when the shell runs Python.
    pub recorder: Option<Rc<dyn Recorder>>,
    /// Answers of kernels that earlier runs of the session found.
    pub kernels: Rc<RefCell<KernelAnswers>>,
    /// What a run of an earlier session kept; empty for nothing.
    pub kept: String,
}

/// Begins a study. Fails when it cannot be run; says what to change.
pub fn start(spec: StudySpec, tools: &StudyTools) -> Result<Box<dyn StudyRun>, String> {
    let StudyTools { clock, models, recorder, kernels, kept } = tools.clone();
    match spec {
        StudySpec::Matmult(study) => matmult::start(study, clock, &models),
        StudySpec::Customop(study) => customop::start(study),
        StudySpec::Numerics(study) => numerics::start(study, &models),
        StudySpec::Fidelity(study) => fidelity::start(study),
        StudySpec::Llm(study) => llm::start(study),
        StudySpec::Nki(study) => nki::start(study, recorder, kernels, &kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_forms::studies::StudyKind;

    #[test]
    fn every_example_is_possible() {
        for kind in StudyKind::ALL {
            for example in kind.form().examples {
                let spec = StudySpec::of_example(kind, example);
                assert!(start(spec, &StudyTools::default()).is_ok(), "{}", example.name);
            }
        }
    }
}
