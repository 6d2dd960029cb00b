//! Two profiles compared operator by operator.
//!
//! A profile gives its [`OperatorTotals`], which are small plain data that can be sent; [`Comparison::of`] joins two of
//! them. So the two profiles need not be in one memory.

use serde::{Deserialize, Serialize};

use super::extent::{Extent, extent};
use super::operators::{OpStats, OpTable};
use super::{GroupBy, Selection};
use ns_base::convert::{i64_to_f64, u64_to_f64};
use ns_base::units::{format_change, format_ns};
use ns_base::{FxHashMap, FxHashSet, Order, Refusal, refuse};
use ns_profile::Profile;
use ns_profile::levels::Family;
use ns_profile::levels::wrappers::by_name;

/// The most operators that are sent; the others are added up.
const MOST_ROWS: usize = 20_000;

/// Time by operator of one profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorTotals {
    /// Title of the profile.
    pub title: String,
    /// The property by which operators are grouped.
    pub by: GroupBy,
    /// The level of their slices; `all` for all levels.
    pub level: String,
    /// Operators, greatest total first.
    pub rows: Vec<OperatorTime>,
    /// Operators beyond the limit, summed up.
    pub left_out: OperatorTime,
    /// How long the profile took.
    pub extent: Extent,
    /// Number of steps (iterations) the profile marks; absent when it marks none.
    pub steps: Option<u64>,
}

/// Time of one operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorTime {
    /// Its name.
    pub name: String,
    /// Number of slices.
    pub count: u64,
    /// Sum of durations, in ns.
    pub total_ns: i64,
    /// Sum of self times, in ns.
    pub self_ns: i64,
}

/// The time that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Measure {
    /// Self time: adds up to the covered time.
    #[default]
    SelfTime,
    /// Total time, including slices inside.
    Total,
}

/// The profiles in which an operator is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// In both profiles.
    Both,
    /// Not in the base.
    New,
    /// Only in the base.
    Gone,
}

/// One operator of two profiles; counts and times are per step when that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedRow {
    /// Its name.
    pub name: String,
    /// The profiles that have it.
    pub presence: Presence,
    /// Slices in the base.
    pub base_count: f64,
    /// Slices in the other.
    pub other_count: f64,
    /// Time in the base, in ns.
    pub base_ns: f64,
    /// Time in the other, in ns.
    pub other_ns: f64,
    /// Time in the other profile minus time in the base, in ns.
    pub difference_ns: f64,
    /// Other divided by base; absent when the base has no time.
    pub ratio: Option<f64>,
}

/// How long two profiles took, by the first measure that both have: steps, the window of their devices, their span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// The kind of measured time: `Steps`, `Mean step`, `Device window`, `Span`.
    pub what: String,
    /// Time of the base, in ns.
    pub base_ns: f64,
    /// Time of the other profile, in ns.
    pub other_ns: f64,
}

impl Took {
    /// Both values and the change: `Device window: 7.13 µs -> 4.14 µs (-41.9 %)`.
    pub fn text(&self) -> String {
        let change = match self.base_ns > 0.0 {
            true => format!(" ({})", format_change((self.other_ns - self.base_ns) * 100.0 / self.base_ns)),
            false => String::new(),
        };
        format!("{}: {} -> {}{change}", self.what, format_ns(self.base_ns), format_ns(self.other_ns))
    }

    fn of(base: (&Extent, f64), other: (&Extent, f64), per_step: bool) -> Self {
        let step = if per_step { "Mean step" } else { "Steps" };
        let measured = [
            (step, base.0.steps_ns, other.0.steps_ns),
            ("Device window", base.0.device_ns, other.0.device_ns),
            ("Span", Some(base.0.span_ns), Some(other.0.span_ns)),
        ];
        let both = measured.into_iter().find_map(|(what, a, b)| Some((what, i64_to_f64(a?), i64_to_f64(b?))));
        let (what, base_ns, other_ns) = both.unwrap_or(("Span", 0.0, 0.0));
        let (base_steps, other_steps) = if what == step { (base.1, other.1) } else { (1.0, 1.0) };
        Self { what: what.to_owned(), base_ns: base_ns / base_steps, other_ns: other_ns / other_steps }
    }
}

