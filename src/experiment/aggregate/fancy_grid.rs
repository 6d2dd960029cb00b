//! The table form: box-drawing lines around every cell, as Python's tabulate draws its `fancy_grid`.

use super::table::{Cell, Table};
use crate::python::round8;

/// Number of spaces that a heading has beyond its longest line.
const PADDING: usize = 2;

/// A column that is ready to be drawn.
struct Column {
    heading: Vec<String>,
    cells: Vec<String>,
    is_right: bool,
    width: usize,
}

impl Table {
    /// As the suite prints a table: two decimals, numbers right-aligned, text left-aligned.
    pub fn to_framed(&self) -> String {
        let columns: Vec<Column> = (0..self.headings.len()).map(|i| self.column(i)).collect();
        let height = columns.iter().map(|c| c.heading.len()).max().unwrap_or(0);
        let mut out = rule(&columns, ['╒', '═', '╤', '╕']);
        for line in 0..height {
            out.push_str(&row(&columns, |c| c.heading.get(line).map_or("", String::as_str)));
        }
        out.push_str(&rule(&columns, ['╞', '═', '╪', '╡']));
        for i in 0..self.rows.len() {
            if i > 0 {
                out.push_str(&rule(&columns, ['├', '─', '┼', '┤']));
            }
            out.push_str(&row(&columns, |c| c.cells.get(i).map_or("", String::as_str)));
        }
        out + &rule(&columns, ['╘', '═', '╧', '╛'])
    }

    fn column(&self, i: usize) -> Column {
        let heading = self.headings.get(i).map(|h| h.lines.clone()).unwrap_or_default();
        let values: Vec<&Cell> = self.rows.iter().filter_map(|r| r.get(i)).collect();
        // An empty column counts as text.
        let is_right = values.iter().any(|v| matches!(v, Cell::Number(_) | Cell::Count(_)));
        // Decimal points are aligned; a number without one ends before them.
        let has_point = values.iter().any(|v| matches!(v, Cell::Number(x) if x.is_finite()));
        let cells: Vec<String> = values.into_iter().map(|v| cell(v, has_point)).collect();
        let longest = |texts: &[String]| texts.iter().map(|t| t.chars().count()).max().unwrap_or(0);
        let width = (longest(&heading) + PADDING).max(longest(&cells));
        Column { heading, cells, is_right, width }
    }
}

fn cell(cell: &Cell, has_point: bool) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Count(n) => n.to_string(),
        Cell::Number(x) if x.is_finite() => format!("{:.2}", round8(*x)),
        Cell::Number(x) => {
            let after_point = if has_point { "   " } else { "" };
            crate::python::repr(*x) + after_point
        }
        Cell::Text(text) => text.clone(),
    }
}

fn rule(columns: &[Column], [left, line, between, right]: [char; 4]) -> String {
    let parts: Vec<String> = columns.iter().map(|c| line.to_string().repeat(c.width + 2)).collect();
    format!("{left}{}{right}\n", parts.join(&between.to_string()))
}

fn row<'a>(columns: &'a [Column], text: impl Fn(&'a Column) -> &'a str) -> String {
    let padded = |c: &'a Column| {
        let width = c.width;
        if c.is_right { format!(" {:>width$} ", text(c)) } else { format!(" {:<width$} ", text(c)) }
    };
    let parts: Vec<String> = columns.iter().map(padded).collect();
    format!("│{}│\n", parts.join("│"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::Heading;

    #[test]
    fn a_table_without_rows_has_its_heading() {
        let table =
            Table { headings: vec![Heading::plain("A"), Heading::stacked("B".into(), &["B", "b"])], rows: vec![] };
        assert_eq!(table.to_framed(), "╒═════╤═════╕\n│ A   │ B   │\n│     │ b   │\n╞═════╪═════╡\n╘═════╧═════╛\n");
    }

    #[test]
    fn numbers_align_at_the_point_and_text_before_it() {
        let rows = [Cell::Number(12.345), Cell::Empty, Cell::Number(f64::INFINITY)].map(|c| vec![c]).to_vec();
        let text = Table { headings: vec![Heading::plain("x")], rows }.to_framed();
        let lines: Vec<&str> = text.lines().filter(|l| l.starts_with('│')).collect();
        assert_eq!(lines, ["│      x │", "│  12.35 │", "│        │", "│ inf    │"]);
    }
}
