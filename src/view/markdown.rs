//! Tables and documents as Markdown (GitHub's tables), for reports, issues and chats. Values are written as on the page.

use super::column_look::ColumnLook;
use super::document::{Block, Document, Figure, Plot};
use super::plot::Bar;
use super::table::Table;
use super::text::three_decimals;

/// A text as a cell of a table: on one line, with Markdown's special characters escaped.
pub fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '\\' | '|' | '*' | '`' | '<' | '[' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn line(cells: impl IntoIterator<Item = String>) -> String {
    let mut line = String::from("|");
    for cell in cells {
        line.push(' ');
        line.push_str(&cell);
        line.push_str(" |");
    }
    line.push('\n');
    line
}

/// The rows of a table at these positions, in this order: numbers right-aligned, each column with one unit that its head names.
pub fn table(table: &Table, order: &[usize], looks: &[ColumnLook]) -> String {
    let mut out = line(looks.iter().map(|look| cell(&look.title)));
    out += &line(table.columns.iter().map(|c| if c.is_numeric() { "---:" } else { "---" }.to_owned()));
    for row in order.iter().filter_map(|at| table.rows.get(*at)) {
        out += &line(row.iter().zip(looks).map(|(value, look)| cell(&look.text(value))));
    }
    out
}

/// All rows of a table in its own order.
fn whole(of: &Table) -> String {
    let order: Vec<usize> = (0..of.rows.len()).collect();
    table(of, &order, &ColumnLook::of(of))
}

/// A table of texts under a heading.
fn texts(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut out = line(heads.iter().map(|head| (*head).to_owned()));
    out += &line(heads.iter().map(|_| "---".to_owned()));
    rows.for_each(|row| out += &line(row.iter().map(|text| cell(text))));
    out
}

/// A document with its title: its sentences, tables and findings. A plot of bars is a table, and another one is reduced to its title and its note.
pub fn document(of: &Document) -> String {
    let mut parts = vec![format!("## {}\n", cell(&of.title))];
    of.blocks.iter().for_each(|part| block(part, &mut parts));
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n")
}

fn block(part: &Block, out: &mut Vec<String>) {
    match part {
        Block::Heading(text) => out.push(format!("### {}\n", cell(text))),
        Block::Text(text) => out.push(format!("{}\n", cell(text))),
        Block::Finding(found) => out.push(format!("**{}** {}\n", cell(&found.title), cell(&found.text))),
        Block::Tiles(tiles) => out.push(texts(
            &["", "Value", "Note"],
            tiles.iter().map(|tile| vec![tile.name.clone(), tile.value.clone(), tile.note.clone()]),
        )),
        Block::Table { title, table, .. } | Block::Rows { title, table, .. } => {
            out.push(format!("### {}\n\n{}", cell(title), whole(table)));
        }
        Block::Plot(one) | Block::Points { figure: one, .. } => out.push(figure(one)),
        Block::Plots(all) => out.extend(all.iter().map(figure)),
        Block::Source(source) => {
            let lines: Vec<&str> = source.lines.iter().map(|line| line.text.as_str()).collect();
            out.push(format!("{}:\n\n```\n{}\n```\n", cell(&source.name), lines.join("\n")));
        }
        Block::Beside(all) => out.extend(all.iter().map(document)),
        Block::Command(text) => out.push(format!("```sh\n{text}\n```\n")),
        Block::Shares(shares) => {
            let rows = shares.parts.iter().map(|part| vec![part.name.clone(), part.value.clone()]);
            out.push(format!("### {}\n\n{}", cell(&shares.title), texts(&["", "Time"], rows)));
        }
        Block::Columns(columns) => out.push(format!("### {}\n\n{}", cell(&columns.title), whole(&columns.table))),
        Block::Ranked { all, .. } => {
            let rows = all.iter().map(|found| vec![found.title.clone(), found.saving.clone(), found.text.clone()]);
            out.push(texts(&["Finding", "A change can save", "Why, and what to do"], rows));
        }
    }
}

fn figure(one: &Figure) -> String {
    let note = if one.note.is_empty() { String::new() } else { format!(": {}", cell(&one.note)) };
    let title = format!("*{}*{note}\n", cell(&one.title));
    let Plot::Bars(bars, unit) = &one.plot else { return title };
    let row = |bar: &Bar| vec![bar.name.clone(), format!("{} {unit}", three_decimals(bar.value))];
    format!("{title}\n{}", texts(&["", "Value"], bars.bars.iter().map(row)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Tile;
    use crate::table::{Cell, Column, ColumnKind};

    fn operators() -> Table {
        let row = |name: &str, ns: u64| vec![Cell::Text(name.to_owned()), Cell::Count(ns)];
        Table {
            columns: vec![
                Column::new("name", "Name", ColumnKind::Text),
                Column::new("total_ns", "Total (ns)", ColumnKind::Count),
            ],
            rows: vec![row("a|b\nc", 1_500_000), row("f<float>", 20_000), vec![Cell::Text("x".into()), Cell::Missing]],
        }
    }

    #[test]
    fn rows_keep_their_order_and_cells_are_escaped() {
        let table_of = operators();
        let text = table(&table_of, &[1, 0], &ColumnLook::of(&table_of));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "| Name | Total (ms) |");
        assert_eq!(lines[1], "| --- | ---: |");
        assert_eq!(lines[2], "| f\\<float> | 0.0200 |");
        assert_eq!(lines[3], "| a\\|b c | 1.50 |");
        assert_eq!(lines.len(), 4);
        // Each line has as many unescaped bars as the head.
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        assert!(lines.iter().all(|line| bars(line) == 3), "{text}");
    }

    #[test]
    fn a_document_keeps_its_figures_and_its_order() {
        let of = Document {
            title: "Over *all*".into(),
            blocks: vec![
                Block::Tiles(vec![Tile { name: "Window".into(), value: "4.6 ms".into(), ..Tile::default() }]),
                Block::Table { title: "Operators".into(), file: "operators".into(), table: operators() },
                Block::Command("neuronscope profile --model nn".into()),
            ],
        };
        let text = document(&of);
        assert!(text.starts_with("## Over \\*all\\*\n"), "{text}");
        let places: Vec<usize> = ["| Window | 4.6 ms |", "### Operators", "```sh\nneuronscope profile"]
            .iter()
            .map(|p| text.find(p).unwrap())
            .collect();
        assert!(places.is_sorted(), "{text}");
    }
}
