//! The tools of the rail: their order, their names, and why a tool is not available for a run.

use super::open_run::OpenRun;
use ns_session::share::Tool;
use ns_view::timeline::TrackKind;

/// Groups of tools, from top to bottom.
const GROUPS: [(&str, &[Tool]); 4] = [
    ("", &[Tool::Overview, Tool::OperatorTimeline, Tool::FlameGraph]),
    ("Operators", &[Tool::OperatorFramework, Tool::OperatorHlo, Tool::OperatorEngine, Tool::Statistics, Tool::Modules]),
    ("Waiting", &[Tool::IdleGaps, Tool::CriticalPath]),
    ("More", &[Tool::Summary, Tool::Counters, Tool::Compare, Tool::Ask]),
];

/// Name of a tool in the rail, for a run.
pub fn tool_name<Worker>(tool: Tool, run: &OpenRun<Worker>) -> &'static str {
    match tool {
        Tool::Overview => "Overview",
        Tool::Summary => "Metrics and findings",
        Tool::OperatorFramework if run.is_neuron() => "Framework operators",
        Tool::OperatorFramework => "Operators",
        Tool::OperatorHlo => "HLO operators",
        Tool::OperatorEngine => "Engines",
        Tool::OperatorTimeline | Tool::Trace => "Timeline",
        Tool::Statistics => "Statistics",
        Tool::FlameGraph => "Flame graph",
        Tool::Modules => "Modules",
        Tool::CriticalPath => "Critical path",
        Tool::IdleGaps => "Idle gaps",
        Tool::Counters => "Memory and counters",
        Tool::Compare => "Compare",
        Tool::Ask => "Query",
    }
}

/// A group of tools under its name, each with the reason if it is not available for a run.
pub type ToolGroup = (&'static str, Vec<(Tool, Option<&'static str>)>);

/// Tools of a run in the order of the rail.
pub fn tools_of<Worker>(run: &OpenRun<Worker>) -> Vec<ToolGroup> {
    // The timeline of a whole program is a tool with its own id.
    let own = |tool: Tool| if tool == Tool::OperatorTimeline && run.is_trace() { Tool::Trace } else { tool };
    let of = |tools: &[Tool]| tools.iter().map(|t| (own(*t), lack(*t, run))).collect();
    GROUPS.iter().map(|(name, tools)| (*name, of(tools))).collect()
}

/// Why a tool is not available for a run; `None` if it is.
fn lack<Worker>(tool: Tool, run: &OpenRun<Worker>) -> Option<&'static str> {
    let is_trace = run.is_trace();
    match tool {
        Tool::OperatorFramework if is_trace => {
            Some("A benchmark run has no table of one execution. Statistics groups its slices.")
        }
        Tool::OperatorHlo if is_trace || !run.is_neuron() => {
            Some("Only a profile of one execution on a NeuronCore says which HLO operators ran.")
        }
        Tool::OperatorEngine if is_trace || run.engine_tracks().is_empty() => {
            Some("Only a profile of one execution on a NeuronCore has rows of engines.")
        }
        Tool::Counters if !has_counters(run) => Some("This profile has no counters."),
        _ => None,
    }
}

fn has_counters<Worker>(run: &OpenRun<Worker>) -> bool {
    let tracks = run.info.outline.sections.iter().flat_map(|s| &s.tracks);
    tracks.into_iter().any(|t| matches!(t.kind, TrackKind::Counter { .. }))
}
