//! Operator statistics: how often an operator ran, for how long, and how much of that was self time.
//!
//! Self time is defined in [`super::self_time`]. A fused operation counts once for each group of its members, with their part of
//! its time ([`ns_profile::fused`]).

use serde::{Deserialize, Serialize};

use super::{GroupBy, Grouping, Selection, SliceCursor};
use ns_base::convert::{i64_to_f64, u64_to_f64, u64_to_i64, usize_to_u32};
use ns_base::stats;
use ns_base::{FxHashMap, Order};
use ns_profile::fused::Part;
use ns_profile::{Occurrences, ProcessId, Profile, SliceId, Stretch};

/// Statistics of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct OpStats {
    /// Number of the group in its [`Grouping`].
    pub group: u32,
    /// How often it ran: an interrupted operation is one occurrence with all its slices ([`Occurrences`]).
    pub count: u64,
    /// Sum of durations, in ns.
    pub total_ns: i64,
    /// Sum of self times, in ns.
    pub self_ns: i64,
    /// Whether all its slices are wrappers.
    pub wraps: bool,
    /// The shortest occurrence, in ns: all stretches of an interrupted one together.
    pub min_ns: i64,
    /// The longest occurrence, in ns.
    pub max_ns: i64,
    /// The longest slice, the first in a tie by track and start.
    pub longest: SliceId,
    longest_ns: i64,
    /// Median and 99th percentile of the occurrences, in ns, if requested (numpy's linear rule).
    pub percentiles: Option<Percentiles>,
}

/// Percentiles of durations, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Half of them are at most this long.
    pub p50_ns: f64,
    /// 99 of 100 are at most this long.
    pub p99_ns: f64,
}

impl OpStats {
    fn of(group: u32, first: SliceId) -> Self {
        Self {
            group,
            count: 0,
            total_ns: 0,
            self_ns: 0,
            wraps: true,
            min_ns: i64::MAX,
            max_ns: -1,
            longest: first,
            longest_ns: -1,
            percentiles: None,
        }
    }

    /// Adds an occurrence to the extremes.
    fn add(&mut self, dur: i64) {
        (self.min_ns, self.max_ns) = (self.min_ns.min(dur), self.max_ns.max(dur));
    }

    /// Mean duration of an occurrence in ns.
    pub fn mean_ns(&self) -> f64 {
        i64_to_f64(self.total_ns) / u64_to_f64(self.count.max(1))
    }
}

/// The operators to compute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpQuery {
    /// The property by which slices are grouped.
    pub group_by: GroupBy,
    /// The slices to count.
    pub selection: Selection,
    /// Whether percentiles are wanted; they cost a sort.
    pub percentiles: bool,
}

/// Statistics by group, with the names of the groups.
#[derive(Debug)]
pub struct OpTable {
    /// The grouping.
    pub grouping: Grouping,
    /// Greatest total first, ties by name; groups of wrappers come last.
    pub stats: Vec<OpStats>,
    /// Whether an operation was interrupted: it has more slices than occurrences.
    pub has_interrupted: bool,
}

impl OpTable {
    /// The name of a row.
    pub fn name<'a>(&'a self, profile: &'a Profile, row: &OpStats) -> &'a str {
        self.grouping.label(profile, row.group)
    }
}

/// Statistics by group, greatest total first, ties by name. Unclosed slices are left out.
pub fn operator_stats(profile: &Profile, query: &OpQuery) -> OpTable {
    let mut pass = OperatorPass::new(profile, query.clone());
    while !pass.advance(profile, usize::MAX) {}
    pass.finish(profile)
}

/// Computes [`operator_stats`] a part at a time.
#[derive(Debug)]
pub struct OperatorPass {
    query: OpQuery,
    grouping: Grouping,
    own: Vec<i64>,
    cursor: SliceCursor,
    occurrences: Occurrences,
    rows: Rows,
}

