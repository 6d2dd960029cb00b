//! Counters over time: statistics of each series, and the curve of one.
//!
//! A value holds from its sample until the next sample of its series, the last value until the profile ends. Mean and
//! integral weight values by the time they hold; a series whose values hold for no time has neither.

use serde::{Deserialize, Serialize};

use ns_base::convert::i64_to_f64;
use ns_base::{FxHashMap, Idx, Interval, TraceNs};
use ns_profile::{Profile, Series, SeriesId};

const NS_PER_S: f64 = 1e9;

/// Statistics of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesStats {
    /// Number of samples.
    pub samples: u64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// When the largest value is first reached.
    pub max_at: TraceNs,
    /// Value at the end.
    pub last: f64,
    /// Value times seconds.
    pub integral: f64,
    /// Time for which there are values, in ns.
    pub valid_ns: i64,
}

impl SeriesStats {
    /// Mean over time; absent if no value holds for any time.
    pub fn mean(&self) -> Option<f64> {
        (self.valid_ns > 0).then(|| self.integral * NS_PER_S / i64_to_f64(self.valid_ns))
    }
}

/// Walks over the samples of series, a bounded number at a time.
#[derive(Clone, Copy, Debug)]
struct SampleCursor {
    series: SeriesId,
    /// Position of the next sample in its series.
    next: usize,
    within: Interval<TraceNs>,
}

impl SampleCursor {
    fn new(profile: &Profile, series: SeriesId, within: Option<Interval<TraceNs>>) -> Self {
        let span = profile.span();
        Self { series, next: 0, within: within.unwrap_or(span) }
    }

    /// Passes up to `limit` values to `visit`, each with the time for which it holds within the span and whether it was
    /// sampled there. Returns how many it looked at: fewer than `limit` at the end.
    fn advance(
        &mut self,
        profile: &Profile,
        limit: usize,
        mut visit: impl FnMut(f64, Interval<TraceNs>, bool),
    ) -> usize {
        let mut samples =
            profile.counters().samples(self.series).skip(self.next).take(limit.saturating_add(1)).peekable();
        let mut seen = 0;
        while seen < limit {
            let Some((at, value)) = samples.next() else { break };
            let until = samples.peek().map_or(profile.span().end, |(next, _)| *next);
            seen += 1;
            let is_inside = self.within.start <= at && at <= self.within.end;
            let (from, to) = (at.max(self.within.start), until.min(self.within.end));
            if is_inside || from < to {
                visit(value, Interval::new(from, to.max(from)), is_inside);
            }
        }
        self.next += seen;
        seen
    }
}

/// Computes the statistics of every series a part at a time.
#[derive(Debug)]
pub struct CounterPass {
    cursor: SampleCursor,
    current: Option<SeriesStats>,
    found: Vec<Option<SeriesStats>>,
}

impl CounterPass {
    /// Prepares the pass for a whole profile, or for a span.
    #[must_use]
    pub fn new(profile: &Profile, within: Option<Interval<TraceNs>>) -> Self {
        let cursor = SampleCursor::new(profile, SeriesId::from_usize(0), within);
        Self { cursor, current: None, found: Vec::new() }
    }

    /// Looks at about `limit` samples more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let mut left = limit.max(1);
        while left > 0 {
            if self.found.len() >= profile.counters().series().len() {
                return true;
            }
            let Self { cursor, current, .. } = self;
            let seen =
                cursor.advance(profile, left, |value, interval, is_inside| add(current, value, interval, is_inside));
            if seen < left {
                self.found.push(self.current.take());
                let next = SeriesId::from_usize(self.found.len());
                self.cursor = SampleCursor { series: next, next: 0, within: self.cursor.within };
            }
            // A series without samples counts against the limit, too.
            left = left.saturating_sub(seen.max(1));
        }
        self.found.len() >= profile.counters().series().len()
    }

    /// The statistics of each series; absent if the span holds no value of it.
    pub fn finish(self) -> Vec<Option<SeriesStats>> {
        self.found
    }
}

fn add(stats: &mut Option<SeriesStats>, value: f64, interval: Interval<TraceNs>, is_inside: bool) {
    let stats = stats.get_or_insert(SeriesStats {
        samples: 0,
        min: value,
        max: value,
        max_at: interval.start,
        last: value,
        integral: 0.0,
        valid_ns: 0,
    });
    let ns = interval.end.0.saturating_sub(interval.start.0);
    stats.samples += u64::from(is_inside);
    stats.min = stats.min.min(value);
    if value > stats.max {
        (stats.max, stats.max_at) = (value, interval.start);
    }
    stats.last = value;
    stats.integral += value * (i64_to_f64(ns) / NS_PER_S);
    stats.valid_ns = stats.valid_ns.saturating_add(ns);
}

