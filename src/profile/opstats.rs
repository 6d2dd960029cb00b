//! Operator statistics: how often something ran, for how long, and how much of that was its own.
//!
//! *Self time* is a slice's duration without the part that its direct children cover. A slice is the child of the one
//! that was running on its thread when it started; where it outlasts that one, only the part inside counts.

use super::{Profile, SliceFlags, SliceId, TrackId};
use crate::base::{FxHashMap, Interval, StrId, TraceNs, stats};

/// What slices are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// Their name.
    #[default]
    Name,
    /// Their category; slices without one form the group of the empty name.
    Category,
    /// Their category, or their name where they have none.
    CategoryOrName,
}

/// Statistics of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct OpStats {
    /// Name of the group.
    pub key: StrId,
    /// Number of slices.
    pub count: u64,
    /// Sum of durations, in ns.
    pub total_ns: i64,
    /// Sum of self times, in ns.
    pub self_ns: i64,
    /// Shortest duration, in ns.
    pub min_ns: i64,
    /// Longest duration, in ns.
    pub max_ns: i64,
    /// Median and 99th percentile of the durations, in ns, if they were asked for (numpy's linear rule).
    pub percentiles: Option<Percentiles>,
}

/// Percentiles of durations, in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentiles {
    /// Half of the slices are at most this long.
    pub p50_ns: f64,
    /// 99 of 100 slices are at most this long.
    pub p99_ns: f64,
}

impl OpStats {
    /// Mean duration in ns.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        self.total_ns as f64 / self.count.max(1) as f64
    }
}

/// What to compute.
#[derive(Clone, Debug, Default)]
pub struct OpQuery {
    /// What slices are grouped by.
    pub group_by: GroupBy,
    /// Only the slices of these tracks; of all threads if absent (not of the async and sample tracks beside them).
    pub tracks: Option<Vec<TrackId>>,
    /// Only slices that touch this span; all if absent. Each counts whole.
    pub within: Option<Interval<TraceNs>>,
    /// Whether percentiles are wanted; they cost a sort.
    pub percentiles: bool,
}

impl OpQuery {
    fn covers(&self, slice: Interval<TraceNs>) -> bool {
        self.within.is_none_or(|span| slice.start < span.end && span.start <= slice.end)
    }
}

/// Self time of every slice, in ns, by position. Unclosed slices have none and take none from others.
#[must_use]
pub fn self_times(profile: &Profile) -> Vec<i64> {
    let slices = profile.slices();
    let mut own = slices.dur.clone();
    for id in slices.ids() {
        if slices.flags(id).has(SliceFlags::UNCLOSED) {
            own[id.0 as usize] = 0;
        }
        if let Some(parent) = slices.stack_parent(id) {
            let covered = slices.end(id).min(slices.end(parent)).0.saturating_sub(slices.start(id).0);
            own[parent.0 as usize] -= covered;
        }
    }
    own
}

/// Statistics by group, greatest total first, equal ones by name. Unclosed slices are left out.
#[must_use]
pub fn operator_stats(profile: &Profile, query: &OpQuery) -> Vec<OpStats> {
    let own = self_times(profile);
    let mut groups = Groups { by_key: FxHashMap::default(), stats: Vec::new(), durations: Vec::new() };
    match &query.tracks {
        None => {
            for (track, _) in profile.tracks().iter_enumerated().filter(|(_, t)| t.kind.is_own()) {
                groups.add(profile, query, &own, profile.slices().of_track(track));
            }
        }
        Some(tracks) => {
            for &track in tracks {
                groups.add(profile, query, &own, profile.slices().of_track(track));
            }
        }
    }
    groups.fill_percentiles();
    let mut stats = groups.stats;
    stats.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| profile.str(a.key).cmp(profile.str(b.key))));
    stats
}

struct Groups {
    by_key: FxHashMap<StrId, u32>,
    stats: Vec<OpStats>,
    /// Group and duration of every slice, when percentiles are wanted.
    durations: Vec<(u32, i64)>,
}

