//! What each limit of the core costs a simulated execution.

use ns_insight::{Insights, limit_words};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// The limits with what the execution would gain without each, the bound first; `None` if no limit costs time.
pub fn limits_table(insights: &Insights) -> Option<Table> {
    let ranked = insights.limits.as_ref()?.ranked();
    let row = |(name, us): (&str, f64)| {
        let share = us / 1e4 / insights.summary.total_time;
        vec![Cell::Text(limit_words(name)), Cell::Number(us * 1e3), Cell::Number(share)]
    };
    let columns = vec![
        Column::new("limit", "Limit", ColumnKind::Text),
        Column::in_unit("ns", "saves", "Saves", ColumnKind::Number),
        Column::new("share", "Of total_time", ColumnKind::Percent),
    ];
    (!ranked.is_empty()).then(|| Table { columns, rows: ranked.into_iter().map(row).collect() })
}
