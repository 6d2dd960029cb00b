//! The index itself: created, written, appended, filtered.

use serde::{Deserialize, Serialize};

use super::{EntryStatus, IndexFilter, ModelEntry, no_model};
use crate::REPORT_VERSION;
use ns_base::{Digest, Refusal};

/// A list of compiled models with a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelIndex {
    /// The version that wrote it.
    #[serde(rename = "NeuronPerf_version")]
    pub version: String,
    /// Label of its models.
    pub model_name: String,
    /// The artifacts, in the order they were compiled.
    pub model_configs: Vec<ModelEntry>,
}

/// Several indexes combined into one, with notes.
#[derive(Clone, Debug, PartialEq)]
pub struct CombinedIndex {
    /// The combined index; the source indexes are unchanged.
    pub index: ModelIndex,
    /// Notes on differences between the indexes and on duplicate entries, one sentence each.
    pub warnings: Vec<String>,
}

impl ModelIndex {
    /// An index without artifacts.
    pub fn new(model_name: &str) -> Self {
        Self { version: REPORT_VERSION.to_owned(), model_name: model_name.to_owned(), model_configs: Vec::new() }
    }

    /// An index of one artifact. The label is the file name when none is given.
    pub fn create(entry: ModelEntry, model_name: Option<&str>) -> Self {
        let name = model_name.or(entry.filename.as_deref()).unwrap_or("Model").to_owned();
        Self { model_configs: vec![entry], ..Self::new(&name) }
    }

    /// The entries whose artifact exists.
    pub fn finished(&self) -> impl Iterator<Item = &ModelEntry> {
        self.model_configs.iter().filter(|e| e.status == EntryStatus::Finished)
    }

    /// Whether the model of some entry that can run is known, by the entry, its file's name or `named`. An error names the first artifact when
    /// none is: every configuration would fail for this reason.
    pub fn check_models(&self, named: &str) -> Result<(), Refusal> {
        if !named.trim().is_empty() || self.finished().any(|e| e.known_model().is_some()) {
            return Ok(());
        }
        self.finished().find_map(|e| e.filename.as_deref()).map_or(Ok(()), |file| Err(no_model(file)))
    }

    /// The entries that pass the filter.
    pub fn filter(&self, filter: &IndexFilter) -> Self {
        let kept = self.model_configs.iter().filter(|e| filter.accepts(e)).cloned().collect();
        Self { model_configs: kept, ..self.clone() }
    }

    /// All entries of all indexes under the name of the first; a duplicate entry is kept once. `None` when
    /// there is no index.
    pub fn append(indexes: &[Self]) -> Option<CombinedIndex> {
        let (first, others) = indexes.split_first()?;
        let (mut index, mut warnings) = (first.clone(), Vec::new());
        for other in others {
            if other.version != first.version {
                let (a, b) = (&first.version, &other.version);
                warnings.push(format!("the indexes were written by different versions: {a} and {b}"));
            }
            if other.model_name != first.model_name {
                let (a, b) = (&first.model_name, &other.model_name);
                warnings.push(format!("the indexes have different names, {a} and {b}; {a} is kept"));
            }
            index.model_configs.extend(other.model_configs.iter().cloned());
        }
        let before = index.model_configs.len();
        let mut kept: Vec<ModelEntry> = Vec::with_capacity(before);
        for entry in index.model_configs {
            if !kept.contains(&entry) {
                kept.push(entry);
            }
        }
        if kept.len() < before {
            warnings.push(format!("{} duplicate entries are kept once", before - kept.len()));
        }
        index.model_configs = kept;
        Some(CombinedIndex { index, warnings })
    }

    /// The file's text: the newer format, indented by two spaces, ended by a newline. Never NaN. Fails when the encoder fails,
    /// which does not happen for text in memory.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// A file name in NeuronPerf's pattern, `{model_name}_{8 characters}.json`. The characters are a digest of what the
    /// index lists, so the same compile gives the same name.
    pub fn file_name(&self) -> String {
        let mut digest = Digest::default().text("neuronscope index 1").text(&self.model_name);
        for e in &self.model_configs {
            digest = digest
                .text(e.model.as_deref().unwrap_or_default())
                .text(e.instance_type.as_deref().unwrap_or_default())
                .number(e.batch_size.into())
                .number(e.pipeline_size.into())
                .number(e.performance_level.into());
        }
        self.named(digest)
    }

    /// As [`Self::file_name`] for an index whose artifacts do not exist yet, from the request.
    pub fn file_name_for(&self, asked: &str) -> String {
        self.named(Digest::default().text("neuronscope index request 1").text(asked))
    }

    fn named(&self, digest: Digest) -> String {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '=');
        let name: String = self.model_name.chars().map(|c| if is_safe(c) { c } else { '_' }).take(64).collect();
        format!("{name}_{}.json", digest.name8())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(batch_size: u32) -> ModelEntry {
        ModelEntry { filename: Some(format!("models/b{batch_size}.pt")), batch_size, ..ModelEntry::default() }
    }

    #[test]
    fn append_keeps_the_first_name_and_drops_repeats() {
        let a = ModelIndex::create(entry(1), Some("resnet"));
        let mut b = ModelIndex::create(entry(2), Some("other"));
        b.model_configs.push(entry(1));
        let sum = ModelIndex::append(&[a.clone(), b]).unwrap();
        assert_eq!(sum.index.model_name, "resnet");
        assert_eq!(sum.index.model_configs, [entry(1), entry(2)]);
        assert_eq!(sum.warnings.len(), 2, "{:?}", sum.warnings);
        assert!(ModelIndex::append(&[]).is_none());
        assert_eq!(ModelIndex::append(std::slice::from_ref(&a)).unwrap().index, a);
    }

    #[test]
    fn the_written_text_reads_back_and_names_repeat() {
        let mut index = ModelIndex::create(entry(4), None);
        assert_eq!(index.model_name, "models/b4.pt");
        index.model_configs.push(ModelEntry { status: EntryStatus::Error, error: Some("no".into()), ..entry(8) });
        let text = index.to_json().unwrap();
        assert_eq!(ModelIndex::read(&text).unwrap().index, index);
        assert_eq!(index.finished().count(), 1);
        assert_eq!(index.file_name(), index.clone().file_name());
        assert!(index.file_name().starts_with("models_b4.pt_") && index.file_name().ends_with(".json"));
    }
}
