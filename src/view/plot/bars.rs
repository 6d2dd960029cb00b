//! Horizontal bars from zero: one value for each of a few things.

use serde::{Deserialize, Serialize};

use crate::colours::unit_fills;

/// A plot of bars.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    /// Bars from top to bottom.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    pub name: String,
    pub value: f64,
    /// Its length as a share of the longest, 0 to 1.
    pub share: f64,
    /// Place of its colour in the palette.
    pub fill: u8,
}

impl Bars {
    /// Bars of (name, group, value); bars of one group have one colour: that of its kind if it is a unit, else the one that
    /// [`super::Scatter`] gives a series of that name. Negative values and values that are not finite are left out.
    pub fn new(values: impl IntoIterator<Item = (String, String, f64)>) -> Self {
        let kept: Vec<_> = values.into_iter().filter(|(.., v)| v.is_finite() && *v >= 0.0).collect();
        let longest = kept.iter().map(|(.., v)| *v).fold(0.0, f64::max);
        let mut groups: Vec<&str> = Vec::new();
        let places: Vec<usize> = kept
            .iter()
            .map(|(_, group, _)| {
                groups.iter().position(|g| g == group).unwrap_or_else(|| {
                    groups.push(group);
                    groups.len() - 1
                })
            })
            .collect();
        let fills = unit_fills(groups.into_iter());
        let bar = |(i, (name, _, value)): (usize, (String, String, f64))| {
            let share = if longest > 0.0 { value / longest } else { 0.0 };
            Bar { name, value, share, fill: fills[places[i]] }
        };
        Self { bars: kept.into_iter().enumerate().map(bar).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_is_the_measure() {
        let plot = Bars::new([
            ("a".into(), "g".into(), 5.0),
            ("b".into(), "g".into(), 10.0),
            ("c".into(), "h".into(), f64::NAN),
        ]);
        let shares: Vec<f64> = plot.bars.iter().map(|b| b.share).collect();
        assert_eq!(shares, [0.5, 1.0]);
        assert_eq!(plot.bars[0].fill, plot.bars[1].fill);
        assert_eq!(Bars::new([("a".into(), "g".into(), 0.0)]).bars[0].share, 0.0);
    }
}
