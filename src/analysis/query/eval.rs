//! Evaluates a query on a profile, which gives a table.
//!
//! A query that groups or sums counts a fused operation for each of its members ([`ns_profile::fused`]): a condition on a name
//! tests the member's name. A query that lists slices lists them as they are.

use std::cmp::Ordering;

use super::error::QueryError;
use super::groups::{Groups, group_values};
use super::parser::parse;
use super::source::{Row, Source};
use super::syntax::{OutputColumn, Query, ValueKind};
use super::test::Test;
use super::value::{QueryValue, compare};
use crate::{Selection, SliceCursor};
use ns_base::Order;
use ns_profile::fused::Part;
use ns_profile::levels::LevelId;
use ns_profile::{Occurrences, Profile, SliceId};

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryTable {
    /// Names and types of the columns.
    pub columns: Vec<(String, ValueKind)>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<QueryValue>>,
    /// The slice of each row, or the first slice of its group.
    pub slices: Vec<SliceId>,
    /// Number of rows before the limit.
    pub total: u64,
}

/// Answers a query about the slices of a level, or about all slices.
///
/// # Errors
/// When the query cannot be understood, with the column of the text.
pub fn ask(profile: &Profile, text: &str, level: Option<LevelId>) -> Result<QueryTable, QueryError> {
    let mut pass = QueryPass::new(profile, parse(text)?, level);
    while !pass.advance(profile, usize::MAX) {}
    Ok(pass.finish(profile))
}

/// Answers a query a part at a time. Unclosed slices are left out, as in all statistics.
#[derive(Debug)]
pub struct QueryPass {
    query: Query,
    selection: Selection,
    occurrences: Occurrences,
    cursor: SliceCursor,
    own: Vec<i64>,
    condition: Option<Test>,
    /// Columns of the keys, then those of `select`.
    sources: Vec<Source>,
    key_count: usize,
    /// The slices found, if they are not grouped.
    found: Vec<SliceId>,
    groups: Groups,
}

impl QueryPass {
    /// Prepares the query for the slices of a level or for all.
    #[must_use]
    pub fn new(profile: &Profile, query: Query, level: Option<LevelId>) -> Self {
        let columns = query.group_by.iter().chain(query.select.iter().filter_map(|s| match s {
            OutputColumn::Plain(c) | OutputColumn::Of(_, c) => Some(c),
            OutputColumn::Count => None,
        }));
        let sources = columns.map(|c| Source::of(profile, c)).collect();
        let selection = Selection::of_level(level);
        Self {
            cursor: selection.cursor(profile),
            own: selection.self_times(profile),
            occurrences: Occurrences::of(profile),
            selection,
            condition: query.condition.as_ref().map(|c| Test::of(profile, c)),
            sources,
            key_count: query.group_by.len(),
            found: Vec::new(),
            groups: Groups::default(),
            query,
        }
    }

    fn is_grouped(&self) -> bool {
        self.key_count > 0 || self.query.select.iter().any(|s| !matches!(s, OutputColumn::Plain(_)))
    }

