//! Groups of an answer with their aggregates.

use super::source::{Row, Source};
use super::syntax::{Aggregate, OutputColumn};
use super::value::{QueryValue, number};
use ns_base::convert::{i128_to_f64, u64_to_f64};
use ns_base::{FxHashMap, StringTable, stats};
use ns_profile::fused::FusedMember;
use ns_profile::{Profile, SliceId};

#[derive(Debug, Default)]
pub(super) struct Groups {
    /// A combination of keys: the number of the combination of its first keys, and the next key.
    number: FxHashMap<(u32, u32), u32>,
    next: u32,
    /// Position of a combination in `rows`.
    place: FxHashMap<u32, usize>,
    pub rows: Vec<GroupRow>,
    /// Values of keys that are not shared texts.
    texts: StringTable,
}

#[derive(Debug)]
pub(super) struct GroupRow {
    pub first: SliceId,
    member: Option<FusedMember>,
    count: u64,
    /// Values of each selected column that is aggregated.
    values: Vec<Aggregates>,
}

#[derive(Clone, Debug, Default)]
struct Aggregates {
    int: i128,
    real: f64,
    is_real: bool,
    count: u64,
    min: f64,
    max: f64,
    all: Option<Vec<f64>>,
}

impl Groups {
    /// The position of a slice's group, which is made if it is new.
    pub(super) fn place_of(&mut self, row: &Row<'_>, keys: &[Source], select: &[OutputColumn]) -> usize {
        let mut at = 0;
        for key in keys {
            let part = self.key_of(key, row);
            let next = &mut self.next;
            at = *self.number.entry((at, part)).or_insert_with(|| {
                *next += 1;
                *next
            });
        }
        *self.place.entry(at).or_insert_with(|| {
            let wants_all = |s: &OutputColumn| matches!(s, OutputColumn::Of(a, _) if a.percent().is_some());
            let aggregates =
                |s: &OutputColumn| Aggregates { all: wants_all(s).then(Vec::new), ..Aggregates::default() };
            let values = select.iter().filter(|s| !matches!(s, OutputColumn::Count)).map(aggregates).collect();
            self.rows.push(GroupRow { first: row.id, member: row.member, count: 0, values });
            self.rows.len() - 1
        })
    }

    /// Adds a slice to the group at a position, with a number of occurrences.
    pub(super) fn add(&mut self, place: usize, row: &Row<'_>, count: u64, sources: &[Source], select: &[OutputColumn]) {
        let group = &mut self.rows[place];
        group.count += count;
        let columns = select.iter().filter(|s| !matches!(s, OutputColumn::Count));
        for ((selected, source), tally) in columns.zip(sources).zip(&mut group.values) {
            if matches!(selected, OutputColumn::Of(..)) {
                tally.add(&source.value(row));
            }
        }
    }

    fn key_of(&mut self, key: &Source, row: &Row<'_>) -> u32 {
        if let Source::Label(grouping) = key {
            return row.group(grouping);
        }
        let text = match key.value(row) {
            // A separate marker, so that a missing value does not join the group of the empty text.
            QueryValue::Missing => "\u{0}".to_owned(),
            QueryValue::Text(text) => text,
            QueryValue::Int(n) => n.to_string(),
            QueryValue::Real(x) => x.to_string(),
        };
        self.texts.intern(&text).0
    }
}

impl Aggregates {
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

    fn result(self, aggregate: Aggregate) -> QueryValue {
        if self.count == 0 {
            return QueryValue::Missing;
        }
        match aggregate {
            Aggregate::Sum => self.whole(self.real, self.int),
            Aggregate::Mean if self.is_real => QueryValue::Real(self.real / u64_to_f64(self.count)),
            Aggregate::Mean => QueryValue::Real(i128_to_f64(self.int) / u64_to_f64(self.count)),
            Aggregate::Min => self.extreme(self.min),
            Aggregate::Max => self.extreme(self.max),
            Aggregate::P50 | Aggregate::P99 => {
                let mut all = self.all.unwrap_or_default();
                all.sort_by(f64::total_cmp);
                let value = aggregate.percent().and_then(|percent| stats::percentile_sorted(&all, percent));
                value.map_or(QueryValue::Missing, QueryValue::Real)
            }
        }
    }

    fn whole(&self, real: f64, int: i128) -> QueryValue {
        match i64::try_from(int) {
            Ok(n) if !self.is_real => QueryValue::Int(n),
            _ => QueryValue::Real(real),
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "only whole numbers of columns of whole numbers come here")]
    fn extreme(&self, x: f64) -> QueryValue {
        if self.is_real { QueryValue::Real(x) } else { self.whole(x, x as i128) }
    }
}

pub(super) fn group_values(
    profile: &Profile,
    own: &[i64],
    sources: &[Source],
    select: &[OutputColumn],
    group: GroupRow,
) -> Vec<QueryValue> {
    let whole = Row::of(profile, own, profile.slices().track(group.first), group.first);
    let row = Row { member: group.member, ..whole };
    let mut columns = sources.iter().zip(group.values);
    let mut value = |selected: &OutputColumn| match selected {
        OutputColumn::Count => QueryValue::Int(i64::try_from(group.count).unwrap_or(i64::MAX)),
        OutputColumn::Plain(_) => columns.next().map_or(QueryValue::Missing, |(source, _)| source.value(&row)),
        OutputColumn::Of(aggregate, _) => {
            columns.next().map_or(QueryValue::Missing, |(_, tally)| tally.result(*aggregate))
        }
    };
    select.iter().map(&mut value).collect()
}
