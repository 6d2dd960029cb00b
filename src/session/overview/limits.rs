//! What each limit of the core costs a simulated execution.

use ns_insight::Insights;
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// The limits with what the execution would gain without each, the bound first; `None` if no limit costs time.
pub fn limits_table(insights: &Insights) -> Option<Table> {
    let row = |(words, ns, percent)| vec![Cell::Text(words), Cell::Number(ns), Cell::Number(percent)];
    let rows: Vec<Vec<Cell>> = insights.limit_costs().into_iter().map(row).collect();
    let columns = vec![
        Column::new("limit", "Limit", ColumnKind::Text),
        Column::in_unit("ns", "saves", "Saves", ColumnKind::Number),
        Column::new("share", "Of total_time", ColumnKind::Percent),
    ];
    (!rows.is_empty()).then_some(Table { columns, rows })
}
