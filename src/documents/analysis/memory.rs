//! The memory of devices as tables.

use super::listing::{LinkedTable, Rows, Sources};
use crate::timeline::{NO_NAME, link};
use ns_analysis::memory::{DeviceMemory, MemoryLevel};
use ns_profile::SliceId;
use ns_view::table::Table;

/// A page of a table, each row with the slice that shows it best.
fn linked(
    sources: &Sources<'_>,
    table: Table,
    slices: impl Iterator<Item = Option<SliceId>>,
    page: Rows,
    total: usize,
) -> LinkedTable {
    let slices = slices.map(|slice| slice.map(|id| link(sources.profile, sources.tracks, id))).collect();
    LinkedTable { table, slices, skip: u64::from(page.skip), total: total as u64, notes: Vec::new() }
}

/// How much each device holds: at the peak and at the end, and how much was allocated in all.
pub(super) fn memory_table(sources: &Sources<'_>, devices: &[DeviceMemory], page: Rows) -> LinkedTable {
    let of = |level: Option<MemoryLevel>, value: fn(&MemoryLevel) -> i64| level.map(|level| value(&level));
    let listed = page.of(devices);
    let table = Table::of(listed)
        .text("device", "Device", |m| m.device.as_str())
        .text("process", "Process", |m| m.process.as_str())
        .count("peak_bytes", "Most allocated (bytes)", |m| of(m.allocated, |level| level.peak))
        .count("peak_at_ns", "Most at (ns)", |m| of(m.allocated, |level| level.peak_at_ns))
        .count("last_bytes", "Allocated at the end (bytes)", |m| of(m.allocated, |level| level.last))
        .count("reserved_bytes", "Most reserved (bytes)", |m| of(m.reserved, |level| level.peak))
        .count("allocations", "Allocations", |m| m.allocations)
        .count("releases", "Releases", |m| m.releases)
        .count("sum_bytes", "Sum of allocations (bytes)", |m| m.allocated_bytes)
        .table();
    let mut table = linked(sources, table, listed.iter().map(|_| None), page, devices.len());
    if devices.iter().any(|m| m.is_since_start) {
        table
            .notes
            .push("The profiler wrote no totals: what is allocated counts from the start of the profile.".to_owned());
    }
    table
}

/// The operators of each device that allocate.
pub(super) fn memory_operators_table(sources: &Sources<'_>, devices: &[DeviceMemory], page: Rows) -> LinkedTable {
    let all: Vec<_> = devices.iter().flat_map(|m| m.operators.iter().map(move |o| (m, o))).collect();
    let listed = page.of(&all);
    let table = Table::of(listed)
        .name("name", "Operator", |(_, o)| if o.name.is_empty() { NO_NAME } else { &o.name })
        .text("device", "Device", |(m, _)| m.device.as_str())
        .text("process", "Process", |(m, _)| m.process.as_str())
        .count("allocations", "Allocations", |(_, o)| o.allocations)
        .count("bytes", "Allocated inside (bytes)", |(_, o)| o.bytes)
        .count("self_bytes", "By itself (bytes)", |(_, o)| o.self_bytes)
        .count("largest_bytes", "Largest (bytes)", |(_, o)| o.largest)
        .table();
    linked(sources, table, listed.iter().map(|(_, o)| o.slice), page, all.len())
}

/// The growth of each step.
pub(super) fn memory_steps_table(sources: &Sources<'_>, devices: &[DeviceMemory], page: Rows) -> LinkedTable {
    let all: Vec<_> = devices.iter().flat_map(|m| m.steps.iter().map(move |s| (m, s))).collect();
    let listed = page.of(&all);
    let table = Table::of(listed)
        .text("name", "Step", |(_, s)| s.name.as_str())
        .text("device", "Device", |(m, _)| m.device.as_str())
        .text("process", "Process", |(m, _)| m.process.as_str())
        .count("growth_bytes", "Growth (bytes)", |(_, s)| s.growth)
        .count("peak_bytes", "Most allocated (bytes)", |(_, s)| s.peak)
        .table();
    linked(sources, table, listed.iter().map(|(_, s)| s.slice), page, all.len())
}
