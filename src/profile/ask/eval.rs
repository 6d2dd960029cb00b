//! Running a query.

use std::cell::OnceCell;
use std::cmp::Ordering;

use super::parse::{Aggregate, Column, Comparison, Condition, Field, Query};
use crate::base::{FxHashMap, StrId, stats};
use crate::profile::analysis::operators::self_times;
use crate::profile::analysis::scopes::Scopes;
use crate::profile::query::parse_args;
use crate::profile::{ArgsId, Profile, SliceFlags, SliceId, TrackId};

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum AskValue {
    /// Text.
    Text(String),
    /// A whole number; times are nanoseconds.
    Int(i64),
    /// A number.
    Real(f64),
    /// A slice that has no such argument.
    Missing,
}

impl AskValue {
    fn number(&self) -> Option<f64> {
        match self {
            Self::Int(n) => Some(*n as f64),
            Self::Real(x) => Some(*x),
            Self::Text(t) => t.parse().ok(),
            Self::Missing => None,
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                (a, b) => a.is_some().cmp(&b.is_some()),
            },
        }
    }
}

/// A row, with the slice that shows it: the slice itself, or the longest of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct AskRow {
    /// A value for each column.
    pub values: Vec<AskValue>,
    /// The slice.
    pub slice: SliceId,
}

/// The answer to a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AskTable {
    /// Names of the columns, and whether they are numbers.
    pub columns: Vec<(String, bool)>,
    /// Rows in order.
    pub rows: Vec<AskRow>,
    /// Number of slices that met the conditions.
    pub matched: u64,
    /// Number of rows before the limit.
    pub total_rows: u64,
}

/// Answers a query. Slices that never end are left out.
#[must_use]
pub fn run(profile: &Profile, query: &Query) -> AskTable {
    let mut reader = Reader::new(profile, query);
    let slices = profile.slices();
    let mut found = Vec::new();
    for track in profile.tracks().ids() {
        reader.enter(track);
        for id in slices.of_track(track).filter(|id| !slices.flags(*id).has(SliceFlags::UNCLOSED)) {
            if query.conditions.iter().enumerate().all(|(i, c)| reader.holds(i, c, id)) {
                found.push((track, id));
            }
        }
    }
    let is_grouped = !query.group_by.is_empty() || query.columns.iter().any(|c| matches!(c, Column::Of(..)));
    let matched = found.len() as u64;
    let mut table = if is_grouped { grouped(&mut reader, query, &found) } else { listed(&mut reader, query, found) };
    table.matched = matched;
    table
}

/// Reads fields of slices, remembering what is dear to find.
struct Reader<'a> {
    profile: &'a Profile,
    own: Vec<i64>,
    /// Found when a query names modules.
    scopes: OnceCell<Scopes>,
    track: (TrackId, String, String),
    /// For each condition on a name or a category, what it said of a text.
    texts: Vec<FxHashMap<StrId, bool>>,
    args: FxHashMap<(ArgsId, String), AskValue>,
}

impl<'a> Reader<'a> {
    fn new(profile: &'a Profile, query: &Query) -> Self {
        Self {
            profile,
            own: self_times(profile),
            scopes: OnceCell::new(),
            track: (TrackId(u32::MAX), String::new(), String::new()),
            texts: vec![FxHashMap::default(); query.conditions.len()],
            args: FxHashMap::default(),
        }
    }

    fn enter(&mut self, track: TrackId) {
        if self.track.0 != track {
            let process = self.profile.process_label(self.profile.tracks()[track].process);
            self.track = (track, process, self.profile.track_label(track));
        }
    }

    fn holds(&mut self, i: usize, condition: &Condition, id: SliceId) -> bool {
        let slices = self.profile.slices();
        let text = match condition.field {
            Field::Name => Some(slices.name(id)),
            Field::Category => Some(slices.category(id)),
            _ => None,
        };
        let Some(text) = text else { return compare(&self.value(&condition.field, id), condition) };
        let profile = self.profile;
        let judge = || compare(&AskValue::Text(profile.str(text).to_owned()), condition);
        *self.texts[i].entry(text).or_insert_with(judge)
    }

    fn value(&mut self, field: &Field, id: SliceId) -> AskValue {
        let slices = self.profile.slices();
        let text = |s: &str| AskValue::Text(s.to_owned());
        match field {
            Field::Name => text(self.profile.str(slices.name(id))),
            Field::Category => text(self.profile.str(slices.category(id))),
            Field::Process => text(&self.track.1),
            Field::Thread => text(&self.track.2),
            Field::Module => self.module(id),
            Field::Start => AskValue::Int(slices.start(id).0),
            Field::End => AskValue::Int(slices.end(id).0),
            Field::Dur => AskValue::Int(slices.dur_ns(id)),
            Field::SelfTime => AskValue::Int(self.own[id.0 as usize]),
            Field::Depth => AskValue::Int(i64::from(slices.depth(id))),
            Field::Arg(key) => self.arg(slices.args(id), key),
        }
    }

