//! The CSV form: a heading behind `# `, commas, no quotes.

use super::table::{Cell, Table};
use crate::experiment::python::{repr, round8};

impl Table {
    /// As the suite writes CSV. Nothing is quoted: a comma in a model's name stays one.
    #[must_use]
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
    use crate::experiment::aggregate::Heading;

    #[test]
    fn numbers_have_eight_decimals_at_most() {
        let row = vec![Cell::Count(0), Cell::Number(1.0 / 3.0), Cell::Empty, Cell::Text("a".to_owned())];
        let table = Table { headings: ["n", "x", "y", "z"].map(Heading::plain).to_vec(), rows: vec![row] };
        assert_eq!(table.to_csv(), "# n,x,y,z\n0,0.33333333,,a\n");
    }
}
