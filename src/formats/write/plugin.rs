//! Run directories of TensorBoard's Neuron plugin. An operator run has two operator tables and a timeline of operators; a
//! trace run has `neuron_trace.json` alone, as the plugin's profile types `operator` and `trace` leave them.
//!
//! A profile that was read from a run directory is written as it was. For all others the keys of operators, which are
//! not documented, are those of our own tables with the plugin's prefix `op_`.

use super::chrome::write_plugin_trace;
use super::run_name::run_name;
use super::xplane;
use crate::json::ObjectText;
use ns_profile::Profile;
use ns_profile::neuron::{OperatorRow, OperatorView, PluginTable, PluginTimeline, operator_table};

/// The files of the run, in a directory with the name of the run below `folder`.
pub(super) fn run_directory(profile: &Profile, folder: &str) -> Vec<(String, Vec<u8>)> {
    let run = run_name(profile);
    let named = |(name, text): (&str, String)| (format!("{folder}{run}/{name}"), text.into_bytes());
    contents(profile).into_iter().map(named).collect()
}

/// A log directory: the run where the Neuron plugin looks, and an `XSpace` where XProf does.
pub(super) fn log_directory(profile: &Profile) -> Vec<(String, Vec<u8>)> {
    let mut files = run_directory(profile, "plugins/neuron/");
    let run = run_name(profile);
    files.push((format!("plugins/profile/{run}/neuronscope.xplane.pb"), xplane::write_with_operators(profile)));
    files
}

/// The files by name: those that the profile was read from, or those that can be made from it.
fn contents(profile: &Profile) -> Vec<(&'static str, String)> {
    if let Some(run) = profile.plugin_run() {
        let tables = run.tables.iter().map(|table| (table_file(table.view), table_text(table)));
        let timeline = run.timeline.map(|kind| (timeline_file(kind), write_plugin_trace(profile)));
        return tables.chain(timeline).collect();
    }
    let tables = [OperatorView::Framework, OperatorView::Hlo].map(|view| (view, operator_table(profile, view)));
    if tables.iter().all(|(_, rows)| rows.is_empty()) {
        return vec![(timeline_file(PluginTimeline::Trace), write_plugin_trace(profile))];
    }
    let timeline = (timeline_file(PluginTimeline::Operators), write_plugin_trace(profile));
    tables.into_iter().map(|(view, rows)| (table_file(view), operators(&rows, None))).chain([timeline]).collect()
}

fn table_file(view: OperatorView) -> &'static str {
    match view {
        OperatorView::Framework => "neuron_framework_op.json",
        OperatorView::Hlo => "neuron_hlo_op.json",
    }
}

fn timeline_file(timeline: PluginTimeline) -> &'static str {
    match timeline {
        PluginTimeline::Operators => "neuron_op_timeline.json",
        PluginTimeline::Trace => "neuron_trace.json",
    }
}

/// The table as it was read. For a file that was cut off, the rows that could be read.
fn table_text(table: &PluginTable) -> String {
    match &table.text {
        Some(text) => text.to_string(),
        None => operators(&table.rows, table.total_time_ns),
    }
}

fn operators(rows: &[OperatorRow], total_time_ns: Option<i64>) -> String {
    let total = total_time_ns.unwrap_or_else(|| rows.iter().map(|row| row.time_ns).sum());
    let ops: Vec<String> = rows
        .iter()
        .map(|row| {
            let mut op = ObjectText::default();
            op.text("op_name", &row.name);
            op.number("op_occurrences", row.occurrences);
            op.number("op_device", row.device);
            op.number("op_core", row.core);
            op.number("op_time", row.time_ns);
            op.number("op_time_percent", row.time_percent);
            if !row.members.is_empty() {
                op.text("op_fused", &row.members.join(",\n"));
            }
            op.take()
        })
        .collect();
    format!("{{\"ops\":[{}],\"total_time\":{total}}}\n", ops.join(","))
}