/// The values of a series over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Name of the series.
    pub name: String,
    /// Time in ns from the origin of the profile, and value: the smallest and the largest value of each part of the span, in
    /// order of time; the last point is the end of the last value.
    pub points: Vec<(i64, f64)>,
    /// Whether there are more samples than points.
    pub is_thinned: bool,
}

/// Thins the samples of a series to as many as can be drawn, a part at a time. The span is divided into equal parts, and
/// each keeps its smallest and its largest value, so that no peak is lost.
#[derive(Debug)]
pub struct CurvePass {
    cursor: SampleCursor,
    parts: u64,
    curve: Curve,
    /// The part of the span being filled.
    part: Option<CurvePart>,
    end: Option<(i64, f64)>,
    samples: usize,
}

/// A part of the span: when its smallest and its largest value begin to hold, and the values.
#[derive(Clone, Copy, Debug)]
struct CurvePart {
    number: u64,
    least: (i64, f64),
    most: (i64, f64),
}

impl CurvePass {
    /// Prepares the pass for at most about `points` points of the series with a name ([`series_names`]); `None` if the profile
    /// does not have it.
    #[must_use]
    pub fn new(profile: &Profile, name: &str, within: Option<Interval<TraceNs>>, points: usize) -> Option<Self> {
        let series = SeriesId::from_usize(series_names(profile).iter().position(|known| known == name)?);
        Some(Self {
            cursor: SampleCursor::new(profile, series, within),
            parts: (points as u64 / 2).max(1),
            curve: Curve { name: name.to_owned(), ..Curve::default() },
            part: None,
            end: None,
            samples: 0,
        })
    }

    /// Looks at up to `limit` samples more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let Self { cursor, parts, curve, part, end, samples } = self;
        let (start, whole) = (cursor.within.start.0, cursor.within.end.0.saturating_sub(cursor.within.start.0).max(1));
        let part_of = |ns: i64| {
            let share = u128::from(ns.saturating_sub(start).max(0).unsigned_abs()) * u128::from(*parts);
            u64::try_from(share / u128::from(whole.unsigned_abs())).unwrap_or(u64::MAX)
        };
        let seen = cursor.advance(profile, limit, |value, interval, _| {
            *samples += 1;
            let point = (interval.start.0, value);
            *end = Some((interval.end.0, value));
            let number = part_of(interval.start.0);
            match part {
                Some(part) if part.number == number => {
                    if value < part.least.1 {
                        part.least = point;
                    }
                    if value > part.most.1 {
                        part.most = point;
                    }
                }
                _ => {
                    keep(curve, part.take());
                    *part = Some(CurvePart { number, least: point, most: point });
                }
            }
        });
        seen < limit
    }

    /// The curve.
    pub fn finish(mut self) -> Curve {
        keep(&mut self.curve, self.part.take());
        self.curve.is_thinned = self.curve.points.len() < self.samples;
        self.curve.points.extend(self.end);
        self.curve
    }
}

/// Adds the smallest and the largest value of a part in order of time; only one if they are the same.
fn keep(curve: &mut Curve, part: Option<CurvePart>) {
    let Some(CurvePart { least, most, .. }) = part else { return };
    let (first, second) = if least.0 <= most.0 { (least, most) } else { (most, least) };
    curve.points.push(first);
    if second.0 != first.0 {
        curve.points.push(second);
    }
}

/// The name of each series, in the order of the table: its process, its counter, and its own name if that adds something.
/// Series with equal names also get the id of their process, and if that is equal too, their number among the equal ones,
/// so that every name belongs to one series.
pub fn series_names(profile: &Profile) -> Vec<String> {
    let all = profile.counters().series();
    let mut names: Vec<String> = all.iter().map(|series| series_name(profile, series, false)).collect();
    for i in repeated(&names) {
        if let Some(series) = all.get(SeriesId::from_usize(i)) {
            names[i] = series_name(profile, series, true);
        }
    }
    let mut seen: FxHashMap<String, u32> = FxHashMap::default();
    for i in repeated(&names) {
        let number = seen.entry(names[i].clone()).or_insert(0);
        *number += 1;
        names[i] = format!("{} #{number}", names[i]);
    }
    names
}

/// Positions of the names that occur more than once.
fn repeated(names: &[String]) -> Vec<usize> {
    let mut count: FxHashMap<&str, u32> = FxHashMap::default();
    for name in names {
        *count.entry(name).or_insert(0) += 1;
    }
    (0..names.len()).filter(|&i| count.get(names[i].as_str()).is_some_and(|n| *n > 1)).collect()
}

