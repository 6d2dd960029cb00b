//! Results as tables: slices, groups of them, counters, idle gaps, the answer to a query.

use super::listing::{LinkedTable, Rows, Sources};
use crate::timeline::{NO_NAME, link};
use ns_analysis::GroupBy;
use ns_analysis::counters::{SeriesStats, series_names};
use ns_analysis::grouping::thread_text;
use ns_analysis::idle::IdleGaps;
use ns_analysis::operators::{OpTable, Percentiles};
use ns_analysis::query::{QueryTable, QueryValue, ValueKind};
use ns_base::convert::i64_to_f64;
use ns_profile::SliceId;
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// Some of the slices found, each with the part of its duration that counts.
pub(super) fn slice_table(sources: &Sources<'_>, found: &[(SliceId, i64)], shown: Rows) -> LinkedTable {
    let (profile, slices) = (sources.profile, sources.profile.slices());
    let page = || shown.of(found).iter();
    let rows = page().map(|&(id, dur)| {
        vec![
            Cell::Text(profile.str(slices.name(id)).to_owned()),
            Cell::Text(thread_text(profile, slices.track(id))),
            Cell::Number(i64_to_f64(slices.start(id).0)),
            Cell::Count(dur.max(0).unsigned_abs()),
        ]
    });
    let length = |id, what| Column::in_unit(profile.meta().unit.name(), id, what, ColumnKind::Count);
    let table = Table {
        columns: vec![
            Column::new("name", "Name", ColumnKind::Name),
            Column::new("thread", "Thread", ColumnKind::Text),
            length("start_ns", "Start"),
            length("duration_ns", "Duration"),
        ],
        rows: rows.collect(),
    };
    let links = page().map(|&(id, _)| Some(link(profile, sources.tracks, id))).collect();
    LinkedTable { table, slices: links, skip: u64::from(shown.skip), total: found.len() as u64, notes: Vec::new() }
}

/// Count, total, self, mean, percentiles, extremes and share of each group, in the unit of the profile.
pub(super) fn group_table(sources: &Sources<'_>, found: &OpTable, shown: Rows) -> LinkedTable {
    let profile = sources.profile;
    let all_self: i64 = found.stats.iter().map(|s| s.self_ns).sum();
    let listed = || shown.of(&found.stats).iter();
    let ns = |n: i64| Cell::Count(n.max(0).unsigned_abs());
    let rows = listed().map(|s| {
        let name = found.name(profile, s);
        let percentile = |of: fn(&Percentiles) -> f64| Cell::from(s.percentiles.as_ref().map(of));
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
            Cell::Number(if all_self == 0 { 0.0 } else { i64_to_f64(s.self_ns) * 100.0 / i64_to_f64(all_self) }),
        ]
    });
    let column = Column::new;
    let length = |id, what, kind| Column::in_unit(profile.meta().unit.name(), id, what, kind);
    let table = Table {
        columns: vec![
            column("name", "Name", ColumnKind::Name),
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
    LinkedTable { table, slices, skip: u64::from(shown.skip), total, notes: Vec::new() }
}

/// Samples, extremes, mean and integral over time of each series that has a value.
pub(super) fn counter_table(sources: &Sources<'_>, found: &[Option<SeriesStats>], shown: Rows) -> LinkedTable {
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
            Cell::Number(i64_to_f64(s.max_at.0)),
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
    LinkedTable { table, slices: Vec::new(), skip, total, notes: Vec::new() }
}

/// Gaps, the longest first, each with the slice that ends it.
pub(super) fn idle_table(sources: &Sources<'_>, found: &IdleGaps, shown: Rows) -> LinkedTable {
    let profile = sources.profile;
    let gaps = shown.of(&found.gaps);
    let name = |id: SliceId| Cell::Text(profile.str(profile.slices().name(id)).to_owned());
    let rows = gaps.iter().map(|g| {
        let missing = |cell: Option<Cell>| cell.unwrap_or(Cell::Missing);
        vec![
            Cell::Text(g.of.clone()),
            Cell::Number(i64_to_f64(g.span.start.0)),
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
            Column::new("before", "After", ColumnKind::Name),
            Column::new("after", "Until", ColumnKind::Name),
            Column::new("started_by", "Started by", ColumnKind::Name),
            Column::new("started", "Started", ColumnKind::Text),
            Column::new("meanwhile", "Meanwhile", ColumnKind::Name),
            Column::new("meanwhile_ns", "For (ns)", ColumnKind::Count),
        ],
        rows: rows.collect(),
    };
    let slices = gaps.iter().map(|g| Some(link(profile, sources.tracks, g.after))).collect();
    LinkedTable { table, slices, skip: u64::from(shown.skip), total: found.total, notes: Vec::new() }
}

/// Rows of an answer.
pub(super) fn query_table(sources: &Sources<'_>, found: &QueryTable, shown: Rows) -> LinkedTable {
    let kinds: Vec<ColumnKind> = (0..found.columns.len()).map(|i| column_kind(found, i)).collect();
    let columns = found.columns.iter().zip(&kinds).map(|((name, kind), shown)| {
        if *kind == ValueKind::Ns {
            Column::in_unit(sources.profile.meta().unit.name(), name, name, *shown)
        } else {
            Column::new(name, name, *shown)
        }
    });
    let cells = |row: &Vec<QueryValue>| row.iter().zip(&kinds).map(|(v, kind)| cell(v, *kind)).collect();
    let table = Table { columns: columns.collect(), rows: shown.of(&found.rows).iter().map(cells).collect() };
    let links = shown.of(&found.slices).iter().map(|&id| Some(link(sources.profile, sources.tracks, id))).collect();
    LinkedTable { table, slices: links, skip: u64::from(shown.skip), total: found.rows.len() as u64, notes: Vec::new() }
}

/// Formats numbers as counts if all are whole and none is negative.
fn column_kind(found: &QueryTable, column: usize) -> ColumnKind {
    let values = || found.rows.iter().filter_map(|row| row.get(column));
    if found.columns[column].1 == ValueKind::Text || values().any(|v| matches!(v, QueryValue::Text(_))) {
        let is_name = found.columns[column].0 == GroupBy::Name.name();
        return if is_name { ColumnKind::Name } else { ColumnKind::Text };
    }
    let whole = |v: &QueryValue| matches!(v, QueryValue::Missing) || matches!(v, QueryValue::Int(n) if *n >= 0);
    if values().all(whole) { ColumnKind::Count } else { ColumnKind::Number }
}

fn cell(value: &QueryValue, kind: ColumnKind) -> Cell {
    match value {
        QueryValue::Missing => Cell::Missing,
        QueryValue::Text(text) => Cell::Text(text.clone()),
        QueryValue::Int(n) if matches!(kind, ColumnKind::Text | ColumnKind::Name) => Cell::Text(n.to_string()),
        QueryValue::Real(x) if matches!(kind, ColumnKind::Text | ColumnKind::Name) => Cell::Text(x.to_string()),
        QueryValue::Int(n) => u64::try_from(*n).map_or(Cell::Number(i64_to_f64(*n)), Cell::Count),
        QueryValue::Real(x) => Cell::Number(*x),
    }
}
