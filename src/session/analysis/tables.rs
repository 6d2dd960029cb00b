//! Critical path, idle gaps, durations and answers to queries as tables.

use super::Listed;
use super::listing::Sources;
use crate::base::FxHashMap;
use crate::base::units::{format_count, format_ns};
use crate::profile::SliceId;
use crate::profile::ask::{AskValue, parse, run};
use crate::profile::critical_path::{Edge, critical_path};
use crate::profile::histogram::durations_of;
use crate::profile::idle::idle_gaps;
use crate::session::timeline::link;
use crate::view::table::{Cell, Column, ColumnKind, Table};

/// So many gaps are ranked.
const MOST_GAPS: usize = 500;
/// So many steps of the path are listed.
const MOST_STEPS: usize = 5_000;

fn ns(n: i64) -> Cell {
    Cell::Count(n.max(0).unsigned_abs())
}

impl Sources<'_> {
    fn name(&self, id: SliceId) -> String {
        self.profile.str(self.profile.slices().name(id)).to_owned()
    }

    fn place(&self, id: SliceId) -> String {
        let track = self.profile.slices().track(id);
        let process = self.profile.tracks().get(track).map(|t| self.profile.process_label(t.process));
        format!("{} / {}", process.unwrap_or_default(), self.profile.track_label(track))
    }
}

/// The steps of the critical path by name.
pub(super) fn path_by_name(sources: &Sources<'_>) -> Listed {
    let steps = critical_path(sources.profile, sources.flows);
    let length = |s: &crate::profile::critical_path::Step| s.time.end.0 - s.time.start.0;
    let total: i64 = steps.iter().map(length).sum();
    let mut place: FxHashMap<String, usize> = FxHashMap::default();
    // Name, steps, time, the slice of its longest step with its length.
    let mut rows: Vec<(String, u64, i64, Option<SliceId>, i64)> = Vec::new();
    for step in &steps {
        let name = step.slice.map_or_else(|| "(waiting)".to_owned(), |id| sources.name(id));
        let at = *place.entry(name.clone()).or_insert_with(|| {
            rows.push((name, 0, 0, None, -1));
            rows.len() - 1
        });
        let row = &mut rows[at];
        row.1 += 1;
        row.2 += length(step);
        if length(step) > row.4 {
            (row.3, row.4) = (step.slice, length(step));
        }
    }
    rows.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
    let percent = |n: i64| if total == 0 { 0.0 } else { n as f64 * 100.0 / total as f64 };
    Listed {
        table: Table {
            columns: vec![
                Column::new("name", "Name", ColumnKind::Text),
                Column::new("steps", "Steps", ColumnKind::Count),
                Column::new("time_ns", "Time on the path (ns)", ColumnKind::Count),
                Column::new("percent", "Of the path", ColumnKind::Percent),
            ],
            rows: rows
                .iter()
                .map(|r| vec![Cell::Text(r.0.clone()), Cell::Count(r.1), ns(r.2), Cell::Number(percent(r.2))])
                .collect(),
        },
        slices: rows.iter().map(|r| r.3.map(|id| link(sources.profile, sources.tracks, id))).collect(),
        notes: vec![format!(
            "The path is {} long in {} steps. It is what the end of the profile waited for, walked backwards: along flow arrows, along each track, and else to what ended last.",
            format_ns(total as f64),
            format_count(steps.len() as u64)
        )],
    }
}

/// The steps of the critical path in order.
pub(super) fn path_steps(sources: &Sources<'_>) -> Listed {
    let steps = critical_path(sources.profile, sources.flows);
    let total = steps.len();
    let row = |s: &crate::profile::critical_path::Step| {
        let edge = match s.from {
            Edge::Track => "the same track",
            Edge::Flow => "a flow arrow",
            Edge::EndedLast => "what ended last",
        };
        vec![
            Cell::Text(s.slice.map_or_else(|| "(waiting)".to_owned(), |id| sources.name(id))),
            Cell::Count(s.time.start.0.max(0).unsigned_abs()),
            ns(s.time.end.0 - s.time.start.0),
            Cell::Text(s.slice.map_or_else(String::new, |id| sources.place(id))),
            Cell::Text(edge.to_owned()),
        ]
    };
    let shown = &steps[..total.min(MOST_STEPS)];
    let mut notes = Vec::new();
    if total > MOST_STEPS {
        notes.push(format!("The first {} of {} steps.", format_count(MOST_STEPS as u64), format_count(total as u64)));
    }
    Listed {
        table: Table {
            columns: vec![
                Column::new("name", "Name", ColumnKind::Text),
                Column::new("start_ns", "Start (ns)", ColumnKind::Count),
                Column::new("time_ns", "Time (ns)", ColumnKind::Count),
                Column::new("track", "Track", ColumnKind::Text),
                Column::new("from", "Reached by", ColumnKind::Text),
            ],
            rows: shown.iter().map(row).collect(),
        },
        slices: shown.iter().map(|s| s.slice.map(|id| link(sources.profile, sources.tracks, id))).collect(),
        notes,
    }
}

