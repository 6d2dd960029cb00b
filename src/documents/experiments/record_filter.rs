//! The open records: model, backend, batch size and time, as a text that rows, points and links carry.

use ns_forms::share::Query;

/// Selects records by shared values; an absent value matches any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordFilter {
    /// Name of the model.
    pub model: Option<String>,
    /// Name of the backend as in options.
    pub backend: Option<String>,
    /// Batch size as the record writes it.
    pub batch: Option<String>,
    /// Seconds since 1970.
    pub at: Option<f64>,
    /// A row of a NeuronPerf report: the positions of its file and of the row, from 0.
    pub report: Option<(usize, usize)>,
}

impl RecordFilter {
    /// Reads the output of [`Self::print`]; parts that cannot be read are ignored.
    pub fn parse(text: &str) -> Self {
        let query = Query::parse(text);
        let get = |key| query.get(key).map(str::to_owned);
        Self {
            model: get("model"),
            backend: get("backend"),
            batch: get("batch"),
            at: query.get("at").and_then(|t| t.parse().ok()),
            report: query.get("report").and_then(|place| {
                let (file, row) = place.split_once('.')?;
                Some((file.parse().ok()?, row.parse().ok()?))
            }),
        }
    }

    /// The open records as text.
    pub fn print(&self) -> String {
        let mut query = Query::default();
        let at = self.at.map(|t| t.to_string());
        let report = self.report.map(|(file, row)| format!("{file}.{row}"));
        let of_records = [("model", &self.model), ("backend", &self.backend), ("batch", &self.batch), ("at", &at)];
        for (key, value) in of_records.into_iter().chain([("report", &report)]) {
            if let Some(value) = value {
                query.set(key, value);
            }
        }
        query.print()
    }

    /// Records of a model, with a backend, at a time.
    pub fn of(model: Option<&str>, backend: Option<&str>, at: Option<f64>) -> String {
        Self { model: model.map(str::to_owned), backend: backend.map(str::to_owned), batch: None, at, report: None }
            .print()
    }

    /// A row of a NeuronPerf report, by the positions of its file and of the row.
    pub fn of_report(file: usize, row: usize) -> String {
        Self { report: Some((file, row)), ..Self::default() }.print()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_survives_printing_and_parsing() {
        let record_filter = RecordFilter {
            model: Some("a&b=c".to_owned()),
            backend: Some("openxla+dynamo".to_owned()),
            batch: Some("16".to_owned()),
            at: Some(1_699_680_738.723_406_8),
            report: Some((2, 17)),
        };
        assert_eq!(RecordFilter::parse(&record_filter.print()), record_filter);
        assert_eq!(RecordFilter::parse("nothing"), RecordFilter::default());
    }
}
