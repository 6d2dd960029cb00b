//! The levels of the rows and categories of each producer.

use super::wrappers::{DEVICE_STEPS, RUNTIME_SETUP, Wrapper};
use crate::device::{ACTIVE, DEVICE_PROCESS, DMA_PROCESS, engine_of};
use crate::neuron::{ENGINES_PROCESS, EXECUTION_PROCESS, EXECUTION_TRACK, FRAMEWORK_TRACK, HLO_TRACK, MODULES_TRACK};
use crate::{Profile, TrackId};

/// Level of the instructions of engines.
pub(super) const ENGINES: &str = "engines";

/// Candidates for the default level: the first that has slices is taken.
pub(super) const PREFERRED: [&str; 11] = [
    "framework ops",
    "HLO ops",
    ENGINES,
    "device execution",
    "device kernels",
    "ops",
    "CPU ops",
    "host",
    "Python",
    "runtime calls",
    "annotations",
];

/// The levels of Kineto, in the order in which they are listed.
pub(super) const KINETO: [&str; 12] = [
    "device kernels",
    "CPU ops",
    "Python",
    "runtime calls",
    "annotations",
    "device annotations",
    "synchronization",
    "other",
    "steps",
    "device steps",
    "profiler",
    "compilation",
];

/// Names of a process and of a track.
fn names(profile: &Profile, track: TrackId) -> (&str, &str) {
    let Some(track) = profile.tracks().get(track) else { return ("", "") };
    let process = profile.processes().get(track.process).map_or("", |p| profile.str(p.name));
    (process, profile.str(track.name))
}

/// Whether a row shows a NeuronCore computing.
pub(super) fn is_neuron_compute(profile: &Profile, track: TrackId) -> bool {
    let (process, name) = names(profile, track);
    (process, name) == (EXECUTION_PROCESS, HLO_TRACK) || name == EXECUTION_TRACK || engine_of(profile, track).is_some()
}

/// Whether a row shows an XLA device working.
pub(super) fn is_xla_work(profile: &Profile, track: TrackId) -> bool {
    let (process, name) = names(profile, track);
    process.starts_with("/device:") && (name == "XLA Ops" || name.starts_with("Stream #"))
}

/// The level of a row of a Neuron profile. Rows of processes other than Process Execution repeat its work, or show work
/// beside it: each kind has a separate level.
pub(super) fn neuron_level(profile: &Profile, track: TrackId) -> String {
    let (process, name) = names(profile, track);
    let row = match name {
        FRAMEWORK_TRACK => "framework ops",
        HLO_TRACK => "HLO ops",
        MODULES_TRACK => "modules",
        EXECUTION_TRACK => "device execution",
        "Neuron Runtime Setup" => RUNTIME_SETUP,
        _ if process == ENGINES_PROCESS => ENGINES,
        _ if process == DMA_PROCESS => "DMA",
        other if process == DEVICE_PROCESS && other.ends_with(ACTIVE) => "active time",
        _ if process.starts_with("/host:") => "host",
        "" => "other",
        other => return other.to_lowercase(),
    };
    match process.strip_prefix("Process ") {
        Some(kind) if process != EXECUTION_PROCESS && row != RUNTIME_SETUP => {
            format!("{row} of {}", kind.to_lowercase())
        }
        _ => row.to_owned(),
    }
}

/// The level of a row of an XLA profile.
pub(super) fn xla_level(profile: &Profile, track: TrackId) -> String {
    let (process, name) = names(profile, track);
    if !process.starts_with("/device:") {
        return "host".to_owned();
    }
    match name {
        "Steps" | "Step" => Wrapper::Step.level().to_owned(),
        "XLA Modules" => "modules".to_owned(),
        "XLA Ops" => "ops".to_owned(),
        "Async XLA Ops" => "async ops".to_owned(),
        "TensorFlow Ops" | FRAMEWORK_TRACK => "framework ops".to_owned(),
        "TensorFlow Name Scope" | "Framework Name Scope" => "name scopes".to_owned(),
        "Source code" | "Source Code" => "source code".to_owned(),
        stream if stream.starts_with("Stream #") => "device kernels".to_owned(),
        "" => "other".to_owned(),
        other => other.to_lowercase(),
    }
}

/// The level of a category of Kineto, both today's (libkineto's `ActivityType` names them) and those before 2022; `None` for
/// other categories.
pub(super) fn kineto_level(category: &str) -> Option<&'static str> {
    Some(match category {
        "kernel" | "Kernel" | "gpu_memcpy" | "gpu_memset" | "Memcpy" | "Memset" | "mtia_ccp_events" => "device kernels",
        "cpu_op" | "Operator" | "hpu_op" => "CPU ops",
        "python_function" => "Python",
        "cuda_runtime"
        | "cuda_driver"
        | "Runtime"
        | "runtime"
        | "driver"
        | "mtia_runtime"
        | "mtia_workloadd"
        | "glow_runtime"
        | "xpu_runtime"
        | "xpu_driver"
        | "privateuse1_runtime"
        | "privateuse1_driver" => "runtime calls",
        "user_annotation" => "annotations",
        "gpu_user_annotation" => "device annotations",
        "cuda_sync" | "cuda_event" => "synchronization",
        "mtia_insight" | "collective_comm" => "other",
        "Trace" | "overhead" => Wrapper::Profiler.level(),
        _ => return None,
    })
}

/// The level of a wrapper, by the level that it would have otherwise.
pub(super) fn wrapping_level(wrapper: Wrapper, place: &str) -> &'static str {
    if wrapper == Wrapper::Step && place == "device annotations" { DEVICE_STEPS } else { wrapper.level() }
}
