//! The critical path, to be drawn and as a table.

use serde::{Deserialize, Serialize};

use super::listing::{Listed, Sources};
use super::members::MOST_SLICES;
use crate::profile::analysis::critical::{Cause, CriticalPath};
use crate::session::timeline::link;
use crate::view::table::{Cell, Column, ColumnKind, Table};
use crate::view::timeline::SliceLink;

/// Names that come with a path to be drawn.
const MOST_NAMES: u32 = 1_000;

/// The longest parts of a critical path, by time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathShown {
    /// Parts by time.
    pub steps: Vec<PathStep>,
    /// Number of parts in all.
    pub total: u64,
    /// Length of the path, in ns.
    pub length_ns: i64,
    /// The time of each name on it.
    pub by_name: Listed,
}

/// A part of a critical path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathStep {
    /// The slice; absent where nothing ran.
    pub slice: Option<SliceLink>,
    /// When it began to hold up what comes next, in ns from the origin.
    pub start_ns: i64,
    /// Until when.
    pub end_ns: i64,
    /// How it is joined to the part after it.
    pub cause: Cause,
}

/// The longest parts, by time.
pub(super) fn path_shown(sources: &Sources<'_>, path: &CriticalPath, limit: u32) -> PathShown {
    let mut parts = path.parts.clone();
    parts.sort_by_key(|p| std::cmp::Reverse(p.span.end.0 - p.span.start.0));
    parts.truncate(limit.min(MOST_SLICES) as usize);
    parts.sort_by_key(|p| p.span.start);
    let step = |p: &crate::profile::analysis::critical::PathPart| PathStep {
        slice: p.slice.map(|id| link(sources.profile, sources.tracks, id)),
        start_ns: p.span.start.0,
        end_ns: p.span.end.0,
        cause: p.cause,
    };
    let (total, length_ns) = (path.parts.len() as u64, path.length_ns());
    let by_name = path_table(sources, path, MOST_NAMES);
    PathShown { steps: parts.iter().map(step).collect(), total, length_ns, by_name }
}

/// The time of each name on the path.
pub(super) fn path_table(sources: &Sources<'_>, path: &CriticalPath, limit: u32) -> Listed {
    let (shares, length) = (path.shares(sources.profile), path.length_ns());
    let limit = limit.min(MOST_SLICES) as usize;
    let rows = shares.iter().take(limit).map(|s| {
        let idle = s.longest.is_none();
        vec![
            Cell::Text(if idle { "(nothing ran)".to_owned() } else { s.name.clone() }),
            Cell::Count(s.parts),
            Cell::Count(s.ns.max(0).unsigned_abs()),
            Cell::Number(if length == 0 { 0.0 } else { s.ns as f64 * 100.0 / length as f64 }),
        ]
    });
    let table = Table {
        columns: vec![
            Column::new("name", "On the path", ColumnKind::Text),
            Column::new("parts", "Parts", ColumnKind::Count),
            Column::new("time_ns", "Time (ns)", ColumnKind::Count),
            Column::new("percent", "Time %", ColumnKind::Percent),
        ],
        rows: rows.collect(),
    };
    let links = shares.iter().take(limit).map(|s| s.longest.map(|id| link(sources.profile, sources.tracks, id)));
    Listed { table, slices: links.collect(), total: shares.len() as u64, notes: Vec::new() }
}
