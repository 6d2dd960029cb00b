//! Compares the summary of a device profile with its rows.

use crate::decimal::TimeUnit;
use crate::json::Value;
use ns_base::Diagnostics;
use ns_base::convert::u64_to_i64;
use ns_profile::device::{DeviceEngine, DeviceTimes};

/// From this share of the larger figure, in percent, two times contradict each other. Chosen: the summary of a correct profile
/// differs from its rows by up to 5 %, because the rows are cut to nanoseconds.
const TOLERATED_PERCENT: i64 = 10;

/// Says what is wrong with the summary: there is none, or its figures are not those of the rows.
pub(super) fn check_summary(root: Value<'_>, times: &DeviceTimes, diagnostics: &mut Diagnostics) {
    clock(root, diagnostics);
    let summary = root.get("summary").and_then(|list| if list.is_object() { Some(list) } else { list.items().next() });
    let Some(summary) = summary.filter(|s| s.members().next().is_some()) else {
        diagnostics.add("no_summary", None, || {
            "the file has no summary of its own: times of engines are worked out from its rows, and MFU, MBU and the \
             throttle are not known"
                .to_owned()
        });
        return;
    };
    let found = contradictions(summary, times);
    if !found.is_empty() {
        let text = format!("the summary contradicts the rows: {}; the rows count", found.join(", "));
        diagnostics.add_many("summary_contradicts", found.len() as u64, Some(summary.offset()), || text);
    }
}

/// A clock that stands before its own start.
fn clock(root: Value<'_>, diagnostics: &mut Diagnostics) {
    let Some(row) = root.get("metadata").and_then(|list| list.items().next()) else { return };
    let [first, last] = row.fields(["first_hw_timestamp", "last_hw_timestamp"]).map(|v| v.and_then(Value::i64));
    if let (Some(first), Some(last)) = (first, last)
        && last < first
    {
        diagnostics.add("time_backwards", Some(row.offset()), || {
            format!("the clock of the device runs backwards: it begins at {first} and ends at {last} ns")
        });
    }
}

/// Each figure of the summary that its rows do not confirm, with both values.
fn contradictions(summary: Value<'_>, times: &DeviceTimes) -> Vec<String> {
    let instructions: u64 = times.instructions.iter().sum();
    let mut compared = vec![
        ("total_time".to_owned(), times.span_ns, 0),
        ("total_active_time".to_owned(), times.total_active_ns, instructions + times.transfers),
        ("dma_active_time".to_owned(), times.dma_active_ns, times.transfers),
    ];
    for (engine, (ns, rows)) in DeviceEngine::ALL.iter().zip(times.engine_active_ns.iter().zip(times.instructions)) {
        compared.push((format!("{}_engine_active_time", engine.key()), *ns, rows));
    }
    let mut found: Vec<String> = compared
        .into_iter()
        .filter_map(|(key, rows_ns, rows)| {
            let said = summary.get(&key)?.ns(TimeUnit::S)?;
            // Each row is cut to a nanosecond.
            let tolerated = said.max(rows_ns) / 100 * TOLERATED_PERCENT + u64_to_i64(rows);
            let differs = said.saturating_sub(rows_ns).saturating_abs() > tolerated;
            differs.then(|| format!("{key} is {said} ns by the summary and {rows_ns} ns by the rows"))
        })
        .collect();
    for (engine, rows) in DeviceEngine::ALL.iter().zip(times.instructions) {
        let key = format!("{}_engine_instruction_count", engine.key());
        let said = summary.get(&key).and_then(Value::i64).filter(|said| *said != u64_to_i64(rows));
        found.extend(said.map(|said| format!("{key} is {said} by the summary and {rows} by the rows")));
    }
    found
}