/// The statistics so far.
#[derive(Debug)]
struct Rows {
    /// Position in `stats` of each group, plus one; 0 for none.
    of_group: Vec<u32>,
    stats: Vec<OpStats>,
    /// Row and duration of every occurrence, if percentiles are wanted or operations can be interrupted.
    durations: Vec<(u32, i64)>,
    wants_percentiles: bool,
    /// By group, process and operation, the place of the last occurrence in `durations`, and whether the slice that begins it was seen.
    last: FxHashMap<(u32, ProcessId, u64), (usize, bool)>,
    has_interrupted: bool,
}

/// What a slice adds to a group.
struct Contribution {
    id: SliceId,
    /// The process and the operation, if it can be interrupted.
    of: Option<(ProcessId, Stretch)>,
    dur: i64,
    own: i64,
    /// Number of events that the slice stands for.
    events: u64,
}

impl Rows {
    /// `wraps` is asked until a slice of the group is not a wrapper.
    #[inline]
    fn add(&mut self, group: u32, of: &Contribution, wraps: impl FnOnce() -> bool) {
        let Some(place) = self.of_group.get_mut(group as usize) else { return };
        if *place == 0 {
            self.stats.push(OpStats::of(group, of.id));
            *place = usize_to_u32(self.stats.len());
        }
        let row = &mut self.stats[*place as usize - 1];
        row.wraps = row.wraps && wraps();
        row.total_ns = row.total_ns.saturating_add(of.dur);
        row.self_ns = row.self_ns.saturating_add(of.own);
        if of.dur > row.longest_ns {
            (row.longest_ns, row.longest) = (of.dur, of.id);
        }
        if let Some((process, stretch)) = of.of {
            let new = (self.durations.len(), !stretch.goes_on);
            let durations = &mut self.durations;
            let (at, has_begun) = self.last.entry((group, process, stretch.operation)).or_insert(new);
            // Lanes of a row come one after the other, so a stretch may come before the one that begins the operation.
            let is_known = *at < durations.len() && (stretch.goes_on || !*has_begun);
            if is_known {
                *has_begun |= !stretch.goes_on;
                durations[*at].1 = durations[*at].1.saturating_add(of.dur);
                self.has_interrupted = true;
                return;
            }
            (*at, *has_begun) = new;
        }
        row.count += of.events;
        // Of a sum only the mean is known.
        let dur = of.dur / u64_to_i64(of.events.max(1));
        row.add(dur);
        if self.wants_percentiles || of.of.is_some() {
            self.durations.push((*place - 1, dur));
        }
    }
}

impl OperatorPass {
    /// Prepares it.
    #[must_use]
    pub fn new(profile: &Profile, query: OpQuery) -> Self {
        let grouping = Grouping::new(profile, query.group_by);
        let rows = Rows {
            of_group: vec![0; grouping.len(profile)],
            stats: Vec::new(),
            durations: Vec::new(),
            wants_percentiles: query.percentiles,
            last: FxHashMap::default(),
            has_interrupted: false,
        };
        Self {
            own: query.selection.self_times(profile),
            cursor: query.selection.cursor(profile),
            occurrences: Occurrences::of(profile),
            rows,
            grouping,
            query,
        }
    }

    /// Looks at about `limit` slices more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let Self { query, grouping, own, cursor, occurrences, rows } = self;
        let levels = profile.levels();
        let mut added = |id: SliceId| {
            let dur = query.selection.counted_ns(profile, id)?;
            let of =
                occurrences.stretch(profile, id).map(|s| (profile.tracks()[profile.slices().track(id)].process, s));
            Some(Contribution { id, of, dur, own: own[id.0 as usize], events: occurrences.events(profile, id) })
        };
        if !grouping.divides_slices() {
            return cursor.advance(limit, |track, id| {
                if let Some(slice) = added(id) {
                    let wraps = || levels.wraps(profile, track, id);
                    rows.add(grouping.group_of(profile, track, id), &slice, wraps);
                }
            });
        }
        cursor.advance(limit, |track, id| {
            let Some(slice) = added(id) else { return };
            grouping.each_group(profile, track, id, |group, parts| {
                let of = |ns| Part::sum_ns(parts, ns);
                let part = Contribution { dur: of(slice.dur), own: of(slice.own), ..slice };
                rows.add(group, &part, || levels.wraps(profile, track, id));
            });
        })
    }

    /// The statistics of the slices seen so far.
    pub fn finish(mut self, profile: &Profile) -> OpTable {
        self.rows.finish();
        let (grouping, mut stats, has_interrupted) = (self.grouping, self.rows.stats, self.rows.has_interrupted);
        let name = |s: &OpStats| grouping.label(profile, s.group);
        let by_time = |a: &OpStats, b: &OpStats| b.total_ns.cmp(&a.total_ns).then_with(|| name(a).cmp(name(b)));
        stats.order_by(|a, b| a.wraps.cmp(&b.wraps).then_with(|| by_time(a, b)));
        OpTable { grouping, stats, has_interrupted }
    }
}

