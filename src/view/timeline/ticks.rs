//! The ruler: round instants and their labels, exact to the nanosecond.

use super::Viewport;
use crate::base::units::format_count;
use crate::profile;

/// The least distance between two labelled ticks, in pixels.
const LABEL_SPACING_PX: f64 = 110.0;

/// A labelled tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Where it stands, nanoseconds from the origin of the profile.
    pub ns: i64,
    /// What it says.
    pub label: String,
}

/// The ruler of a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Said once at the left: where labels count from, `1.340803 s`, or what they count, `samples`.
    pub base: Option<String>,
    /// Labelled ticks from left to right.
    pub major: Vec<Tick>,
    /// Ticks without a label.
    pub minor: Vec<i64>,
}

/// The ruler for a screen.
#[must_use]
pub fn ticks(view: &Viewport, unit: &profile::Unit) -> Ticks {
    let step = step_ns(view.ns_per_px() * LABEL_SPACING_PX);
    let seen = view.interval();
    let first = seen.start.0.div_euclid(step).saturating_mul(step);
    let is_time = *unit == profile::Unit::Ns;
    let scale = if is_time { Scale::of_step(step) } else { Scale::ONE };
    // Labels that would need more digits than a person reads count from a round instant at the left.
    let base_ns = if seen.start.0.unsigned_abs() / scale.ns.unsigned_abs() >= 10_000_000 {
        let block = step.saturating_mul(1_000);
        seen.start.0.div_euclid(block).saturating_mul(block)
    } else {
        0
    };
    let base = match unit {
        profile::Unit::Ns => (base_ns != 0).then(|| base_label(base_ns)),
        profile::Unit::Counted(plural) => Some(if base_ns == 0 { plural.clone() } else { unit.exact(base_ns) }),
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
#[allow(clippy::cast_possible_truncation)] // clamped to the range of i64
fn step_ns(least_ns: f64) -> i64 {
    let least = least_ns.clamp(1.0, 1e18);
    let mut power = 1_i64;
    while (power as f64) * 10.0 <= least {
        power *= 10;
    }
    [1, 2, 5, 10].into_iter().map(|m| power.saturating_mul(m)).find(|s| *s as f64 >= least).unwrap_or(power)
}

fn minor_step_ns(step: i64) -> Option<i64> {
    [5, 4, 2].into_iter().find(|parts| step % parts == 0 && step / parts >= 1).map(|parts| step / parts)
}

/// A label for a far instant, exact.
fn base_label(ns: i64) -> String {
    let sign = if ns < 0 { "\u{2212}" } else { "" };
    let n = ns.unsigned_abs();
    let (whole, rest) = (n / 1_000_000_000, n % 1_000_000_000);
    let fraction = format!("{rest:09}");
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{dot}{fraction} s", format_count(whole))
}

/// What labels count in.
struct Scale {
    ns: i64,
    /// Empty where the unit is said at the left.
    name: &'static str,
}

impl Scale {
    /// One by one, of what is no time.
    const ONE: Self = Self { ns: 1, name: "" };

    const fn of_step(step: i64) -> Self {
        match step {
            ..1_000 => Self { ns: 1, name: "ns" },
            1_000..1_000_000 => Self { ns: 1_000, name: "\u{b5}s" },
            1_000_000..1_000_000_000 => Self { ns: 1_000_000, name: "ms" },
            _ => Self { ns: 1_000_000_000, name: "s" },
        }
    }

    /// Ticks of a scale are whole multiples of it.
    fn label(&self, ns: i64) -> String {
        let sign = if ns < 0 { "\u{2212}" } else { "" };
        let number = format_count(ns.unsigned_abs() / self.ns.unsigned_abs());
        if self.name.is_empty() { format!("{sign}{number}") } else { format!("{sign}{number} {}", self.name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Interval, TraceNs};

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
        assert_eq!(labels[0], "11,000 ns");
        assert_eq!(labels[1], "11,200 ns");
    }

    #[test]
    fn far_from_the_origin_labels_count_from_a_round_instant() {
        let (base, labels) = labels(1_340_803_802, 1_340_804_802, 1_000.0);
        assert_eq!(base.as_deref(), Some("1.3408 s"));
        assert_eq!(labels[0], "+4,000 ns");
        let t = ruler(1_340_803_802, 1_340_804_802, 1_000.0, &profile::Unit::Ns);
        assert_eq!(t.major[0].ns, 1_340_804_000);
    }

    #[test]
    fn samples_are_counted_one_by_one() {
        let samples = profile::Unit::counted("samples");
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
