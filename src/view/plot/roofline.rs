//! A roofline: the rates that the peaks allow at each arithmetic intensity, and the positions of a run and its modules.

use serde::{Deserialize, Serialize};

use super::Axis;

/// A roofline in shares of its plot, 0 to 1 from left to right and from bottom to top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RooflinePlot {
    /// Horizontal axis: arithmetic intensity.
    pub x: Axis,
    /// Vertical axis: operations per second.
    pub y: Axis,
    /// The roof: its start, the ridge, its end.
    pub roof: [(f64, f64); 3],
    /// The ridge: intensity in flop/B.
    pub ridge: f64,
    /// Points that have an intensity and a rate.
    pub points: Vec<RoofPoint>,
    /// Names of points that moved no bytes, so they have no place on the plot.
    pub without_bytes: Vec<String>,
}

/// A point under the roof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoofPoint {
    /// `total`, or the module.
    pub name: String,
    pub at: (f64, f64),
    /// flop/B.
    pub intensity: f64,
    /// flop/s.
    pub rate: f64,
    /// Its rate as a percentage of the roof at its intensity.
    pub of_roof_percent: f64,
    /// Whether it lies under the roof's memory-bound part.
    pub is_memory_bound: bool,
}

impl RooflinePlot {
    /// A plot of (name, flop/B, flop/s) under peaks in flop/s and B/s.
    pub fn new(
        peak_flops_per_s: f64,
        peak_bytes_per_s: f64,
        points: impl IntoIterator<Item = (String, Option<f64>, f64)>,
    ) -> Self {
        let ridge = peak_flops_per_s / peak_bytes_per_s;
        let mut kept = Vec::new();
        let mut without_bytes = Vec::new();
        for (name, intensity, rate) in points {
            match intensity.filter(|i| *i > 0.0 && rate > 0.0) {
                Some(intensity) => kept.push((name, intensity, rate)),
                None => without_bytes.push(name),
            }
        }
        let intensities = kept.iter().map(|p| p.1).chain([ridge, ridge * 10.0]);
        let x = Axis::decades("Arithmetic intensity (flop/B)", intensities);
        let rates = kept.iter().map(|p| p.2).chain([peak_flops_per_s, x.min * peak_bytes_per_s]);
        let y = Axis::decades("flop/s", rates);
        let roof_at = |i: f64| (i * peak_bytes_per_s).min(peak_flops_per_s);
        let place = |i: f64, rate: f64| (x.share(i), y.share(rate));
        let roof = [x.min, ridge, x.max].map(|i| place(i, roof_at(i)));
        let point = |(name, intensity, rate): (String, f64, f64)| RoofPoint {
            at: place(intensity, rate),
            of_roof_percent: rate * 100.0 / roof_at(intensity),
            is_memory_bound: intensity < ridge,
            name,
            intensity,
            rate,
        };
        let points = kept.into_iter().map(point).collect();
        Self { roof, ridge, points, without_bytes, x, y }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_under_the_roof_on_their_side_of_the_ridge() {
        let plot = RooflinePlot::new(
            92e12,
            410e9,
            [
                ("total".to_owned(), Some(10.0), 2.05e12),
                ("dense".to_owned(), Some(1_000.0), 46e12),
                ("relu".to_owned(), None, 0.0),
            ],
        );
        assert!((plot.ridge - 224.39).abs() < 0.01);
        let brief: Vec<_> = plot.points.iter().map(|p| (p.is_memory_bound, p.of_roof_percent.round())).collect();
        assert_eq!(brief, [(true, 50.0), (false, 50.0)]);
        assert_eq!(plot.without_bytes, ["relu"]);
        // In a log-log plot, the memory's part of the roof is a straight line with slope 1 in decades.
        let decades = |axis: &Axis| libm::log10(axis.max / axis.min);
        let [(x0, y0), (x1, y1), (_, y2)] = plot.roof;
        let slope = (y1 - y0) * decades(&plot.y) / ((x1 - x0) * decades(&plot.x));
        assert!((slope - 1.0).abs() < 1e-9, "{slope}");
        assert_eq!(y1, y2);
    }
}
