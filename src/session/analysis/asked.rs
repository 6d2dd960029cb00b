//! The answer to a query as a table.

use super::listing::{Listed, Sources};
use crate::base::units::format_count;
use crate::profile::ask::{AskTable, AskValue};
use crate::session::timeline::link;
use crate::view::table::{Cell, Column, ColumnKind, Table};

fn cell(value: &AskValue) -> Cell {
    match value {
        AskValue::Text(t) => Cell::Text(t.clone()),
        AskValue::Int(n) => u64::try_from(*n).map_or(Cell::Number(*n as f64), Cell::Count),
        AskValue::Real(x) => Cell::Number(*x),
        AskValue::Missing => Cell::Missing,
    }
}

/// Rows as the query shows them, each with the slice it is, or the longest of its group.
pub(super) fn asked_table(sources: &Sources<'_>, answer: &AskTable) -> Listed {
    let column = |(name, is_number): &(String, bool)| {
        Column::new(name, name, if *is_number { ColumnKind::Number } else { ColumnKind::Text })
    };
    let shown = answer.rows.len() as u64;
    let mut note = format!("{} slices meet the conditions.", format_count(answer.matched));
    if shown < answer.total_rows {
        note.push_str(&format!(" {} of {} rows are shown.", format_count(shown), format_count(answer.total_rows)));
    }
    Listed {
        table: Table {
            columns: answer.columns.iter().map(column).collect(),
            rows: answer.rows.iter().map(|r| r.values.iter().map(cell).collect()).collect(),
        },
        slices: answer.rows.iter().map(|r| Some(link(sources.profile, sources.tracks, r.slice))).collect(),
        total: answer.total_rows,
        notes: vec![note],
    }
}
