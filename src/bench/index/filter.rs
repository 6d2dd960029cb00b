//! Selects the entries of an index to run: NeuronPerf's `model_index.filter`.

use super::ModelEntry;
use ns_base::{Refusal, refuse};

/// The fields that can be filtered by. The plural of each is accepted too: NeuronPerf's guide filters by `batch_sizes`, which is
/// not a field, and so silently drops everything.
/// The last two are keys of the older format.
pub const FILTER_FIELDS: [&str; 13] = [
    "filename",
    "batch_size",
    "pipeline_size",
    "performance_level",
    "status",
    "model",
    "instance_type",
    "auto_cast",
    "auto_cast_type",
    "optlevel",
    "lnc",
    "input_idx",
    "cast_mode",
];

/// How a value is written that an entry does not have.
const NOTHING: [&str; 2] = ["null", "None"];

/// Values that entries may have, by field. A field that is not named accepts every entry; for a named field, an entry without a
/// value is accepted by `null` and `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexFilter {
    wanted: Vec<(&'static str, Vec<String>)>,
}

impl IndexFilter {
    /// Accepts only these values of a field, as text. Fails when entries do not have the field.
    pub fn with(mut self, field: &str, values: &[impl ToString]) -> Result<Self, Refusal> {
        let plural = |known: &str| field == format!("{known}s") || (known == "status" && field == "statuses");
        let known = FILTER_FIELDS.into_iter().find(|k| *k == field || plural(k));
        let known = known.ok_or_else(|| {
            refuse!("an index cannot be filtered by '{field}'; its fields are {}", FILTER_FIELDS.join(", "))
        })?;
        self.wanted.push((known, values.iter().map(ToString::to_string).collect()));
        Ok(self)
    }

    pub(super) fn accepts(&self, entry: &ModelEntry) -> bool {
        self.wanted.iter().all(|(field, values)| match value(entry, field) {
            Some(own) => values.contains(&own),
            None => values.iter().any(|v| NOTHING.contains(&v.as_str())),
        })
    }
}

fn value(entry: &ModelEntry, field: &str) -> Option<String> {
    match field {
        "filename" => entry.filename.clone(),
        "batch_size" => Some(entry.batch_size.to_string()),
        "pipeline_size" => Some(entry.pipeline_size.to_string()),
        "performance_level" => Some(entry.performance_level.to_string()),
        "status" => Some(entry.status.name().to_owned()),
        "model" => entry.model.clone(),
        "instance_type" => entry.instance_type.clone(),
        "auto_cast" => entry.auto_cast.map(|v| v.to_string()),
        "auto_cast_type" => entry.auto_cast_type.map(|v| v.to_string()),
        "optlevel" => entry.optlevel.map(|v| v.to_string()),
        "lnc" => entry.lnc.map(|v| v.to_string()),
        "input_idx" => entry.input_idx.map(|v| v.to_string()),
        "cast_mode" => entry.cast_mode.clone(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EntryStatus, ModelIndex};
    use super::*;

    #[test]
    fn keys_of_both_formats_are_filtered_by() {
        let text = r#"{"version": "0", "model_configs": [{"filename": "a.pt", "input_idx": 0, "cast_mode": null},
            {"filename": "b.pt", "input_idx": 1, "cast_mode": "all"}, {"model": "nn", "auto_cast": "none", "lnc": 2}]}"#;
        let index = ModelIndex::read(text).unwrap().index;
        let names_of = |field: &str, value: &str| {
            let filter = IndexFilter::default().with(field, &[value]).unwrap();
            index
                .filter(&filter)
                .model_configs
                .iter()
                .map(|e| e.filename.clone().unwrap_or_default())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (names_of("input_idx", "1"), names_of("cast_mode", "all")),
            (vec!["b.pt".to_owned()], vec!["b.pt".to_owned()])
        );
        assert_eq!(names_of("cast_mode", "null"), ["a.pt", ""]);
        assert_eq!(
            (names_of("input_idx", "0"), names_of("auto_cast", "none")),
            (vec!["a.pt".to_owned()], vec![String::new()])
        );
        assert_eq!((names_of("lnc", "2"), names_of("lnc", "1").len()), (vec![String::new()], 0));
    }

    #[test]
    fn singular_and_plural_mean_the_same() {
        let mut index = ModelIndex::new("m");
        for batch_size in [1, 2, 4] {
            let filename = (batch_size < 4).then(|| format!("{batch_size}.pt"));
            let status = if batch_size < 4 { EntryStatus::Finished } else { EntryStatus::Error };
            index.model_configs.push(ModelEntry { filename, batch_size, status, ..ModelEntry::default() });
        }
        let batches = |f: IndexFilter| index.filter(&f).model_configs.iter().map(|e| e.batch_size).collect::<Vec<_>>();
        let filter = IndexFilter::default;
        assert_eq!(batches(filter().with("batch_sizes", &[1, 4]).unwrap()), [1, 4]);
        assert_eq!(batches(filter().with("batch_size", &[1, 4]).unwrap()), [1, 4]);
        assert_eq!(batches(filter().with("status", &["finished"]).unwrap()), [1, 2]);
        assert_eq!(batches(filter().with("filename", &["2.pt"]).unwrap()), [2]);
        assert_eq!(batches(filter().with("model", &["nn"]).unwrap()), [0; 0]);
        assert_eq!(batches(filter()), [1, 2, 4]);
        let error = filter().with("batches", &[1]).unwrap_err().to_string();
        assert!(error.contains("'batches'") && error.contains("batch_size"), "{error}");
    }
}