fn series_name(profile: &Profile, series: &Series, has_pid: bool) -> String {
    let Some(counter) = profile.counters().counters().get(series.counter) else { return String::new() };
    let process = super::grouping::process_text(profile, counter.process);
    let pid = profile.processes().get(counter.process).filter(|_| has_pid).map_or("", |p| profile.str(p.pid));
    let pid = if pid.is_empty() { String::new() } else { format!(" (process {pid})") };
    let own = [counter.name, counter.id, series.key].map(|text| profile.str(text));
    let parts: Vec<&str> = own.into_iter().filter(|t| !t.is_empty()).collect();
    format!("{process}{pid} / {}", parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;

    fn profile() -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "main");
        b.slice(t, 0, 1_000, "all", "", None);
        let (name, key) = (b.intern("memory"), b.intern("bytes"));
        for (at, value) in [(0, 2.0), (100, 10.0), (400, 4.0)] {
            b.counter(t, at, name, ns_base::StrId::EMPTY, &[(key, value)]);
        }
        b.finish(Diagnostics::new())
    }

    fn stats(profile: &Profile, within: Option<(i64, i64)>) -> Vec<Option<SeriesStats>> {
        let within = within.map(|(a, z)| Interval::new(TraceNs(a), TraceNs(z)));
        let mut pass = CounterPass::new(profile, within);
        while !pass.advance(profile, 1) {}
        pass.finish()
    }

    #[test]
    fn values_weigh_as_long_as_they_hold() {
        let all = stats(&profile(), None)[0].unwrap();
        assert_eq!((all.samples, all.min, all.max, all.max_at, all.last), (3, 2.0, 10.0, TraceNs(100), 4.0));
        // 2 for 100 ns, 10 for 300 ns, 4 for 600 ns.
        assert_eq!((all.valid_ns, all.mean()), (1_000, Some(5.6)));
        assert!((all.integral - 5.6e-6).abs() < 1e-18);
        let part = stats(&profile(), Some((200, 500)))[0].unwrap();
        assert_eq!((part.samples, part.min, part.max, part.valid_ns), (1, 4.0, 10.0, 300));
        assert_eq!(part.mean(), Some((10.0 * 200.0 + 4.0 * 100.0) / 300.0));
        assert_eq!(stats(&Profile::default(), None), []);
    }

    #[test]
    fn a_thinned_curve_keeps_its_peaks() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "main");
        let (name, key) = (b.intern("memory"), b.intern("bytes"));
        for i in 0..10_000_i64 {
            let value = if i == 7_003 { 500.0 } else { (i % 7) as f64 };
            b.counter(t, i * 10, name, ns_base::StrId::EMPTY, &[(key, value)]);
        }
        let profile = b.finish(Diagnostics::new());
        let mut pass = CurvePass::new(&profile, "python / memory bytes", None, 100).unwrap();
        while !pass.advance(&profile, 37) {}
        let curve = pass.finish();
        assert_eq!((curve.name.as_str(), curve.is_thinned), ("python / memory bytes", true));
        assert!(curve.points.len() <= 103, "{}", curve.points.len());
        assert!(curve.points.contains(&(70_030, 500.0)) && curve.points.is_sorted_by_key(|p| p.0));
        assert!(CurvePass::new(&profile, "python / memory", None, 100).is_none());
    }

    #[test]
    fn counters_of_one_name_differ_by_process_and_number() {
        let mut b = ProfileBuilder::new("test");
        let [name, key, half, rest] = ["memory", "bytes", "a b", "b c"].map(|text| b.intern(text));
        let (a, c) = (b.intern("a"), b.intern("c"));
        for (pid, value) in [("1", 1.0), ("2", 2.0)] {
            let p = b.process(pid, "python");
            let t = b.thread(p, "1", "main");
            b.slice(t, 0, 10, "all", "", None);
            b.counter(t, 0, name, ns_base::StrId::EMPTY, &[(key, value)]);
        }
        let alone = b.process("3", "alone");
        let t = b.thread(alone, "1", "main");
        b.counter(t, 0, half, ns_base::StrId::EMPTY, &[(c, 3.0)]);
        b.counter(t, 0, a, ns_base::StrId::EMPTY, &[(rest, 4.0)]);
        let profile = b.finish(Diagnostics::new());
        let names = series_names(&profile);
        let expected = [
            "python (process 1) / memory bytes",
            "python (process 2) / memory bytes",
            "alone (process 3) / a b c #1",
            "alone (process 3) / a b c #2",
        ];
        assert_eq!(names, expected);
        let drawn = |name: &str| {
            let mut pass = CurvePass::new(&profile, name, None, 100).unwrap();
            while !pass.advance(&profile, 9) {}
            pass.finish().points[0].1
        };
        assert_eq!(expected.map(drawn), [1.0, 2.0, 3.0, 4.0]);
    }
}
