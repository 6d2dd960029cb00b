//! The operator tables of the Neuron plugin: which operators a NeuronCore executed, and its time on each.

use super::analysis::operators::{OpQuery, operator_stats};
use super::analysis::{GroupBy, Selection};
pub use super::neuron_names::{
    ENGINES_PROCESS, EXECUTION_PROCESS, EXECUTION_TRACK, FRAMEWORK_TRACK, HLO_TRACK, MODULES_TRACK, TRANSFER_PROCESS,
};
use super::plugin_run::sort_rows;
pub use super::plugin_run::{OperatorRow, OperatorView, PluginRun, PluginTable, PluginTimeline};
use super::{NeuronCoreId, Profile, TrackId};

/// Format of a run directory of the plugin that shows one execution: its tools are the three operator views.
pub const OPERATOR_RUN_FORMAT: &str = "neuron-plugin";
/// Format of a run directory of the plugin that shows a whole program: its tool is `trace`.
pub const TRACE_RUN_FORMAT: &str = "neuron-plugin-trace";

/// Name of the tracks a table is computed from.
fn track_name(view: OperatorView) -> &'static str {
    match view {
        OperatorView::Framework => FRAMEWORK_TRACK,
        OperatorView::Hlo => HLO_TRACK,
    }
}

/// The rows of a table, longest time first, equal ones by name and core. A process that does not say which
/// NeuronCore it is counts as core 0 of device 0. Empty for profiles that have no such tracks.
///
/// A run directory of the plugin brings its tables along: those are given as they were read, and nothing is counted.
#[must_use]
pub fn operator_table(profile: &Profile, view: OperatorView) -> Vec<OperatorRow> {
    if let Some(table) = profile.plugin_run().and_then(|run| run.table(view)) {
        return table.rows.clone();
    }
    let mut rows = Vec::new();
    for (core, tracks) in tracks_by_core(profile, view) {
        let selection = Selection::of_tracks(tracks);
        let query = OpQuery { group_by: GroupBy::CategoryOrName, selection, percentiles: false };
        let table = operator_stats(profile, &query);
        let total: i64 = table.stats.iter().map(|s| s.total_ns).sum();
        rows.extend(table.stats.iter().map(|s| OperatorRow {
            name: table.name(profile, s).to_owned(),
            occurrences: s.count,
            device: core.device,
            core: core.core,
            time_ns: s.total_ns,
            time_percent: if total == 0 { 0.0 } else { s.total_ns as f64 * 100.0 / total as f64 },
            members: Vec::new(),
        }));
    }
    sort_rows(&mut rows);
    rows
}

fn tracks_by_core(profile: &Profile, view: OperatorView) -> Vec<(NeuronCoreId, Vec<TrackId>)> {
    let mut cores: Vec<(NeuronCoreId, Vec<TrackId>)> = Vec::new();
    for (id, track) in profile.tracks().iter_enumerated() {
        let process = &profile.processes()[track.process];
        if profile.str(track.name) != track_name(view) || profile.str(process.name) != EXECUTION_PROCESS {
            continue;
        }
        let core = process.neuron_core.unwrap_or(NeuronCoreId { device: 0, core: 0 });
        match cores.iter_mut().find(|(known, _)| *known == core) {
            Some((_, tracks)) => tracks.push(id),
            None => cores.push((core, vec![id])),
        }
    }
    cores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::ProfileBuilder;

    #[test]
    fn shares_are_of_each_core() {
        let mut b = ProfileBuilder::new("test");
        for core in 0..2u32 {
            let p = b.process(&format!("exec{core}"), EXECUTION_PROCESS);
            b.set_neuron_core(p, NeuronCoreId { device: 0, core });
            let hlo = b.thread(p, "1", HLO_TRACK);
            let framework = b.thread(p, "2", FRAMEWORK_TRACK);
            b.slice(hlo, 0, 30, "%dot.1 = dot(..)", "dot", None);
            b.slice(hlo, 40, 30, "%dot.2 = dot(..)", "dot", None);
            b.slice(hlo, 80, 40, "tanh", "", None);
            b.slice(framework, 0, 50, "aten__addmm_dot", "", None);
        }
        let other = b.process("x", "Process Control");
        let track = b.thread(other, "1", HLO_TRACK);
        b.slice(track, 0, 1000, "dot", "dot", None);
        let profile = b.finish(Diagnostics::new());
        let rows = operator_table(&profile, OperatorView::Hlo);
        let brief: Vec<_> = rows.iter().map(|r| (&*r.name, r.occurrences, r.core, r.time_ns, r.time_percent)).collect();
        assert_eq!(
            brief,
            [("dot", 2, 0, 60, 60.0), ("dot", 2, 1, 60, 60.0), ("tanh", 1, 0, 40, 40.0), ("tanh", 1, 1, 40, 40.0)]
        );
        assert_eq!(operator_table(&profile, OperatorView::Framework).len(), 2);
    }
}
