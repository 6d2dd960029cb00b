//! Kernels and settings beside each other.

use serde::Serialize;

use crate::answer::Answer;

/// A case of a ranking.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ranked {
    /// File and function.
    pub kernel: String,
    /// Each as `NAME=VALUE`.
    pub settings: Vec<String>,
    #[serde(flatten)]
    pub answer: Option<Answer>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Ranked {
    /// Time on the device, microseconds; `None` if it does not build.
    pub fn total_us(&self) -> Option<f64> {
        self.answer.as_ref()?.total_us
    }

    /// What differs from other cases.
    pub fn label(&self) -> String {
        if self.settings.is_empty() { self.kernel.clone() } else { self.settings.join(" ") }
    }
}

/// A table of several kernels or settings, the fastest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ranking {
    pub ranked: Vec<Ranked>,
}

impl Ranking {
    /// The cases in the order of their time; those without one come last.
    #[must_use]
    pub fn of(mut ranked: Vec<Ranked>) -> Self {
        use ns_base::Order as _;
        let time = |case: &Ranked| case.total_us().unwrap_or(f64::INFINITY);
        ranked.order_by(|a, b| time(a).total_cmp(&time(b)));
        Self { ranked }
    }
}
