//! The column heads of a table: how each column is sorted, and the effect of pressing a head.

use ns_base::units::format_plural;
use ns_view::table::{Column, Sort};

/// A head as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableHead {
    /// How its column is sorted, for screen readers: `none`, `ascending`, `descending`.
    pub order: &'static str,
    /// The sort order as an arrow; empty for a column that does not sort the table.
    pub mark: &'static str,
    /// How the table is sorted after a press.
    pub next: Sort,
}

impl TableHead {
    /// The head of a column, in a table with this sorting.
    pub fn of(column: &Column, sort: Option<&Sort>) -> Self {
        let current = sort.filter(|s| s.column == column.id);
        let (order, mark) = match current {
            None => ("none", ""),
            Some(s) if s.descending => ("descending", "\u{2193}"),
            Some(_) => ("ascending", "\u{2191}"),
        };
        // The first press sorts numbers from large to small, or the best to the top, and names from A to Z.
        let descending = current.map_or(column.is_numeric() && !column.is_least_first, |s| !s.descending);
        Self { order, mark, next: Sort { column: column.id.clone(), descending } }
    }
}

/// How many rows a search leaves: `1 row`, `3 of 12 rows`.
pub fn count_text(visible: usize, all: usize) -> String {
    if visible == all { format_plural(all, "row") } else { format!("{visible} of {all} rows") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_view::table::ColumnKind;

    fn columns() -> [Column; 2] {
        [Column::new("name", "Name", ColumnKind::Text), Column::new("ms", "Time", ColumnKind::Number)]
    }

    /// The heads in a line, as they are shown.
    fn line(sort: Option<&Sort>) -> String {
        let heads = columns()
            .map(|c| format!("{} {} {}", c.title, TableHead::of(&c, sort).mark, TableHead::of(&c, sort).order));
        heads.join(" | ")
    }

    #[test]
    fn only_the_column_that_is_sorted_has_an_arrow() {
        let by = |column: &str, descending| Sort { column: column.to_owned(), descending };
        assert_eq!(line(None), "Name  none | Time  none");
        assert_eq!(line(Some(&by("ms", true))), "Name  none | Time \u{2193} descending");
        assert_eq!(line(Some(&by("name", false))), "Name \u{2191} ascending | Time  none");
        assert_eq!(line(Some(&by("gone", false))), line(None));
    }

    #[test]
    fn a_first_press_sorts_in_the_usual_direction_and_the_next_reverses_it() {
        let [name, ms] = columns();
        let pressed = |column: &Column, times: usize| {
            let press = |sort: Option<Sort>, _| Some(TableHead::of(column, sort.as_ref()).next);
            (0..times).fold(None, press).unwrap()
        };
        assert!(!pressed(&name, 1).descending && pressed(&name, 2).descending);
        assert!(pressed(&ms, 1).descending && !pressed(&ms, 2).descending);
        assert_eq!(pressed(&ms, 1), pressed(&ms, 3));
        let cost = Column::new("usd", "Cost", ColumnKind::Number).least_first();
        assert!(!pressed(&cost, 1).descending && pressed(&cost, 2).descending);
        // Pressing another column starts with its first order.
        assert_eq!(TableHead::of(&ms, Some(&pressed(&name, 1))).next, pressed(&ms, 1));
    }

    #[test]
    fn rows_are_counted_in_words() {
        assert_eq!([count_text(1, 1), count_text(3, 3), count_text(0, 12)], ["1 row", "3 rows", "0 of 12 rows"]);
    }
}
