//! The parts of a document as HTML.

use super::file::FigureWriter;
use super::table::table;
use crate::document::{Block, Columns, Document, Ranked, Shares, Source, Tile, Tone};
use crate::svg::escape;
use crate::table::{Cell, Column, ColumnKind, Table};
use ns_base::units::format_share;

/// Writes parts one below the other; `level` is the level of their headings.
pub(super) fn blocks(out: &mut String, all: &[Block], level: u8, figure: FigureWriter) {
    all.iter().for_each(|part| block(out, part, level, figure));
}

fn block(out: &mut String, part: &Block, level: u8, figure: FigureWriter) {
    match part {
        Block::Heading(text) => heading(out, text, level),
        Block::Text(text) => out.push_str(&format!("<p>{}</p>\n", escape(text))),
        Block::Finding(found) => {
            let (class, title, text) = (class_of(found.tone), escape(&found.title), escape(&found.text));
            out.push_str(&format!("<p class=\"panel{class}\"><strong>{title}</strong> {text}</p>\n"));
        }
        Block::Tiles(all) => tiles(out, all),
        Block::Table { title, table: rows, .. } | Block::Rows { title, table: rows, .. } => table(out, title, rows),
        Block::Plot(one) | Block::Points { figure: one, .. } => figure(out, one),
        Block::Plots(all) => {
            out.push_str("<div class=\"plots\">\n");
            all.iter().for_each(|one| figure(out, one));
            out.push_str("</div>\n");
        }
        Block::Source(source) => table(out, &source.name, &lines_of(source)),
        Block::Beside(parts) => parts.iter().for_each(|Document { title, blocks: inner }| {
            if !title.is_empty() {
                heading(out, title, level);
            }
            blocks(out, inner, (level + 1).min(6), figure);
        }),
        Block::Command(text) => {
            out.push_str(&format!(
                "<pre class=\"panel\" tabindex=\"0\" aria-label=\"Command\">{}</pre>\n",
                escape(text)
            ));
        }
        Block::Shares(parts) => shares(out, parts),
        Block::Columns(all) => columns(out, all),
        Block::Ranked { note, all } => {
            all.iter().for_each(|one| ranked(out, one, (level + 1).min(6)));
            if !note.is_empty() {
                out.push_str(&format!("<p class=\"note\">{}</p>\n", escape(note)));
            }
        }
    }
}

fn heading(out: &mut String, text: &str, level: u8) {
    out.push_str(&format!("<h{level}>{}</h{level}>\n", escape(text)));
}

const fn class_of(tone: Tone) -> &'static str {
    match tone {
        Tone::Neutral => "",
        Tone::Good => " good",
        Tone::Warning => " warning",
        Tone::Bad => " bad",
    }
}

fn tiles(out: &mut String, all: &[Tile]) {
    out.push_str("<dl class=\"tiles\">\n");
    for tile in all {
        let note = if tile.note.is_empty() {
            String::new()
        } else {
            format!("<span class=\"sub\">{}</span>", escape(&tile.note))
        };
        let (class, name, value) = (class_of(tile.tone), escape(&tile.name), escape(&tile.value));
        let look = if tile.has_long_value() { format!(" class=\"is-long\" title=\"{value}\"") } else { String::new() };
        out.push_str(&format!(
            "<div class=\"panel{class}\"><dt>{name}</dt><dd><strong{look}>{value}</strong>{note}</dd></div>\n"
        ));
    }
    out.push_str("</dl>\n");
}

fn shares(out: &mut String, all: &Shares) {
    out.push_str(&format!(
        "<figure class=\"panel shares\"><figcaption>{}</figcaption>\n<div class=\"bar\" aria-hidden=\"true\">",
        escape(&all.title)
    ));
    for part in &all.parts {
        out.push_str(&format!(
            "<span class=\"is-{}\" style=\"{}flex-grow:{:.5}\"></span>",
            escape(&part.kind),
            part.paint().unwrap_or_default(),
            part.share
        ));
    }
    out.push_str("</div>\n<ul>");
    for part in &all.parts {
        let (kind, name, value, exact) =
            (escape(&part.kind), escape(&part.name), escape(&part.value), escape(&part.exact));
        let (percent, paint) = (format_share(part.share * 100.0), part.paint().unwrap_or_default());
        out.push_str(&format!("<li title=\"{exact}\"><span class=\"swatch is-{kind}\" style=\"{paint}\"></span>{name} <strong>{value}</strong> <span class=\"sub\">{percent}</span></li>"));
    }
    out.push_str(&format!("</ul>\n<p class=\"note\">{}</p></figure>\n", escape(&all.note)));
}

fn columns(out: &mut String, all: &Columns) {
    let (title, most) = (escape(&all.title), escape(&all.most));
    out.push_str(&format!("<figure class=\"panel\"><figcaption>{title} <span class=\"sub\">the tallest is {most}</span></figcaption>\n<ol class=\"columns\">"));
    for column in &all.columns {
        let said = escape(&format!("{}: {} ({})", column.name, column.value, column.described));
        out.push_str(&format!("<li title=\"{said}\">"));
        for (kind, share) in &column.parts {
            out.push_str(&format!(
                "<span class=\"is-{}\" style=\"height:{:.2}%\"></span>",
                escape(kind),
                share * 100.0
            ));
        }
        out.push_str("</li>");
    }
    out.push_str("</ol></figure>\n");
    // The columns of the chart do not contain text, so a table repeats them.
    let row = |c: &crate::document::StackedColumn| {
        vec![Cell::Text(c.name.clone()), Cell::Text(c.value.clone()), Cell::Text(c.described.clone())]
    };
    let heads = [("name", "Name"), ("value", "Time"), ("parts", "Parts")];
    let columns = heads.map(|(id, title)| Column::new(id, title, ColumnKind::Text)).to_vec();
    table(out, &all.title, &Table { columns, rows: all.columns.iter().map(row).collect() });
}

fn ranked(out: &mut String, one: &Ranked, level: u8) {
    let (class, title, text) = (class_of(one.tone), escape(&one.title), escape(&one.text));
    let saving = if one.saving.is_empty() {
        String::new()
    } else {
        format!("<p>Saves <strong>{}</strong></p>", escape(&one.saving))
    };
    out.push_str(&format!(
        "<section class=\"panel{class}\"><h{level}>{title}</h{level}>{saving}<p>{text}</p></section>\n"
    ));
}

fn lines_of(source: &Source) -> Table {
    let mut columns =
        vec![Column::new("line", "Line", ColumnKind::Count), Column::new("text", "Text", ColumnKind::Text)];
    columns.extend(source.columns.iter().map(|name| Column::new(name, name, ColumnKind::Text)));
    let row = |(i, line): (usize, &crate::document::SourceLine)| {
        let mut cells = vec![Cell::Count(i as u64 + 1), Cell::Text(line.text.clone())];
        let value = |n: usize| line.values.get(n).cloned().map_or(Cell::Missing, Cell::Text);
        cells.extend((0..source.columns.len()).map(value));
        cells
    };
    Table { columns, rows: source.lines.iter().enumerate().map(row).collect() }
}
