//! Lines over two axes, in series: scaling, cumulative curves, throughput over time, histograms as steps.

use serde::{Deserialize, Serialize};

use super::axis::short;
use super::{Axis, AxisTick};
use crate::palette::distinct_fills;
use crate::text::three_decimals;
use ns_base::Order;
use ns_base::convert::usize_to_f64;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineStyle {
    /// Straight lines between points.
    Solid,
    /// A dashed line, for expected rather than measured values.
    Dashed,
    /// A step at each point, filled to the axis: bars that touch.
    Steps,
}

/// One series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub name: String,
    pub style: LineStyle,
    /// Place of its colour in the palette.
    pub fill: u8,
    /// Its points by ascending `x`.
    pub points: Vec<(f64, f64)>,
    /// The interval of each point that has one, from its lower to its upper end; empty if no point has.
    pub spread: Vec<Option<(f64, f64)>>,
}

impl Line {
    /// Position of its last point that has a value: steps have one more, the end of the last.
    pub fn last(&self) -> usize {
        let ends = if self.style == LineStyle::Steps { 2 } else { 1 };
        self.points.len().saturating_sub(ends)
    }
}

/// A place on the horizontal axis where something happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineMark {
    /// Its place on the axis.
    pub x: f64,
    pub text: String,
    /// Whether it was a change for the worse.
    pub is_bad: bool,
}

/// A plot of lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lines {
    pub x: Axis,
    /// The vertical axis, from zero.
    pub y: Axis,
    pub lines: Vec<Line>,
    /// Names of positions on the horizontal axis, such as dates, where numbers would say little.
    pub names: Vec<(f64, String)>,
    /// The events, by ascending `x`.
    pub marks: Vec<LineMark>,
}

/// A series by name, style and points.
pub type Series = (String, LineStyle, Vec<(f64, f64)>);

