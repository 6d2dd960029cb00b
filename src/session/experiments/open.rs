//! Which records are open: a model, a backend, a batch size, a time, as text that a row or a point carries and a link keeps.

use crate::session::share::Query;

/// Records by what they have in common; what is absent does not matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opened {
    /// Name of the model.
    pub model: Option<String>,
    /// Name of the backend as options have it.
    pub backend: Option<String>,
    /// Batch size as the record writes it.
    pub batch: Option<String>,
    /// Seconds since 1970.
    pub at: Option<f64>,
}

impl Opened {
    /// Reads [`Self::print`]; what is not understood does not matter.
    pub fn parse(text: &str) -> Self {
        let query = Query::parse(text);
        let get = |key| query.get(key).map(str::to_owned);
        Self {
            model: get("model"),
            backend: get("backend"),
            batch: get("batch"),
            at: query.get("at").and_then(|t| t.parse().ok()),
        }
    }

    /// As text.
    pub fn print(&self) -> String {
        let mut query = Query::default();
        let at = self.at.map(|t| t.to_string());
        for (key, value) in [("model", &self.model), ("backend", &self.backend), ("batch", &self.batch), ("at", &at)] {
            if let Some(value) = value {
                query.set(key, value);
            }
        }
        query.print()
    }

    /// Records of a model, with a backend, at a time.
    pub fn of(model: Option<&str>, backend: Option<&str>, at: Option<f64>) -> String {
        Self { model: model.map(str::to_owned), backend: backend.map(str::to_owned), batch: None, at }.print()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_survives_as_text() {
        let opened = Opened {
            model: Some("a&b=c".to_owned()),
            backend: Some("openxla+dynamo".to_owned()),
            batch: Some("16".to_owned()),
            at: Some(1_699_680_738.723_406_8),
        };
        assert_eq!(Opened::parse(&opened.print()), opened);
        assert_eq!(Opened::parse("nothing"), Opened::default());
    }
}
