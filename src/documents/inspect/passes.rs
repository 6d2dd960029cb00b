//! The program before and after each pass of the compiler, side by side: the lines that differ.

use std::collections::BTreeMap;

use super::open_model::OpenModel;
use ns_compiler::hlo::text::print;
use ns_view::document::{Block, Document, Source, SourceLine};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// Most lines of a program that are shown; the downloaded file has all lines.
const MOST_LINES: usize = 300;

/// A table of the passes, and the changes of one of them. Fails when a pass breaks the program.
pub(super) fn passes(opened: &OpenModel, chosen: usize) -> Result<Document, String> {
    let Ok(compiled) = &opened.compiled else {
        let text = "The model cannot run on a core, so no pass was run.".to_owned();
        return Ok(Document { title: "Compiler passes".to_owned(), blocks: vec![Block::Text(text)] });
    };
    let columns = vec![
        Column::new("number", "Step", ColumnKind::Count),
        Column::new("pass", "Pass", ColumnKind::Text),
        Column::new("before", "Instructions before", ColumnKind::Count),
        Column::new("after", "after", ColumnKind::Count),
        Column::new("changes", "Changes", ColumnKind::Count),
        Column::new("example", "For example", ColumnKind::Text),
    ];
    let row = |(i, record): (usize, &ns_compiler::passes::PassRecord)| {
        vec![
            Cell::Count(i as u64 + 1),
            Cell::Text(record.pass.clone()),
            Cell::Count(u64::from(record.before)),
            Cell::Count(u64::from(record.after)),
            Cell::Count(u64::from(record.changes)),
            Cell::Text(record.examples.first().cloned().unwrap_or_default()),
        ]
    };
    let rows: Vec<Vec<Cell>> = compiled.passes.iter().enumerate().map(row).collect();
    let targets = (0..rows.len()).map(|i| format!("pass={i}")).collect();
    let chosen = chosen.min(compiled.passes.len().saturating_sub(1));
    let name = compiled.passes.get(chosen).map_or("", |p| p.pass.as_str());
    let table = Table { columns, rows };
    let rows = Block::Rows {
        title: "Passes in their order".to_owned(),
        file: "passes".to_owned(),
        table,
        targets,
        faint: Vec::new(),
    };
    let program = |count| opened.subject.pipeline.after_passes(count).map(|module| print(&module));
    let before = program(chosen).map_err(|e| e.to_string())?;
    let after = program(chosen + 1).map_err(|e| e.to_string())?;
    let beside = Block::Beside(vec![side("Before", &before, &after), side("After", &after, &before)]);
    let heading = Block::Heading(format!("Step {}: {name}", chosen + 1));
    Ok(Document { title: "Compiler passes".to_owned(), blocks: vec![rows, heading, beside] })
}

/// The lines of one program that are not in the other.
fn side(title: &str, own: &str, other: &str) -> Document {
    let mut there: BTreeMap<&str, usize> = BTreeMap::new();
    for line in other.lines() {
        *there.entry(line.trim()).or_default() += 1;
    }
    let mut differ: Vec<(usize, &str)> = Vec::new();
    for (i, line) in own.lines().enumerate() {
        match there.get_mut(line.trim()) {
            Some(left) if *left > 0 => *left -= 1,
            _ => differ.push((i + 1, line.trim())),
        }
    }
    let all = own.lines().count();
    let said = match differ.len() {
        0 => format!("This step changes none of the {all} lines."),
        n if n > MOST_LINES => {
            format!("{n} of {all} lines differ; the first {MOST_LINES} are shown, the file has all.")
        }
        n => format!("{n} of {all} lines differ."),
    };
    let mut blocks = vec![Block::Text(said)];
    if !differ.is_empty() {
        let line = |&(number, text): &(usize, &str)| SourceLine {
            text: text.to_owned(),
            values: vec![number.to_string()],
            ..SourceLine::default()
        };
        let lines = differ.iter().take(MOST_LINES).map(line).collect();
        let name = format!("Lines of the program {}", title.to_lowercase());
        blocks.push(Block::Source(Source { name, columns: vec!["in the program".to_owned()], lines }));
    }
    Document { title: title.to_owned(), blocks }
}
