//! Async events as spans in rows: work that begins and ends without belonging to the stack of a thread.
//!
//! Events are joined by process, category and id: `b` begins a span and `e` ends the innermost open span of that id; `n`
//! is a moment in it. The old `S` and `F` are joined by category, name and id, across processes (their steps `T` and `p`
//! are moments). A span that never ends lasts to the end of the profile.

use super::{ArgsId, LinkValue, ProcessId, Profile};
use ns_base::convert::{usize_to_u16, usize_to_u32};
use ns_base::define_idx;
use ns_base::{FxHashMap, IndexVec, Interval, Order, StrId, TraceNs};

define_idx! {
    /// An async span of one profile.
    pub struct AsyncId;
}

/// The most rows of one group; spans that would need more share the last row.
const MOST_ROWS: usize = 1_000;

/// One span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncSpan {
    /// From begin to end.
    pub time: Interval<TraceNs>,
    /// Its name.
    pub name: StrId,
    /// Its category.
    pub category: StrId,
    /// Arguments of its begin.
    pub args: ArgsId,
    /// Position of its group.
    pub group: u32,
    /// Its row in the group, 0 on top.
    pub row: u16,
    /// Whether its end is missing.
    pub unclosed: bool,
}

/// Spans of one process and category, in rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsyncGroup {
    /// The process.
    pub process: ProcessId,
    /// The category; may be empty.
    pub category: StrId,
    /// The spans of each row by start; spans of a row do not overlap, except in the last of `MOST_ROWS` rows.
    pub rows: Vec<Vec<AsyncId>>,
}

/// All async spans.
#[derive(Clone, Debug, Default)]
pub struct AsyncTable {
    spans: IndexVec<AsyncId, AsyncSpan>,
    groups: Vec<AsyncGroup>,
    unmatched: u64,
}

/// The key that joins a begin and its end: the process for `b` and `e`, the name for `S` and `F`; category and id for both.
type Key = (Option<ProcessId>, Option<StrId>, StrId, LinkValue);

