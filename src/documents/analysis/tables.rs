//! Results as tables: slices, groups of them, counters, idle gaps, the answer to a query.

use super::listing::{LinkedTable, Rows, Sources};
use crate::timeline::{NO_NAME, link};
use ns_analysis::GroupBy;
use ns_analysis::counters::{SeriesStats, series_names};
use ns_analysis::grouping::thread_text;
use ns_analysis::idle::IdleGaps;
use ns_analysis::lookup::tutorial_name;
use ns_analysis::operators::{OpStats, OpTable};
use ns_analysis::query::{QueryTable, QueryValue, ValueKind};
use ns_base::convert::i64_to_f64;
use ns_profile::SliceId;
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// Some of the slices found, each with the part of its duration that counts.
pub(super) fn slice_table(sources: &Sources<'_>, found: &[(SliceId, i64)], rows: Rows) -> LinkedTable {
    let (profile, slices) = (sources.profile, sources.profile.slices());
    let page = rows.of(found);
    let length = |id, what| Column::in_unit(profile.meta().unit.name(), id, what, ColumnKind::Count);
    let table = Table::of(page)
        .name("name", "Name", |&(id, _)| profile.str(slices.name(id)))
        .text("thread", "Thread", |&(id, _)| thread_text(profile, slices.track(id)))
        .column(length("start_ns", "Start"), |&(id, _)| slices.start(id).0)
        .column(length("duration_ns", "Duration"), |&(_, dur)| from_zero(dur))
        .table();
    let links = page.iter().map(|&(id, _)| Some(link(profile, sources.tracks, id))).collect();
    LinkedTable { table, slices: links, skip: u64::from(rows.skip), total: found.len() as u64, notes: Vec::new() }
}

fn from_zero(ns: i64) -> u64 {
    ns.max(0).unsigned_abs()
}

/// Count, total, self, mean, percentiles, extremes and share of each group, in the unit of the profile.
pub(super) fn group_table(sources: &Sources<'_>, found: &OpTable, rows: Rows) -> LinkedTable {
    let profile = sources.profile;
    let all_self: i64 = found.stats.iter().map(|s| s.self_ns).sum();
    let listed = rows.of(&found.stats);
    let name = |s| Some(found.name(profile, s)).filter(|name| !name.is_empty()).unwrap_or(NO_NAME);
    let share = |ns| if all_self == 0 { 0.0 } else { i64_to_f64(ns) * 100.0 / i64_to_f64(all_self) };
    let length = |id, what, kind| Column::in_unit(profile.meta().unit.name(), id, what, kind);
    let table = Table::of(listed)
        .name("name", "Name", name)
        .count("count", "Count", |s| s.count)
        .column(length("total_ns", "Total", ColumnKind::Count), |s| from_zero(s.total_ns))
        .column(length("self_ns", "Self", ColumnKind::Count), |s| from_zero(s.self_ns))
        .column(length("mean_ns", "Mean", ColumnKind::Tenths), OpStats::mean_ns)
        .column(length("p50_ns", "p50", ColumnKind::Tenths), |s| s.percentiles.as_ref().map(|p| p.p50_ns))
        .column(length("p99_ns", "p99", ColumnKind::Tenths), |s| s.percentiles.as_ref().map(|p| p.p99_ns))
        .column(length("min_ns", "Min", ColumnKind::Count), |s| from_zero(s.min_ns))
        .column(length("max_ns", "Max", ColumnKind::Count), |s| from_zero(s.max_ns))
        .percent("self_percent", "Self %", |s| share(s.self_ns))
        .table();
    let total = found.stats.len() as u64;
    let slices = listed.iter().map(|s| Some(link(profile, sources.tracks, s.longest))).collect();
    let note =
        "Mean, p50, p99, Min and Max are of occurrences: an interrupted operation counts once, with all its stretches.";
    let notes = found.has_interrupted.then(|| note.to_owned()).into_iter().collect();
    LinkedTable { table, slices, skip: u64::from(rows.skip), total, notes }
}