/// Two profiles, operator by operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Title of the base.
    pub base: String,
    /// Title of the other.
    pub other: String,
    /// The time that is compared.
    pub measure: Measure,
    /// Whether counts and times refer to one step.
    pub per_step: bool,
    /// The compared level of the base and of the other.
    pub levels: (String, String),
    /// The total time of each profile, as one number.
    pub took: Took,
    /// Operators, greatest absolute difference first, ties by name.
    pub rows: Vec<ComparedRow>,
    /// Sums over all operators, including those left out.
    pub sum: ComparedRow,
}

impl OperatorTotals {
    /// The totals of a table of statistics of the selected slices of a profile.
    #[must_use]
    pub fn of(profile: &Profile, selection: &Selection, table: &OpTable, title: &str) -> Self {
        let row = |s: &OpStats| OperatorTime {
            name: table.name(profile, s).to_owned(),
            count: s.count,
            total_ns: s.total_ns,
            self_ns: s.self_ns,
        };
        let mut left_out = OperatorTime::default();
        for s in table.stats.iter().skip(MOST_ROWS) {
            left_out.add(s.count, s.total_ns, s.self_ns);
        }
        Self {
            title: title.to_owned(),
            by: table.grouping.by(),
            level: profile.levels().name(selection.level).to_owned(),
            rows: table.stats.iter().take(MOST_ROWS).map(row).collect(),
            left_out,
            extent: extent(profile),
            steps: steps(profile),
        }
    }

    fn all(&self) -> OperatorTime {
        let mut sum = self.left_out.clone();
        for row in &self.rows {
            sum.add(row.count, row.total_ns, row.self_ns);
        }
        sum
    }
}

impl OperatorTime {
    fn add(&mut self, count: u64, total_ns: i64, self_ns: i64) {
        self.count += count;
        self.total_ns = self.total_ns.saturating_add(total_ns);
        self.self_ns = self.self_ns.saturating_add(self_ns);
    }
}

impl Comparison {
    /// Joins two profiles by the names of their operators. `per_step` divides by the steps that each marks.
    ///
    /// # Errors
    /// When times per step are requested and a profile marks no steps.
    pub fn of(
        base: &OperatorTotals,
        other: &OperatorTotals,
        measure: Measure,
        per_step: bool,
    ) -> Result<Self, Refusal> {
        let divisor = |of: &OperatorTotals| match of.steps.filter(|steps| *steps > 0) {
            _ if !per_step => Ok(1.0),
            Some(steps) => Ok(u64_to_f64(steps)),
            None => {
                Err(refuse!("{}: it marks no steps (slices named ProfilerStep#N), so nothing is per step", of.title))
            }
        };
        let (base_steps, other_steps) = (divisor(base)?, divisor(other)?);
        let side = |of: Option<&OperatorTime>, steps: f64| {
            let ns = of.map_or(0, |o| if measure == Measure::Total { o.total_ns } else { o.self_ns });
            (u64_to_f64(of.map_or(0, |o| o.count)) / steps, i64_to_f64(ns) / steps)
        };
        let row = |name: &str, presence, base: Option<&OperatorTime>, other: Option<&OperatorTime>| {
            let ((base_count, base_ns), (other_count, other_ns)) = (side(base, base_steps), side(other, other_steps));
            ComparedRow {
                name: name.to_owned(),
                presence,
                base_count,
                other_count,
                base_ns,
                other_ns,
                difference_ns: other_ns - base_ns,
                ratio: (base_ns > 0.0).then(|| other_ns / base_ns),
            }
        };
        let in_other: FxHashMap<&str, &OperatorTime> = other.rows.iter().map(|r| (r.name.as_str(), r)).collect();
        let in_base: FxHashSet<&str> = base.rows.iter().map(|r| r.name.as_str()).collect();
        let of_base = base.rows.iter().map(|r| match in_other.get(r.name.as_str()) {
            Some(same) => row(&r.name, Presence::Both, Some(r), Some(*same)),
            None => row(&r.name, Presence::Gone, Some(r), None),
        });
        let new = other.rows.iter().filter(|r| !in_base.contains(r.name.as_str()));
        let mut rows: Vec<_> = of_base.chain(new.map(|r| row(&r.name, Presence::New, None, Some(r)))).collect();
        // Wrappers hold the time of other slices: they come after all work.
        let wraps = |row: &ComparedRow| by_name(&row.name).is_some();
        rows.order_by(|a, b| {
            let by_effect = b.difference_ns.abs().total_cmp(&a.difference_ns.abs());
            wraps(a).cmp(&wraps(b)).then(by_effect).then_with(|| a.name.cmp(&b.name))
        });
        let sum = row("", Presence::Both, Some(&base.all()), Some(&other.all()));
        let took = Took::of((&base.extent, base_steps), (&other.extent, other_steps), per_step);
        let levels = (base.level.clone(), other.level.clone());
        Ok(Self { base: base.title.clone(), other: other.title.clone(), measure, per_step, levels, took, rows, sum })
    }
}