    /// Looks at about `limit` slices more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let is_grouped = self.is_grouped();
        let Self { query, selection, occurrences, cursor, own, condition, sources, key_count, found, groups } = self;
        cursor.advance(limit, |track, id| {
            if selection.counted_part(profile, id).is_none() {
                return;
            }
            let row = Row::of(profile, own, track, id);
            let mut holds = |row: &Row<'_>| condition.as_mut().is_none_or(|c| c.is_true(row));
            let members = if is_grouped { profile.fusions().members(profile.slices().args(id)) } else { &[] };
            if members.is_empty() {
                if !holds(&row) {
                } else if is_grouped {
                    let place = groups.place_of(&row, &sources[..*key_count], &query.select);
                    groups.add(place, &row, occurrences.count(profile, id), &sources[*key_count..], &query.select);
                } else {
                    found.push(id);
                }
                return;
            }
            // Members in one group count as one slice of it.
            let mut places: Vec<(usize, Vec<Part>)> = Vec::new();
            for member in members {
                let row = Row { member: Some(*member), ..row };
                if !holds(&row) {
                    continue;
                }
                let place = groups.place_of(&row, &sources[..*key_count], &query.select);
                match places.iter_mut().find(|(known, _)| *known == place) {
                    Some((_, parts)) => parts.push(member.part),
                    None => places.push((place, vec![member.part])),
                }
            }
            let count = occurrences.count(profile, id);
            for (place, parts) in places {
                let row = Row { parts: &parts, ..row };
                groups.add(place, &row, count, &sources[*key_count..], &query.select);
            }
        })
    }

    /// The answer for the slices seen so far.
    pub fn finish(mut self, profile: &Profile) -> QueryTable {
        let columns = self.query.select.iter().map(|s| (s.name(), s.kind())).collect();
        let is_grouped = self.is_grouped();
        let sources = &self.sources[self.key_count..];
        let mut rows: Vec<(SliceId, Vec<QueryValue>)> = if is_grouped {
            let (own, select) = (&self.own, &self.query.select);
            let rows = std::mem::take(&mut self.groups.rows).into_iter();
            rows.map(|g| (g.first, group_values(profile, own, sources, select, g))).collect()
        } else {
            let row = |id| Row::of(profile, &self.own, profile.slices().track(id), id);
            self.found.iter().map(|&id| (id, sources.iter().map(|s| s.value(&row(id))).collect())).collect()
        };
        let by = &self.query.order_by;
        rows.order_by(|(_, a), (_, b)| {
            let orders = by.iter().map(|&(i, descending)| {
                // Missing values come last either way.
                let order = compare(&a[i], &b[i]);
                let missing = a[i] == QueryValue::Missing || b[i] == QueryValue::Missing;
                if descending && !missing { order.reverse() } else { order }
            });
            orders.fold(Ordering::Equal, Ordering::then)
        });
        let total = rows.len() as u64;
        rows.truncate(self.query.limit.unwrap_or(usize::MAX));
        let (slices, rows) = rows.into_iter().unzip();
        QueryTable { columns, rows, slices, total }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::selection::tests::nested;
    use super::*;
    use crate::operators::{OpQuery, operator_stats};
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;
    use proptest::prelude::*;

    fn sample() -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "gpu");
        let (t, u) = (b.thread(p, "7", "stream 7"), b.thread(p, "8", "stream 8"));
        b.slice(t, 0, 1000, "gemm", "kernel", Some(r#"{"bytes":64,"kind":"a"}"#));
        b.slice(t, 100, 200, "inner", "kernel", None);
        b.slice(u, 500, 3000, "copy", "memcpy", Some(r#"{"bytes":1.5}"#));
        b.slice(u, 4000, 10, "Gemm2", "kernel", Some(r#"{"bytes":6}"#));
        b.finish(Diagnostics::new())
    }

    fn rows(text: &str) -> Vec<String> {
        let found = ask(&sample(), text, None).unwrap();
        let show = |v: &QueryValue| match v {
            QueryValue::Text(t) => t.clone(),
            QueryValue::Int(n) => n.to_string(),
            QueryValue::Real(x) => format!("{x:?}"),
            QueryValue::Missing => "-".to_owned(),
        };
        found.rows.iter().map(|r| r.iter().map(show).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn slices_filtered_ordered_and_limited() {
        assert_eq!(rows("where name ~ 'gemm' select name, dur"), ["gemm 1000", "Gemm2 10"]);
        assert_eq!(rows("where dur >= 1us select name, self order by self desc limit 1"), ["copy 3000"]);
        assert_eq!(rows("where category != 'kernel' or depth = 1 select name"), ["inner", "copy"]);
        assert_eq!(rows("where name in ('copy', 'inner') and start > 200 select name, end"), ["copy 3500"]);
        assert_eq!(rows("where args.bytes > 2 select name, args.bytes"), ["gemm 64", "Gemm2 6"]);
        assert_eq!(rows("where not args.kind = 'a' and args.bytes !~ '6' select name"), ["inner", "copy"]);
        assert_eq!(
            rows("select name, args.bytes order by args.bytes desc"),
            ["gemm 64", "Gemm2 6", "copy 1.5", "inner -"]
        );
        let all = ask(&sample(), "limit 2", None).unwrap();
        assert_eq!((all.rows.len(), all.total, all.columns.len()), (2, 4, 5));
    }

    #[test]
    fn groups_and_aggregates() {
        assert_eq!(
            rows("group by category order by category"),
            ["kernel 3 1210 1010 403.3333333333333", "memcpy 1 3000 3000 3000.0"]
        );
        assert_eq!(rows("select count, max(dur), p50(dur)"), ["4 3000 600.0"]);
        assert_eq!(
            rows("group by thread, args.kind select args.kind, thread, sum(args.bytes) order by sum(args.bytes) desc"),
            ["a gpu / stream 7 64", "- gpu / stream 8 7.5", "- gpu / stream 7 -"]
        );
        assert_eq!(rows("where name = 'none' group by name"), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn groups_by_name_are_the_operator_statistics(steps in prop::collection::vec(any::<(u8, u8)>(), 1..100)) {
            let profile = nested(&steps);
            let found = ask(&profile, "group by name select name, count, sum(dur), sum(self), min(dur), max(dur)", None).unwrap();
            let table = operator_stats(&profile, &OpQuery::default());
            prop_assert_eq!(found.rows.len(), table.stats.len());
            for s in &table.stats {
                let name = QueryValue::Text(table.name(&profile, s).to_owned());
                let row = found.rows.iter().find(|r| r[0] == name).unwrap();
                let numbers = [s.count as i64, s.total_ns, s.self_ns, s.min_ns, s.max_ns].map(QueryValue::Int);
                prop_assert_eq!(&row[1..], &numbers[..]);
            }
        }

        #[test]
        fn no_text_breaks_the_parser(text in "\\PC{0,60}") {
            let _ = parse(&text);
        }
    }
}
