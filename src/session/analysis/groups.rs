//! Groups of slices as a table.

use super::listing::{Listed, Rows, Sources};
use crate::analysis::operators::OpTable;
use crate::session::timeline::{NO_NAME, link};
use crate::view::table::{Cell, Column, ColumnKind, Table};

/// Count, total, self, mean, percentiles, extremes and share of each group, in the unit of the profile.
pub(super) fn group_table(sources: &Sources<'_>, found: &OpTable, shown: Rows) -> Listed {
    let profile = sources.profile;
    let all_self: i64 = found.stats.iter().map(|s| s.self_ns).sum();
    let listed = || shown.of(&found.stats).iter();
    let ns = |n: i64| Cell::Count(n.max(0).unsigned_abs());
    let rows = listed().map(|s| {
        let name = found.name(profile, s);
        let percentile =
            |of: fn(&crate::analysis::operators::Percentiles) -> f64| Cell::from(s.percentiles.as_ref().map(of));
        vec![
            Cell::Text(if name.is_empty() { NO_NAME } else { name }.to_owned()),
            Cell::Count(s.count),
            ns(s.total_ns),
            ns(s.self_ns),
            Cell::Number(s.mean_ns()),
            percentile(|p| p.p50_ns),
            percentile(|p| p.p99_ns),
            ns(s.min_ns),
            ns(s.max_ns),
            Cell::Number(if all_self == 0 { 0.0 } else { s.self_ns as f64 * 100.0 / all_self as f64 }),
        ]
    });
    let column = Column::new;
    let unit = profile.meta().unit.name();
    let length = |id: &str, what: &str, kind| Column::new(id, &format!("{what} ({unit})"), kind);
    let table = Table {
        columns: vec![
            column("name", "Name", ColumnKind::Text),
            column("count", "Count", ColumnKind::Count),
            length("total_ns", "Total", ColumnKind::Count),
            length("self_ns", "Self", ColumnKind::Count),
            length("mean_ns", "Mean", ColumnKind::Tenths),
            length("p50_ns", "p50", ColumnKind::Tenths),
            length("p99_ns", "p99", ColumnKind::Tenths),
            length("min_ns", "Min", ColumnKind::Count),
            length("max_ns", "Max", ColumnKind::Count),
            column("self_percent", "Self %", ColumnKind::Percent),
        ],
        rows: rows.collect(),
    };
    let total = found.stats.len() as u64;
    let slices = listed().map(|s| Some(link(profile, sources.tracks, s.longest))).collect();
    Listed { table, slices, skip: u64::from(shown.skip), total, notes: Vec::new() }
}
