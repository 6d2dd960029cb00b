//! Counters as a table.

use super::listing::{Listed, Sources};
use crate::base::Idx;
use crate::profile::SeriesId;
use crate::profile::analysis::counters::{SeriesStats, series_name};
use crate::view::table::{Cell, Column, ColumnKind, Table};

/// Most counters that are listed.
const MOST_COUNTERS: usize = 10_000;

/// Samples, extremes, mean and integral over time of each series that has a value.
pub(super) fn counter_table(sources: &Sources<'_>, found: Vec<Option<SeriesStats>>) -> Listed {
    let total = found.iter().flatten().count();
    let known = found.into_iter().enumerate().filter_map(|(i, stats)| Some((i, stats?)));
    let rows = known.take(MOST_COUNTERS).map(|(i, s)| {
        vec![
            Cell::Text(series_name(sources.profile, SeriesId::from_usize(i)).unwrap_or_default()),
            Cell::Count(s.samples),
            Cell::Number(s.min),
            Cell::Number(s.max),
            Cell::from(s.mean()),
            Cell::Number(s.last),
            Cell::Number(s.integral),
            Cell::Number(s.max_at.0 as f64),
        ]
    });
    let table = Table {
        columns: vec![
            Column::new("counter", "Counter", ColumnKind::Text),
            Column::new("samples", "Samples", ColumnKind::Count),
            Column::new("min", "Min", ColumnKind::Number),
            Column::new("max", "Max", ColumnKind::Number),
            Column::new("mean", "Mean over time", ColumnKind::Number),
            Column::new("last", "Last", ColumnKind::Number),
            Column::new("integral", "Integral (value \u{b7} s)", ColumnKind::Number),
            Column::new("max_at_ns", "Max at (ns)", ColumnKind::Count),
        ],
        rows: rows.collect(),
    };
    let left_out = total.saturating_sub(table.rows.len());
    let notes = if left_out == 0 { Vec::new() } else { vec![format!("{left_out} more counters are not listed.")] };
    Listed { table, slices: Vec::new(), total: total as u64, notes }
}
