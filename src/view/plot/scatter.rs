//! Points over two axes, in series: latency against throughput.

use serde::{Deserialize, Serialize};

use super::{Axis, pareto_front};
use crate::palette::{GREY, distinct_fills};
use crate::text::three_decimals;
use ns_base::units::format_number;

/// Part of a value by which two points differ that are drawn as equals.
const NEARLY_EQUAL: f64 = 0.01;

/// The shape of a point, so that series differ by more than colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mark {
    Disc,
    Square,
    Triangle,
    Diamond,
    /// A hollow mark, for what was not run here.
    Ring,
}

/// A plot of points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scatter {
    pub x: Axis,
    pub y: Axis,
    /// Names of the series with their colour (place in the palette) and mark.
    pub series: Vec<(String, u8, Mark)>,
    /// Points in their own order.
    pub points: Vec<ScatterPoint>,
    /// Positions of the points that no other point beats (smaller `x`, larger `y`), by ascending `x`; empty unless
    /// [`Scatter::with_front`] was called.
    pub front: Vec<usize>,
    /// The trade that the front is of: `cost and p99 latency`.
    pub front_of: String,
    /// Positions of the points that a line joins, for each line.
    pub lines: Vec<Vec<usize>>,
    /// The largest or the least `x` that is wanted, drawn as a line.
    pub limit: Option<XLimit>,
}

/// A limit of the horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct XLimit {
    pub value: f64,
    /// Whether larger values are wanted.
    pub is_least: bool,
}

