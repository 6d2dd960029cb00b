//! The span of time on the screen, exact to the nanosecond at every zoom.

use super::{SliceGroup, TimelineQuery, TimelineTile, TrackId};
use ns_base::convert::{i64_to_f64, u64_to_f64};
use ns_base::{Interval, TraceNs};

/// The shortest span a screen can show, in nanoseconds.
const MIN_SPAN_NS: f64 = 5.0;

/// The spans of two profiles on one axis, each in its own time: both hold both profiles. An instant of the first stands beside the
/// instant that is `offset_ns` later in the second.
pub fn common_axis([first, second]: [Interval<TraceNs>; 2], offset_ns: i64) -> [Interval<TraceNs>; 2] {
    let later = |span: Interval<TraceNs>, by: i64| {
        Interval::new(TraceNs(span.start.0.saturating_add(by)), TraceNs(span.end.0.saturating_add(by)))
    };
    let there = later(second, offset_ns.saturating_neg());
    let here = Interval::new(first.start.min(there.start), first.end.max(there.end));
    [here, later(here, offset_ns)]
}

/// A span of time laid over a width in pixels. The start is a whole number of nanoseconds and a fraction, so that pixel
/// positions are differences of integers before they become floats: a trace whose clock began in 1970 keeps its precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    start_ns: i64,
    fraction_ns: f64,
    span_ns: f64,
    width_px: f64,
}

impl Viewport {
    /// Shows `span` on `width_px` pixels.
    pub fn new(span: Interval<TraceNs>, width_px: f64) -> Self {
        let length = i64_to_f64(span.end.0.saturating_sub(span.start.0));
        Self { start_ns: span.start.0, fraction_ns: 0.0, span_ns: length.max(MIN_SPAN_NS), width_px: width_px.max(1.0) }
    }

    /// Shows all of `span` with a little room at both ends.
    pub fn fit(span: Interval<TraceNs>, width_px: f64) -> Self {
        let mut view = Self::new(span, width_px);
        let room = view.span_ns * 0.02;
        view.shift_ns(-room);
        view.span_ns += 2.0 * room;
        view
    }

    /// The first view on a canvas of this width: the span that a link asks for, else the view that was moved before the canvas had
    /// a size, else all of `bounds`.
    pub fn opening(
        wanted: Option<Interval<TraceNs>>,
        moved: Option<Self>,
        bounds: Interval<TraceNs>,
        width_px: f64,
    ) -> Self {
        match (wanted, moved) {
            (Some(span), _) => Self::new(span, width_px).clamped(bounds),
            (None, Some(view)) => view.with_width(width_px).clamped(bounds),
            (None, None) => Self::fit(bounds, width_px),
        }
    }

    /// The same span at another width.
    pub fn with_width(mut self, width_px: f64) -> Self {
        self.width_px = width_px.max(1.0);
        self
    }

    /// Width in pixels.
    pub const fn width_px(&self) -> f64 {
        self.width_px
    }

    /// Length of the span in nanoseconds.
    pub const fn span_ns(&self) -> f64 {
        self.span_ns
    }

    /// Nanoseconds per pixel.
    pub fn ns_per_px(&self) -> f64 {
        self.span_ns / self.width_px
    }

    /// The whole nanoseconds on the screen, including those cut by its edges.
    pub fn interval(&self) -> Interval<TraceNs> {
        let end = self.start_ns.saturating_add(ceil_i64(self.fraction_ns + self.span_ns));
        Interval::new(TraceNs(self.start_ns), TraceNs(end))
    }

    /// Pixels from the left edge to an instant; negative before the left edge.
    pub fn x_of(&self, ns: i64) -> f64 {
        let offset = i64_to_f64(ns.saturating_sub(self.start_ns)) - self.fraction_ns;
        offset * self.width_px / self.span_ns
    }

    /// Width of a duration in pixels.
    pub fn px_of(&self, duration_ns: u64) -> f64 {
        u64_to_f64(duration_ns) * self.width_px / self.span_ns
    }

