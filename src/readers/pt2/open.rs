//! Opens a `.pt2` file: the archive, the graph and the weights; then makes the program and the inspection.

use super::inspect::inspect;
use super::json::quoted_numbers;
use super::meta::Symbols;
use super::schema::{ExportedProgram, VersionHeader};
use super::translate::translate;
use super::weights::Weights;
use ns_base::refuse;
use ns_container::ByteSource;
use ns_container::zip::{Archive, Entry};
use ns_program::{ImportError, ImportOptions, ImportedModel, Place, Verdict};

/// Most bytes of a graph's JSON.
const MAX_GRAPH: u64 = 512 << 20;

/// Major versions of the schema that are read: torch 2.4 wrote 5, torch 2.7 and later write 8.
const MAJORS: std::ops::RangeInclusive<i64> = 5..=8;

/// Reads a file of `torch.export.save`. Fails when the archive or its graph is damaged or of an unknown version, when a size or a
/// branch depends on data, or when the options name dimensions that the file does not have.
pub fn read_pt2(bytes: &dyn ByteSource, options: &ImportOptions) -> Result<ImportedModel, ImportError> {
    let archive = Archive::open(bytes)?;
    let entry = graph_entry(&archive)?;
    let text = archive.content(entry, MAX_GRAPH)?;
    let weights = Weights::of(bytes, &archive)?;
    match read_graph(&text, entry, &weights, options) {
        Err(Wrong::Json(error)) => {
            // Python writes infinities without quotes.
            let repaired = quoted_numbers(&text).ok_or_else(|| damaged(entry, &error))?;
            read_graph(&repaired, entry, &weights, options).map_err(|e| e.of(entry))
        }
        other => other.map_err(|e| e.of(entry)),
    }
}

/// Why a graph cannot be read: its JSON is damaged, or its content is wrong.
enum Wrong {
    Json(serde_json::Error),
    Model(ImportError),
}

impl Wrong {
    fn of(self, entry: &Entry) -> ImportError {
        match self {
            Self::Json(error) => damaged(entry, &error),
            Self::Model(error) => error,
        }
    }
}

/// The entry with the graph: the graph of the method `model`, else the first.
fn graph_entry<'a>(archive: &'a Archive<'_>) -> Result<&'a Entry, ImportError> {
    let is_graph = |e: &&Entry| {
        let folder = e.name.strip_suffix(".json").and_then(|n| n.rsplit_once('/')).map(|(folder, _)| folder);
        folder.is_some_and(|f| f == "models" || f.ends_with("/models"))
    };
    let of_default = archive.ending("models/model.json");
    let old = archive.ending("serialized_exported_program.json");
    of_default.or(old).or_else(|| archive.entries.iter().find(is_graph)).ok_or_else(|| {
        let instead = "save the model with torch.export.save";
        ImportError::from(refuse!(
            instead = instead,
            "no models/model.json and no serialized_exported_program.json in the archive"
        ))
    })
}

fn damaged(entry: &Entry, error: &serde_json::Error) -> ImportError {
    let instead = "save the model again with torch.export.save";
    ImportError::at(Place::Entry(entry.name.clone()), refuse!(instead = instead, "the graph cannot be read: {error}"))
}

fn read_graph(text: &[u8], entry: &Entry, weights: &Weights, options: &ImportOptions) -> Result<ImportedModel, Wrong> {
    check_version(text, entry)?;
    let exported: ExportedProgram<'_> = serde_json::from_slice(text).map_err(Wrong::Json)?;
    let symbols = Symbols::of(&exported, options).map_err(Wrong::Model)?;
    let translated = translate(&exported, &symbols, weights, options.display_only).map_err(Wrong::Model)?;
    let mut inspection = inspect(&exported, &symbols, weights).map_err(Wrong::Model)?;
    inspection.unsupported = translated.unsupported;
    inspection.notes.extend(translated.notes);
    inspection.notes.extend(weights.notes.iter().cloned());
    let is_open = symbols.open.iter().any(|d| !d.is_chosen);
    if is_open || !inspection.unsupported.is_empty() {
        inspection.verdict = Verdict::Partial;
    }
    Ok(ImportedModel { inspection, program: translated.program })
}

/// Refuses schemas with another major version.
fn check_version(text: &[u8], entry: &Entry) -> Result<(), Wrong> {
    let version = serde_json::from_slice::<VersionHeader>(text).map_err(Wrong::Json)?.schema_version;
    if MAJORS.contains(&version.major) {
        return Ok(());
    }
    let (major, minor, first, last) = (version.major, version.minor, MAJORS.start(), MAJORS.end());
    let other = refuse!(
        instead = "export the model with a torch between 2.4 and 2.15",
        "its schema is of version {major}.{minor}; versions {first} to {last} are read (torch 2.4 and later)"
    );
    Err(Wrong::Model(ImportError::at(Place::Entry(entry.name.clone()), other)))
}
