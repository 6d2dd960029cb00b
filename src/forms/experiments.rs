//! The request for a view of records: every choice of the page as text, so that the form, links and requests hold the same.
//! An empty choice means the default for the records.

use serde::{Deserialize, Serialize};

use ns_base::names;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_at_their_places() {
        let spec = ExperimentSpec::default().with(ExperimentField::Open, "x");
        assert_eq!((spec.get(ExperimentField::Open), spec.get(ExperimentField::View)), ("x", ""));
    }
}
