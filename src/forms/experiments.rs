//! The request for a view of records: every choice of the page as text, so that the form, links and requests hold the same.
//! An empty choice means the default for the records.

use serde::{Deserialize, Serialize};

use ns_base::names;

use crate::options::{Flag, Opt, Options, opt};
use crate::studies::{FieldKind, field};

/// The request. Every field is text; a field that cannot be used is named in the answer, with the value used instead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentSpec {
    values: [String; ExperimentField::ALL.len()],
}

names! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ExperimentField {
        View = "view",
        /// Accelerator: a short name, a kind, a part of the product's name, or `any`.
        Accelerator = "accelerator",
        /// `inference` or `training`.
        Test = "test",
        /// `exec` or `compile`.
        Metric = "metric",
        /// `oldest` or `latest`.
        Baseline = "baseline",
        /// Backends separated by commas; the first is the baseline.
        Backends = "backends",
        /// Regular expressions of models to keep, separated by spaces.
        Filter = "filter",
        /// Regular expressions of models to leave out.
        Exclude = "exclude",
        /// Tiers to keep, separated by commas.
        Tier = "tier",
        /// The run that changes are relative to: `previous`, `oldest`, or the timestamp of a run.
        Against = "against",
        /// The records that are open: a model, a backend, a time.
        Open = "open",
    }

    /// All fields in the order of links.
    pub const ALL: [Self; _];
    /// Its name in links.
    pub const fn key(self) -> &'static str;
}

impl ExperimentSpec {
    /// The text of a field.
    pub fn get(&self, field: ExperimentField) -> &str {
        self.values.get(field as usize).map_or("", String::as_str)
    }

    /// Puts a text into a field.
    pub fn set(&mut self, field: ExperimentField, text: &str) {
        if let Some(value) = self.values.get_mut(field as usize) {
            text.clone_into(value);
        }
    }

    /// The same request with another text in a field.
    pub fn with(mut self, field: ExperimentField, text: &str) -> Self {
        self.set(field, text);
        self
    }
}

names! {
    /// A view of records.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum ExperimentView {
        /// Pass rate, speed-up with coverage, and what needs attention.
        #[default]
        Overview = "overview",
        /// Changes of the newest run.
        Changes = "changes",
        /// Geometric means over time.
        OverTime = "speedup",
        /// Models by speed-up, each backend at its newest run.
        Latest = "latest",
        /// Models by name, backends side by side.
        ByModel = "latest_grouped",
        /// Percentiles of the models over time.
        Histogram = "histogram",
        /// Time to compile.
        Compile = "compile",
        /// The verifier's codes, with the times.
        Verification = "verification",
        /// Reports of NeuronPerf side by side.
        Reports = "reports",
        /// Unusable lines, and other remarks.
        Lines = "lines",
    }

    /// All views in the order of the page.
    pub const ALL: [Self; _];
    /// Its name in links; the same as the command line's report, if there is one.
    pub const fn key(self) -> &'static str;
    /// The view with a name in links.
    pub fn of_key(key: &str) -> Option<Self>;
}

impl ExperimentView {
    /// Label of its button.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Changes => "Changes",
            Self::OverTime => "Over time",
            Self::Latest => "Latest by workload",
            Self::ByModel => "By model",
            Self::Histogram => "Percentiles",
            Self::Compile => "Compile time",
            Self::Verification => "Verification",
            Self::Reports => "NeuronPerf",
            Self::Lines => "Lines",
        }
    }
}

impl Options for ExperimentSpec {
    const OPTIONS: &'static [&'static [Opt<Self>]] = &[RECORDS_OPTIONS];
}

/// The views with their titles.
const VIEWS: [(&str, &str); ExperimentView::ALL.len()] = {
    let (mut all, mut at) = ([("", ""); ExperimentView::ALL.len()], 0);
    while at < all.len() {
        all[at] = (ExperimentView::ALL[at].key(), ExperimentView::ALL[at].title());
        at += 1;
    }
    all
};

/// A row of a choice about records: its field, label, value in the help, help, and its values if they are few.
macro_rules! choice {
    ($field:ident, $label:literal, $value:literal, $help:literal, $values:expr) => {
        opt(
            field(ExperimentField::$field.key(), $label, "", "", FieldKind::Line),
            Flag::new(ExperimentField::$field.key(), $value, $help).values($values),
            |spec| spec.get(ExperimentField::$field).to_owned(),
            |spec, given| {
                spec.set(ExperimentField::$field, given.text);
                Ok(())
            },
        )
    };
}

/// All but the records that are open, which a click on the page chooses.
#[rustfmt::skip]
const RECORDS_OPTIONS: &[Opt<ExperimentSpec>] = &[
    choice!(View, "View", "VIEW", "What is shown of the records [default: overview]", &VIEWS),
    choice!(Accelerator, "Accelerator", "ACCELERATOR", "A kind (trn1, cpu), a short name (v100), a part of the product's name, or any [default: the one with most records]", &[]),
    choice!(Test, "Test", "TEST", "Which records [default: inference, where there are some]", &[("inference", ""), ("training", "")]),
    choice!(Metric, "Metric", "METRIC", "What is compared [default: exec]", &[("exec", "Time of a warm execution"), ("compile", "Time to compile")]),
    choice!(Baseline, "Baseline", "BASELINE", "Which times of the first backend make the baseline [default: oldest]", &[("oldest", "The oldest time of each model"), ("latest", "The newest timestamp")]),
    choice!(Backends, "Backends", "BACKENDS", "Backends, separated by commas; the first is the baseline [default: those with records]", &[]),
    choice!(Filter, "Models", "PATTERNS", "Regular expressions of models to keep, separated by spaces", &[]),
    choice!(Exclude, "Not these models", "PATTERNS", "Regular expressions of models to leave out", &[]),
    choice!(Tier, "Tiers", "TIERS", "Tiers of torchbench to keep, separated by commas", &[]),
    choice!(Against, "Changes since", "RUN", "The run that changes are relative to: previous, oldest, or its timestamp [default: previous]", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_at_their_places() {
        let spec = ExperimentSpec::default().with(ExperimentField::Open, "x");
        assert_eq!((spec.get(ExperimentField::Open), spec.get(ExperimentField::View)), ("x", ""));
    }
}