    fn module(&self, id: SliceId) -> AskValue {
        let scopes = self.scopes.get_or_init(|| Scopes::of(self.profile));
        match scopes.names().get(scopes.scope_of(id)) {
            "" => AskValue::Missing,
            path => AskValue::Text(path.to_owned()),
        }
    }

    fn arg(&mut self, args: ArgsId, key: &str) -> AskValue {
        if args.is_none() {
            return AskValue::Missing;
        }
        let profile = self.profile;
        let read = || {
            let all = parse_args(profile.args().get(args));
            let value = all.into_iter().find(|(k, _)| k == key).map(|(_, v)| v);
            value.map_or(AskValue::Missing, |v| v.parse().map_or(AskValue::Text(v), AskValue::Int))
        };
        self.args.entry((args, key.to_owned())).or_insert_with(read).clone()
    }
}

fn compare(value: &AskValue, condition: &Condition) -> bool {
    if condition.is == Comparison::Contains {
        let AskValue::Text(text) = value else { return false };
        return text.to_lowercase().contains(&condition.text.to_lowercase());
    }
    let order = match (value, condition.number) {
        (AskValue::Missing, _) => return condition.is == Comparison::NotEqual,
        (AskValue::Text(text), None) => text.as_str().cmp(&condition.text),
        (value, Some(number)) => match value.number() {
            Some(x) => x.total_cmp(&number),
            None => return condition.is == Comparison::NotEqual,
        },
        _ => return condition.is == Comparison::NotEqual,
    };
    match condition.is {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::AtMost => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::AtLeast => order.is_ge(),
        Comparison::Contains => false,
    }
}

fn is_number(column: &Column) -> bool {
    match column {
        Column::Of(..) => true,
        Column::Field(f) => {
            matches!(f, Field::Start | Field::End | Field::Dur | Field::SelfTime | Field::Depth | Field::Arg(_))
        }
    }
}

/// Each slice is a row.
fn listed(reader: &mut Reader<'_>, query: &Query, found: Vec<(TrackId, SliceId)>) -> AskTable {
    let mut found = found;
    let total_rows = found.len() as u64;
    if let Some((Column::Field(field), descending)) = &query.order {
        let mut keyed: Vec<(AskValue, (TrackId, SliceId))> = Vec::with_capacity(found.len());
        for (track, id) in found {
            reader.enter(track);
            keyed.push((reader.value(field, id), (track, id)));
        }
        keyed.sort_by(|a, b| if *descending { b.0.compare(&a.0) } else { a.0.compare(&b.0) });
        found = keyed.into_iter().map(|(_, at)| at).collect();
    }
    let mut rows = Vec::new();
    for (track, id) in found.into_iter().take(query.limit) {
        reader.enter(track);
        let value = |c: &Column| match c {
            Column::Field(field) => reader.value(field, id),
            Column::Of(..) => AskValue::Missing,
        };
        rows.push(AskRow { values: query.columns.iter().map(value).collect(), slice: id });
    }
    let columns = query.columns.iter().map(|c| (c.name(), is_number(c))).collect();
    AskTable { columns, rows, matched: 0, total_rows }
}

/// Slices with the same values are a row.
fn grouped(reader: &mut Reader<'_>, query: &Query, found: &[(TrackId, SliceId)]) -> AskTable {
    let slices = reader.profile.slices();
    let mut place: FxHashMap<Vec<String>, usize> = FxHashMap::default();
    let mut groups: Vec<(Vec<AskValue>, Vec<(TrackId, SliceId)>)> = Vec::new();
    for &(track, id) in found {
        reader.enter(track);
        let key: Vec<AskValue> = query.group_by.iter().map(|f| reader.value(f, id)).collect();
        let text: Vec<String> = key.iter().map(|v| format!("{v:?}")).collect();
        let at = *place.entry(text).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push((track, id));
    }
    let total_rows = groups.len() as u64;
    let mut rows = Vec::new();
    for (key, members) in groups {
        let mut value = |column: &Column| aggregate(reader, query, column, &key, &members);
        let order = query.order.as_ref().map(|(column, _)| value(column));
        let values: Vec<AskValue> = query.columns.iter().map(value).collect();
        let longest = members.iter().map(|(_, id)| *id).max_by_key(|id| (slices.dur_ns(*id), std::cmp::Reverse(*id)));
        let Some(slice) = longest else { continue };
        let order = order.or_else(|| values.first().cloned()).unwrap_or(AskValue::Missing);
        rows.push((order, AskRow { values: key.into_iter().chain(values).collect(), slice }));
    }
    let descending = query.order.as_ref().is_none_or(|(_, d)| *d);
    rows.sort_by(|a, b| if descending { b.0.compare(&a.0) } else { a.0.compare(&b.0) });
    let keys = query.group_by.iter().map(|f| Column::Field(f.clone()));
    let columns = keys.chain(query.columns.iter().cloned()).map(|c| (c.name(), is_number(&c))).collect();
    let rows = rows.into_iter().take(query.limit).map(|(_, row)| row).collect();
    AskTable { columns, rows, matched: 0, total_rows }
}