    /// The whole nanosecond under a pixel.
    pub fn ns_at(&self, x: f64) -> i64 {
        let offset = self.fraction_ns + x * self.ns_per_px();
        self.start_ns.saturating_add(floor_i64(offset))
    }

    /// Pans the view; positive values show later times.
    pub fn panned_px(mut self, dx: f64) -> Self {
        self.shift_ns(dx * self.ns_per_px());
        self
    }

    /// Shows `factor` times the span, with the instant under pixel `x` kept in place.
    pub fn zoomed(mut self, factor: f64, x: f64) -> Self {
        let span = (self.span_ns * factor).max(MIN_SPAN_NS);
        let kept = x / self.width_px;
        self.shift_ns(kept * (self.span_ns - span));
        self.span_ns = span;
        self
    }

    /// Keeps the screen near `bounds`: at most four times as wide, and never with all of `bounds` out of sight.
    pub fn clamped(mut self, bounds: Interval<TraceNs>) -> Self {
        let length = i64_to_f64(bounds.end.0.saturating_sub(bounds.start.0)).max(MIN_SPAN_NS);
        if self.span_ns > 4.0 * length {
            let centre = self.width_px / 2.0;
            self = self.zoomed(4.0 * length / self.span_ns, centre);
        }
        let left = self.x_of(bounds.start.0);
        let right = self.x_of(bounds.end.0);
        let keep = (self.width_px * 0.1).min(32.0);
        if right < keep {
            self = self.panned_px(right - keep);
        } else if left > self.width_px - keep {
            self = self.panned_px(left - self.width_px + keep);
        }
        self
    }

    /// The view moved, and widened if necessary, so that a span is in sight.
    pub fn showing(self, start_ns: i64, duration_ns: u64) -> Self {
        let (left, length) = (self.x_of(start_ns), self.px_of(duration_ns));
        let right = left + length;
        if length > self.width_px * 0.9 {
            let end = start_ns.saturating_add_unsigned(duration_ns);
            return Self::new(Interval::new(TraceNs(start_ns), TraceNs(end)), self.width_px)
                .zoomed(1.2, self.width_px / 2.0);
        }
        if left >= 0.0 && right <= self.width_px {
            return self;
        }
        self.panned_px((left + right - self.width_px) / 2.0)
    }

    /// The resolution for slices: the smallest power of two not below the nanoseconds of a pixel, so one to two pixels. A power
    /// of two, so that most moves of the view ask for the same resolution again.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of u64 before")]
    pub fn resolution_ns(&self) -> u64 {
        (libm::ceil(self.ns_per_px()).clamp(1.0, 4e18) as u64).next_power_of_two()
    }

    /// The span to ask for: half a screen more on either side, so that panning has something to show at once.
    pub fn query(&self, tracks: Vec<TrackId>) -> TimelineQuery {
        let seen = self.interval();
        let room = seen.end.0.saturating_sub(seen.start.0) / 2;
        let span = Interval::new(TraceNs(seen.start.0.saturating_sub(room)), TraceNs(seen.end.0.saturating_add(room)));
        TimelineQuery { span, resolution_ns: self.resolution_ns(), tracks, group: None }
    }

    /// Whether a tile has everything that this screen needs of `tracks`, with this group highlighted.
    pub fn is_covered_by(&self, tile: &TimelineTile, tracks: &[TrackId], group: Option<&SliceGroup>) -> bool {
        let seen = self.interval();
        tile.group.as_ref().map(|(group, _)| group) == group
            && tile.resolution_ns == self.resolution_ns()
            && tile.span.start <= seen.start
            && seen.end <= tile.span.end
            && tracks.iter().all(|t| tile.track(*t).is_some())
    }

    fn shift_ns(&mut self, by: f64) {
        let offset = self.fraction_ns + by;
        let whole = libm::floor(offset);
        self.start_ns = self.start_ns.saturating_add(floor_i64(whole));
        self.fraction_ns = offset - whole;
    }
}

#[allow(clippy::cast_possible_truncation, reason = "saturates")]
fn floor_i64(v: f64) -> i64 {
    libm::floor(v) as i64
}