/// Pauses of tracks, longest first.
pub(super) fn gaps(sources: &Sources<'_>) -> Listed {
    let found = idle_gaps(sources.profile, sources.flows, MOST_GAPS);
    let row = |g: &crate::profile::idle::Gap| {
        let why = match (g.waited_for, g.is_certain) {
            (None, _) => "",
            (Some(_), true) => "a flow arrow",
            (Some(_), false) => "it ended last",
        };
        vec![
            Cell::Text(sources.name(g.next)),
            ns(g.time.end.0 - g.time.start.0),
            Cell::Count(g.time.start.0.max(0).unsigned_abs()),
            Cell::Text(sources.profile.track_label(g.track)),
            g.waited_for.map_or(Cell::Missing, |id| Cell::Text(sources.name(id))),
            Cell::Text(why.to_owned()),
        ]
    };
    Listed {
        table: Table {
            columns: vec![
                Column::new("next", "Before", ColumnKind::Text),
                Column::new("idle_ns", "Idle (ns)", ColumnKind::Count),
                Column::new("start_ns", "Since (ns)", ColumnKind::Count),
                Column::new("track", "Track", ColumnKind::Text),
                Column::new("waited_for", "Waited for", ColumnKind::Text),
                Column::new("because", "Because", ColumnKind::Text),
            ],
            rows: found.iter().map(row).collect(),
        },
        slices: found.iter().map(|g| Some(link(sources.profile, sources.tracks, g.next))).collect(),
        notes: vec!["Pauses between the slices of a track, longest first. Without a flow arrow, what ended last on another track is only a guess.".to_owned()],
    }
}

/// The durations of a name, in bins.
pub(super) fn durations(sources: &Sources<'_>, name: &str) -> Listed {
    let h = durations_of(sources.profile, name);
    let rows = h.bins.iter().map(|b| {
        let text = format!("{} to {}", format_ns(b.from_ns as f64), format_ns(b.to_ns as f64));
        vec![Cell::Text(text), ns(b.from_ns), ns(b.to_ns), Cell::Count(b.count)]
    });
    let bins = if h.is_logarithmic { "Bins grow by a factor." } else { "Bins are equally long." };
    Listed {
        table: Table {
            columns: vec![
                Column::new("bin", "Duration", ColumnKind::Text),
                Column::new("from_ns", "From (ns)", ColumnKind::Count),
                Column::new("to_ns", "Below (ns)", ColumnKind::Count),
                Column::new("count", "Slices", ColumnKind::Count),
            ],
            rows: rows.collect(),
        },
        slices: vec![h.longest.map(|id| link(sources.profile, sources.tracks, id))],
        notes: vec![format!(
            "{} slices; half last at most {}, 99 of 100 at most {}. {bins}",
            format_count(h.count),
            format_ns(h.p50_ns),
            format_ns(h.p99_ns)
        )],
    }
}

/// The answer to a query.
pub(super) fn asked(sources: &Sources<'_>, text: &str) -> Result<Listed, String> {
    let query = parse(text)?;
    let answer = run(sources.profile, &query);
    let cell = |v: &AskValue| match v {
        AskValue::Text(t) => Cell::Text(t.clone()),
        AskValue::Int(n) if *n >= 0 => Cell::Count(n.unsigned_abs()),
        AskValue::Int(n) => Cell::Number(*n as f64),
        AskValue::Real(x) => Cell::Number(*x),
        AskValue::Missing => Cell::Missing,
    };
    let column = |(name, is_number): &(String, bool)| {
        Column::new(name, name, if *is_number { ColumnKind::Number } else { ColumnKind::Text })
    };
    let shown = answer.rows.len() as u64;
    let mut note = format!("{} slices meet the conditions.", format_count(answer.matched));
    if shown < answer.total_rows {
        note.push_str(&format!(" {} of {} rows are shown.", format_count(shown), format_count(answer.total_rows)));
    }
    Ok(Listed {
        table: Table {
            columns: answer.columns.iter().map(column).collect(),
            rows: answer.rows.iter().map(|r| r.values.iter().map(cell).collect()).collect(),
        },
        slices: answer.rows.iter().map(|r| Some(link(sources.profile, sources.tracks, r.slice))).collect(),
        notes: vec![note],
    })
}
