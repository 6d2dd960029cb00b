//! Lines over two axes, in series: scaling, cumulative curves, throughput over time, histograms as steps.

use serde::{Deserialize, Serialize};

use super::Axis;
use crate::view::palette::distinct_fills;
use crate::view::text::three_decimals;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineStyle {
    /// Straight lines between points.
    Solid,
    /// The same, dashed: what is expected rather than measured.
    Dashed,
    /// A step at each point, filled to the axis: bars that touch.
    Steps,
}

/// One series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// How it is drawn.
    pub style: LineStyle,
    /// Place of its colour in the palette.
    pub fill: u8,
    /// Its points by ascending `x`.
    pub points: Vec<(f64, f64)>,
}

/// A plot of lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis, from zero.
    pub y: Axis,
    /// Its series.
    pub lines: Vec<Line>,
}

/// A series by name, style and points.
pub type Series = (String, LineStyle, Vec<(f64, f64)>);

impl Lines {
    /// A plot of series. Points that are not finite are left out, series without a point too. The horizontal axis begins
    /// at zero, or with `from_zero` false at the smallest value; the end of the last step of [`LineStyle::Steps`] is the
    /// last point.
    #[must_use]
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
        let line = |((name, style, points), fill)| Line { name, style, fill, points };
        Self {
            x: Axis::between(x_title, low, largest(|p| p.0), 6),
            y: Axis::from_zero(y_title, largest(|p| p.1), 5),
            lines: kept.into_iter().zip(fills).map(line).collect(),
        }
    }

    /// A point in words.
    #[must_use]
    pub fn describe(&self, line: &Line, point: (f64, f64)) -> String {
        let (x, y) = (&self.x.title, &self.y.title);
        format!("{}: {x} {}, {y} {}", line.name, exact(point.0), exact(point.1))
    }
}

/// Three decimals, or more where those say nothing.
fn exact(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.1 {
        format!("{value:.6}").trim_end_matches('0').to_owned()
    } else {
        three_decimals(value)
    }
}

/// Averages of so many neighbours that at most `most` points are left: a line with more points than pixels.
#[must_use]
pub fn averaged(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    let each = points.len().div_ceil(most.max(1)).max(1);
    let mean = |chunk: &[(f64, f64)]| {
        let n = chunk.len() as f64;
        (chunk.first().map_or(0.0, |p| p.0), chunk.iter().map(|p| p.1).sum::<f64>() / n)
    };
    points.chunks(each).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn averaging_keeps_the_mean_and_the_limit() {
        let points: Vec<(f64, f64)> = (0..86_400).map(|i| (f64::from(i), f64::from(i % 2) * 10.0)).collect();
        let few = averaged(&points, 600);
        assert!(few.len() <= 600 && few.iter().all(|p| (p.1 - 5.0).abs() < 1e-9));
        assert_eq!(averaged(&points[..3], 600), points[..3]);
        assert!(averaged(&[], 600).is_empty());
    }
}
