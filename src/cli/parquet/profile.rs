//! Profiles: their slices, and any table that is computed from them.

use std::io::Write;

use anyhow::{Context, Result};

use super::sheet::{Field, Kind, Sheet, Value};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// Columns of the slices, the same as in the CSV of a profile (docs/formats/written.md).
const SLICES: [(&str, Kind); 9] = [
    ("process", Kind::Text),
    ("thread", Kind::Text),
    ("name", Kind::Text),
    ("category", Kind::Text),
    ("start_ns", Kind::Integer),
    ("duration_ns", Kind::Integer),
    ("depth", Kind::Integer),
    ("unclosed", Kind::Bool),
    ("args", Kind::Text),
];

/// Writes the slices of a profile from its CSV export; returns how many there are. Fails when the CSV has other columns, or the
/// file cannot be written.
pub(crate) fn slices<W: Write + Send>(out: W, csv: &[u8]) -> Result<u64> {
    let fields = SLICES.map(|(name, kind)| Field::new(name, kind));
    let mut sheet = Sheet::new(out, "slices", &fields)?;
    let mut reader = csv::Reader::from_reader(csv);
    let mut line = csv::StringRecord::new();
    while reader.read_record(&mut line).context("the exported slices cannot be read")? {
        let row =
            line.iter().zip(SLICES).map(|(text, (name, kind))| cell(text, name, kind)).collect::<Result<Vec<_>>>()?;
        sheet.push(&row)?;
    }
    sheet.finish()
}

fn cell<'a>(text: &'a str, name: &str, kind: Kind) -> Result<Value<'a>> {
    Ok(match kind {
        Kind::Integer => Value::Integer(text.parse().with_context(|| format!("{name}: {text} is not a number"))?),
        Kind::Bool => Value::Bool(text == "true"),
        // A slice without a category or arguments.
        _ if text.is_empty() && name != "name" => Value::Null,
        _ => Value::Text(text),
    })
}

/// Writes a table with the short names of its columns; returns how many rows it has. Fails when the file cannot be written.
pub(crate) fn table<W: Write + Send>(out: W, name: &str, table: &Table) -> Result<u64> {
    let kinds: Vec<Kind> = table.columns.iter().enumerate().map(|(at, column)| kind(column, at, table)).collect();
    let fields: Vec<Field> = table.columns.iter().zip(&kinds).map(|(c, kind)| Field::new(&c.id, *kind)).collect();
    let mut sheet = Sheet::new(out, name, &fields)?;
    for row in &table.rows {
        let texts: Vec<String> = row.iter().zip(&table.columns).map(|(cell, c)| cell.text(c.kind)).collect();
        let cells = row.iter().zip(&kinds).zip(&texts);
        let row: Vec<Value<'_>> = cells.map(|((cell, kind), text)| value(cell, *kind, text)).collect();
        sheet.push(&row)?;
    }
    sheet.finish()
}

/// A column of counts holds integers when all its cells are whole.
fn kind(column: &Column, at: usize, table: &Table) -> Kind {
    let is_whole = |row: &Vec<Cell>| matches!(row.get(at), Some(Cell::Count(_) | Cell::Missing) | None);
    match column.kind {
        ColumnKind::Text | ColumnKind::Name => Kind::Text,
        ColumnKind::Count if table.rows.iter().all(is_whole) => Kind::Integer,
        _ => Kind::Number,
    }
}

fn value<'a>(cell: &'a Cell, kind: Kind, text: &'a str) -> Value<'a> {
    match (cell, kind) {
        (Cell::Missing, _) => Value::Null,
        (Cell::Text(text), Kind::Text) => Value::Text(text),
        (_, Kind::Text) => Value::Text(text),
        (Cell::Count(n), _) => Value::Integer(i64::try_from(*n).unwrap_or(i64::MAX)),
        (Cell::Number(x), _) => Value::Number(*x),
        (Cell::Text(_), _) => Value::Null,
    }
}
