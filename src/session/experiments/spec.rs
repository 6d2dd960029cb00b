//! The request for a view of records: every choice of the page as text, so that the form, links and requests hold the same.
//! An empty choice means the default for the records.

use serde::{Deserialize, Serialize};

/// The request. Every field is text; a field that cannot be used is named in the answer, with the value used instead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExperimentSpec {
    values: [String; ALL_FIELDS.len()],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExperimentField {
    View,
    /// Accelerator: a short name, a kind, a part of the product's name, or `any`.
    Accelerator,
    /// `inference` or `training`.
    Test,
    /// `exec` or `compile`.
    Metric,
    /// `oldest` or `latest`.
    Baseline,
    /// Backends separated by commas; the first is the baseline.
    Backends,
    /// Regular expressions of models to keep, separated by spaces.
    Filter,
    /// Regular expressions of models to leave out.
    Exclude,
    /// Tiers to keep, separated by commas.
    Tier,
    /// The run that changes are relative to: `previous`, `oldest`, or the timestamp of a run.
    Against,
    /// The records that are open: a model, a backend, a time.
    Open,
}

/// All fields in the order of links.
const ALL_FIELDS: [ExperimentField; 11] = [
    ExperimentField::View,
    ExperimentField::Accelerator,
    ExperimentField::Test,
    ExperimentField::Metric,
    ExperimentField::Baseline,
    ExperimentField::Backends,
    ExperimentField::Filter,
    ExperimentField::Exclude,
    ExperimentField::Tier,
    ExperimentField::Against,
    ExperimentField::Open,
];

impl ExperimentField {
    /// All fields in the order of links.
    pub const ALL: &'static [Self] = &ALL_FIELDS;

    /// Its name in links.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Accelerator => "accelerator",
            Self::Test => "test",
            Self::Metric => "metric",
            Self::Baseline => "baseline",
            Self::Backends => "backends",
            Self::Filter => "filter",
            Self::Exclude => "exclude",
            Self::Tier => "tier",
            Self::Against => "against",
            Self::Open => "open",
        }
    }
}

impl ExperimentSpec {
    /// The text of a field.
    #[must_use]
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
    #[must_use]
    pub fn with(mut self, field: ExperimentField, text: &str) -> Self {
        self.set(field, text);
        self
    }
}

/// A view of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExperimentView {
    /// Pass rate, speed-up with coverage, and what needs attention.
    #[default]
    Overview,
    /// Changes of the newest run.
    Changes,
    /// Geometric means over time.
    OverTime,
    /// Models by speed-up, each backend at its newest run.
    Latest,
    /// Models by name, backends side by side.
    ByModel,
    /// Percentiles of the models over time.
    Histogram,
    /// Time to compile.
    Compile,
    /// The verifier's codes, with the times.
    Verification,
    /// Reports of NeuronPerf side by side.
    Reports,
    /// Unusable lines, and other remarks.
    Lines,
}

impl ExperimentView {
    /// All views in the order of the page.
    pub const ALL: &'static [Self] = &[
        Self::Overview,
        Self::Changes,
        Self::OverTime,
        Self::Latest,
        Self::ByModel,
        Self::Histogram,
        Self::Compile,
        Self::Verification,
        Self::Reports,
        Self::Lines,
    ];

    /// Its name in links; the same as the command line's report, if there is one.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Changes => "changes",
            Self::OverTime => "speedup",
            Self::Latest => "latest",
            Self::ByModel => "latest_grouped",
            Self::Histogram => "histogram",
            Self::Compile => "compile",
            Self::Verification => "verification",
            Self::Reports => "reports",
            Self::Lines => "lines",
        }
    }

    /// Label of its button.
    #[must_use]
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

    /// The view with a name in links.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|view| view.key() == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_at_their_places() {
        for (i, field) in ExperimentField::ALL.iter().enumerate() {
            assert_eq!(*field as usize, i, "{}", field.key());
        }
        let spec = ExperimentSpec::default().with(ExperimentField::Open, "x");
        assert_eq!((spec.get(ExperimentField::Open), spec.get(ExperimentField::View)), ("x", ""));
        assert!(ExperimentView::ALL.iter().all(|v| ExperimentView::of_key(v.key()) == Some(*v)));
    }
}
