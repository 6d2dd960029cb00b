//! Slices as a table.

use super::listing::{Listed, Rows, Sources};
use crate::analysis::grouping::thread_text;
use crate::profile::SliceId;
use crate::session::timeline::link;
use crate::view::table::{Cell, Column, ColumnKind, Table};

/// Some of the slices found, each with what of its duration counts.
pub(super) fn slice_table(sources: &Sources<'_>, found: &[(SliceId, i64)], shown: Rows) -> Listed {
    let (profile, slices) = (sources.profile, sources.profile.slices());
    let page = || shown.of(found).iter();
    let rows = page().map(|&(id, dur)| {
        vec![
            Cell::Text(profile.str(slices.name(id)).to_owned()),
            Cell::Text(thread_text(profile, slices.track(id))),
            Cell::Number(slices.start(id).0 as f64),
            Cell::Count(dur.max(0).unsigned_abs()),
        ]
    });
    let table = Table {
        columns: vec![
            Column::new("name", "Name", ColumnKind::Text),
            Column::new("thread", "Thread", ColumnKind::Text),
            Column::new("start_ns", "Start (ns)", ColumnKind::Count),
            Column::new("duration_ns", "Duration (ns)", ColumnKind::Count),
        ],
        rows: rows.collect(),
    };
    let links = page().map(|&(id, _)| Some(link(profile, sources.tracks, id))).collect();
    Listed { table, slices: links, skip: u64::from(shown.skip), total: found.len() as u64, notes: Vec::new() }
}
