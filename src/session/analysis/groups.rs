//! Groups of slices as a table.

use super::listing::Sources;
use super::{GroupsOf, Listed};
use crate::profile::groups::{GroupQuery, groups};
use crate::session::timeline::link;
use crate::view::table::{Cell, Column, ColumnKind, Table};

/// What a group without a name is called.
const NO_NAME: &str = "(none)";

/// Count, total, self, mean, percentiles, extremes and share of each group, most self time in the bars.
pub(super) fn group_table(sources: &Sources<'_>, of: &GroupsOf) -> Listed {
    let tracks = of.tracks.as_ref().map(|shown| sources.tracks.threads_of(shown));
    let found = groups(sources.profile, &GroupQuery { by: of.by, within: of.range, tracks });
    let all_self: i64 = found.iter().map(|g| g.self_ns).sum();
    let ns = |n: i64| Cell::Count(n.max(0).unsigned_abs());
    let rows = found.iter().map(|g| {
        let name = if g.key.is_empty() { NO_NAME } else { g.key.as_str() };
        vec![
            Cell::Text(name.to_owned()),
            Cell::Count(g.count),
            ns(g.total_ns),
            ns(g.self_ns),
            Cell::Number(g.mean_ns()),
            Cell::Number(g.p50_ns),
            Cell::Number(g.p99_ns),
            ns(g.min_ns),
            ns(g.max_ns),
            Cell::Number(if all_self == 0 { 0.0 } else { g.self_ns as f64 * 100.0 / all_self as f64 }),
        ]
    });
    let column = Column::new;
    Listed {
        table: Table {
            columns: vec![
                column("name", "Name", ColumnKind::Text),
                column("count", "Count", ColumnKind::Count),
                column("total_ns", "Total (ns)", ColumnKind::Count),
                column("self_ns", "Self (ns)", ColumnKind::Count),
                column("mean_ns", "Mean (ns)", ColumnKind::Number),
                column("p50_ns", "p50 (ns)", ColumnKind::Number),
                column("p99_ns", "p99 (ns)", ColumnKind::Number),
                column("min_ns", "Min (ns)", ColumnKind::Count),
                column("max_ns", "Max (ns)", ColumnKind::Count),
                column("self_percent", "Self %", ColumnKind::Percent),
            ],
            rows: rows.collect(),
        },
        slices: found.iter().map(|g| Some(link(sources.profile, sources.tracks, g.longest))).collect(),
        notes: Vec::new(),
    }
}
