//! Spans that wrap work and are not work themselves: steps, the profiler's own spans, compilation, totals of a trace, waits.
//!
//! They are recognised in one place, by names that their producers document or always write, so that every list agrees.

use super::waits;
use ns_base::names;

names! {
    /// The kind of a wrapper.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Wrapper {
        /// An iteration that the user's script marks: `ProfilerStep#5` (PyTorch), `StepMarker` (XLA).
        Step = "steps",
        /// The profiler itself: recording, starting or stopping.
        Profiler = "profiler",
        /// Compilation, which a run does once before it executes.
        Compilation = "compilation",
        /// A total over a whole trace, shown as a span (`-ftime-trace` of clang), or a span over a whole phase of a benchmark.
        Total = "totals",
        /// Waiting: a call of the host or an instruction of a NeuronCore whose name says so ([`waits`]).
        Wait = "waits",
    }

    /// Name of the level of wrappers of this kind.
    pub const fn level(self) -> &'static str;
}

/// The kind of wrapper that the name of a slice of a machine-learning profiler means.
pub fn by_name(name: &str) -> Option<Wrapper> {
    const PROFILER: [&str; 5] = [
        "PyTorch Profiler",
        "Iteration Start: PyTorch Profiler",
        "Record Window End",
        "ProfilerSession",
        // The Python tracer of JAX writes `$file.py:line function`.
        "$profiler.py:",
    ];
    let is_marked = name.starts_with("ProfilerStep#") || name.starts_with("ProfilerStep*");
    if is_marked || name == "ProfilerStep" || name == "StepMarker" {
        Some(Wrapper::Step)
    } else if PROFILER.iter().any(|p| name.starts_with(p)) || is_call(name, &["start_trace", "stop_trace"]) {
        Some(Wrapper::Profiler)
    } else if is_call(name, &["backend_compile", "compile_or_get_cached", "backend_compile_and_load", "XlaCompile"])
        || name.ends_with("::Compile")
        || name.ends_with("::CompileAndLoad")
    {
        Some(Wrapper::Compilation)
    } else {
        waits::is_waiting_call(name).then_some(Wrapper::Wait)
    }
}

/// The kind of wrapper that the name of a slice of a Neuron profile means: of a benchmark run, as the simulator and NeuronPerf's
/// host thread write it, or of an instruction.
pub fn by_name_of_run(name: &str) -> Option<Wrapper> {
    match name {
        "compile" => Some(Wrapper::Compilation),
        "load and warm-up" | "benchmark" => Some(Wrapper::Total),
        _ => waits::of_instruction(name).map(|_| Wrapper::Wait),
    }
}

/// Whether a name is one of some calls: alone, or after the location of the call.
fn is_call(name: &str, calls: &[&str]) -> bool {
    calls.iter().any(|call| {
        name.strip_suffix(call).is_some_and(|before| before.is_empty() || before.ends_with([' ', '.', ':']))
    })
}

/// The kind of wrapper of a level, if the name of the level is one of these.
pub fn is_wrapping_level(name: &str) -> bool {
    const ALL: [Wrapper; 5] = [Wrapper::Step, Wrapper::Profiler, Wrapper::Compilation, Wrapper::Total, Wrapper::Wait];
    ALL.iter().any(|w| w.level() == name)
        || [DEVICE_STEPS, RUNTIME_SETUP].contains(&name)
        || REPEATS_OF_DEVICE.contains(&name)
        || name.starts_with(DEEPER_LAYERS)
}

/// Level of the steps that a profiler copies to the rows of devices.
pub(super) const DEVICE_STEPS: &str = "device steps";
/// Level of setting up and closing the Neuron runtime.
pub(super) const RUNTIME_SETUP: &str = "runtime setup";

/// Levels of the rows in which a device profile shows again what its instructions and transfers show.
const REPEATS_OF_DEVICE: [&str; 4] = ["subgraphs", "layers", "throttle", "active time"];
const DEEPER_LAYERS: &str = "layers of depth ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_are_recognised_by_name_and_work_is_not_one() {
        for (name, expected) in [
            ("ProfilerStep#8", Some(Wrapper::Step)),
            ("PyTorch Profiler (0)", Some(Wrapper::Profiler)),
            ("$profiler.py:193 stop_trace", Some(Wrapper::Profiler)),
            ("jax.profiler.start_trace", Some(Wrapper::Profiler)),
            ("backend_compile", Some(Wrapper::Compilation)),
            ("PjRtStreamExecutorClient::Compile", Some(Wrapper::Compilation)),
            ("cudaDeviceSynchronize", Some(Wrapper::Wait)),
            ("aten::mm", None),
            ("restart_trace", None),
            ("moca/library/profiling/profile.py(34): run_torch_profiler", None),
            ("CompiledFunctionBackward", None),
            ("", None),
        ] {
            assert_eq!(by_name(name), expected, "{name}");
        }
        assert!(is_wrapping_level("steps") && is_wrapping_level("device steps") && !is_wrapping_level("modules"));
    }
}