impl Groups {
    fn add(&mut self, profile: &Profile, query: &OpQuery, own: &[i64], ids: impl Iterator<Item = SliceId>) {
        let slices = profile.slices();
        let counted = |id: &SliceId| !slices.flags(*id).has(SliceFlags::UNCLOSED) && query.covers(slices.interval(*id));
        for id in ids.filter(counted) {
            let key = match query.group_by {
                GroupBy::Name => slices.name(id),
                GroupBy::Category => slices.category(id),
                GroupBy::CategoryOrName if slices.category(id) == StrId::EMPTY => slices.name(id),
                GroupBy::CategoryOrName => slices.category(id),
            };
            let dur = slices.dur_ns(id);
            let group = *self.by_key.entry(key).or_insert_with(|| {
                let (min_ns, max_ns) = (i64::MAX, 0);
                let empty = OpStats { key, count: 0, total_ns: 0, self_ns: 0, min_ns, max_ns, percentiles: None };
                self.stats.push(empty);
                self.stats.len() as u32 - 1
            });
            let stats = &mut self.stats[group as usize];
            stats.count += 1;
            stats.total_ns = stats.total_ns.saturating_add(dur);
            stats.self_ns = stats.self_ns.saturating_add(own[id.0 as usize]);
            stats.min_ns = stats.min_ns.min(dur);
            stats.max_ns = stats.max_ns.max(dur);
            if query.percentiles {
                self.durations.push((group, dur));
            }
        }
    }

    fn fill_percentiles(&mut self) {
        self.durations.sort_unstable();
        for part in self.durations.chunk_by(|a, b| a.0 == b.0) {
            let at = |p| {
                let (low, high, fraction) = stats::percentile_ranks(part.len(), p)?;
                let (a, b) = (part[low].1 as f64, part[high].1 as f64);
                Some(a + (b - a) * fraction)
            };
            if let (Some(p50_ns), Some(p99_ns), Some(&(group, _))) = (at(50.0), at(99.0), part.first()) {
                self.stats[group as usize].percentiles = Some(Percentiles { p50_ns, p99_ns });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::ProfileBuilder;

    #[test]
    fn self_time_is_what_children_leave_and_overlap_counts_once() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let t = b.thread(p, "1", "");
        b.slice(t, 0, 100, "outer", "a", None);
        b.slice(t, 10, 20, "inner", "b", None);
        b.slice(t, 80, 40, "late", "b", None); // 20 of its 40 ns are inside "outer"
        b.slice(t, 200, 10, "inner", "b", None);
        let profile = b.finish(Diagnostics::new());
        let early = OpQuery { within: Some(Interval::new(TraceNs(0), TraceNs(15))), ..OpQuery::default() };
        let touched: Vec<_> = operator_stats(&profile, &early).iter().map(|r| (profile.str(r.key), r.count)).collect();
        assert_eq!(touched, [("outer", 1), ("inner", 1)]);
        let query = OpQuery { percentiles: true, ..OpQuery::default() };
        let rows = operator_stats(&profile, &query);
        let brief: Vec<_> =
            rows.iter().map(|r| (profile.str(r.key), r.count, r.total_ns, r.self_ns, r.min_ns, r.max_ns)).collect();
        assert_eq!(brief, [("outer", 1, 100, 60, 100, 100), ("late", 1, 40, 40, 40, 40), ("inner", 2, 30, 30, 10, 20)]);
        assert_eq!(rows[2].percentiles.unwrap().p50_ns, 15.0);
        let by_category = operator_stats(&profile, &OpQuery { group_by: GroupBy::Category, ..OpQuery::default() });
        assert_eq!(by_category.iter().map(|r| r.total_ns).collect::<Vec<_>>(), [100, 70]);
        assert_eq!(profile.diagnostics().count("partial_overlap"), 1);
        let none = operator_stats(&profile, &OpQuery { tracks: Some(vec![]), ..OpQuery::default() });
        assert!(none.is_empty());
    }
}