impl Rows {
    /// Fills in what is known of occurrences only when all their slices were seen.
    fn finish(&mut self) {
        let durations = std::mem::take(&mut self.durations);
        if self.has_interrupted {
            self.stats.iter_mut().for_each(|row| (row.min_ns, row.max_ns) = (i64::MAX, -1));
            durations.iter().for_each(|&(row, dur)| self.stats[row as usize].add(dur));
        }
        if !self.wants_percentiles {
            return;
        }
        let (mut by_row, lengths) = rows_together(&durations, self.stats.len());
        let mut rest = by_row.as_mut_slice();
        for (row, length) in self.stats.iter_mut().zip(lengths) {
            let (own, others) = rest.split_at_mut(length);
            let p50_ns = percentile(own, 50.0);
            row.percentiles = Some(Percentiles { p50_ns, p99_ns: percentile(own, 99.0) });
            rest = others;
        }
    }
}

/// The durations of each row next to one another, rows in their order, and the number of durations of each row.
fn rows_together(durations: &[(u32, i64)], rows: usize) -> (Vec<i64>, Vec<usize>) {
    let mut lengths = vec![0; rows];
    for &(row, _) in durations {
        lengths[row as usize] += 1;
    }
    let mut at = 0;
    let mut next: Vec<usize> = Vec::with_capacity(rows);
    for length in &lengths {
        next.push(at);
        at += length;
    }
    let mut together = vec![0; durations.len()];
    for &(row, dur) in durations {
        let place = &mut next[row as usize];
        together[*place] = dur;
        *place += 1;
    }
    (together, lengths)
}

