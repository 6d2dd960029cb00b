//! Shares over time, one lane for each unit: an area from 0 to 100 percent in equal buckets.

use serde::{Deserialize, Serialize};

use super::{Form, Ink, Shape};
use crate::colours::unit_fills;
use crate::svg::number;
use ns_base::convert::{f64_to_usize, usize_to_f64};

/// Lanes over one span of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lanes {
    /// Start of the lanes, nanoseconds.
    pub start_ns: i64,
    /// End of the lanes, nanoseconds.
    pub end_ns: i64,
    /// The lanes, from top to bottom.
    pub lanes: Vec<Lane>,
}

/// One lane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    pub name: String,
    /// Share of each bucket, 0 to 100.
    pub percent: Vec<f64>,
    /// Mean over all buckets, 0 to 100.
    pub mean_percent: f64,
    /// Place of its colour in the palette.
    pub fill: u8,
    /// The area in a box of 1000 x 100, as SVG path data; empty if all shares are 0.
    pub path: String,
}

impl Lane {
    /// Its area before its background.
    pub fn shapes(&self) -> [Shape; 2] {
        let all = Form::Outline("M0 0H1000V100H0Z".to_owned());
        let area = Form::Outline(self.path.clone());
        [Shape::new(all, "back", Ink::OfClass), Shape::new(area, "area", Ink::Fill(self.fill))]
    }
}

impl Lanes {
    /// Lanes of (name, shares).
    pub fn new(start_ns: i64, end_ns: i64, rows: impl IntoIterator<Item = (String, Vec<f64>)>) -> Self {
        let rows: Vec<_> = rows.into_iter().collect();
        let fills = unit_fills(rows.iter().map(|r| r.0.as_str()));
        let lane = |((name, percent), fill): ((String, Vec<f64>), u8)| Lane {
            mean_percent: percent.iter().sum::<f64>() / usize_to_f64(percent.len().max(1)),
            path: area(&percent),
            name,
            percent,
            fill,
        };
        Self { start_ns, end_ns, lanes: rows.into_iter().zip(fills).map(lane).collect() }
    }

    /// The bucket of a lane at a share of its width.
    pub fn bucket_at(&self, lane: &Lane, share: f64) -> Option<usize> {
        let n = lane.percent.len();
        Some(f64_to_usize(share * usize_to_f64(n)).min(n.checked_sub(1)?))
    }

    /// Start and end of a bucket of a lane with `n` buckets, in nanoseconds.
    #[allow(clippy::cast_possible_truncation, reason = "within the span")]
    pub fn bucket_ns(&self, i: usize, n: usize) -> (i64, i64) {
        let length = i128::from(self.end_ns) - i128::from(self.start_ns);
        let edge = |i: usize| self.start_ns + (length * i as i128 / n.max(1) as i128) as i64;
        (edge(i), edge(i + 1))
    }
}

/// The path of the steps, without the stretches at zero.
fn area(percent: &[f64]) -> String {
    let width = 1_000.0 / usize_to_f64(percent.len().max(1));
    let mut path = String::new();
    let mut i = 0;
    while i < percent.len() {
        if percent[i] <= 0.0 {
            i += 1;
            continue;
        }
        path.push_str(&format!("M{} 100", number(usize_to_f64(i) * width)));
        while i < percent.len() && percent[i] > 0.0 {
            let y = number(100.0 - percent[i].min(100.0));
            path.push_str(&format!("V{y}H{}", number(usize_to_f64(i + 1) * width)));
            i += 1;
        }
        path.push_str("V100Z");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_cut_where_nothing_happens() {
        let lanes = Lanes::new(100, 200, [("DMA".to_owned(), vec![50.0, 0.0, 100.0, 25.0])]);
        let dma = &lanes.lanes[0];
        assert_eq!(dma.path, "M0 100V50H250V100ZM500 100V0H750V75H1000V100Z");
        assert_eq!(dma.mean_percent, 43.75);
        assert_eq!(lanes.bucket_ns(2, 4), (150, 175));
        assert_eq!(Lanes::new(0, 0, [("x".to_owned(), vec![])]).lanes[0].mean_percent, 0.0);
    }
}
