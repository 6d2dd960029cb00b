//! What bounds a simulated execution, as tables.

use ns_base::units::format_ns;
use ns_insight::{Bounds, Insights};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// The limits of the core with what the execution would gain without each, the bound first; `None` if no limit costs time.
pub fn limits_table(insights: &Insights) -> Option<Table> {
    let row = |(title, ns, percent)| vec![Cell::Text(title), Cell::Number(ns), Cell::Number(percent)];
    let rows: Vec<Vec<Cell>> = insights.limit_costs().into_iter().map(row).collect();
    let columns = vec![
        Column::new("limit", "Limit", ColumnKind::Text),
        Column::in_unit("ns", "saves", "Saves", ColumnKind::Number),
        Column::new("share", "Of total_time", ColumnKind::Percent),
    ];
    (!rows.is_empty()).then_some(Table { columns, rows })
}

/// The bounds: times that the execution cannot beat.
pub fn bounds_table(of: &Bounds) -> Table {
    Table::of(&of.bounds)
        .text("bound", "Bound", |b| b.name.as_str())
        .text("time", "Time", |b| format_ns(b.seconds * 1e9))
        .number("time_ns", "ns", |b| b.seconds * 1e9)
        .number("speedup", "Speed-up", |b| b.speedup)
        .text("then", "Then limited by", |b| b.then.as_str())
        .text("meaning", "Meaning", |b| b.meaning.as_str())
        .table()
}

/// The time that lies between two bounds.
pub fn lost_time_table(of: &Bounds) -> Table {
    let lost: Vec<_> = of.lost.iter().filter(|lost| lost.seconds > 0.0).collect();
    Table::of(&lost)
        .text("from", "From", |l| l.from.as_str())
        .text("to", "To", |l| l.to.as_str())
        .text("time", "Time", |l| format_ns(l.seconds * 1e9))
        .number("time_ns", "ns", |l| l.seconds * 1e9)
        .text("cause", "Cause", |l| l.cause.as_str())
        .table()
}
