//! Idle gaps as a table.

use super::listing::{Listed, Rows, Sources};
use crate::analysis::idle::IdleGaps;
use crate::profile::SliceId;
use crate::session::timeline::link;
use crate::view::table::{Cell, Column, ColumnKind, Table};

/// Gaps, the longest first, each with the slice that ends it.
pub(super) fn idle_table(sources: &Sources<'_>, found: &IdleGaps, shown: Rows) -> Listed {
    let profile = sources.profile;
    let gaps = shown.of(&found.gaps);
    let name = |id: SliceId| Cell::Text(profile.str(profile.slices().name(id)).to_owned());
    let rows = gaps.iter().map(|g| {
        let missing = |cell: Option<Cell>| cell.unwrap_or(Cell::Missing);
        vec![
            Cell::Text(g.of.clone()),
            Cell::Number(g.span.start.0 as f64),
            Cell::Count((g.span.end.0 - g.span.start.0).max(0).unsigned_abs()),
            name(g.before),
            name(g.after),
            missing(g.started_by.map(name)),
            missing(g.started_by.map(|_| Cell::Text(if g.was_late { "in the gap" } else { "before" }.to_owned()))),
            missing(g.meanwhile.as_ref().map(|m| Cell::Text(m.name.clone()))),
            missing(g.meanwhile.as_ref().map(|m| Cell::Count(m.self_ns.max(0).unsigned_abs()))),
        ]
    });
    let table = Table {
        columns: vec![
            Column::new("of", "Idle", ColumnKind::Text),
            Column::new("start_ns", "Start (ns)", ColumnKind::Count),
            Column::new("duration_ns", "Duration (ns)", ColumnKind::Count),
            Column::new("before", "After", ColumnKind::Text),
            Column::new("after", "Until", ColumnKind::Text),
            Column::new("started_by", "Started by", ColumnKind::Text),
            Column::new("started", "Started", ColumnKind::Text),
            Column::new("meanwhile", "Meanwhile", ColumnKind::Text),
            Column::new("meanwhile_ns", "For (ns)", ColumnKind::Count),
        ],
        rows: rows.collect(),
    };
    let slices = gaps.iter().map(|g| Some(link(profile, sources.tracks, g.after))).collect();
    Listed { table, slices, skip: u64::from(shown.skip), total: found.total, notes: Vec::new() }
}