fn aggregate(
    reader: &mut Reader<'_>,
    query: &Query,
    column: &Column,
    key: &[AskValue],
    members: &[(TrackId, SliceId)],
) -> AskValue {
    let (how, field) = match column {
        Column::Field(field) => {
            let at = query.group_by.iter().position(|f| f == field);
            return at.and_then(|i| key.get(i)).cloned().unwrap_or(AskValue::Missing);
        }
        Column::Of(Aggregate::Count, _) => return AskValue::Int(members.len() as i64),
        Column::Of(how, Some(field)) => (*how, field),
        Column::Of(_, None) => return AskValue::Missing,
    };
    let mut values: Vec<AskValue> = Vec::with_capacity(members.len());
    for &(track, id) in members {
        reader.enter(track);
        values.push(reader.value(field, id));
    }
    // Whole numbers stay whole: a sum of nanoseconds has no rounding.
    let whole: Option<Vec<i64>> =
        values.iter().map(|v| if let AskValue::Int(n) = v { Some(*n) } else { None }).collect();
    let mut numbers: Vec<f64> = values.iter().filter_map(AskValue::number).collect();
    numbers.sort_by(f64::total_cmp);
    let real = |x: Option<f64>| x.map_or(AskValue::Missing, AskValue::Real);
    let int = |n: Option<i64>| n.map_or(AskValue::Missing, AskValue::Int);
    match (how, whole) {
        (Aggregate::Sum, Some(whole)) => AskValue::Int(whole.iter().fold(0, |a: i64, b| a.saturating_add(*b))),
        (Aggregate::Min, Some(whole)) => int(whole.into_iter().min()),
        (Aggregate::Max, Some(whole)) => int(whole.into_iter().max()),
        (Aggregate::Sum, None) => real((!numbers.is_empty()).then(|| numbers.iter().sum())),
        (Aggregate::Min, None) => real(numbers.first().copied()),
        (Aggregate::Max, None) => real(numbers.last().copied()),
        (Aggregate::Mean, _) => real(stats::mean(&numbers)),
        (Aggregate::P50, _) => real(stats::percentile_sorted(&numbers, 50.0)),
        (Aggregate::P99, _) => real(stats::percentile_sorted(&numbers, 99.0)),
        (Aggregate::Count, _) => AskValue::Int(members.len() as i64),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::ProfileBuilder;

    fn ask(text: &str) -> Vec<String> {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "host");
        let (t, u) = (b.thread(p, "1", "main"), b.thread(p, "2", "io"));
        b.slice(t, 0, 100, "step", "user", None);
        b.slice(t, 10, 20, "dot", "op", Some(r#"{"stream":7,"kind":"gemm"}"#));
        b.slice(t, 40, 40, "dot", "op", Some(r#"{"stream":8}"#));
        b.slice(u, 0, 10, "read", "", None);
        let profile = b.finish(Diagnostics::new());
        let table = run(&profile, &parse(text).unwrap());
        let value = |v: &AskValue| match v {
            AskValue::Text(t) => t.clone(),
            AskValue::Int(n) => n.to_string(),
            AskValue::Real(x) => x.to_string(),
            AskValue::Missing => "-".to_owned(),
        };
        table.rows.iter().map(|r| r.values.iter().map(value).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn filters_orders_and_limits() {
        assert_eq!(ask("where dur >= 20ns show name, dur order by dur desc limit 2"), ["step 100", "dot 40"]);
        assert_eq!(ask("where name contains DO and thread = main show start"), ["10", "40"]);
        assert_eq!(ask("where arg.stream > 7 show name, arg.stream, arg.kind"), ["dot 8 -"]);
        assert_eq!(ask("where arg.kind = gemm show start"), ["10"]);
        assert_eq!(ask("where category != op show name"), ["step", "read"]);
        assert_eq!(ask("where depth = 0 and self < 50 show name, self"), ["step 40", "read 10"]);
    }

    #[test]
    fn groups_and_aggregates() {
        assert_eq!(ask("group by name"), ["dot 2 60 30 40", "step 1 100 100 100", "read 1 10 10 10"]);
        assert_eq!(
            ask("group by thread show sum(self), p50(dur), min(start) order by sum(self)"),
            ["main 100 40 0", "io 10 10 0"]
        );
        assert_eq!(ask("show count, sum(dur)"), ["4 170"]);
        assert_eq!(ask("where name = nothing show count"), Vec::<String>::new());
        assert_eq!(ask("group by name order by name asc limit 1"), ["dot 2 60 30 40"]);
    }
}