/// A percentile of some values by numpy's linear rule, found without sorting all of them; 0 without values.
pub(super) fn percentile(values: &mut [i64], p: f64) -> f64 {
    let Some((low, high, fraction)) = stats::percentile_ranks(values.len(), p) else { return 0.0 };
    let (_, a, above) = values.select_nth_unstable(low);
    let a = *a;
    let b = if high == low { a } else { above.iter().copied().min().unwrap_or(a) };
    stats::lerp(i64_to_f64(a), i64_to_f64(b), fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::{MemberOrder, members};
    use crate::modules::module_tree;
    use crate::query::{QueryValue, ask};
    use ns_base::{Diagnostics, Interval, TraceNs};
    use ns_profile::ProfileBuilder;
    use ns_profile::fused::share_text;
    use ns_profile::neuron::{EXECUTION_PROCESS, FRAMEWORK_TRACK};
    use proptest::prelude::*;

    #[test]
    fn self_time_excludes_children_and_overlap_counts_once() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let t = b.thread(p, "1", "");
        b.slice(t, 0, 100, "outer", "a", None);
        b.slice(t, 10, 20, "inner", "b", None);
        b.slice(t, 80, 40, "late", "b", None); // 20 of its 40 ns are inside "outer"
        b.slice(t, 200, 10, "inner", "b", None);
        let profile = b.finish(Diagnostics::new());
        let within = Some(Interval::new(TraceNs(0), TraceNs(15)));
        let early = OpQuery { selection: Selection::within(within), ..OpQuery::default() };
        let table = operator_stats(&profile, &early);
        let touched: Vec<_> = table.stats.iter().map(|r| (table.name(&profile, r), r.count)).collect();
        assert_eq!(touched, [("outer", 1), ("inner", 1)]);
        let query = OpQuery { percentiles: true, ..OpQuery::default() };
        let table = operator_stats(&profile, &query);
        let rows = &table.stats;
        let brief: Vec<_> = rows
            .iter()
            .map(|r| (table.name(&profile, r), r.count, r.total_ns, r.self_ns, r.min_ns, r.max_ns))
            .collect();
        assert_eq!(brief, [("outer", 1, 100, 60, 100, 100), ("late", 1, 40, 40, 40, 40), ("inner", 2, 30, 30, 10, 20)]);
        assert_eq!(rows[2].percentiles.unwrap().p50_ns, 15.0);
        let by_category = operator_stats(&profile, &OpQuery { group_by: GroupBy::Category, ..OpQuery::default() });
        assert_eq!(by_category.stats.iter().map(|r| r.total_ns).collect::<Vec<_>>(), [100, 70]);
        assert_eq!(profile.diagnostics().count("partial_overlap"), 1);
        let none = OpQuery { selection: Selection::of_tracks(vec![]), ..OpQuery::default() };
        assert!(operator_stats(&profile, &none).stats.is_empty());
    }

    #[test]
    fn an_interrupted_operation_is_one_occurrence_with_all_its_stretches() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", EXECUTION_PROCESS);
        let t = b.thread(p, "1", "");
        b.slice(t, 0, 100, "dot", "", None);
        b.slice(t, 200, 300, "dot", "", Some(r#"{"continues":true}"#));
        b.slice(t, 600, 7, "add", "", None);
        let profile = b.finish(Diagnostics::new());
        let table = operator_stats(&profile, &OpQuery { percentiles: true, ..OpQuery::default() });
        let found: Vec<_> =
            table.stats.iter().map(|s| (s.count, s.percentiles.unwrap().p50_ns, s.min_ns, s.max_ns)).collect();
        assert_eq!(found, [(1, 400.0, 400, 400), (1, 7.0, 7, 7)]);
        assert!(table.has_interrupted);
        // Where only the second stretch is selected, it is the occurrence.
        let late = Selection::within(Some(Interval::new(TraceNs(250), TraceNs(900))));
        let table = operator_stats(&profile, &OpQuery { selection: late, ..OpQuery::default() });
        assert_eq!(
            table.stats.iter().map(|s| (s.count, s.mean_ns(), s.max_ns)).collect::<Vec<_>>(),
            [(1, 250.0, 250), (1, 7.0, 7)]
        );
    }

    /// Two fused slices, one partly beside a third, on a row of framework operators.
    fn fused(first: i64, second: i64, cut: u32) -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", EXECUTION_PROCESS);
        let t = b.thread(p, "1", FRAMEWORK_TRACK);
        let (own, rest) = (share_text(cut), share_text(1_000_000 - cut));
        let args = format!(
            r#"{{"path":"N/R/relu","fused":"N/B/norm,\nN/R/relu","fused_hlo":"%m = multiply(),\n%r = maximum()","fused_share":"{own},\n{rest}"}}"#
        );
        b.slice(t, 0, first, "relu", "relu", Some(&args));
        b.slice(t, 500, second, "relu", "relu", Some(&args));
        b.slice(t, 500, second / 2, "dot", "dot", Some(r#"{"path":"N/L/dot"}"#));
        b.finish(Diagnostics::new())
    }

    #[test]
    fn members_of_a_fused_operation_are_listed_with_their_parts() {
        let profile = fused(101, 40, 300_000);
        let query = OpQuery { group_by: GroupBy::CategoryOrName, ..OpQuery::default() };
        let table = operator_stats(&profile, &query);
        let rows: Vec<_> =
            table.stats.iter().map(|s| (table.name(&profile, s), s.count, s.total_ns, s.self_ns, s.max_ns)).collect();
        assert_eq!(rows, [("relu", 2, 99, 85, 71), ("norm", 2, 42, 36, 30), ("dot", 1, 20, 20, 20)]);
        let all = Selection::default();
        let parts = members(&profile, &all, GroupBy::CategoryOrName, "norm", MemberOrder::Time);
        assert_eq!(parts.iter().map(|(_, ns)| *ns).collect::<Vec<_>>(), [30, 12]);
        let tree = module_tree(&profile, &all, 100);
        let modules: Vec<_> = tree.nodes.iter().map(|n| (n.name.as_str(), n.count, n.total_ns)).collect();
        assert_eq!(modules, [("", 5, 141), ("N", 5, 141), ("R", 2, 85), ("B", 2, 36), ("L", 1, 20)]);
        let answer = ask(&profile, "where operator = 'norm' group by operator select count, sum(dur)", None).unwrap();
        assert_eq!(answer.rows, [[QueryValue::Int(2), QueryValue::Int(42)]]);
        let listed = ask(&profile, "where operator = 'relu' select dur", None).unwrap();
        assert_eq!(listed.rows, [[QueryValue::Int(101)], [QueryValue::Int(40)]], "slices are listed whole");
    }

    proptest! {
        #[test]
        fn mean_percentiles_and_extremes_are_of_one_population(
            slices in prop::collection::vec((0i64..500, 0i64..60, 0usize..3, 0usize..4, any::<bool>()), 1..40),
            from in 0i64..300,
        ) {
            let mut b = ProfileBuilder::new("test");
            let p = b.process("1", EXECUTION_PROCESS);
            let t = b.thread(p, "1", "");
            for (start, dur, name, path, continues) in slices {
                let continues = if continues { r#""continues":true,"# } else { "" };
                let args = format!(r#"{{{continues}"path":"N/{path}"}}"#);
                b.slice(t, start, dur, ["a", "b", "c"][name], "", Some(&args));
            }
            let profile = b.finish(Diagnostics::new());
            for selection in [Selection::default(), Selection::within(Some(Interval::new(TraceNs(from), TraceNs(400))))] {
                let table = operator_stats(&profile, &OpQuery { percentiles: true, selection, ..OpQuery::default() });
                for s in &table.stats {
                    let (p, min, max) = (s.percentiles.unwrap(), s.min_ns as f64, s.max_ns as f64);
                    prop_assert!(min <= p.p50_ns && p.p50_ns <= p.p99_ns && p.p99_ns <= max, "{:?}", s);
                    prop_assert!(min <= s.mean_ns() && s.mean_ns() <= max && s.count > 0, "{:?}", s);
                }
            }
        }

        #[test]
        fn parts_of_fused_operations_add_up_in_every_grouping(
            first in 0i64..500, second in 0i64..500, cut in 0u32..=1_000_000,
        ) {
            let profile = fused(first, second, cut);
            let whole = operator_stats(&profile, &OpQuery { group_by: GroupBy::Thread, ..OpQuery::default() });
            for group_by in [GroupBy::Name, GroupBy::Category, GroupBy::CategoryOrName, GroupBy::Module] {
                let table = operator_stats(&profile, &OpQuery { group_by, ..OpQuery::default() });
                let sums = |of: fn(&OpStats) -> i64| table.stats.iter().map(of).sum::<i64>();
                prop_assert_eq!(sums(|s| s.self_ns), whole.stats[0].self_ns);
                prop_assert_eq!(sums(|s| s.total_ns), whole.stats[0].total_ns);
                let text = format!("group by {0} select {0}, count, sum(self), max(dur)", group_by.name());
                let answer = ask(&profile, &text, None).unwrap();
                prop_assert_eq!(answer.rows.len(), table.stats.len());
                for s in &table.stats {
                    let name = QueryValue::Text(table.name(&profile, s).to_owned());
                    let row = answer.rows.iter().find(|r| r[0] == name).unwrap();
                    let numbers = [s.count as i64, s.self_ns, s.max_ns].map(QueryValue::Int);
                    prop_assert_eq!(&row[1..], &numbers[..]);
                }
            }
        }

        #[test]
        fn percentiles_are_those_of_sorted_values(mut values in prop::collection::vec(-50i64..50, 1..40), p in 0f64..100.0) {
            let mut sorted: Vec<f64> = values.iter().map(|v| *v as f64).collect();
            sorted.sort_by(f64::total_cmp);
            prop_assert_eq!(Some(percentile(&mut values, p)), stats::percentile_sorted(&sorted, p));
        }
    }
}
