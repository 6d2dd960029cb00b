//! The minimap: all of a profile in one small strip, with the part that is on the screen.

use super::Viewport;
use crate::svg::number;
use ns_base::convert::{i64_to_f64, usize_to_f64};
use ns_base::{Interval, TraceNs};

/// Least width of the window, as a share of the strip, so that it can always be seen and grabbed.
const LEAST_WINDOW: f64 = 0.004;

/// A timeline opens at a part of the profile that is at most this long, as a share of all.
const LONGEST_DENSE: f64 = 0.6;
/// Share of the activity that may be out of sight at either end.
const LEAST_LEFT: f64 = 0.005;
/// Parts less busy than this, as a share of the typical busy part, are set-up or waiting.
const LEAST_BUSY: f64 = 0.25;

/// The part of a span with nearly all activity, with room around it: `None` if that is most of the span, or if there is no
/// activity. `busy` has how busy each of its equal parts is.
#[allow(clippy::cast_possible_truncation, reason = "inside the span")]
pub fn dense_part(span: Interval<TraceNs>, busy: &[f64]) -> Option<Interval<TraceNs>> {
    let sum: f64 = busy.iter().sum();
    if sum <= 0.0 {
        return None;
    }
    // A mean weighted by how busy the parts are: a short peak alone does not make the rest look idle.
    let usual = busy.iter().map(|part| part * part).sum::<f64>() / sum;
    let counted = |part: &f64| if *part >= usual * LEAST_BUSY { *part } else { 0.0 };
    let all: f64 = busy.iter().map(counted).sum();
    let passed = |parts: &mut dyn Iterator<Item = &f64>| {
        let mut sum = 0.0;
        parts
            .take_while(|part| {
                sum += counted(part);
                sum <= all * LEAST_LEFT
            })
            .count()
    };
    let (first, last) = (passed(&mut busy.iter()), busy.len() - passed(&mut busy.iter().rev()));
    let count = usize_to_f64(busy.len());
    if last <= first || usize_to_f64(last - first) > count * LONGEST_DENSE {
        return None;
    }
    let length = i64_to_f64(span.end.0.saturating_sub(span.start.0));
    let room = usize_to_f64(last - first) * 0.04;
    let at = |part: f64| TraceNs(span.start.0.saturating_add((part.clamp(0.0, count) / count * length) as i64));
    let dense = Interval::new(at(usize_to_f64(first) - room), at(usize_to_f64(last) + room));
    (dense.end > dense.start).then_some(dense)
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Minimap {
    /// How busy each part is, as SVG path data in a box of 1000 x 100.
    pub path: String,
    /// The span of the profile.
    pub span: Interval<TraceNs>,
}

impl Minimap {
    /// A strip of values for equal parts of a span; the highest value takes the full height.
    pub fn new(span: Interval<TraceNs>, busy: &[f64]) -> Self {
        let most = busy.iter().copied().fold(0.0, f64::max);
        let mut path = "M0 100".to_owned();
        if most > 0.0 {
            let width = 1_000.0 / usize_to_f64(busy.len());
            for (i, value) in busy.iter().enumerate() {
                let y = 100.0 - value / most * 100.0;
                path.push_str(&format!("L{} {}", number((usize_to_f64(i) + 0.5) * width), number(y)));
            }
        }
        path.push_str("L1000 100Z");
        Self { path, span }
    }

    /// Place of the screen: left edge and width as shares of the strip.
    pub fn window(&self, view: &Viewport) -> (f64, f64) {
        let length = self.length();
        let seen = view.interval();
        let at = |ns: i64| (i64_to_f64(ns.saturating_sub(self.span.start.0)) / length).clamp(0.0, 1.0);
        let (left, right) = (at(seen.start.0), at(seen.end.0));
        let width = (right - left).max(LEAST_WINDOW);
        (left.min(1.0 - width), width)
    }

    /// A view of the same length, centred at a share of the strip.
    #[allow(clippy::cast_possible_truncation, reason = "saturates")]
    pub fn centred(&self, view: &Viewport, share: f64) -> Interval<TraceNs> {
        let middle = self.span.start.0.saturating_add((share.clamp(0.0, 1.0) * self.length()) as i64);
        let seen = view.interval();
        let half = seen.end.0.saturating_sub(seen.start.0) / 2;
        Interval::new(TraceNs(middle.saturating_sub(half)), TraceNs(middle.saturating_add(half.max(1))))
    }

    fn length(&self) -> f64 {
        i64_to_f64(self.span.end.0.saturating_sub(self.span.start.0)).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeline_opens_where_most_happens() {
        let span = Interval::new(TraceNs(1_000), TraceNs(2_000));
        let busy = |from: usize, to: usize| {
            let part = |i| if (from..to).contains(&i) { 5.0 } else { 0.0 };
            (0..100).map(part).collect::<Vec<f64>>()
        };
        // 20 of 100 parts with 4 % of them at either end.
        assert_eq!(dense_part(span, &busy(40, 60)), Some(Interval::new(TraceNs(1_392), TraceNs(1_608))));
        assert_eq!(dense_part(span, &busy(10, 90)), None, "most of it is dense");
        assert_eq!(dense_part(span, &busy(0, 0)), None, "nothing happens");
        // One row during set-up, eight rows during work.
        let set_up = |i| if (40..60).contains(&i) { 8.0 } else { 1.0 };
        let with_set_up: Vec<f64> = (0..100).map(set_up).collect();
        assert_eq!(dense_part(span, &with_set_up), Some(Interval::new(TraceNs(1_392), TraceNs(1_608))));
        // The same for work that has fewer rows, as in one step of a small network.
        let step: Vec<f64> = (0..100).map(|i| if (42..78).contains(&i) { 6.0 } else { 1.0 }).collect();
        assert_eq!(dense_part(span, &step), Some(Interval::new(TraceNs(1_405), TraceNs(1_794))));
        // Two rows compared with six are not set-up.
        let even: Vec<f64> = (0..100).map(|i| if (42..78).contains(&i) { 6.0 } else { 2.0 }).collect();
        assert_eq!(dense_part(span, &even), None);
        // A short peak does not hide an even rest.
        let peak: Vec<f64> = (0..100).map(|i| if i == 50 { 10.0 } else { 1.0 }).collect();
        assert_eq!(dense_part(span, &peak), None);
        // A little activity at the start is not of interest.
        let mut early = busy(70, 100);
        early[0] = 0.1;
        assert_eq!(dense_part(span, &early), Some(Interval::new(TraceNs(1_688), TraceNs(2_000))));
    }

    #[test]
    fn the_window_is_where_the_screen_is_and_can_be_grabbed() {
        let span = |a, b| Interval::new(TraceNs(a), TraceNs(b));
        let map = Minimap::new(span(0, 1_000), &[1.0, 2.0]);
        assert_eq!(map.path, "M0 100L250 50L750 0L1000 100Z");
        let view = Viewport::new(span(250, 500), 100.0);
        assert_eq!(map.window(&view), (0.25, 0.25));
        assert_eq!(map.centred(&view, 0.5), span(375, 625));
        let (left, width) = map.window(&Viewport::new(span(999, 1_000), 100.0));
        assert!(width >= LEAST_WINDOW && left + width <= 1.0);
    }
}
