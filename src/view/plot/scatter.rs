//! Points over two axes, in series: latency against throughput.

use serde::{Deserialize, Serialize};

use super::{Axis, Frame, nearest, pareto_front};
use crate::palette::{GREY, distinct_fills};
use crate::text::three_decimals;

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
    /// The largest `x` that is wanted, drawn as a line.
    pub limit: Option<f64>,
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
}

impl Scatter {
    /// A plot of (series, x, y, label); points that are not finite are left out.
    #[must_use]
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
            out.push(ScatterPoint { series: position, x, y, label });
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
            limit: None,
        }
    }

    /// The same with its Pareto front, which is of this trade: for plots where small `x` and large `y` are good.
    #[must_use]
    pub fn with_front(mut self, of: &str) -> Self {
        of.clone_into(&mut self.front_of);
        let places: Vec<(f64, f64)> = self.points.iter().map(|p| (p.x, p.y)).collect();
        self.front = pareto_front(&places);
        self
    }

    /// The same with its Pareto front, for plots where both are good when they are small.
    #[must_use]
    pub fn with_low_front(mut self, of: &str) -> Self {
        of.clone_into(&mut self.front_of);
        let places: Vec<(f64, f64)> = self.points.iter().map(|p| (p.x, -p.y)).collect();
        self.front = pareto_front(&places);
        self
    }

    /// The same with its Pareto front, for plots where both are good when they are large.
    #[must_use]
    pub fn with_front_of_both(mut self) -> Self {
        let places: Vec<(f64, f64)> = self.points.iter().map(|p| (-p.x, p.y)).collect();
        self.front = pareto_front(&places);
        self
    }

    /// The same with a logarithmic axis wherever the largest value is many times the smallest: on one from zero, most points would lie in a
    /// corner.
    #[must_use]
    pub fn with_ratios(mut self) -> Self {
        let axis = |axis: &Axis, of: fn(&ScatterPoint) -> f64| axis.by_ratios(self.points.iter().map(of));
        (self.x, self.y) = (
            axis(&self.x, |p| p.x).unwrap_or_else(|| self.x.clone()),
            axis(&self.y, |p| p.y).unwrap_or_else(|| self.y.clone()),
        );
        self
    }

    /// The same with a limit, to which the axis reaches.
    #[must_use]
    pub fn with_limit(mut self, limit: Option<f64>) -> Self {
        self.limit = limit.filter(|x| x.is_finite());
        let largest = self.points.iter().map(|p| p.x).fold(0.0, f64::max);
        // A limit far beyond all points would press them into a corner.
        if let Some(x) = self.limit.filter(|x| *x <= 2.0 * largest) {
            self.x = match self.x.is_logarithmic {
                true => Axis::logarithmic(&self.x.title, self.x.min, largest.max(x)),
                false => Axis::from_zero(&self.x.title, largest.max(x), 6),
            };
        }
        self
    }

    /// The same with hollow points (x, y, label) after the others, a series of their own that no front has.
    #[must_use]
    pub fn with_rings(mut self, series: &str, points: impl IntoIterator<Item = (f64, f64, String)>) -> Self {
        let own = self.series.len();
        let finite = points.into_iter().filter(|(x, y, _)| x.is_finite() && y.is_finite());
        self.points.extend(finite.map(|(x, y, label)| ScatterPoint { series: own, x, y, label }));
        if self.points.last().is_some_and(|p| p.series == own) {
            self.series.push((series.to_owned(), GREY, Mark::Ring));
            (self.x, self.y) = (x_axis(&self.x.title, &self.points), y_axis(&self.y.title, &self.points));
        }
        self
    }

    /// Whether no other point beats this one; `false` for all without a front.
    #[must_use]
    pub fn is_on_front(&self, point: usize) -> bool {
        self.front.contains(&point)
    }

    /// Place of a point on the screen.
    #[must_use]
    pub fn place(&self, frame: &Frame, point: &ScatterPoint) -> (f64, f64) {
        (frame.x(self.x.share(point.x)), frame.y(self.y.share(point.y)))
    }

    /// The point whose mark is closest to a place of the screen.
    #[must_use]
    pub fn at(&self, frame: &Frame, place: (f64, f64)) -> Option<usize> {
        nearest(self.points.iter().map(|p| self.place(frame, p)), place)
    }

    /// A point in words.
    #[must_use]
    pub fn describe(&self, point: &ScatterPoint) -> String {
        format!(
            "{}: {} {}, {} {}",
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

    #[test]
    fn each_mark_answers_at_its_own_place() {
        let points = (0..40_u32).map(|i| (format!("s{}", i % 3), f64::from(i * 7 % 41), f64::from(1 + i * 13 % 43)));
        let plot = Scatter::new("x", "y", points.map(|(s, x, y)| (s, x, y, format!("{x}"))));
        for (plot, width) in [(plot.clone(), 358.0), (plot.with_ratios(), 640.0)] {
            let frame = Frame::new(Some(width), 16.0);
            for (i, p) in plot.points.iter().enumerate() {
                let (x, y) = plot.place(&frame, p);
                let found = plot.at(&frame, (x + 0.4, y - 0.4));
                let is_there = |at: usize| plot.place(&frame, &plot.points[at]) == (x, y);
                assert!(found == Some(i) || found.is_some_and(is_there), "{i} at {x}, {y}: {found:?}");
            }
        }
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
