//! The memory of devices as tables.

use super::listing::{LinkedTable, Rows, Sources};
use crate::timeline::{NO_NAME, link};
use ns_analysis::memory::{DeviceMemory, MemoryLevel};
use ns_base::convert::i64_to_f64;
use ns_profile::SliceId;
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// Rows of a table, each with the slice that shows it best.
type LinkedRows = Vec<(Vec<Cell>, Option<SliceId>)>;

fn bytes(n: i64) -> Cell {
    u64::try_from(n).map_or_else(|_| Cell::Number(i64_to_f64(n)), Cell::Count)
}

fn page_of(sources: &Sources<'_>, columns: Vec<Column>, rows: &LinkedRows, page: Rows) -> LinkedTable {
    let shown = page.of(rows);
    let slices = shown.iter().map(|(_, slice)| slice.map(|id| link(sources.profile, sources.tracks, id)));
    LinkedTable {
        table: Table { columns, rows: shown.iter().map(|(row, _)| row.clone()).collect() },
        slices: slices.collect(),
        skip: u64::from(page.skip),
        total: rows.len() as u64,
        notes: Vec::new(),
    }
}

fn device_column() -> Column {
    Column::new("device", "Device", ColumnKind::Text)
}

fn process_column() -> Column {
    Column::new("process", "Process", ColumnKind::Text)
}

fn count(id: &str, title: &str) -> Column {
    Column::new(id, title, ColumnKind::Count)
}

/// How much each device holds: at the peak and at the end, and how much was allocated in all.
pub(super) fn memory_table(sources: &Sources<'_>, devices: &[DeviceMemory], page: Rows) -> LinkedTable {
    let of = |level: Option<MemoryLevel>, value: fn(&MemoryLevel) -> i64| {
        level.map_or(Cell::Missing, |level| bytes(value(&level)))
    };
    let row = |m: &DeviceMemory| {
        let row = vec![
            Cell::Text(m.device.clone()),
            Cell::Text(m.process.clone()),
            of(m.allocated, |level| level.peak),
            of(m.allocated, |level| level.peak_at_ns),
            of(m.allocated, |level| level.last),
            of(m.reserved, |level| level.peak),
            Cell::Count(m.allocations),
            Cell::Count(m.releases),
            Cell::Count(m.allocated_bytes),
        ];
        (row, None)
    };
    let columns = vec![
        device_column(),
        process_column(),
        count("peak_bytes", "Most allocated (bytes)"),
        count("peak_at_ns", "Most at (ns)"),
        count("last_bytes", "Allocated at the end (bytes)"),
        count("reserved_bytes", "Most reserved (bytes)"),
        count("allocations", "Allocations"),
        count("releases", "Releases"),
        count("sum_bytes", "Sum of allocations (bytes)"),
    ];
    let mut table = page_of(sources, columns, &devices.iter().map(row).collect(), page);
    if devices.iter().any(|m| m.is_since_start) {
        table
            .notes
            .push("The profiler wrote no totals: what is allocated counts from the start of the profile.".to_owned());
    }
    table
}

/// The operators of each device that allocate.
pub(super) fn memory_operators_table(sources: &Sources<'_>, devices: &[DeviceMemory], page: Rows) -> LinkedTable {
    let rows = devices.iter().flat_map(|m| {
        m.operators.iter().map(|o| {
            let row = vec![
                Cell::Text(if o.name.is_empty() { NO_NAME } else { &o.name }.to_owned()),
                Cell::Text(m.device.clone()),
                Cell::Text(m.process.clone()),
                Cell::Count(o.allocations),
                Cell::Count(o.bytes),
                Cell::Count(o.self_bytes),
                Cell::Count(o.largest),
            ];
            (row, o.slice)
        })
    });
    let columns = vec![
        Column::new("name", "Operator", ColumnKind::Name),
        device_column(),
        process_column(),
        count("allocations", "Allocations"),
        count("bytes", "Allocated inside (bytes)"),
        count("self_bytes", "By itself (bytes)"),
        count("largest_bytes", "Largest (bytes)"),
    ];
    page_of(sources, columns, &rows.collect(), page)
}

/// The growth of each step.
pub(super) fn memory_steps_table(sources: &Sources<'_>, devices: &[DeviceMemory], page: Rows) -> LinkedTable {
    let rows = devices.iter().flat_map(|m| {
        m.steps.iter().map(|s| {
            let row = vec![
                Cell::Text(s.name.clone()),
                Cell::Text(m.device.clone()),
                Cell::Text(m.process.clone()),
                bytes(s.growth),
                bytes(s.peak),
            ];
            (row, s.slice)
        })
    });
    let columns = vec![
        Column::new("name", "Step", ColumnKind::Text),
        device_column(),
        process_column(),
        count("growth_bytes", "Growth (bytes)"),
        count("peak_bytes", "Most allocated (bytes)"),
    ];
    page_of(sources, columns, &rows.collect(), page)
}
