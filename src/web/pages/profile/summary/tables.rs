//! Insights as tables.

use ns_base::Order;
use ns_insight::{MetricValue, RooflinePoint, Summary};
use ns_view::metric_groups::{GROUPS, group_of};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// All metrics by group, each rounded for reading and exact.
pub fn metrics(summary: &Summary) -> Table {
    let mut rows: Vec<(usize, Vec<Cell>)> = summary
        .metrics()
        .into_iter()
        .map(|m| {
            let group = group_of(&m.name);
            let place = GROUPS.iter().position(|g| *g == group).unwrap_or(GROUPS.len());
            let exact = match m.value {
                MetricValue::Count(n) => Cell::Count(n),
                MetricValue::Real(x) => Cell::Number(x),
            };
            let text = m.text();
            let cells = vec![
                Cell::Text(m.name),
                Cell::Text(group.to_owned()),
                Cell::Text(text),
                exact,
                Cell::Text(m.unit.symbol().to_owned()),
            ];
            (place, cells)
        })
        .collect();
    // A stable sort: within a group the order of the summary stays.
    rows.order_by_key(|(place, _)| *place);
    Table {
        columns: vec![
            Column::new("metric", "Metric", ColumnKind::Text),
            Column::new("group", "Group", ColumnKind::Text),
            Column::new("text", "Value", ColumnKind::Text),
            Column::new("value", "Exact value", ColumnKind::Exact),
            Column::new("unit", "Unit", ColumnKind::Text),
        ],
        rows: rows.into_iter().map(|(_, cells)| cells).collect(),
    }
}

/// The table twin of the roofline.
pub fn roofline(points: &[RooflinePoint]) -> Table {
    let row = |p: &RooflinePoint| {
        vec![
            Cell::Text(p.name.clone()),
            Cell::Count(p.flops),
            Cell::Count(p.hbm_bytes),
            Cell::from(p.intensity_flops_per_byte),
            Cell::Number(p.flops_per_s / 1e9),
            Cell::Number(p.attainable_flops_per_s / 1e9),
        ]
    };
    Table {
        columns: vec![
            Column::new("module", "Module", ColumnKind::Text),
            Column::new("flops", "flop", ColumnKind::Count),
            Column::new("hbm_bytes", "HBM bytes", ColumnKind::Count),
            Column::new("intensity", "flop/B", ColumnKind::Number),
            Column::new("gflops", "Gflop/s", ColumnKind::Number),
            Column::new("attainable_gflops", "Roof (Gflop/s)", ColumnKind::Number),
        ],
        rows: points.iter().map(row).collect(),
    }
}