impl Lines {
    /// A plot of series. Points that are not finite are left out, and so are series without points. The horizontal axis begins
    /// at zero, or at the smallest value if `from_zero` is false; the last point of [`LineStyle::Steps`] is the end of the last
    /// step.
    pub fn new(x_title: &str, y_title: &str, series: impl IntoIterator<Item = Series>, from_zero: bool) -> Self {
        let kept: Vec<Series> = series
            .into_iter()
            .map(|(name, style, points)| {
                let finite = points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
                (name, style, finite)
            })
            .filter(|(.., points): &Series| !points.is_empty())
            .collect();
        let all = || kept.iter().flat_map(|(.., points)| points.iter());
        let largest = |f: fn(&(f64, f64)) -> f64| all().map(f).fold(0.0, f64::max);
        let low = if from_zero { 0.0 } else { all().map(|p| p.0).fold(f64::INFINITY, f64::min) };
        let fills = distinct_fills(kept.iter().map(|(name, ..)| name.as_str()));
        let line = |((name, style, points), fill)| Line { name, style, fill, points, spread: Vec::new() };
        Self {
            x: Axis::between(x_title, low, largest(|p| p.0), 6),
            y: Axis::from_zero(y_title, largest(|p| p.1), 5),
            lines: kept.into_iter().zip(fills).map(line).collect(),
            names: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// The same with a vertical axis around the values: where their differences matter, not their distance from zero.
    pub fn with_close_y(mut self) -> Self {
        let all = || self.lines.iter().flat_map(|line| line.points.iter().map(|p| p.1));
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        if low < high {
            self.y = Axis::between(&self.y.title, low, high, 5);
        }
        self
    }

    /// The same with whole numbers on the horizontal axis: for counts.
    pub fn with_counted_x(mut self) -> Self {
        self.x = Axis::for_counts(&self.x.title, self.x.min, self.largest(|p| p.0), 6);
        self
    }

    /// The same with equal lengths for equal ratios on the horizontal axis and ticks at the values themselves: for sizes that double.
    pub fn with_doublings(mut self) -> Self {
        let mut values: Vec<f64> = self.lines.iter().flat_map(|l| &l.points).map(|p| p.0).collect();
        values.order_by(f64::total_cmp);
        values.dedup();
        if let (Some(&min), Some(&max)) = (values.first(), values.last())
            && min > 0.0
            && min < max
        {
            let mut at = 0.0;
            values.retain(|v| {
                *v >= at * 1.5 && {
                    at = *v;
                    true
                }
            });
            let ticks = values.into_iter().map(|value| AxisTick { value, label: short(value) }).collect();
            self.x = Axis { title: self.x.title, min, max, ticks, is_logarithmic: true };
        }
        self
    }

    /// The same with a logarithmic vertical axis if the largest value is many times the smallest.
    pub fn with_ratios(mut self) -> Self {
        if let Some(axis) = self.y.by_ratios(self.lines.iter().flat_map(|l| &l.points).map(|p| p.1)) {
            self.y = axis;
        }
        self
    }

    /// The same with whole numbers on the vertical axis.
    pub fn with_counted_y(mut self) -> Self {
        self.y = Axis::for_counts(&self.y.title, 0.0, self.largest(|p| p.1), 5);
        self
    }

    /// The same with a vertical axis that reaches at least to this value: for plots that are compared.
    pub fn up_to(mut self, high: f64) -> Self {
        if high > self.y.max {
            self.y = Axis::from_zero(&self.y.title, high, 5);
        }
        self
    }

    fn largest(&self, of: fn(&(f64, f64)) -> f64) -> f64 {
        self.lines.iter().flat_map(|l| &l.points).map(of).fold(0.0, f64::max)
    }

    /// The same with names on the horizontal axis in place of numbers: texts use all of them, ticks as many as have room.
    pub fn with_names(mut self, names: Vec<(f64, String)>, tick: impl Fn(&str) -> String) -> Self {
        const MOST_TICKS: usize = 6;
        let count = names.len().min(MOST_TICKS);
        let place = |i: usize| i * (names.len() - 1) / (count - 1).max(1);
        let ticks = (0..count).map(|i| &names[place(i)]);
        self.x.ticks = ticks.map(|(value, name)| AxisTick { value: *value, label: tick(name) }).collect();
        if let (Some(first), Some(last)) = (names.first(), names.last()) {
            // Points are kept off the frame, and a single point is in the middle.
            let margin = if last.0 > first.0 { (last.0 - first.0) * 0.05 } else { 1.0 };
            (self.x.min, self.x.max) = (first.0 - margin, last.0 + margin);
        }
        self.names = names;
        self
    }

    /// The same with intervals for the points of the line at a position, NaN for a point without one. The vertical axis grows with them, up
    /// to twice its length.
    pub fn with_spread(mut self, line: usize, spread: Vec<(f64, f64)>) -> Self {
        let is_known = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
        let high = spread.iter().filter(|s| is_known(s)).map(|s| s.1).fold(self.y.max, f64::max);
        if high > self.y.max {
            self.y = Axis::from_zero(&self.y.title, high.min(self.y.max * 2.0), 5);
        }
        if let Some(line) = self.lines.get_mut(line) {
            line.spread = if spread.iter().any(is_known) {
                spread.into_iter().map(|s| is_known(&s).then_some(s)).collect()
            } else {
                Vec::new()
            };
        }
        self
    }

    /// A place on the horizontal axis in words.
    fn x_text(&self, x: f64) -> String {
        self.names.iter().find(|(at, _)| *at == x).map_or_else(|| exact(x), |(_, name)| name.clone())
    }

    /// A point in words.
    pub fn describe(&self, line: &Line, point: (f64, f64)) -> String {
        let (x, y) = (&self.x.title, &self.y.title);
        let position = line.points.iter().position(|p| *p == point);
        let spread = position.and_then(|i| *line.spread.get(i)?);
        let end = position.filter(|_| line.style == LineStyle::Steps).and_then(|i| line.points.get(i + 1));
        let end = end.map_or_else(String::new, |(to, _)| format!(" to {}", self.x_text(*to)));
        let spread = spread.map_or_else(String::new, |(low, high)| format!(" ({} to {})", exact(low), exact(high)));
        let mark =
            self.marks.iter().find(|m| m.x == point.0).map_or_else(String::new, |m| format!(" \u{2013} {}", m.text));
        format!("{}: {x} {}{end}, {y} {}{spread}{mark}", line.name, self.x_text(point.0), exact(point.1))
    }
}

/// Three decimals, or more if those are not enough.
fn exact(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.1 {
        format!("{value:.6}").trim_end_matches('0').to_owned()
    } else {
        three_decimals(value)
    }
}

/// Averages neighbouring points, so that at most `most` are left: for a line with more points than pixels.
pub fn averaged(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let each = points.len().div_ceil(most.max(1)).max(1);
    let mean = |chunk: &[(f64, f64)]| {
        let n = usize_to_f64(chunk.len());
        (chunk.first().map_or(0.0, |p| p.0), chunk.iter().map(|p| p.1).sum::<f64>() / n)
    };
    points.chunks(each).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Chart, Frame};

    #[test]
    fn axes_cover_all_series_and_empty_ones_are_left_out() {
        let plot = Lines::new(
            "Models",
            "Throughput (inf/s)",
            [
                ("ideal".to_owned(), LineStyle::Dashed, vec![(1.0, 100.0), (16.0, 1_600.0)]),
                ("1 worker".to_owned(), LineStyle::Solid, vec![(1.0, 100.0), (f64::NAN, 1.0), (16.0, 1_400.0)]),
                ("failed".to_owned(), LineStyle::Solid, vec![]),
            ],
            true,
        );
        assert_eq!((plot.lines.len(), plot.lines[1].points.len()), (2, 2));
        assert!(plot.x.min == 0.0 && plot.x.max >= 16.0 && plot.y.max >= 1_600.0);
        assert_ne!(plot.lines[0].fill, plot.lines[1].fill);
        assert_eq!(plot.describe(&plot.lines[1], (16.0, 1_400.0)), "1 worker: Models 16, Throughput (inf/s) 1400");
    }

    #[test]
    fn marked_places_are_described_with_their_events() {
        let points = vec![(10.0, 1.0), (20.0, 1.5)];
        let mut plot = Lines::new("Date", "Speed-up", [("XLA".to_owned(), LineStyle::Solid, points)], false)
            .with_names(vec![(10.0, "2024-01-01".to_owned()), (20.0, "2024-01-02".to_owned())], |n| n[5..].to_owned());
        plot = plot.with_spread(0, vec![(f64::NAN, f64::NAN), (1.4, 1.6)]);
        assert!(plot.y.max >= 1.6);
        plot.marks.push(LineMark { x: 20.0, text: "faster by 50 %".to_owned(), is_bad: false });
        let words = |p| plot.describe(&plot.lines[0], p);
        assert_eq!(words((10.0, 1.0)), "XLA: Date 2024-01-01, Speed-up 1");
        assert_eq!(words((20.0, 1.5)), "XLA: Date 2024-01-02, Speed-up 1.5 (1.4 to 1.6) \u{2013} faster by 50 %");
        let ticks: Vec<&str> = plot.x.ticks.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(ticks, ["01-01", "01-02"]);
        assert!(plot.x.min < 10.0 && plot.x.max > 20.0);
    }

    #[test]
    fn each_point_answers_at_its_own_place_and_a_step_all_along() {
        let line = |name: &str, by: f64| {
            let points = (0..7_u32).map(|i| (libm::exp2(f64::from(i)), by * f64::from(10 + i * 3 % 5)));
            (name.to_owned(), LineStyle::Solid, points.collect())
        };
        let plot = Lines::new("Batch", "US$", [line("a", 1.0), line("b", 1.7), line("c", 9.0)], true);
        let frame = Frame::new(Some(358.0), 16.0);
        for (l, line) in plot.lines.iter().enumerate() {
            for (p, point) in line.points.iter().enumerate() {
                assert_eq!(plot.at(&frame, plot.place_of(&frame, *point)), Some((l, p)));
            }
        }
        let points = vec![(3.0, 7.0), (3.5, 3.0), (4.0, 0.0)];
        let plot = Lines::new("ms", "Calls", [("Calls".to_owned(), LineStyle::Steps, points)], false);
        let middle = |x: f64| plot.at(&frame, (plot.place_of(&frame, (x, 0.0)).0, 20.0));
        assert_eq!([3.01, 3.25, 3.49, 3.51, 3.99, 4.0].map(middle), [0, 0, 0, 1, 1, 1].map(|p| Some((0, p))));
        assert_eq!(plot.describe(&plot.lines[0], (3.0, 7.0)), "Calls: ms 3 to 3.5, Calls 7");
    }

    #[test]
    fn sizes_that_double_are_equally_far_apart() {
        let points = |by: f64| [1.0, 2.0, 4.0, 8.0, 64.0].map(|b| (b, b * by)).to_vec();
        let series = [("a".to_owned(), LineStyle::Solid, points(1.0))];
        let plot = Lines::new("Batch", "US$", series, true).with_doublings().with_ratios();
        let ticks: Vec<&str> = plot.x.ticks.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(ticks, ["1", "2", "4", "8", "64"]);
        let shares = [1.0, 2.0, 4.0, 64.0].map(|b| plot.x.share(b) * 6.0);
        assert!(shares.iter().zip([0.0, 1.0, 2.0, 6.0]).all(|(a, b)| (a - b).abs() < 1e-9), "{shares:?}");
        assert!(plot.y.is_logarithmic && plot.y.min <= 1.0 && plot.y.max >= 64.0);
        let one = Lines::new("Batch", "US$", [("a".to_owned(), LineStyle::Solid, vec![(4.0, 1.0)])], true);
        assert_eq!(one.clone().with_doublings().with_ratios(), one);
    }

    #[test]
    fn averaging_keeps_the_mean_and_the_limit() {
        let points: Vec<(f64, f64)> = (0..86_400).map(|i| (f64::from(i), f64::from(i % 2) * 10.0)).collect();
        let few = averaged(&points, 600);
        assert!(few.len() <= 600 && few.iter().all(|p| (p.1 - 5.0).abs() < 1e-9));
        assert_eq!(averaged(&points[..3], 600), points[..3]);
        assert!(averaged(&[], 600).is_empty());
    }
}
