//! The times that AWS published for a simulated execution, beside its own.

use super::document::Context;
use ns_base::units::format_ns;
use ns_bench::beside_text;
use ns_view::document::Block;
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// A published time and that of this profile.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeBeside {
    /// The operator; `None` for the device window.
    pub operator: Option<String>,
    pub published_ns: f64,
    pub here_ns: f64,
    /// What measured it.
    pub release: String,
}

impl TimeBeside {
    /// Both times and their ratio.
    pub fn text(&self) -> String {
        beside_text(self.published_ns, &self.release, self.here_ns, format_ns)
    }
}

/// The device window, if it is published.
pub fn window(all: &[TimeBeside]) -> Option<&TimeBeside> {
    all.iter().find(|time| time.operator.is_none())
}

/// All published times, if there are several; the device window alone is in its tile.
pub(super) fn table(c: &Context<'_>) -> Option<Block> {
    if c.published.len() < 2 {
        return None;
    }
    let number = |id: &str, title: &str| Column::new(id, title, ColumnKind::Number);
    let columns = vec![
        Column::new("what", "What", ColumnKind::Text),
        number("published_ns", "AWS (ns)"),
        number("here_ns", "Here (ns)"),
        number("ratio", "Ratio"),
        Column::new("release", "Measured by", ColumnKind::Text),
    ];
    let row = |time: &TimeBeside| {
        vec![
            Cell::Text(time.operator.clone().unwrap_or_else(|| "Device window".to_owned())),
            Cell::Number(time.published_ns),
            Cell::Number(time.here_ns),
            Cell::Number(time.here_ns / time.published_ns),
            Cell::Text(time.release.clone()),
        ]
    };
    let table = Table { columns, rows: c.published.iter().map(row).collect() };
    Some(Block::Table { title: "Published by AWS, and here".to_owned(), file: "published".to_owned(), table })
}
