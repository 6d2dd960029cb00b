//! The specification of a comparison with figures of devices, as in its form.

use serde::{Deserialize, Serialize};

/// The name of a table that the user gives.
pub(super) const OWN: &str = "own";

/// The tables that come with the program, by the name of their file in `ns_fidelity`, and the one of the user.
pub(super) const TABLES: [(&str, &str); 5] = [
    ("published", "published \u{2013} throughput of models"),
    ("decode", "decode \u{2013} tokens of language models"),
    ("served", "served \u{2013} language models behind servers"),
    ("instructions", "instructions \u{2013} instructions and transfers"),
    (OWN, "own \u{2013} your file"),
];

/// The fields of the form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FidelityStudy {
    /// A table that comes with the program, `own`, or the name of the file that holds the rows.
    pub table: String,
    /// The user's rows, as CSV; empty for those of the table.
    pub rows: String,
}

impl Default for FidelityStudy {
    fn default() -> Self {
        Self { table: TABLES[0].0.to_owned(), rows: String::new() }
    }
}

impl FidelityStudy {
    /// Whether a name is that of a table that comes with the program.
    pub fn is_shipped(name: &str) -> bool {
        name != OWN && TABLES.iter().any(|(known, _)| *known == name)
    }

    /// The names of the tables that come with the program.
    pub fn shipped() -> impl Iterator<Item = &'static str> {
        TABLES.into_iter().map(|(name, _)| name).filter(|name| *name != OWN)
    }

    /// Name of the file, for titles, errors and the command line.
    pub fn file(&self) -> String {
        if TABLES.iter().any(|(name, _)| *name == self.table) {
            format!("{}.csv", self.table)
        } else {
            self.table.clone()
        }
    }

    /// What a command calls the table; `None` for rows without a file.
    pub fn named(&self) -> Option<&str> {
        Some(self.table.as_str()).filter(|name| *name != OWN)
    }

    pub(super) fn take(&mut self, table: &str) {
        table.clone_into(&mut self.table);
        if Self::is_shipped(table) {
            self.rows.clear();
        }
    }

    pub(super) fn take_rows(&mut self, rows: String) {
        if !rows.is_empty() && Self::is_shipped(&self.table) {
            OWN.clone_into(&mut self.table);
        }
        self.rows = rows;
    }
}
