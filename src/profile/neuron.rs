//! Neuron profiles: the names of their processes and rows, and the operator tables of the Neuron plugin (which operators
//! a NeuronCore executed, and its time on each).

use std::cmp::Reverse;

pub use super::plugin_run::sort_rows;
pub use super::plugin_run::{OperatorRow, OperatorView, PluginRun, PluginTable, PluginTimeline};
use super::{NeuronCoreId, Occurrences, Profile, SliceFlags, SliceId, TrackId};
use ns_base::convert::i64_to_f64;
use ns_base::{FxHashMap, Interval, Order, StrId, Sweep};

/// Name of the processes whose operators are counted: work on the engines, as opposed to control and transfer.
pub const EXECUTION_PROCESS: &str = "Process Execution";
/// Name of the processes that move data.
pub const TRANSFER_PROCESS: &str = "Process Data Transfer";
/// Name of the process with a track for each engine, whose slices are instructions.
pub const ENGINES_PROCESS: &str = "NeuronCore engines";
/// Name of the tracks with framework operators.
pub const FRAMEWORK_TRACK: &str = "Framework Ops";
/// Name of the tracks with HLO operators.
pub const HLO_TRACK: &str = "HLO Ops";
/// Name of the tracks with the module hierarchy.
pub const MODULES_TRACK: &str = "Modules";
/// Name of the track of a benchmark run in which a core executes.
pub const EXECUTION_TRACK: &str = "NeuronDevice Execution";

/// Property of a profile that names when the run began, in nanoseconds since 1970, as files of the plugin have it.
pub const START_PROPERTY: &str = "neuronStartTimestampNs";

/// Format of a run directory of the plugin that shows one execution: its tools are the three operator views.
pub const OPERATOR_RUN_FORMAT: &str = "neuron-plugin";
/// Format of a run directory of the plugin that shows a whole program: its tool is `trace`.
pub const TRACE_RUN_FORMAT: &str = "neuron-plugin-trace";

/// Name of the tracks from which a table is computed.
fn track_name(view: OperatorView) -> &'static str {
    match view {
        OperatorView::Framework => FRAMEWORK_TRACK,
        OperatorView::Hlo => HLO_TRACK,
    }
}

/// The rows of a table with self times, which add up to the time in which operators run; longest time first, ties by name and core. A process that does not name its
/// NeuronCore counts as core 0 of device 0. Empty for profiles without these tracks.
///
/// A run directory of the plugin contains its tables: these are returned as they were read, without counting slices.
pub fn operator_table(profile: &Profile, view: OperatorView) -> Vec<OperatorRow> {
    if let Some(table) = profile.plugin_run().and_then(|run| run.table(view)) {
        return table.rows.clone();
    }
    let mut rows = Vec::new();
    for (core, tracks) in tracks_by_core(profile, view) {
        let operators = operators_on(profile, &tracks);
        let total: i64 = operators.iter().map(|op| op.time_ns).sum();
        rows.extend(operators.iter().map(|op| OperatorRow {
            name: profile.str(op.name).to_owned(),
            occurrences: op.occurrences,
            device: core.device,
            core: core.core,
            time_ns: op.time_ns,
            time_percent: if total == 0 { 0.0 } else { i64_to_f64(op.time_ns) * 100.0 / i64_to_f64(total) },
            members: Vec::new(),
        }));
    }
    sort_rows(&mut rows);
    rows
}

/// Occurrences and time of one operator on some tracks.
struct OperatorTime {
    name: StrId,
    occurrences: u64,
    time_ns: i64,
}

/// The self time of each slice of a process's row, whose lanes these tracks are: an instant in which several run belongs to the one
/// that began last. Slices that never ended are left out.
fn self_times(profile: &Profile, tracks: &[TrackId]) -> Vec<(SliceId, i64)> {
    let slices = profile.slices();
    let mut own: Vec<(SliceId, i64)> = Vec::new();
    let process = |track: &TrackId| profile.tracks()[*track].process;
    let mut tracks = tracks.to_vec();
    tracks.order_by_key(process);
    for lanes in tracks.chunk_by(|a, b| process(a) == process(b)) {
        let ended = |id: &SliceId| !slices.flags(*id).has(SliceFlags::UNCLOSED);
        let mut ids: Vec<SliceId> = lanes.iter().flat_map(|&track| slices.of_track(track)).filter(ended).collect();
        ids.order_by_key(|id| (slices.start(*id), Reverse(slices.end(*id)), *id));
        let first = own.len();
        own.extend(ids.iter().map(|id| (*id, 0)));
        let mut give = |at: usize, time: Interval<i64>| own[at].1 += time.end - time.start;
        let mut sweep = Sweep::default();
        for (i, id) in ids.iter().enumerate() {
            let time = slices.interval(*id);
            sweep.begin(first + i, Interval::new(time.start.0, time.end.0), &mut give);
        }
        sweep.finish(&mut give);
    }
    own
}