impl XLimit {
    /// `at most 20.0`
    pub fn text(&self) -> String {
        format!("at {} {}", if self.is_least { "least" } else { "most" }, format_number(self.value))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScatterPoint {
    /// Position of its series.
    pub series: usize,
    /// Value on the horizontal axis.
    pub x: f64,
    /// Value on the vertical axis.
    pub y: f64,
    /// Its label, for the tooltip.
    pub label: String,
    /// The two ends of its interval, if one is known: what a device would show at worst and at best.
    pub interval: Option<[(f64, f64); 2]>,
    /// Whether it breaks a limit: it is faint, and its label says by how much.
    pub is_outside: bool,
}

impl ScatterPoint {
    const fn new(series: usize, x: f64, y: f64, label: String) -> Self {
        Self { series, x, y, label, interval: None, is_outside: false }
    }
}

impl Scatter {
    /// A plot of (series, x, y, label); points that are not finite are left out.
    pub fn new(x_title: &str, y_title: &str, points: impl IntoIterator<Item = (String, f64, f64, String)>) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut out = Vec::new();
        for (series, x, y, label) in points {
            if !(x.is_finite() && y.is_finite()) {
                continue;
            }
            let position = names.iter().position(|n| *n == series).unwrap_or_else(|| {
                names.push(series);
                names.len() - 1
            });
            out.push(ScatterPoint::new(position, x, y, label));
        }
        let marks = [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Diamond];
        let fills = distinct_fills(names.iter().map(String::as_str));
        Self {
            x: x_axis(x_title, &out),
            y: y_axis(y_title, &out),
            series: names.into_iter().zip(fills).zip(marks.into_iter().cycle()).map(|((n, f), m)| (n, f, m)).collect(),
            points: out,
            front: Vec::new(),
            front_of: String::new(),
            lines: Vec::new(),
            limit: None,
        }
    }

    /// The same with its Pareto front, which is of this trade: for plots where small `x` and large `y` are good.
    pub fn with_front(mut self, of: &str) -> Self {
        of.clone_into(&mut self.front_of);
        let places: Vec<(f64, f64)> = self.points.iter().map(|p| (p.x, p.y)).collect();
        self.front = pareto_front(&places);
        self
    }

    /// The same with its Pareto front, for plots where both are good when they are small.
    pub fn with_low_front(mut self, of: &str) -> Self {
        of.clone_into(&mut self.front_of);
        let places: Vec<(f64, f64)> = self.points.iter().map(|p| (p.x, -p.y)).collect();
        self.front = pareto_front(&places);
        self
    }

    /// The same with its Pareto front, for plots where both are good when they are large.
    pub fn with_front_of_both(mut self) -> Self {
        let places: Vec<(f64, f64)> = self.points.iter().map(|p| (-p.x, p.y)).collect();
        self.front = pareto_front(&places);
        self
    }

    /// The same with a logarithmic axis wherever the largest value is many times the smallest: on one from zero, most points would lie in a
    /// corner.
    pub fn with_ratios(mut self) -> Self {
        let axis = |axis: &Axis, of: fn(&ScatterPoint) -> f64| axis.by_ratios(self.points.iter().map(of));
        (self.x, self.y) = (
            axis(&self.x, |p| p.x).unwrap_or_else(|| self.x.clone()),
            axis(&self.y, |p| p.y).unwrap_or_else(|| self.y.clone()),
        );
        self
    }

    /// The same with a line through the best points of each series: those that no other point of it beats. Both are good when they are large, or
    /// when they are small.
    pub fn with_series_lines(mut self, is_large_good: bool) -> Self {
        let place = |p: &ScatterPoint| if is_large_good { (-p.x, p.y) } else { (p.x, -p.y) };
        let of_series = |series: usize| {
            let own: Vec<usize> = (0..self.points.len()).filter(|i| self.points[*i].series == series).collect();
            let places: Vec<(f64, f64)> = own.iter().map(|i| place(&self.points[*i])).collect();
            let front: Vec<usize> = pareto_front(&places).into_iter().map(|i| own[i]).collect();
            // A point that is ahead of the next one by less than this would make a wall of the line.
            let is_apart = |pair: &[usize]| {
                let (x, next) = (self.points[pair[0]].x, self.points[pair[1]].x);
                (x - next).abs() > NEARLY_EQUAL * x.abs()
            };
            let apart = front.windows(2).filter(|pair| is_apart(pair)).map(|pair| pair[0]);
            apart.chain(front.last().copied()).collect::<Vec<_>>()
        };
        self.lines = (0..self.series.len()).map(of_series).filter(|line| line.len() > 1).collect();
        self
    }

    /// The same with a limit, to which the axis reaches.
    pub fn with_limit(mut self, limit: Option<XLimit>) -> Self {
        self.limit = limit.filter(|limit| limit.value.is_finite());
        let largest = self.points.iter().map(|p| p.x).fold(0.0, f64::max);
        // A limit far beyond all points would press them into a corner.
        if let Some(x) = self.limit.map(|limit| limit.value).filter(|x| *x <= 2.0 * largest) {
            self.x = match self.x.is_logarithmic {
                true => Axis::logarithmic(&self.x.title, self.x.min.min(x), largest.max(x)),
                false => Axis::from_zero(&self.x.title, largest.max(x), 6),
            };
        }
        self
    }

    /// The same with hollow points (x, y, label) after the others, a series of their own that no front has.
    pub fn with_rings(mut self, series: &str, points: impl IntoIterator<Item = (f64, f64, String)>) -> Self {
        let own = self.series.len();
        let finite = points.into_iter().filter(|(x, y, _)| x.is_finite() && y.is_finite());
        self.points.extend(finite.map(|(x, y, label)| ScatterPoint::new(own, x, y, label)));
        if self.points.last().is_some_and(|p| p.series == own) {
            self.series.push((series.to_owned(), GREY, Mark::Ring));
            (self.x, self.y) = (x_axis(&self.x.title, &self.points), y_axis(&self.y.title, &self.points));
        }
        self
    }

    /// Whether no other point beats this one; `false` for all without a front.
    pub fn is_on_front(&self, point: usize) -> bool {
        self.front.contains(&point)
    }

    /// Whether a band stands for intervals.
    pub fn has_bands(&self) -> bool {
        self.lines.iter().flatten().any(|i| self.points.get(*i).is_some_and(|p| p.interval.is_some()))
    }

    /// A point in words.
    pub fn describe(&self, point: &ScatterPoint) -> String {
        let interval = point.interval.map_or_else(String::new, |ends| {
            let [low, high] = if ends[0].1 <= ends[1].1 { ends } else { [ends[1], ends[0]] };
            format!(" ({} to {})", three_decimals(low.1), three_decimals(high.1))
        });
        format!(
            "{}: {} {}, {} {}{interval}",
            point.label,
            self.x.title,
            three_decimals(point.x),
            self.y.title,
            three_decimals(point.y)
        )
    }
}

fn x_axis(title: &str, points: &[ScatterPoint]) -> Axis {
    Axis::from_zero(title, points.iter().map(|p| p.x).fold(0.0, f64::max), 6)
}

fn y_axis(title: &str, points: &[ScatterPoint]) -> Axis {
    Axis::from_zero(title, points.iter().map(|p| p.y).fold(0.0, f64::max), 5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Chart, Form, Frame};

    #[test]
    fn each_mark_answers_at_its_own_place() {
        let points = (0..40_u32).map(|i| (format!("s{}", i % 3), f64::from(i * 7 % 41), f64::from(1 + i * 13 % 43)));
        let plot = Scatter::new("x", "y", points.map(|(s, x, y)| (s, x, y, format!("{x}"))));
        for (plot, width) in [(plot.clone(), 358.0), (plot.with_ratios(), 640.0)] {
            let frame = Frame::new(Some(width), 16.0);
            for (i, p) in plot.points.iter().enumerate() {
                let (x, y) = plot.place_of(&frame, (p.x, p.y));
                let found = plot.at(&frame, (x + 0.4, y - 0.4));
                let is_there = |(_, at)| plot.place(&frame, (0, at)) == Some((x, y));
                assert!(found == Some((0, i)) || found.is_some_and(is_there), "{i} at {x}, {y}: {found:?}");
            }
        }
    }

    #[test]
    fn a_line_joins_the_points_of_a_series_that_no_other_beats_and_its_band_has_their_intervals() {
        let points = [("a", 1.0, 5.0), ("a", 2.0, 9.0), ("a", 3.0, 2.0), ("a", 3.0, 4.0), ("b", 9.0, 9.0)];
        let points = points.map(|(s, x, y)| (s.to_owned(), x, y, String::new()));
        let mut plot = Scatter::new("x", "y", points);
        for point in &mut plot.points {
            point.interval = Some([(point.x * 0.9, point.y * 0.9), (point.x * 1.1, point.y * 1.1)]);
        }
        let low = plot.clone().with_series_lines(false);
        assert_eq!((low.lines.clone(), low.has_bands()), (vec![vec![0, 2]], true));
        assert_eq!(plot.clone().with_series_lines(true).lines, [[3, 1]]);
        plot = low.with_limit(Some(XLimit { value: 4.0, is_least: false }));
        let frame = Frame::new(Some(180.0), 16.0);
        let shapes = plot.marks(&frame);
        let classes: Vec<&str> = shapes.iter().map(|shape| shape.class).collect();
        assert_eq!(classes, ["band", "line", "limit", "line-name", "mark", "mark", "mark", "mark", "mark"]);
        let Form::Area(band) = &shapes[0].form else { panic!("{shapes:?}") };
        assert_eq!(band.len(), 4);
        assert!(matches!(&shapes[3].form, Form::Text { text, .. } if text == "at most 4.00"), "{shapes:?}");
        assert_eq!(plot.describe(&plot.points[0]), ": x 1, y 5 (4.5 to 5.5)");
    }

    #[test]
    fn series_differ_by_colour_and_shape() {
        let plot = Scatter::new(
            "Latency p50 (ms)",
            "Throughput (inf/s)",
            [
                ("1 worker".to_owned(), 0.03, 31_346.0, "1 model".to_owned()),
                ("2 workers".to_owned(), 0.05, 60_000.0, "1 model".to_owned()),
                ("1 worker".to_owned(), f64::NAN, 1.0, "failed".to_owned()),
            ],
        );
        assert_eq!(plot.points.len(), 2);
        assert_ne!(plot.series[0].1, plot.series[1].1);
        assert_ne!(plot.series[0].2, plot.series[1].2);
        assert!(plot.y.max >= 60_000.0);
        assert_eq!(plot.describe(&plot.points[0]), "1 model: Latency p50 (ms) 0.03, Throughput (inf/s) 31346");
    }
}