/// Number of distinct steps that a profile marks: slices named `ProfilerStep#N` (PyTorch), or `StepMarker` (XLA).
pub fn steps(profile: &Profile) -> Option<u64> {
    let slices = profile.slices();
    let marker = profile.strings().lookup("StepMarker");
    let (mut named, mut markers) = (FxHashSet::default(), 0);
    for id in slices.ids() {
        let name = slices.name(id);
        markers += u64::from(Some(name) == marker);
        named.insert(name);
    }
    named.retain(|name| profile.str(*name).starts_with("ProfilerStep#"));
    let found = if named.is_empty() { markers } else { named.len() as u64 };
    (found > 0).then_some(found)
}

/// The default grouping of operators: rows of framework operators of a Neuron profile by operator, because the name of a
/// fusion has a number; everything else by operation.
pub fn grouped_by_default(profile: &Profile) -> GroupBy {
    let levels = profile.levels();
    let is_neuron = levels.family() == Family::Neuron && levels.name(levels.default_level()) == "framework ops";
    if is_neuron { GroupBy::CategoryOrName } else { GroupBy::Operation }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::{OpQuery, operator_stats};
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;

    fn totals(title: &str, slices: &[(&str, i64, i64)]) -> OperatorTotals {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let t = b.thread(p, "1", "");
        for &(name, start, dur) in slices {
            b.slice(t, start, dur, name, "", None);
        }
        let profile = b.finish(Diagnostics::new());
        OperatorTotals::of(&profile, &Selection::default(), &operator_stats(&profile, &OpQuery::default()), title)
    }

    #[test]
    fn rows_are_sorted_by_effect_and_new_and_missing_ones_are_named() {
        let base = totals("a", &[("step", 0, 100), ("mm", 10, 40), ("old", 60, 10)]);
        let other = totals("b", &[("step", 0, 100), ("mm", 10, 10), ("mm", 30, 10), ("new", 60, 5)]);
        let found = Comparison::of(&base, &other, Measure::SelfTime, false).unwrap();
        let brief: Vec<_> =
            found.rows.iter().map(|r| (r.name.as_str(), r.presence, r.difference_ns, r.ratio)).collect();
        assert_eq!(
            brief,
            [
                ("step", Presence::Both, 25.0, Some(1.5)),
                ("mm", Presence::Both, -20.0, Some(0.5)),
                ("old", Presence::Gone, -10.0, Some(0.0)),
                ("new", Presence::New, 5.0, None)
            ]
        );
        // Differences of self times add up to the difference of the covered time: here zero.
        assert_eq!((found.sum.difference_ns, found.sum.base_ns, found.sum.other_count), (0.0, 100.0, 4.0));
        let total = Comparison::of(&base, &other, Measure::Total, false).unwrap();
        assert_eq!((total.rows[0].name.as_str(), total.rows[0].difference_ns), ("mm", -20.0));
        // Swapping the two changes every sign.
        let back = Comparison::of(&other, &base, Measure::SelfTime, false).unwrap();
        assert!(back.rows.iter().zip(&found.rows).all(|(a, b)| a.difference_ns == -b.difference_ns));
    }

    #[test]
    fn times_of_a_step_need_steps() {
        let one = totals("one", &[("ProfilerStep#5", 0, 100), ("mm", 10, 40)]);
        let two =
            totals("two", &[("ProfilerStep#7", 0, 100), ("mm", 10, 40), ("ProfilerStep#8", 100, 100), ("mm", 120, 60)]);
        let found = Comparison::of(&one, &two, Measure::SelfTime, true).unwrap();
        let mm = found.rows.iter().find(|r| r.name == "mm").unwrap();
        assert_eq!((mm.base_ns, mm.other_ns, mm.other_count), (40.0, 50.0, 1.0));
        assert_eq!(found.took.text(), "Span: 100 ns -> 200 ns (+100.0 %)");
        let none = totals("none", &[("mm", 0, 1)]);
        let error = Comparison::of(&one, &none, Measure::SelfTime, true).unwrap_err();
        assert!(error.to_string().starts_with("none: it marks no steps"), "{error}");
    }
}
