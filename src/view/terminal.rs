//! Tables and documents as text for a terminal. Values are written as on the page; bars, heat maps and
//! short lines are written in characters; of other plots there is the title with its note.

use std::borrow::Cow;

use super::column_look::ColumnLook;
use super::document::{Block, Document, Figure, Plot};
use super::plot::{Bar, HeatCell, HeatRow, Lane, Line, Lines};
use super::table::Table;
use super::text::three_decimals;
use ns_base::convert::f64_to_usize;
use ns_base::printable;

/// Characters of the longest bar.
const LONGEST_BAR: f64 = 40.0;
/// Points of a line that are written as rows.
const MOST_POINTS: usize = 32;

/// Lays out rows under headings; a column is right-aligned when its heading starts with `>`, which is not shown.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    // Names come from files.
    let rows: Vec<Vec<Cow<'_, str>>> =
        rows.iter().map(|row| row.iter().map(|cell| printable(cell, false)).collect()).collect();
    let names: Vec<Cow<'_, str>> = headings.iter().map(|h| Cow::Borrowed(h.trim_start_matches('>'))).collect();
    let mut widths = vec![0; names.len()];
    for row in rows.iter().chain([&names]) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &Vec<Cow<'_, str>>| {
        let cell = |((cell, heading), width): ((&Cow<'_, str>, &&str), &usize)| match heading.starts_with('>') {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        };
        let cells: Vec<String> = cells.iter().zip(headings).zip(&widths).map(cell).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    [&names].into_iter().chain(&rows).map(line).collect()
}

/// A document with its title.
pub fn document(of: &Document) -> String {
    let mut out = format!("{}\n", of.title);
    of.blocks.iter().for_each(|part| block(part, &mut out));
    out
}

fn block(part: &Block, out: &mut String) {
    match part {
        Block::Heading(text) => *out += &format!("\n{text}\n"),
        Block::Text(text) => *out += &format!("{text}\n"),
        Block::Finding(found) => *out += &format!("{} {}\n", found.title, found.text),
        Block::Tiles(tiles) => {
            let row = |t: &super::document::Tile| vec![t.name.clone(), t.value.clone(), t.note.clone()];
            *out += &table(&["Figure", ">Value", "Note"], &tiles.iter().map(row).collect::<Vec<_>>());
        }
        Block::Table { title, table, .. } | Block::Rows { title, table, .. } => {
            *out += &format!("\n{title}\n{}", rows(table));
        }
        Block::Columns(columns) => *out += &format!("\n{}\n{}", columns.title, rows(&columns.table)),
        Block::Plot(one) | Block::Points { figure: one, .. } => figure(one, out),
        Block::Plots(all) => all.iter().for_each(|one| figure(one, out)),
        Block::Beside(parts) => parts.iter().for_each(|part| *out += &document(part)),
        Block::Source(source) => {
            let head: String = source.columns.iter().map(|name| format!("{name:>12}")).collect();
            *out += &format!("\n{}\n{}", source.name, if head.is_empty() { head } else { head + "\n" });
            for (number, line) in (1..).zip(&source.lines) {
                let value = |at: usize| line.values.get(at).map_or("", String::as_str);
                let values: String = (0..source.columns.len()).map(|at| format!("{:>12}", value(at))).collect();
                *out += &(format!("{values} {number:>4} | {}", line.text).trim_end().to_owned() + "\n");
                line.notes
                    .iter()
                    .for_each(|note| *out += &format!("{:>width$} | ^ {note}\n", "", width = values.len() + 5));
            }
        }
        Block::Command(text) => *out += &format!("\n{text}\n"),
        Block::Shares(shares) => {
            let row = |part: &super::document::Share| vec![part.name.clone(), part.value.clone(), bar(part.share)];
            let rows: Vec<_> = shares.parts.iter().map(row).collect();
            *out += &format!("\n{}\n{}", shares.title, table(&["Part", ">Value", ""], &rows));
        }
        Block::Ranked { note, all } => {
            let saving = |text: &str| if text.is_empty() { String::new() } else { format!(" [{text}]") };
            all.iter().for_each(|one| *out += &format!("{}{} {}\n", one.title, saving(&one.saving), one.text));
            *out += note;
        }
    }
}

/// All rows of a table in its own order.
pub fn rows(of: &Table) -> String {
    let looks = ColumnLook::of(of);
    let head = |(column, look): (&super::table::Column, &ColumnLook)| {
        format!("{}{}", if column.is_numeric() { ">" } else { "" }, look.title)
    };
    let heads: Vec<String> = of.columns.iter().zip(&looks).map(head).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let rows = of.rows.iter().map(|row| row.iter().zip(&looks).map(|(cell, look)| look.text(cell)).collect());
    table(&heads, &rows.collect::<Vec<_>>())
}

fn bar(share: f64) -> String {
    "#".repeat(f64_to_usize((share.clamp(0.0, 1.0) * LONGEST_BAR).round()))
}

/// A plot with its title; one that says nothing in characters has none.
fn figure(one: &Figure, out: &mut String) {
    let Some(rows) = plot_rows(&one.plot) else { return };
    let note = if one.note.is_empty() { String::new() } else { format!(": {}", one.note) };
    *out += &format!("\n{}{note}\n{rows}", one.title);
}

fn plot_rows(plot: &Plot) -> Option<String> {
    Some(match plot {
        Plot::Bars(bars, unit) => {
            let row =
                |one: &Bar| vec![one.name.clone(), format!("{} {unit}", three_decimals(one.value)), bar(one.share)];
            table(&["", ">", ""], &bars.bars.iter().map(row).collect::<Vec<_>>())
        }
        // Of shares over time their means.
        Plot::Lanes(lanes) => {
            let row = |lane: &Lane| {
                let mean = format!("{} %", three_decimals(lane.mean_percent));
                vec![lane.name.clone(), mean, bar(lane.mean_percent / 100.0)]
            };
            table(&["", ">", ""], &lanes.lanes.iter().map(row).collect::<Vec<_>>())
        }
        Plot::HeatMap(map) => {
            let heads: Vec<&str> = [""].into_iter().chain(map.columns.iter().map(String::as_str)).collect();
            let cell = |cell: &Option<HeatCell>| cell.as_ref().map(|cell| cell.text.clone()).unwrap_or_default();
            let row = |row: &HeatRow| [row.name.clone()].into_iter().chain(row.cells.iter().map(cell)).collect();
            table(&heads, &map.rows.iter().map(row).collect::<Vec<_>>())
        }
        Plot::Lines(plot) => shared_points(plot).unwrap_or_else(|| ranges(plot)),
        Plot::Scatter(_) | Plot::Roofline(_) | Plot::Pie(..) => return None,
    })
}

/// Few points of lines that share them: a row for each.
fn shared_points(plot: &Lines) -> Option<String> {
    let Lines { x, lines, names, .. } = plot;
    let xs = |line: &Line| line.points.iter().map(|point| point.0).collect::<Vec<_>>();
    let all = lines.first().map(xs).filter(|all| all.len() <= MOST_POINTS)?;
    if lines.iter().any(|line| xs(line) != all) {
        return None;
    }
    let titles = lines.iter().map(|line| format!(">{}", line.name));
    let x_name =
        |x: &f64| names.iter().find(|(at, _)| at == x).map_or_else(|| three_decimals(*x), |(_, name)| name.clone());
    let heads: Vec<String> =
        [format!("{}{}", if names.is_empty() { ">" } else { "" }, x.title)].into_iter().chain(titles).collect();
    let row = |(n, x): (usize, &f64)| {
        let ys = lines.iter().filter_map(|line| Some(three_decimals(line.points.get(n)?.1)));
        [x_name(x)].into_iter().chain(ys).collect()
    };
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    Some(table(&heads, &all.iter().enumerate().map(row).collect::<Vec<_>>()))
}

/// From where to where each line goes.
fn ranges(Lines { y, lines, .. }: &Lines) -> String {
    let row = |line: &Line| {
        let ys = || line.points.iter().map(|point| point.1);
        let [least, most] = [ys().fold(f64::INFINITY, f64::min), ys().fold(f64::NEG_INFINITY, f64::max)];
        vec![line.name.clone(), three_decimals(least), three_decimals(most)]
    };
    table(&[&y.title, ">Least", ">Most"], &lines.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Bars, LineStyle};

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["dot".to_owned(), "279".to_owned()], vec!["maximum".to_owned(), "6".to_owned()]];
        assert_eq!(table(&["Op", ">ns"], &rows), "Op        ns\ndot      279\nmaximum    6\n");
    }

    #[test]
    fn a_line_of_many_points_is_its_range() {
        let points = (0..100_u32).map(|i| (f64::from(i), f64::from(i % 7))).collect();
        let lines = Lines::new("us", "KiB", [("SBUF".to_owned(), LineStyle::Steps, points)], false);
        let figure = Figure { title: "Space".to_owned(), note: String::new(), plot: Plot::Lines(lines) };
        let of = Document { title: "All".to_owned(), blocks: vec![Block::Plot(figure)] };
        assert_eq!(document(&of), "All\n\nSpace\nKiB   Least  Most\nSBUF      0     6\n");
    }

    #[test]
    fn a_plot_of_bars_is_bars_of_characters() {
        let bars = Bars::new([("a".to_owned(), String::new(), 2.0), ("b".to_owned(), String::new(), 0.5)]);
        let plot = Plot::Bars(bars, "ms".to_owned());
        let figure = Figure { title: "Times".to_owned(), note: "of a call".to_owned(), plot };
        let of = Document { title: "All".to_owned(), blocks: vec![Block::Plot(figure)] };
        let (long, short) = ("#".repeat(40), "#".repeat(10));
        assert_eq!(document(&of), format!("All\n\nTimes: of a call\n\na    2 ms  {long}\nb  0.5 ms  {short}\n"));
    }
}
