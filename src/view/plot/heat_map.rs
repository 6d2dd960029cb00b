//! A grid of values for two dimensions: sizes by repetitions, models by devices.

use serde::{Deserialize, Serialize};

/// A grid of values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// Title of the columns.
    pub x_title: String,
    /// Title of the rows.
    pub y_title: String,
    /// Title of the values, with their unit.
    pub value_title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows from top to bottom.
    pub rows: Vec<HeatRow>,
}

/// A row of a [`HeatMap`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeatRow {
    pub name: String,
    /// A cell for each column; `None` for an unknown value.
    pub cells: Vec<Option<HeatCell>>,
}

/// A cell of a [`HeatMap`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeatCell {
    pub value: f64,
    /// The value as shown in the cell.
    pub text: String,
    /// Its place between the two ends of the scale, 0 to 1.
    pub share: f64,
}

impl HeatMap {
    /// A grid whose shades go from `low` to `high`: a value beyond them gets the shade of the nearer end. Values that are not
    /// finite are left out.
    pub fn new(
        titles: [&str; 3],
        columns: Vec<String>,
        rows: impl IntoIterator<Item = (String, Vec<Option<f64>>)>,
        (low, high): (f64, f64),
        text: impl Fn(f64) -> String,
    ) -> Self {
        let width = high - low;
        let cell = |value: Option<f64>| {
            let value = value.filter(|v| v.is_finite())?;
            let share = if width > 0.0 { ((value - low) / width).clamp(0.0, 1.0) } else { 0.0 };
            Some(HeatCell { value, text: text(value), share })
        };
        let row = |(name, values): (String, Vec<Option<f64>>)| {
            let mut cells: Vec<_> = values.into_iter().map(cell).collect();
            cells.resize(columns.len(), None);
            HeatRow { name, cells }
        };
        let rows = rows.into_iter().map(row).collect();
        let [x_title, y_title, value_title] = titles.map(str::to_owned);
        Self { x_title, y_title, value_title, columns, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::units::format_whole_share;

    #[test]
    fn values_take_their_place_on_the_scale() {
        let rows = [("a".to_owned(), vec![Some(0.0), Some(50.0)]), ("b".to_owned(), vec![Some(200.0)])];
        let columns = vec!["1".to_owned(), "2".to_owned()];
        let map = HeatMap::new(["x", "y", "%"], columns, rows, (0.0, 100.0), format_whole_share);
        let shares: Vec<Vec<Option<f64>>> =
            map.rows.iter().map(|r| r.cells.iter().map(|c| c.as_ref().map(|c| c.share)).collect()).collect();
        assert_eq!(shares, [[Some(0.0), Some(0.5)], [Some(1.0), None]]);
        assert_eq!(map.rows[0].cells[1].as_ref().map(|c| c.text.as_str()), Some("50 %"));
    }

    #[test]
    fn only_numbers_have_cells() {
        let rows = [("a".to_owned(), vec![Some(f64::NAN)])];
        let map = HeatMap::new(["x", "y", "v"], vec!["1".to_owned()], rows, (0.0, 1.0), |v| v.to_string());
        assert_eq!(map.rows[0].cells, [None]);
    }
}
