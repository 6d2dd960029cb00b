//! The files, the unusable lines and other remarks, each with its place.

use super::super::text::{table, word};
use super::super::view_input::ViewInput;
use super::finding;
use ns_view::document::{Block, Document, Tone};
use ns_view::table::{Cell, ColumnKind};

pub fn document(input: &ViewInput<'_>) -> Document {
    let store = input.store;
    let mut files = table(&[
        ("file", "File", ColumnKind::Text),
        ("bytes", "Bytes", ColumnKind::Count),
        ("records", "Records used", ColumnKind::Count),
    ]);
    for (i, file) in store.files.iter().enumerate() {
        let used = store.entries.iter().filter(|e| e.file == i).count() as u64;
        files.rows.push(vec![word(&file.name), Cell::Count(file.size), Cell::Count(used)]);
    }
    for file in &store.reports {
        files.rows.push(vec![word(&file.name), Cell::Missing, Cell::Count(file.reports.len() as u64)]);
    }
    let mut blocks = Vec::new();
    if store.entries.is_empty() && store.reports.is_empty() {
        let text = "A record is a line of JSON with model, experiment, metrics and timestamp, as written by experiment_runner.py and \u{201c}neuronscope experiment\u{201d}. The lines below show what was found instead.";
        blocks.push(finding(Tone::Bad, "No record could be used.", text));
    }
    blocks.push(Block::Table { title: "Files".to_owned(), file: "files".to_owned(), table: files });
    let mut noted = table(&[
        ("what", "What", ColumnKind::Text),
        ("place", "Where", ColumnKind::Text),
        ("count", "Of all lines", ColumnKind::Count),
    ]);
    for kind in store.notes.kinds() {
        for example in &kind.examples {
            noted.rows.push(vec![word(kind.what), word(example), Cell::Count(kind.count)]);
        }
    }
    if noted.rows.is_empty() {
        blocks.push(finding(Tone::Good, "Every line was used.", "There are no remarks."));
    } else {
        blocks.push(Block::Text("The other lines are used. The first twenty of each kind are listed.".to_owned()));
        blocks.push(Block::Table { title: "Remarks about lines".to_owned(), file: "lines".to_owned(), table: noted });
    }
    Document { title: "Files and lines".to_owned(), blocks }
}
