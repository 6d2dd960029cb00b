//! Kernels and settings beside each other.

use serde::{Deserialize, Serialize, Serializer};

use crate::answer::Answer;

/// A case of a ranking.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// File and function.
    pub kernel: String,
    /// Each as `NAME=VALUE`.
    pub settings: Vec<String>,
    #[serde(flatten, serialize_with = "without_name")]
    pub answer: Option<Answer>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// An answer whose kernel the row names already.
fn without_name<S: Serializer>(answer: &Option<Answer>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut keys = serde_json::Map::new();
    if let Some(serde_json::Value::Object(all)) = answer.as_ref().and_then(|answer| serde_json::to_value(answer).ok()) {
        keys = all;
    }
    keys.remove("kernel");
    keys.serialize(serializer)
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranking_is_read_as_it_was_written() {
        let answer = Answer { kernel: "f".to_owned(), total_us: Some(2.0), builds: true, ..Answer::default() };
        let row = |settings: &str, answer, error| Ranked {
            kernel: "k.py::f".to_owned(),
            settings: vec![settings.to_owned()],
            answer,
            error,
        };
        let rows = vec![row("A=1", Some(answer), None), row("A=2", None, Some("fails".to_owned()))];
        let text = serde_json::to_string(&Ranking::of(rows.clone())).unwrap();
        // No key stands twice.
        assert_eq!(text.matches("\"kernel\"").count(), 2, "{text}");
        let again: Ranking = serde_json::from_str(&text).unwrap();
        assert_eq!(again.ranked[1].error.as_deref(), Some("fails"));
        assert_eq!((again.ranked[0].total_us(), &again.ranked[0].kernel), (Some(2.0), &rows[0].kernel));
    }
}
