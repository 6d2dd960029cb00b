//! From a query and a profile to a table.

use std::cmp::Ordering;

use super::parser::parse;
use super::syntax::{Aggregate, Column, Comparison, Condition, Literal, Query, Selected, ValueKind};
use super::tokens::QueryError;
use crate::base::{FxHashMap, StringTable, stats};
use crate::profile::analysis::{Grouping, Selection, SliceCursor};
use crate::profile::query::parse_args;
use crate::profile::{Profile, SliceFlags, SliceId, TrackId};

/// A value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum QueryValue {
    /// Text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// Nothing is known.
    Missing,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryTable {
    /// Names of the columns and what they hold.
    pub columns: Vec<(String, ValueKind)>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<QueryValue>>,
    /// For each row its slice, or the first slice of its group.
    pub slices: Vec<SliceId>,
    /// Number of rows there were before the limit.
    pub total: u64,
}

/// Answers a query.
///
/// # Errors
/// When it can not be understood, with the column of the text.
pub fn ask(profile: &Profile, text: &str) -> Result<QueryTable, QueryError> {
    let mut pass = QueryPass::new(profile, parse(text)?);
    while !pass.advance(profile, usize::MAX) {}
    Ok(pass.finish(profile))
}

/// Answers a query a part at a time. Unclosed slices are left out, as from all statistics.
#[derive(Debug)]
pub struct QueryPass {
    query: Query,
    cursor: SliceCursor,
    own: Vec<i64>,
    condition: Option<Test>,
    /// Columns of the keys, then those of `select`.
    sources: Vec<Source>,
    key_count: usize,
    /// Slices found, when they are not grouped.
    found: Vec<SliceId>,
    groups: Groups,
}

/// Where a column's values come from.
#[derive(Debug)]
enum Source {
    Label(Grouping),
    Start,
    End,
    Dur,
    SelfTime,
    Depth,
    Arg(String),
}

/// A condition with what it remembers.
#[derive(Debug)]
enum Test {
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
    /// A shared text: the answer for each group, once it is known.
    Label {
        grouping: Grouping,
        known: Vec<Option<bool>>,
        check: Check,
    },
    Value {
        source: Source,
        check: Check,
    },
}

#[derive(Debug)]
struct Check {
    how: Comparison,
    any_of: Vec<Literal>,
}

#[derive(Debug, Default)]
struct Groups {
    /// Number of a combination of keys: the number of its first keys and the next key.
    number: FxHashMap<(u32, u32), u32>,
    next: u32,
    /// Position of a combination in `rows`.
    place: FxHashMap<u32, usize>,
    rows: Vec<GroupRow>,
    /// Values of keys that are no shared texts.
    texts: StringTable,
}

#[derive(Debug)]
struct GroupRow {
    first: SliceId,
    count: u64,
    /// Values of each selected column that is aggregated.
    values: Vec<Tally>,
}

#[derive(Clone, Debug, Default)]
struct Tally {
    int: i128,
    real: f64,
    is_real: bool,
    count: u64,
    min: f64,
    max: f64,
    all: Option<Vec<f64>>,
}

impl QueryPass {
    /// Prepares it.
    #[must_use]
    pub fn new(profile: &Profile, query: Query) -> Self {
        let columns = query.group_by.iter().chain(query.select.iter().filter_map(|s| match s {
            Selected::Plain(c) | Selected::Of(_, c) => Some(c),
            Selected::Count => None,
        }));
        let sources = columns.map(|c| Source::of(profile, c)).collect();
        let all = Selection::default();
        Self {
            cursor: all.cursor(profile),
            own: all.self_times(profile),
            condition: query.condition.as_ref().map(|c| Test::of(profile, c)),
            sources,
            key_count: query.group_by.len(),
            found: Vec::new(),
            groups: Groups::default(),
            query,
        }
    }

    fn is_grouped(&self) -> bool {
        self.key_count > 0 || self.query.select.iter().any(|s| !matches!(s, Selected::Plain(_)))
    }