impl AsyncTable {
    /// Joins the async events of a profile.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let mut table = Self::default();
        table.join(profile);
        table.lay_out();
        table
    }

    fn join(&mut self, profile: &Profile) {
        let links = profile.links();
        let end = profile.span().end;
        let mut open: FxHashMap<Key, Vec<AsyncId>> = FxHashMap::default();
        let mut group_of: FxHashMap<(ProcessId, StrId), u32> = FxHashMap::default();
        for id in links.ids() {
            let phase = links.phase(id);
            if !matches!(phase, 'b' | 'e' | 'S' | 'F') {
                continue;
            }
            let Some(track) = profile.tracks().get(links.track(id)) else { continue };
            let (process, category, at) = (track.process, links.category(id), links.ts(id));
            let is_old = matches!(phase, 'S' | 'F');
            let in_process = links.id(id).is_local(profile).unwrap_or(!is_old);
            let key = (in_process.then_some(process), is_old.then_some(links.name(id)), category, links.id(id));
            let stack = open.entry(key).or_default();
            if matches!(phase, 'e' | 'F') {
                let Some(span) = stack.pop() else {
                    self.unmatched += 1;
                    continue;
                };
                self.spans[span].time.end = at.max(self.spans[span].time.start);
                self.spans[span].unclosed = false;
                continue;
            }
            let group = *group_of.entry((process, category)).or_insert_with(|| {
                self.groups.push(AsyncGroup { process, category, rows: Vec::new() });
                usize_to_u32(self.groups.len()) - 1
            });
            stack.push(self.spans.push(AsyncSpan {
                time: Interval::new(at, end.max(at)),
                name: links.name(id),
                category,
                args: links.args(id),
                group,
                row: 0,
                unclosed: true,
            }));
        }
    }

    /// Each span goes to the first free row of its group; of spans that start together, longer ones go first.
    fn lay_out(&mut self) {
        let mut order: Vec<AsyncId> = (0..usize_to_u32(self.spans.len())).map(AsyncId).collect();
        let spans = &mut self.spans;
        order.order_by_key(|id| (spans[*id].time.start, std::cmp::Reverse(spans[*id].time.end), *id));
        // The time at which each row of each group is free again.
        let mut free: Vec<Vec<TraceNs>> = vec![Vec::new(); self.groups.len()];
        for id in order {
            let group = spans[id].group as usize;
            let (rows, until) = (&mut self.groups[group].rows, &mut free[group]);
            let time = spans[id].time;
            let row = until.iter().position(|end| *end <= time.start).unwrap_or_else(|| until.len().min(MOST_ROWS - 1));
            if row == until.len() {
                until.push(time.end);
                rows.push(Vec::new());
            }
            until[row] = time.end.max(until[row]);
            rows[row].push(id);
            spans[id].row = usize_to_u16(row);
        }
    }

    /// Number of spans.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether the profile has no async spans.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Groups in order of appearance.
    pub fn groups(&self) -> &[AsyncGroup] {
        &self.groups
    }

    /// A span; `None` if the profile does not have the id.
    pub fn get(&self, id: AsyncId) -> Option<&AsyncSpan> {
        self.spans.get(id)
    }

    /// All spans in the order of their begin.
    pub fn iter(&self) -> impl Iterator<Item = (AsyncId, &AsyncSpan)> {
        self.spans.iter_enumerated()
    }

    /// Number of ends without a begin.
    pub const fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// The spans of a row that touch an interval of time, by start.
    pub fn within<'a>(
        &'a self,
        row: &'a [AsyncId],
        span: Interval<TraceNs>,
    ) -> impl Iterator<Item = (AsyncId, &'a AsyncSpan)> {
        let first = row.partition_point(|id| self.spans[*id].time.end < span.start);
        row.get(first..)
            .unwrap_or_default()
            .iter()
            .map(|id| (*id, &self.spans[*id]))
            .take_while(move |(_, s)| s.time.start <= span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinkEvent, ProfileBuilder, TrackId};
    use ns_base::Diagnostics;

    fn event(b: &mut ProfileBuilder, track: TrackId, ts_ns: i64, phase: u8, id: u64, name: &str) {
        let (name, category) = (b.intern(name), b.intern("net"));
        let id = LinkValue::Hex(id);
        b.link(LinkEvent { track, ts_ns, phase, name, category, args: ArgsId::NONE, id, binds_enclosing: false });
    }

    #[test]
    fn old_spans_end_by_name_in_another_process() {
        let mut b = ProfileBuilder::new("test");
        let (p, q) = (b.process("1", ""), b.process("2", ""));
        let (t, u) = (b.thread(p, "1", ""), b.thread(q, "1", ""));
        event(&mut b, t, 0, b'S', 1, "E");
        event(&mut b, t, 1, b'S', 1, "other");
        event(&mut b, u, 9, b'F', 1, "E");
        let profile = b.finish(Diagnostics::new());
        let table = AsyncTable::new(&profile);
        let spans: Vec<_> = table.iter().map(|(_, s)| (s.time.end.0, s.unclosed)).collect();
        assert_eq!(spans, [(9, false), (9, true)]);
    }

    #[test]
    fn spans_end_across_threads_nest_by_id_and_get_rows() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let (t, u) = (b.thread(p, "1", ""), b.thread(p, "2", ""));
        event(&mut b, t, 0, b'b', 1, "request");
        event(&mut b, t, 10, b'b', 1, "parse");
        event(&mut b, u, 20, b'e', 1, "parse");
        event(&mut b, t, 5, b'b', 2, "request");
        event(&mut b, u, 30, b'e', 2, "request");
        event(&mut b, u, 40, b'e', 1, "request");
        event(&mut b, t, 50, b'b', 3, "open");
        event(&mut b, t, 60, b'e', 9, "stray");
        b.slice(t, 0, 100, "all", "", None);
        let profile = b.finish(Diagnostics::new());
        let table = AsyncTable::new(&profile);
        let spans: Vec<_> = table
            .iter()
            .map(|(_, s)| (profile.str(s.name).to_owned(), s.time.start.0, s.time.end.0, s.row, s.unclosed))
            .collect();
        let expected = [
            ("request", 0, 40, 0, false),
            ("request", 5, 30, 1, false),
            ("parse", 10, 20, 2, false),
            ("open", 50, 100, 0, true),
        ];
        assert_eq!(spans, expected.map(|(n, s, e, r, u)| (n.to_owned(), s, e, r, u)));
        assert_eq!((table.groups().len(), table.groups()[0].rows.len(), table.unmatched()), (1, 3, 1));
        let seen = table.within(&table.groups()[0].rows[0], Interval::new(TraceNs(41), TraceNs(49)));
        assert_eq!(seen.count(), 0);
    }
}
