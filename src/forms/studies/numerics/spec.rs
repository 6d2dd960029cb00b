//! The specification of a comparison of values, as in its form.

use serde::{Deserialize, Serialize};

use ns_neuron::numerics::NumericsSpec;

/// A comparison of values, for inputs from the seed or for records of the user's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NumericsStudy {
    pub compared: NumericsSpec,
    /// A table of numbers with a line for each record; empty for inputs from the seed.
    pub dataset: String,
    /// Names of metrics of the answers.
    pub metrics: Vec<String>,
    /// The column with the right answers; empty for the last one.
    pub target: String,
    /// Whether the records are answers of a model elsewhere, which only metrics judge.
    pub is_answered: bool,
}