#[allow(clippy::cast_possible_truncation, reason = "saturates")]
fn ceil_i64(v: f64) -> i64 {
    libm::ceil(v) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn view(start: i64, end: i64, width: f64) -> Viewport {
        Viewport::new(Interval::new(TraceNs(start), TraceNs(end)), width)
    }

    #[test]
    fn neighbouring_nanoseconds_stay_apart_fifty_years_from_the_origin() {
        let origin = 1_712_195_495_406_752_797;
        let v = view(origin, origin + 10, 1000.0);
        assert_eq!(v.x_of(origin + 3), 300.0);
        assert_eq!(v.ns_at(300.0), origin + 3);
        let zoomed = v.zoomed(0.5, 300.0);
        assert!((zoomed.x_of(origin + 3) - 300.0).abs() < 1e-9);
    }

    #[test]
    fn two_timelines_on_one_axis_begin_with_one_scale() {
        let span = |start: i64, end: i64| Interval::new(TraceNs(start), TraceNs(end));
        let (base, other) = (span(0, 715_000), span(0, 722_000));
        for offset in [0, 40_000, -900_000] {
            let [here, there] = common_axis([base, other], offset);
            assert_eq!(there, span(here.start.0 + offset, here.end.0 + offset));
            assert!(here.start <= base.start && base.end <= here.end && there.start.0 <= 0 && there.end.0 >= 722_000);
            // They are on one axis before their canvases have a size, and the gutters of both are as wide.
            let moved = [here, there].map(|bounds| Viewport::fit(bounds, 300.0));
            let views = [(here, Some(moved[0])), (there, Some(moved[1])), (here, None), (there, None)]
                .map(|(bounds, moved)| Viewport::opening(None, moved, bounds, 918.0));
            let scale = |view: &Viewport| view.px_of(100_000);
            assert!(views.iter().all(|view| (scale(view) - scale(&views[0])).abs() < 1e-9), "{offset}: {views:?}");
            assert!((views[0].x_of(0) - views[1].x_of(offset)).abs() < 1e-9);
        }
        let link = Viewport::opening(Some(span(100, 200)), Some(view(0, 9, 1.0)), base, 500.0);
        assert_eq!(link.interval(), span(100, 200));
    }

    #[test]
    fn resolution_is_a_power_of_two_of_one_to_two_pixels() {
        assert_eq!(view(0, 100, 1000.0).resolution_ns(), 1);
        assert_eq!(view(0, 7_000, 1000.0).resolution_ns(), 8);
        assert_eq!(view(0, 8_000, 1000.0).resolution_ns(), 8);
    }

    #[test]
    fn the_profile_stays_in_sight() {
        let bounds = Interval::new(TraceNs(0), TraceNs(1_000));
        let far = view(0, 1_000, 500.0).panned_px(1e6).clamped(bounds);
        assert!(far.x_of(1_000) >= 31.0);
        let wide = view(0, 1_000, 500.0).zoomed(1e9, 0.0).clamped(bounds);
        assert!((wide.span_ns() - 4_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_hidden_slice_is_scrolled_to_the_middle() {
        let v = view(0, 1_000, 1000.0).showing(5_000, 10);
        assert!((v.x_of(5_005) - 500.0).abs() < 1.0);
        let same = view(0, 1_000, 1000.0);
        assert_eq!(same.showing(10, 20), same);
        assert!(view(0, 10, 1000.0).showing(100, 5_000).x_of(100) >= 0.0);
    }

    proptest! {
        #[test]
        fn zoom_keeps_the_instant_under_the_pointer(
            start in -1_000_000_000_000_i64..1_000_000_000_000, span in 10_i64..1_000_000_000_000,
            x in 0.0..1000.0_f64, factor in 0.1..10.0_f64,
        ) {
            let v = view(start, start + span, 1000.0);
            let z = v.zoomed(factor, x);
            let at = v.ns_at(x);
            let drift_ns = (z.x_of(at) - v.x_of(at) / factor - (x - x / factor)).abs() * z.ns_per_px();
            prop_assert!(z.span_ns() <= 5.0 || drift_ns < 1e-3 * span as f64 / 1000.0 + 1.0);
        }
    }
}
