//! All of a profile in one small strip, with the part that is on the screen.

use super::Viewport;
use crate::base::{Interval, TraceNs};
use crate::view::svg::number;

/// Least width of the window, as a share of the strip: one can always be seen and grabbed.
const LEAST_WINDOW: f64 = 0.004;

/// The strip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Minimap {
    /// How busy each part is, as SVG path data in a box of 1000 x 100.
    pub path: String,
    /// The span of the profile.
    pub span: Interval<TraceNs>,
}

impl Minimap {
    /// A strip of values in equal parts of a span; the highest fills it.
    #[must_use]
    pub fn new(span: Interval<TraceNs>, busy: &[f64]) -> Self {
        let most = busy.iter().copied().fold(0.0, f64::max);
        let mut path = "M0 100".to_owned();
        if most > 0.0 {
            let width = 1_000.0 / busy.len() as f64;
            for (i, value) in busy.iter().enumerate() {
                let y = 100.0 - value / most * 100.0;
                path.push_str(&format!("L{} {}", number((i as f64 + 0.5) * width), number(y)));
            }
        }
        path.push_str("L1000 100Z");
        Self { path, span }
    }

    /// Where the screen is: left edge and width as shares of the strip.
    #[must_use]
    pub fn window(&self, view: &Viewport) -> (f64, f64) {
        let length = self.length();
        let seen = view.interval();
        let at = |ns: i64| (ns.saturating_sub(self.span.start.0) as f64 / length).clamp(0.0, 1.0);
        let (left, right) = (at(seen.start.0), at(seen.end.0));
        let width = (right - left).max(LEAST_WINDOW);
        (left.min(1.0 - width), width)
    }

    /// The view of the same length around a share of the strip.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)] // saturates
    pub fn centred(&self, view: &Viewport, share: f64) -> Interval<TraceNs> {
        let middle = self.span.start.0.saturating_add((share.clamp(0.0, 1.0) * self.length()) as i64);
        let seen = view.interval();
        let half = seen.end.0.saturating_sub(seen.start.0) / 2;
        Interval::new(TraceNs(middle.saturating_sub(half)), TraceNs(middle.saturating_add(half.max(1))))
    }

    fn length(&self) -> f64 {
        (self.span.end.0.saturating_sub(self.span.start.0) as f64).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