    /// Looks at about `limit` slices more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let is_grouped = self.is_grouped();
        let Self { query, cursor, own, condition, sources, key_count, found, groups } = self;
        cursor.advance(limit, |track, id| {
            let row = Row { profile, own, track, id };
            if profile.slices().flags(id).has(SliceFlags::UNCLOSED)
                || !condition.as_mut().is_none_or(|c| c.is_true(&row))
            {
                return;
            }
            if is_grouped {
                groups.add(&row, &sources[..*key_count], &sources[*key_count..], &query.select);
            } else {
                found.push(id);
            }
        })
    }

    /// The answer for what it has seen.
    #[must_use]
    pub fn finish(mut self, profile: &Profile) -> QueryTable {
        let columns = self.query.select.iter().map(|s| (s.name(), s.kind())).collect();
        let is_grouped = self.is_grouped();
        let sources = &self.sources[self.key_count..];
        let mut rows: Vec<(SliceId, Vec<QueryValue>)> = if is_grouped {
            let (own, select) = (&self.own, &self.query.select);
            let rows = std::mem::take(&mut self.groups.rows).into_iter();
            rows.map(|g| (g.first, group_values(profile, own, sources, select, g))).collect()
        } else {
            let row = |id| Row { profile, own: &self.own, track: profile.slices().track(id), id };
            self.found.iter().map(|&id| (id, sources.iter().map(|s| s.value(&row(id))).collect())).collect()
        };
        let by = &self.query.order_by;
        rows.sort_by(|(_, a), (_, b)| {
            let orders = by.iter().map(|&(i, descending)| {
                // What is missing comes last either way.
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

/// A slice with what is needed to know it.
struct Row<'a> {
    profile: &'a Profile,
    own: &'a [i64],
    track: TrackId,
    id: SliceId,
}

impl Source {
    fn of(profile: &Profile, column: &Column) -> Self {
        match column {
            Column::Label(by) => Self::Label(Grouping::new(profile, *by)),
            Column::Start => Self::Start,
            Column::End => Self::End,
            Column::Dur => Self::Dur,
            Column::SelfTime => Self::SelfTime,
            Column::Depth => Self::Depth,
            Column::Arg(key) => Self::Arg(key.clone()),
        }
    }

    fn value(&self, row: &Row<'_>) -> QueryValue {
        let slices = row.profile.slices();
        match self {
            Self::Label(grouping) => {
                let group = grouping.group_of(row.profile, row.track, row.id);
                QueryValue::Text(grouping.label(row.profile, group).to_owned())
            }
            Self::Start => QueryValue::Int(slices.start(row.id).0),
            Self::End => QueryValue::Int(slices.end(row.id).0),
            Self::Dur => QueryValue::Int(slices.dur_ns(row.id)),
            Self::SelfTime => QueryValue::Int(row.own.get(row.id.0 as usize).copied().unwrap_or(0)),
            Self::Depth => QueryValue::Int(i64::from(slices.depth(row.id))),
            Self::Arg(key) => {
                let json = row.profile.args().get(slices.args(row.id));
                if !json.contains(key.as_str()) {
                    return QueryValue::Missing;
                }
                let found = parse_args(json).into_iter().find(|(k, _)| k == key);
                found.map_or(QueryValue::Missing, |(_, text)| number_or_text(text))
            }
        }
    }
}

fn number_or_text(text: String) -> QueryValue {
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(n), _) => QueryValue::Int(n),
        (_, Ok(x)) if x.is_finite() => QueryValue::Real(x),
        _ => QueryValue::Text(text),
    }
}

impl Test {
    fn of(profile: &Profile, condition: &Condition) -> Self {
        let all = |parts: &[Condition]| parts.iter().map(|c| Self::of(profile, c)).collect();
        let leaf = |column: &Column, check: Check| match column {
            Column::Label(by) => {
                let grouping = Grouping::new(profile, *by);
                let known = vec![None; grouping.len(profile)];
                Self::Label { grouping, known, check }
            }
            other => Self::Value { source: Source::of(profile, other), check },
        };
        match condition {
            Condition::All(parts) => Self::All(all(parts)),
            Condition::Any(parts) => Self::Any(all(parts)),
            Condition::Not(inner) => Self::Not(Box::new(Self::of(profile, inner))),
            Condition::Compare(column, how, value) => leaf(column, Check { how: *how, any_of: vec![value.clone()] }),
            Condition::In(column, values) => leaf(column, Check { how: Comparison::Equal, any_of: values.clone() }),
        }
    }

    fn is_true(&mut self, row: &Row<'_>) -> bool {
        match self {
            Self::All(parts) => parts.iter_mut().all(|p| p.is_true(row)),
            Self::Any(parts) => parts.iter_mut().any(|p| p.is_true(row)),
            Self::Not(inner) => !inner.is_true(row),
            Self::Label { grouping, known, check } => {
                let group = grouping.group_of(row.profile, row.track, row.id);
                let text = || QueryValue::Text(grouping.label(row.profile, group).to_owned());
                match known.get_mut(group as usize) {
                    Some(answer) => *answer.get_or_insert_with(|| check.is_true(&text())),
                    None => check.is_true(&text()),
                }
            }
            Self::Value { source, check } => check.is_true(&source.value(row)),
        }
    }
}

impl Check {
    /// Nothing compares with what is missing, but `!=` and `!~` are true of it.
    fn is_true(&self, value: &QueryValue) -> bool {
        let negative = matches!(self.how, Comparison::NotEqual | Comparison::ContainsNot);
        let matches = |literal: &Literal| match (self.how, value, literal) {
            (Comparison::Contains | Comparison::ContainsNot, value, Literal::Text(part)) => match value {
                QueryValue::Text(text) => Some(text.to_lowercase().contains(&part.to_lowercase())),
                QueryValue::Int(n) => Some(n.to_string().contains(part)),
                QueryValue::Real(_) | QueryValue::Missing => None,
            },
            (how, QueryValue::Text(text), Literal::Text(other)) => Some(holds(how, text.as_str().cmp(other.as_str()))),
            (how, value, Literal::Number(n)) => Some(holds(how, number(value)?.partial_cmp(n)?)),
            (how, QueryValue::Int(n), Literal::Text(other)) => {
                Some(holds(how, n.to_string().as_str().cmp(other.as_str())))
            }
            _ => None,
        };
        if negative {
            self.any_of
                .iter()
                .all(|l| matches(l).is_none_or(|m| if self.how == Comparison::ContainsNot { !m } else { m }))
        } else {
            self.any_of.iter().any(|l| matches(l) == Some(true))
        }
    }
}

fn holds(how: Comparison, order: Ordering) -> bool {
    match how {
        Comparison::Equal | Comparison::Contains | Comparison::ContainsNot => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::AtMost => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::AtLeast => order != Ordering::Less,
    }
}

fn number(value: &QueryValue) -> Option<f64> {
    match value {
        QueryValue::Int(n) => Some(*n as f64),
        QueryValue::Real(x) => Some(*x),
        QueryValue::Text(_) | QueryValue::Missing => None,
    }
}

/// Numbers before texts before what is missing.
fn compare(a: &QueryValue, b: &QueryValue) -> Ordering {
    let rank = |v: &QueryValue| match v {
        QueryValue::Int(_) | QueryValue::Real(_) => 0,
        QueryValue::Text(_) => 1,
        QueryValue::Missing => 2,
    };
    match (a, b) {
        (QueryValue::Int(a), QueryValue::Int(b)) => a.cmp(b),
        (QueryValue::Text(a), QueryValue::Text(b)) => a.cmp(b),
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => rank(a).cmp(&rank(b)),
        },
    }
}

impl Groups {
    fn add(&mut self, row: &Row<'_>, keys: &[Source], sources: &[Source], select: &[Selected]) {
        let mut at = 0;
        for key in keys {
            let part = self.key_of(key, row);
            let next = &mut self.next;
            at = *self.number.entry((at, part)).or_insert_with(|| {
                *next += 1;
                *next
            });
        }
        let place = *self.place.entry(at).or_insert_with(|| {
            let wants_all = |s: &Selected| matches!(s, Selected::Of(Aggregate::P50 | Aggregate::P99, _));
            let tally = |s: &Selected| Tally { all: wants_all(s).then(Vec::new), ..Tally::default() };
            let values = select.iter().filter(|s| !matches!(s, Selected::Count)).map(tally).collect();
            self.rows.push(GroupRow { first: row.id, count: 0, values });
            self.rows.len() - 1
        });
        let group = &mut self.rows[place];
        group.count += 1;
        let columns = select.iter().filter(|s| !matches!(s, Selected::Count));
        for ((selected, source), tally) in columns.zip(sources).zip(&mut group.values) {
            if matches!(selected, Selected::Of(..)) {
                tally.add(&source.value(row));
            }
        }
    }

    fn key_of(&mut self, key: &Source, row: &Row<'_>) -> u32 {
        if let Source::Label(grouping) = key {
            return grouping.group_of(row.profile, row.track, row.id);
        }
        let text = match key.value(row) {
            // A text of its own, so that it is no group with an empty text.
            QueryValue::Missing => "\u{0}".to_owned(),
            QueryValue::Text(text) => text,
            QueryValue::Int(n) => n.to_string(),
            QueryValue::Real(x) => x.to_string(),
        };
        self.texts.intern(&text).0
    }
}

impl Tally {
    fn add(&mut self, value: &QueryValue) {
        let Some(x) = number(value) else { return };
        if self.count == 0 {
            (self.min, self.max) = (x, x);
        }
        (self.min, self.max) = (self.min.min(x), self.max.max(x));
        match value {
            QueryValue::Int(n) => self.int += i128::from(*n),
            _ => self.is_real = true,
        }
        self.real += x;
        self.count += 1;
        if let Some(all) = &mut self.all {
            all.push(x);
        }
    }

    fn result(mut self, aggregate: Aggregate) -> QueryValue {
        if self.count == 0 {
            return QueryValue::Missing;
        }
        let percentile = |all: Option<&mut Vec<f64>>, p| {
            let all = all?;
            all.sort_by(f64::total_cmp);
            stats::percentile_sorted(all, p)
        };
        match aggregate {
            Aggregate::Sum => self.whole(self.real, self.int),
            Aggregate::Mean if self.is_real => QueryValue::Real(self.real / self.count as f64),
            Aggregate::Mean => QueryValue::Real(self.int as f64 / self.count as f64),
            Aggregate::Min => self.extreme(self.min),
            Aggregate::Max => self.extreme(self.max),
            Aggregate::P50 => percentile(self.all.as_mut(), 50.0).map_or(QueryValue::Missing, QueryValue::Real),
            Aggregate::P99 => percentile(self.all.as_mut(), 99.0).map_or(QueryValue::Missing, QueryValue::Real),
        }
    }

    fn whole(&self, real: f64, int: i128) -> QueryValue {
        match i64::try_from(int) {
            Ok(n) if !self.is_real => QueryValue::Int(n),
            _ => QueryValue::Real(real),
        }
    }

    #[allow(clippy::cast_possible_truncation)]
    fn extreme(&self, x: f64) -> QueryValue {
        if self.is_real { QueryValue::Real(x) } else { self.whole(x, x as i128) }
    }
}

fn group_values(
    profile: &Profile,
    own: &[i64],
    sources: &[Source],
    select: &[Selected],
    group: GroupRow,
) -> Vec<QueryValue> {
    let row = Row { profile, own, track: profile.slices().track(group.first), id: group.first };
    let mut columns = sources.iter().zip(group.values);
    let mut value = |selected: &Selected| match selected {
        Selected::Count => QueryValue::Int(i64::try_from(group.count).unwrap_or(i64::MAX)),
        Selected::Plain(_) => columns.next().map_or(QueryValue::Missing, |(source, _)| source.value(&row)),
        Selected::Of(aggregate, _) => columns.next().map_or(QueryValue::Missing, |(_, tally)| tally.result(*aggregate)),
    };
    select.iter().map(&mut value).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::selection::tests::nested;
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::ProfileBuilder;
    use crate::profile::analysis::operators::{OpQuery, operator_stats};
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
        let found = ask(&sample(), text).unwrap();
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
        let all = ask(&sample(), "limit 2").unwrap();
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
            let found = ask(&profile, "group by name select name, count, sum(dur), sum(self), min(dur), max(dur)").unwrap();
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
