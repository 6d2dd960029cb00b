//! Counters as a table.

use super::listing::{Listed, Rows, Sources};
use crate::analysis::counters::{SeriesStats, series_names};
use crate::view::table::{Cell, Column, ColumnKind, Table};

/// Samples, extremes, mean and integral over time of each series that has a value.
pub(super) fn counter_table(sources: &Sources<'_>, found: &[Option<SeriesStats>], shown: Rows) -> Listed {
    let names = series_names(sources.profile);
    let known: Vec<_> = names.iter().zip(found).filter_map(|(name, stats)| Some((name, stats.as_ref()?))).collect();
    let rows = shown.of(&known).iter().map(|(name, s)| {
        vec![
            Cell::Text((*name).clone()),
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
    let (skip, total) = (u64::from(shown.skip), known.len() as u64);
    Listed { table, slices: Vec::new(), skip, total, notes: Vec::new() }
}
