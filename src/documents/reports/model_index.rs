//! Model indexes, as NeuronPerf's `model_index` functions change them: `neuronscope index`. A shell has the texts of the files, and
//! carries out the plan.

use ns_base::{Refusal, refuse};
use ns_bench::{Artifact, EntryStatus, FilePlan, IndexFilter, ModelEntry, ModelIndex};
use ns_compiler::CompileOptions;
use ns_view::document::{Block, Document};
use ns_view::table::Table;

/// A new index, and the name of its file.
pub struct NewIndex {
    pub file_name: String,
    pub json: String,
}

/// The text of an index, or the changes of files for one, and what was noticed.
pub struct IndexAnswer<T> {
    pub answer: T,
    pub warnings: Vec<String>,
}

fn json(index: &ModelIndex) -> Result<String, Refusal> {
    index.to_json().map_err(|e| refuse!("{e}"))
}

/// The index in a text, with the warnings of its file. Fails when the text is not an index.
pub(super) fn read(file: &str, text: &str) -> Result<IndexAnswer<ModelIndex>, Refusal> {
    let read = ModelIndex::read_file(text, file).map_err(|e| refuse!("{file}: is not a model index: {e}"))?;
    let warnings = read.warnings.iter().map(|warning| format!("{file}: {warning}")).collect();
    Ok(IndexAnswer { answer: read.index, warnings })
}

impl<T> IndexAnswer<T> {
    fn then<U>(self, make: impl FnOnce(&T) -> Result<U, Refusal>) -> Result<IndexAnswer<U>, Refusal> {
        Ok(IndexAnswer { answer: make(&self.answer)?, warnings: self.warnings })
    }
}

/// An index for an existing artifact. Its typed values go through the reader, which checks their ranges.
pub fn create_index(entry: ModelEntry, model_name: Option<&str>) -> Result<NewIndex, Refusal> {
    let index = ModelIndex::create(entry, model_name);
    let json = json(&index)?;
    match ModelIndex::read(&json)?.warnings.into_iter().next() {
        Some(warning) => Err(Refusal::new(warning)),
        None => Ok(NewIndex { file_name: index.file_name(), json }),
    }
}

/// One index of the entries of several, each by its file's name and text. Fails when one of them is not an index, or there is none.
pub fn append_indexes(files: &[(String, String)]) -> Result<IndexAnswer<String>, Refusal> {
    let (mut indexes, mut warnings) = (Vec::new(), Vec::new());
    for (file, text) in files {
        let mut found = read(file, text)?;
        indexes.push(found.answer);
        warnings.append(&mut found.warnings);
    }
    let sum = ModelIndex::append(&indexes).ok_or_else(|| refuse!("no index to append is named"))?;
    warnings.extend(sum.warnings);
    Ok(IndexAnswer { answer: json(&sum.index)?, warnings })
}

/// The entries of an index that pass `field=value,value` filters. Fails when the text is not an index, or a filter cannot be read.
pub fn filter_index(file: &str, text: &str, filters: &[String]) -> Result<IndexAnswer<String>, Refusal> {
    let mut filter = IndexFilter::default();
    for text in filters {
        let (field, values) = text
            .split_once('=')
            .ok_or_else(|| refuse!("'{text}' is not a filter; write field=value,value, such as batch_size=1,2"))?;
        filter = filter.with(field.trim(), &values.split(',').map(str::trim).collect::<Vec<_>>())?;
    }
    read(file, text)?.then(|index| json(&index.filter(&filter)))
}

/// An index as a document. Fails when the text is not an index.
pub fn show_index(file: &str, text: &str) -> Result<IndexAnswer<Document>, Refusal> {
    read(file, text)?.then(|index| {
        let (all, finished) = (index.model_configs.len(), index.finished().count());
        let counts = format!("{finished} of {all} entries are finished. Written by {}.", index.version);
        let entries = Block::Table { title: "Entries".into(), file: "model-index".into(), table: index_table(index) };
        Ok(Document { title: format!("Model index: {}", index.model_name), blocks: vec![Block::Text(counts), entries] })
    })
}

/// The entries of an index.
pub fn index_table(index: &ModelIndex) -> Table {
    // An entry whose time has no source is from NeuronPerf, which measures it.
    let source = |e: &ModelEntry| Some(e.compile_s_source.clone().unwrap_or_else(|| "measured".to_owned()));
    Table::of(&index.model_configs)
        .text("filename", "File", |e| e.filename.clone())
        .text("model", "Model", |e| e.model.clone())
        .text("instance_type", "Instance", |e| e.instance_type.clone())
        .count("batch_size", "Batch", |e| u64::from(e.batch_size))
        .count("pipeline_size", "Pipeline", |e| u64::from(e.pipeline_size))
        .count("performance_level", "Level", |e| u64::from(e.performance_level))
        .text("compiler", "Compiled with", |e| e.compile_options(CompileOptions::default()).map(|o| o.to_string()))
        .number("compile_s", "Compile (s)", |e| e.compile_s)
        .text("compile_s_source", "Compile time", |e| e.compile_s.and_then(|_| source(e)))
        .text("status", "Status", |e| match (e.status, &e.error) {
            (EntryStatus::Error, Some(error)) => format!("error: {error}"),
            (status, _) => status.name().to_owned(),
        })
        .table()
}

/// How an index comes to another place with its artifacts. Fails when the text is not an index, or two artifacts would be one file.
pub fn copy_index(file: &str, text: &str, to: [&str; 2], moves: bool) -> Result<IndexAnswer<FilePlan>, Refusal> {
    let [new_path, new_dir] = to;
    read(file, text)?.then(|index| match moves {
        true => FilePlan::moved(index, file, new_path, new_dir),
        false => FilePlan::copy(index, new_path, new_dir),
    })
}

/// How an index and its artifacts go. Fails when the text is not an index.
pub fn delete_index(file: &str, text: &str) -> Result<IndexAnswer<FilePlan>, Refusal> {
    read(file, text)?.then(|index| Ok(FilePlan::delete(index, file)))
}

/// Whether the bytes of a file are an artifact that `compile` wrote.
pub fn is_artifact(bytes: &[u8]) -> bool {
    Artifact::is_in(bytes)
}
