//! A report as rows of cells, and the CSV form of it: a heading after `# `, commas, no quotes.

use crate::python::{repr, round8};

/// A heading, which the two formats write differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Its text on one line.
    pub short: String,
    /// Its text on several lines.
    pub lines: Vec<String>,
}

/// The value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Empty,
    Count(u64),
    /// A number, printed to eight decimals in CSV and two in a table.
    Number(f64),
    Text(String),
}

/// Headings and rows; every row has as many cells as there are headings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub headings: Vec<Heading>,
    pub rows: Vec<Vec<Cell>>,
}

impl Heading {
    /// The same text in both formats.
    pub fn plain(text: &str) -> Self {
        Self { short: text.to_owned(), lines: vec![text.to_owned()] }
    }

    /// Words on separate lines in a table.
    pub fn stacked(short: String, lines: &[&str]) -> Self {
        Self { short, lines: lines.iter().map(|l| (*l).to_owned()).collect() }
    }
}

impl Table {
    /// As the suite writes CSV. Nothing is quoted: a comma in a model's name stays a comma.
    pub fn to_csv(&self) -> String {
        let headings: Vec<&str> = self.headings.iter().map(|h| h.short.as_str()).collect();
        let mut out = format!("# {}\n", headings.join(","));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(cell).collect();
            out.push_str(&cells.join(","));
            out.push('\n');
        }
        out
    }
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Count(n) => n.to_string(),
        Cell::Number(x) => repr(round8(*x)),
        Cell::Text(text) => text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_eight_decimals_at_most() {
        let row = vec![Cell::Count(0), Cell::Number(1.0 / 3.0), Cell::Empty, Cell::Text("a".to_owned())];
        let table = Table { headings: ["n", "x", "y", "z"].map(Heading::plain).to_vec(), rows: vec![row] };
        assert_eq!(table.to_csv(), "# n,x,y,z\n0,0.33333333,,a\n");
    }
}