/// Samples, extremes, mean and integral over time of each series that has a value.
pub(super) fn counter_table(sources: &Sources<'_>, found: &[Option<SeriesStats>], rows: Rows) -> LinkedTable {
    let names = series_names(sources.profile);
    let known: Vec<_> = names.iter().zip(found).filter_map(|(name, stats)| Some((name, stats.as_ref()?))).collect();
    let table = Table::of(rows.of(&known))
        .text("counter", "Counter", |(name, _)| name.as_str())
        .count("samples", "Samples", |(_, s)| s.samples)
        .number("min", "Min", |(_, s)| s.min)
        .number("max", "Max", |(_, s)| s.max)
        .number("mean", "Mean over time", |(_, s)| s.mean())
        .number("last", "Last", |(_, s)| s.last)
        .number("integral", "Integral (value \u{b7} s)", |(_, s)| s.integral)
        .count("max_at_ns", "Max at (ns)", |(_, s)| i64_to_f64(s.max_at.0))
        .table();
    let (skip, total) = (u64::from(rows.skip), known.len() as u64);
    LinkedTable { table, slices: Vec::new(), skip, total, notes: Vec::new() }
}

/// Gaps, the longest first, each with the slice that ends it.
pub(super) fn idle_table(sources: &Sources<'_>, found: &IdleGaps, rows: Rows) -> LinkedTable {
    let profile = sources.profile;
    let gaps = rows.of(&found.gaps);
    let name = |id: SliceId| profile.str(profile.slices().name(id));
    let table = Table::of(gaps)
        .text("of", "Idle", |g| g.of.as_str())
        .count("start_ns", "Start (ns)", |g| g.span.start.0)
        .count("duration_ns", "Duration (ns)", |g| from_zero(g.span.end.0 - g.span.start.0))
        .name("before", "After", |g| name(g.before))
        .name("after", "Until", |g| name(g.after))
        .name("started_by", "Started by", |g| g.started_by.map(name))
        .text("started", "Started", |g| g.started_by.map(|_| if g.was_late { "in the gap" } else { "before" }))
        .name("meanwhile", "Meanwhile", |g| g.meanwhile.as_ref().map(|m| m.name.as_str()))
        .count("meanwhile_ns", "For (ns)", |g| g.meanwhile.as_ref().map(|m| from_zero(m.ns)))
        .table();
    let slices = gaps.iter().map(|g| Some(link(profile, sources.tracks, g.after))).collect();
    LinkedTable { table, slices, skip: u64::from(rows.skip), total: found.total, notes: Vec::new() }
}

/// Rows of an answer to a query.
pub(super) fn query_table(sources: &Sources<'_>, found: &QueryTable, rows: Rows, query: &str) -> LinkedTable {
    let kinds: Vec<ColumnKind> = (0..found.columns.len()).map(|i| column_kind(found, i)).collect();
    let columns = found.columns.iter().zip(&kinds).map(|((name, kind), rows)| {
        if *kind == ValueKind::Ns {
            Column::in_unit(sources.profile.meta().unit.name(), name, name, *rows)
        } else {
            Column::new(name, name, *rows)
        }
    });
    let cells = |row: &Vec<QueryValue>| row.iter().zip(&kinds).map(|(v, kind)| cell(v, *kind)).collect();
    let table = Table { columns: columns.collect(), rows: rows.of(&found.rows).iter().map(cells).collect() };
    let links = rows.of(&found.slices).iter().map(|&id| Some(link(sources.profile, sources.tracks, id))).collect();
    let named = tutorial_name(sources.profile, query).filter(|_| found.rows.is_empty());
    let note =
        |(theirs, ours)| format!("No slice is {theirs}, which the profiling tutorial names; its place here is {ours}.");
    let notes = named.map(note).into_iter().collect();
    LinkedTable { table, slices: links, skip: u64::from(rows.skip), total: found.rows.len() as u64, notes }
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
        QueryValue::Int(n) => Cell::from(*n),
        QueryValue::Real(x) => Cell::Number(*x),
    }
}
