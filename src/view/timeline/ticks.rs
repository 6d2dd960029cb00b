//! The ruler: round instants and their labels, exact to the nanosecond.

use super::Viewport;
use ns_base::convert::i64_to_f64;
use ns_base::units::format_count;
use ns_profile as profile;

/// The smallest distance between two labelled ticks, in pixels.
const LABEL_SPACING_PX: f64 = 110.0;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Its time, nanoseconds from the origin of the profile.
    pub ns: i64,
    pub label: String,
}

/// The ruler of a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Text shown once at the left: the instant that labels count from, `1.340803 s`, or the unit that they count, `samples`.
    pub base: Option<String>,
    /// Labelled ticks from left to right.
    pub major: Vec<Tick>,
    /// Ticks without a label.
    pub minor: Vec<i64>,
}

/// The ruler for a screen.
pub fn ticks(view: &Viewport, unit: &profile::Unit) -> Ticks {
    let step = step_ns(view.ns_per_px() * LABEL_SPACING_PX);
    let seen = view.interval();
    let first = seen.start.0.div_euclid(step).saturating_mul(step);
    let is_time = *unit == profile::Unit::Ns;
    let unit_of_step = if is_time { Scale::of_step(step) } else { Scale::ONE };
    // Labels that would need too many digits to be readable count from a round instant at the left.
    let base_ns = if seen.start.0.unsigned_abs() / unit_of_step.ns.unsigned_abs() >= 10_000_000 {
        let block = step.saturating_mul(1_000);
        seen.start.0.div_euclid(block).saturating_mul(block)
    } else {
        0
    };
    let farthest =
        seen.start.0.saturating_sub(base_ns).unsigned_abs().max(seen.end.0.saturating_sub(base_ns).unsigned_abs());
    let scale = if is_time { Scale::of(step, farthest) } else { Scale::ONE };
    let base = match unit {
        profile::Unit::Ns => (base_ns != 0).then(|| base_label(base_ns)),
        counted => Some(if base_ns == 0 { counted.name().to_owned() } else { counted.exact(base_ns) }),
    };
    let mut out = Ticks { base, ..Ticks::default() };
    let minor_step = minor_step_ns(step);
    let mut at = first;
    while at <= seen.end.0 && out.major.len() < 200 {
        if at >= seen.start.0 {
            let sign = if base_ns == 0 { "" } else { "+" };
            out.major.push(Tick { ns: at, label: format!("{sign}{}", scale.label(at.saturating_sub(base_ns))) });
        }
        if let Some(minor_step) = minor_step {
            let mut minor = at.saturating_add(minor_step);
            while minor < at.saturating_add(step) {
                if minor >= seen.start.0 && minor <= seen.end.0 {
                    out.minor.push(minor);
                }
                minor = minor.saturating_add(minor_step);
            }
        }
        let Some(next) = at.checked_add(step) else { break };
        at = next;
    }
    out
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `least_ns`.
#[allow(clippy::cast_possible_truncation, reason = "clamped to the range of i64")]
fn step_ns(least_ns: f64) -> i64 {
    let least = least_ns.clamp(1.0, 1e18);
    let mut power = 1_i64;
    while i64_to_f64(power) * 10.0 <= least {
        power *= 10;
    }
    [1, 2, 5, 10].into_iter().map(|m| power.saturating_mul(m)).find(|s| i64_to_f64(*s) >= least).unwrap_or(power)
}

fn minor_step_ns(step: i64) -> Option<i64> {
    [5, 4, 2].into_iter().find(|parts| step % parts == 0 && step / parts >= 1).map(|parts| step / parts)
}

/// An exact label for a distant instant.
fn base_label(ns: i64) -> String {
    let sign = if ns < 0 { "\u{2212}" } else { "" };
    let n = ns.unsigned_abs();
    let (whole, rest) = (n / 1_000_000_000, n % 1_000_000_000);
    let fraction = format!("{rest:09}");
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{dot}{fraction} s", format_count(whole))
}

/// The unit of the labels.
struct Scale {
    ns: i64,
    /// Name of the unit; empty if the text at the left has it.
    name: &'static str,
    /// Decimals: as many as distinguish neighbouring ticks.
    decimals: usize,
}

impl Scale {
    /// A scale with steps of one, for numbers that are not times.
    const ONE: Self = Self { ns: 1, name: "", decimals: 0 };

    /// The largest unit of which steps are whole multiples.
    const fn of_step(step: i64) -> Self {
        match step {
            ..1_000 => Self { ns: 1, name: "ns", decimals: 0 },
            1_000..1_000_000 => Self { ns: 1_000, name: "\u{b5}s", decimals: 0 },
            1_000_000..1_000_000_000 => Self { ns: 1_000_000, name: "ms", decimals: 0 },
            _ => Self { ns: 1_000_000_000, name: "s", decimals: 0 },
        }
    }

    /// The unit of labels up to this time: the next larger one if numbers would reach a thousand and three decimals
    /// distinguish the steps.
    fn of(step: i64, farthest_ns: u64) -> Self {
        let plain = Self::of_step(step);
        if farthest_ns < plain.ns.unsigned_abs().saturating_mul(1_000) || plain.name == "s" {
            return plain;
        }
        let larger = Self::of_step(plain.ns * 1_000);
        // A step is 1, 2 or 5 times a power of ten, so its trailing zeros tell how many digits it needs.
        let (mut decimals, mut digit) = (0, larger.ns);
        while step % digit != 0 && digit > plain.ns {
            decimals += 1;
            digit /= 10;
        }
        Self { decimals, ..larger }
    }

    /// The label of a tick, which is a whole multiple of the last digit.
    fn label(&self, ns: i64) -> String {
        let sign = if ns < 0 { "\u{2212}" } else { "" };
        let (whole, rest) = (ns.unsigned_abs() / self.ns.unsigned_abs(), ns.unsigned_abs() % self.ns.unsigned_abs());
        let number = format_count(whole);
        if self.name.is_empty() {
            return format!("{sign}{number}");
        }
        if self.decimals == 0 {
            return format!("{sign}{number} {}", self.name);
        }
        // Each unit above ns is 1,000 times the one before, so there are at most three decimals.
        let thousandths = rest / (self.ns.unsigned_abs() / 1_000).max(1);
        let digits = format!("{thousandths:03}");
        format!("{sign}{number}.{} {}", &digits[..self.decimals.min(3)], self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::{Interval, TraceNs};

    fn ruler(start: i64, end: i64, width: f64, unit: &profile::Unit) -> Ticks {
        ticks(&Viewport::new(Interval::new(TraceNs(start), TraceNs(end)), width), unit)
    }

    fn labels(start: i64, end: i64, width: f64) -> (Option<String>, Vec<String>) {
        let t = ruler(start, end, width, &profile::Unit::Ns);
        (t.base, t.major.into_iter().map(|t| t.label).collect())
    }

    #[test]
    fn the_ruler_of_the_simple_profile() {
        let (base, labels) = labels(0, 23_000, 1_000.0);
        assert_eq!(base, None);
        assert_eq!(labels, ["0 \u{b5}s", "5 \u{b5}s", "10 \u{b5}s", "15 \u{b5}s", "20 \u{b5}s"]);
    }

    #[test]
    fn zoomed_in_it_counts_single_nanoseconds() {
        let (_, labels) = labels(10_976, 12_280, 1_100.0);
        assert_eq!(labels[0], "11.0 \u{b5}s");
        assert_eq!(labels[1], "11.2 \u{b5}s");
        assert_eq!(self::labels(0, 900, 1_000.0).1[..2], ["0 ns", "100 ns"]);
    }

    #[test]
    fn above_a_thousand_it_counts_in_the_next_unit() {
        assert_eq!(labels(0, 2_000_000, 1_000.0).1[..2], ["0.0 ms", "0.5 ms"]);
        assert_eq!(labels(2_000_000, 2_030_000, 1_000.0).1[..2], ["2.000 ms", "2.005 ms"]);
        assert_eq!(labels(0, 20_000_000, 1_000.0).1[..2], ["0 ms", "5 ms"]);
        assert_eq!(labels(3_000_000_000, 3_030_000_000, 1_000.0).1[..2], ["3.000 s", "3.005 s"]);
        // Four decimals are more than one can compare at a glance.
        assert_eq!(labels(3_000_000_000, 3_004_000_000, 1_000.0).1[..2], ["3,000.0 ms", "3,000.5 ms"]);
    }

    #[test]
    fn far_from_the_origin_labels_count_from_a_round_instant() {
        let (base, labels) = labels(1_340_803_802, 1_340_804_802, 1_000.0);
        assert_eq!(base.as_deref(), Some("1.3408 s"));
        assert_eq!(labels[0], "+4.0 \u{b5}s");
        let t = ruler(1_340_803_802, 1_340_804_802, 1_000.0, &profile::Unit::Ns);
        assert_eq!(t.major[0].ns, 1_340_804_000);
    }

    #[test]
    fn samples_are_counted_one_by_one() {
        let samples = profile::Unit::count_of("samples");
        let t = ruler(0, 23_000, 1_000.0, &samples);
        assert_eq!(t.base.as_deref(), Some("samples"));
        let labels: Vec<_> = t.major.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(labels, ["0", "5,000", "10,000", "15,000", "20,000"]);
        let far = ruler(1_340_803_802, 1_340_804_802, 1_000.0, &samples);
        assert_eq!(far.base.as_deref(), Some("1,340,800,000 samples"));
        assert_eq!(far.major[0].label, "+4,000");
    }

    #[test]
    fn ticks_never_crowd_and_never_leave_the_screen() {
        for span in [7_i64, 10, 99, 12_345, 1 << 40, 1 << 60] {
            let v = Viewport::new(Interval::new(TraceNs(-3), TraceNs(span)), 900.0);
            let t = ticks(&v, &profile::Unit::Ns);
            for pair in t.major.windows(2) {
                assert!(v.x_of(pair[1].ns) - v.x_of(pair[0].ns) >= LABEL_SPACING_PX - 1e-6, "{span}");
            }
            assert!(t.minor.iter().all(|m| *m >= -3));
            assert!(!t.major.is_empty() && t.major.len() <= 9);
        }
    }
}
