//! The answer to a query, as a table.

use super::listing::{Listed, Rows, Sources};
use crate::analysis::query::{QueryTable, QueryValue, ValueKind};
use crate::base::convert::real_signed;
use crate::session::timeline::link;
use crate::view::table::{Cell, Column, ColumnKind, Table};

/// Rows of an answer.
pub(super) fn query_table(sources: &Sources<'_>, found: &QueryTable, shown: Rows) -> Listed {
    let kinds: Vec<ColumnKind> = (0..found.columns.len()).map(|i| column_kind(found, i)).collect();
    let columns = found.columns.iter().zip(&kinds).map(|((name, kind), shown)| {
        let title = if *kind == ValueKind::Ns {
            format!("{name} ({})", sources.profile.meta().unit.name())
        } else {
            name.clone()
        };
        Column::new(name, &title, *shown)
    });
    let cells = |row: &Vec<QueryValue>| row.iter().zip(&kinds).map(|(v, kind)| cell(v, *kind)).collect();
    let table = Table { columns: columns.collect(), rows: shown.of(&found.rows).iter().map(cells).collect() };
    let links = shown.of(&found.slices).iter().map(|&id| Some(link(sources.profile, sources.tracks, id))).collect();
    Listed { table, slices: links, skip: u64::from(shown.skip), total: found.rows.len() as u64, notes: Vec::new() }
}

/// Counts where all numbers are whole and none is negative.
fn column_kind(found: &QueryTable, column: usize) -> ColumnKind {
    let values = || found.rows.iter().filter_map(|row| row.get(column));
    if found.columns[column].1 == ValueKind::Text || values().any(|v| matches!(v, QueryValue::Text(_))) {
        return ColumnKind::Text;
    }
    let whole = |v: &QueryValue| matches!(v, QueryValue::Missing) || matches!(v, QueryValue::Int(n) if *n >= 0);
    if values().all(whole) { ColumnKind::Count } else { ColumnKind::Number }
}

fn cell(value: &QueryValue, kind: ColumnKind) -> Cell {
    match value {
        QueryValue::Missing => Cell::Missing,
        QueryValue::Text(text) => Cell::Text(text.clone()),
        QueryValue::Int(n) if kind == ColumnKind::Text => Cell::Text(n.to_string()),
        QueryValue::Real(x) if kind == ColumnKind::Text => Cell::Text(x.to_string()),
        QueryValue::Int(n) => u64::try_from(*n).map_or(Cell::Number(real_signed(*n)), Cell::Count),
        QueryValue::Real(x) => Cell::Number(*x),
    }
}
