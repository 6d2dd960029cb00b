//! A report as rows of cells.

/// A heading, which the two formats write differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// On one line.
    pub short: String,
    /// On several lines.
    pub lines: Vec<String>,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// A whole number.
    Count(u64),
    /// A number, printed to eight decimals in CSV and two in a table.
    Number(f64),
    /// Text.
    Text(String),
}

/// Headings and rows; every row has as many cells as there are headings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub headings: Vec<Heading>,
    /// Cells.
    pub rows: Vec<Vec<Cell>>,
}

impl Heading {
    /// The same text in both formats.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self { short: text.to_owned(), lines: vec![text.to_owned()] }
    }

    /// Words that stand below each other in a table.
    #[must_use]
    pub fn stacked(short: String, lines: &[&str]) -> Self {
        Self { short, lines: lines.iter().map(|l| (*l).to_owned()).collect() }
    }
}