/// The operators of some tracks: slices of one category, or of one name if they have no category. A fused operation counts
/// for its members ([`super::fused`]).
fn operators_on(profile: &Profile, tracks: &[TrackId]) -> Vec<OperatorTime> {
    let slices = profile.slices();
    let mut occurrences = Occurrences::of(profile);
    let mut row_of: FxHashMap<StrId, usize> = FxHashMap::default();
    let mut operators: Vec<OperatorTime> = Vec::new();
    for (id, time_ns) in self_times(profile, tracks) {
        let own = if slices.category(id) == StrId::EMPTY { slices.name(id) } else { slices.category(id) };
        let occurred = occurrences.count(profile, id);
        let mut add = |name, occurred: u64, ns: i64| {
            let row = *row_of.entry(name).or_insert_with(|| {
                operators.push(OperatorTime { name, occurrences: 0, time_ns: 0 });
                operators.len() - 1
            });
            operators[row].occurrences += occurred;
            operators[row].time_ns = operators[row].time_ns.saturating_add(ns);
        };
        let members = profile.fusions().members(slices.args(id));
        if members.is_empty() {
            add(own, occurred, time_ns);
        }
        let names = profile.names_of(slices.track(id));
        for (i, member) in members.iter().enumerate() {
            let name = member.category(names);
            // Members of one operator are one occurrence of it.
            let is_first = members[..i].iter().all(|before| before.category(names) != name);
            add(name, if is_first { occurred } else { 0 }, member.part.of_ns(time_ns));
        }
    }
    operators
}

/// The tracks of a table's operators on each NeuronCore; none in a profile without such tracks.
pub fn tracks_by_core(profile: &Profile, view: OperatorView) -> Vec<(NeuronCoreId, Vec<TrackId>)> {
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
    use crate::ProfileBuilder;
    use ns_base::Diagnostics;

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

    #[test]
    fn an_instant_of_a_row_counts_for_the_operation_that_began_last() {
        let mut b = ProfileBuilder::new("test");
        let (p, q) = (b.process("1", EXECUTION_PROCESS), b.process("2", EXECUTION_PROCESS));
        let lanes = [b.thread(p, "1", HLO_TRACK), b.thread(q, "1", HLO_TRACK), b.thread(p, "1.2", HLO_TRACK)];
        b.slice(lanes[0], 0, 100, "dot", "dot", None);
        b.slice(lanes[2], 60, 80, "add", "add", None);
        b.slice(lanes[1], 0, 10, "tanh", "tanh", None);
        let rows = operator_table(&b.finish(Diagnostics::new()), OperatorView::Hlo);
        let brief: Vec<_> = rows.iter().map(|r| (&*r.name, r.time_ns)).collect();
        assert_eq!(brief, [("add", 80), ("dot", 60), ("tanh", 10)]);
    }

    #[test]
    fn a_fused_operation_counts_for_its_members() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", EXECUTION_PROCESS);
        let (hlo, framework) = (b.thread(p, "1", HLO_TRACK), b.thread(p, "2", FRAMEWORK_TRACK));
        let args = r#"{"path":"N/relu","fused":"N/bn_mul,\nN/bn_add,\nN/relu","fused_hlo":"%m = multiply(),\n%a = add(),\n%r = maximum()","fused_share":"0.2,\n0.3,\n0.5"}"#;
        b.slice(hlo, 0, 100, "fused_0", "maximum", Some(args));
        b.slice(framework, 0, 100, "relu", "relu", Some(args));
        b.slice(framework, 200, 10, "relu", "relu", None);
        let profile = b.finish(Diagnostics::new());
        let brief = |view| {
            let rows = operator_table(&profile, view);
            rows.iter().map(|r| (r.name.clone(), r.occurrences, r.time_ns)).collect::<Vec<_>>()
        };
        let of = |name: &str, n, ns| (name.to_owned(), n, ns);
        assert_eq!(brief(OperatorView::Hlo), [of("maximum", 1, 50), of("add", 1, 30), of("multiply", 1, 20)]);
        assert_eq!(brief(OperatorView::Framework), [of("relu", 2, 60), of("bn_add", 1, 30), of("bn_mul", 1, 20)]);
    }
}
