//! The kind of work of each slice: computing, moving data, talking to other devices, or work of the host.
//!
//! Only what the producers of traces write decides the kind:
//!
//! | family | sign | compute | transfer | communication | host |
//! |---|---|---|---|---|---|
//! | Neuron device | rows of engines | instructions of the model | rows of DMA queues | | |
//! | Neuron | rows `HLO Ops` of Process Execution, or a row `NeuronDevice Execution` | those rows | rows `HLO Ops` of Process Data Transfer, `IO Data Transfer` | `CC Synchronization` | processes named `/host:` |
//! | Kineto | a category `kernel`, `cpu_op`, or an older spelling | `kernel` | `gpu_memcpy`, `gpu_memset` | kernels named nccl, rccl | `cpu_op`, `cuda_runtime`, `python_function` and others of the host |
//! | XLA | a process named `/device:` | rows `XLA Ops` and `Stream` | there, names of copies, infeed, outfeed | there, collectives | processes named `/host:` |
//!
//! A device sets an execution up before its first work. Instructions and transfers that begin there do not count as work, so the time
//! until the host starts the work does not count as idle time of the device. Waits are known by their names ([`ns_profile::levels::waits`]).
//!
//! Annotations, module rows and wrappers ([`ns_profile::levels::wrappers`]: steps, the profiler itself,
//! compilation) are not work. Setting up the Neuron runtime is work of the host.

use serde::{Deserialize, Serialize};

use ns_base::{Idx, IndexVec, StrId, TraceNs};
use ns_profile::device::{self, DEVICE_PROCESS, DeviceTimes, RUNTIME_INSTRUCTION};
use ns_profile::levels::Family;
use ns_profile::levels::waits::is_waiting_call;
use ns_profile::levels::wrappers::Wrapper;
use ns_profile::neuron::{EXECUTION_PROCESS, EXECUTION_TRACK, HLO_TRACK, TRANSFER_PROCESS};
use ns_profile::{Profile, SliceId, TrackId};

/// The kind of work of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Work {
    /// A device computes.
    Compute,
    /// A device waits for or exchanges data with other devices.
    Communication,
    /// Data moves between host and device, or within the device.
    Transfer,
    /// The host works. Waiting in a call whose name says so is [`Work::Wait`].
    Host,
    /// The host waits, in a call that says so by its name, or an engine of a device does, in an instruction.
    Wait,
    /// Not work: an annotation, a step, the profiler.
    Marker,
}

impl Work {
    /// Whether a device does it.
    pub const fn is_device(self) -> bool {
        matches!(self, Self::Compute | Self::Communication | Self::Transfer)
    }

    /// Whether the host does it.
    pub const fn is_host(self) -> bool {
        matches!(self, Self::Host | Self::Wait)
    }
}

/// The kind of track that a slice is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Unknown,
    /// Every slice is this kind of work.
    All(Work),
    /// A device's row: the name decides.
    Device,
    /// A host thread: waits have names.
    Host,
    /// An engine of a NeuronCore: instructions of the model compute, unless they wait.
    Engine,
    /// A queue of a DMA engine.
    Queue,
}

/// The kind of work of every slice of a profile.
#[derive(Debug)]
pub struct Works {
    family: Family,
    /// The times of the engines of a device, if the profile shows its instructions.
    device: Option<DeviceTimes>,
    place: IndexVec<TrackId, Place>,
    /// For each text, the work of slices of that category.
    of_category: Vec<Option<Work>>,
    /// For each text, whether slices of that category prepare a benchmark run or span it: compiling, loading.
    is_frame: Vec<bool>,
    /// For each text, its meaning as the name of a slice of a device or of the host.
    of_name: Vec<NameSays>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameSays {
    Nothing,
    Communication,
    Copy,
    Wait,
}

impl Works {
    /// Classifies the tracks, categories and names of a profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let texts = || (0..profile.strings().len()).map(|i| profile.str(StrId::from_usize(i)));
        let used = used_categories(profile);
        let is_used = |i: usize| used.get(i).copied().unwrap_or(false);
        let of_category: Vec<_> =
            texts().enumerate().map(|(i, t)| if is_used(i) { category(t) } else { None }).collect();
        let family = profile.levels().family();
        let place_of: fn(&Profile, TrackId) -> Place = match family {
            Family::Neuron => neuron_place,
            Family::Xla => xla_place,
            Family::Kineto | Family::Other => |_, _| Place::Unknown,
        };
        let place = profile.tracks().ids().map(|t| place_of(profile, t)).collect();
        // As the simulator's benchmark runs name them.
        let is_frame = texts().map(|text| matches!(text, "compile" | "setup" | "benchmark")).collect();
        let device = if family == Family::Neuron { DeviceTimes::of(profile) } else { None };
        Self { family, device, place, of_category, is_frame, of_name: texts().map(name_says).collect() }
    }

    /// Whether a slice is a marked step: Kineto's `ProfilerStep#N`, a row `Steps` of an XLA device.
    pub fn marks_step(&self, profile: &Profile, track: TrackId, id: SliceId) -> bool {
        let levels = profile.levels();
        levels.name(Some(levels.of_slice(profile, track, id))) == Wrapper::Step.level()
    }

    /// The producer of the profile.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The times of the engines of a device, if the profile shows its instructions.
    pub fn device(&self) -> Option<&DeviceTimes> {
        self.device.as_ref()
    }

    /// The kind of work of a slice; `None` if it is unknown.
    pub fn of_slice(&self, profile: &Profile, track: TrackId, id: SliceId) -> Option<Work> {
        let (slices, levels) = (profile.slices(), profile.levels());
        let says_waits = levels.waits(profile, id);
        if matches!(self.family, Family::Kineto | Family::Xla) && !says_waits && levels.wraps(profile, track, id) {
            return Some(Work::Marker);
        }
        let says = self.of_name.get(slices.name(id).index()).copied().unwrap_or(NameSays::Nothing);
        match self.family {
            Family::Kineto => {
                let work = self.of_category.get(slices.category(id).index()).copied().flatten()?;
                Some(match (work, says) {
                    (Work::Compute, NameSays::Communication) => Work::Communication,
                    (Work::Host, NameSays::Wait) => Work::Wait,
                    (work, _) => work,
                })
            }
            Family::Neuron | Family::Xla => match self.place.get(track).copied().unwrap_or(Place::Unknown) {
                Place::Unknown => None,
                Place::All(work) => Some(work),
                Place::Engine if says_waits => Some(Work::Wait),
                Place::Engine => Some(self.on_device(profile, id, Work::Compute)),
                Place::Queue => Some(self.on_device(profile, id, Work::Transfer)),
                Place::Host if self.family == Family::Neuron && self.is_frame(slices.category(id)) => {
                    Some(Work::Marker)
                }
                Place::Host if says == NameSays::Wait => Some(Work::Wait),
                Place::Host => Some(Work::Host),
                Place::Device => Some(match says {
                    NameSays::Communication => Work::Communication,
                    NameSays::Copy => Work::Transfer,
                    NameSays::Nothing | NameSays::Wait => Work::Compute,
                }),
            },
            Family::Other => None,
        }
    }

    /// The work of a slice of a device, unless it is of the runtime or sets the execution up.
    fn on_device(&self, profile: &Profile, id: SliceId, work: Work) -> Work {
        let slices = profile.slices();
        let first = self.device.as_ref().and_then(|d| d.first_work).unwrap_or(TraceNs(i64::MIN));
        let is_of_runtime = profile.str(slices.category(id)) == RUNTIME_INSTRUCTION;
        if is_of_runtime || slices.start(id) < first { Work::Marker } else { work }
    }

    fn is_frame(&self, category: StrId) -> bool {
        self.is_frame.get(category.index()).copied().unwrap_or(false)
    }
}

fn used_categories(profile: &Profile) -> Vec<bool> {
    let mut used = vec![false; profile.strings().len()];
    for id in profile.slices().ids() {
        if let Some(seen) = used.get_mut(profile.slices().category(id).index()) {
            *seen = true;
        }
    }
    used
}

/// Categories of Kineto, both today's and those before 2022: libkineto's `ActivityType` names them.
fn category(text: &str) -> Option<Work> {
    Some(match text {
        "kernel" | "Kernel" | "mtia_ccp_events" => Work::Compute,
        "gpu_memcpy" | "gpu_memset" | "Memcpy" | "Memset" => Work::Transfer,
        "cpu_op"
        | "Operator"
        | "cuda_runtime"
        | "Runtime"
        | "cuda_driver"
        | "runtime"
        | "driver"
        | "python_function"
        | "user_annotation"
        | "mtia_runtime"
        | "mtia_workloadd"
        | "glow_runtime"
        | "hpu_op"
        | "xpu_runtime"
        | "xpu_driver"
        | "privateuse1_runtime"
        | "privateuse1_driver" => Work::Host,
        "gpu_user_annotation"
        | "cuda_sync"
        | "cuda_event"
        | "mtia_insight"
        | "collective_comm"
        | "Trace"
        | "overhead" => Work::Marker,
        _ => return None,
    })
}

fn neuron_place(profile: &Profile, id: TrackId) -> Place {
    let track = &profile.tracks()[id];
    let process = profile.str(profile.processes()[track.process].name);
    match (process, profile.str(track.name)) {
        (EXECUTION_PROCESS, HLO_TRACK) | (_, EXECUTION_TRACK) => Place::All(Work::Compute),
        (TRANSFER_PROCESS, HLO_TRACK) | (_, "IO Data Transfer") => Place::All(Work::Transfer),
        (_, "CC Synchronization") => Place::All(Work::Communication),
        (process, _) if process.starts_with("/host:") => Place::Host,
        (DEVICE_PROCESS, _) if device::engine_of(profile, id).is_some() => Place::Engine,
        (DEVICE_PROCESS, _) => Place::All(Work::Marker),
        _ if device::is_dma(profile, id) => Place::Queue,
        (_, "Neuron Runtime Setup") => Place::All(Work::Host),
        _ => Place::Unknown,
    }
}

fn xla_place(profile: &Profile, id: TrackId) -> Place {
    let track = &profile.tracks()[id];
    let process = profile.str(profile.processes()[track.process].name);
    let name = profile.str(track.name);
    if process.starts_with("/device:") {
        let has_work = name == "XLA Ops" || name.starts_with("Stream #");
        return if has_work { Place::Device } else { Place::All(Work::Marker) };
    }
    if process.starts_with("/host:") { Place::Host } else { Place::Unknown }
}

fn name_says(name: &str) -> NameSays {
    const COLLECTIVES: [&str; 10] = [
        "nccl",
        "rccl",
        "all-reduce",
        "all-gather",
        "reduce-scatter",
        "all-to-all",
        "collective-permute",
        "AllReduce",
        "AllGather",
        "ReduceScatter",
    ];
    const COPIES: [&str; 7] = ["copy", "Memcpy", "MemcpyD2H", "MemcpyH2D", "infeed", "outfeed", "Memset"];
    if COLLECTIVES.iter().any(|c| name.contains(c)) {
        NameSays::Communication
    } else if is_waiting_call(name) {
        NameSays::Wait
    } else if COPIES.iter().any(|c| name.starts_with(c)) {
        NameSays::Copy
    } else {
        NameSays::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;

    fn kinds(profile: &Profile) -> (Family, Vec<Option<Work>>) {
        let works = Works::of(profile);
        let slices = profile.slices();
        let of = |id: SliceId| works.of_slice(profile, slices.track(id), id);
        (works.family(), slices.ids().map(of).collect())
    }

    #[test]
    fn each_family_is_recognised_by_its_names() {
        let mut b = ProfileBuilder::new("kineto");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "");
        for (i, (name, category)) in [
            ("aten::mm", "cpu_op"),
            ("cudaDeviceSynchronize", "cuda_runtime"),
            ("gemm", "kernel"),
            ("ncclKernel_AllReduce", "kernel"),
            ("Memcpy HtoD", "gpu_memcpy"),
            ("PyTorch Profiler (0)", "Trace"),
            ("odd", "mine"),
        ]
        .into_iter()
        .enumerate()
        {
            b.slice(t, i as i64 * 10, 5, name, category, None);
        }
        let expected = [
            Some(Work::Host),
            Some(Work::Wait),
            Some(Work::Compute),
            Some(Work::Communication),
            Some(Work::Transfer),
            Some(Work::Marker),
            None,
        ];
        assert_eq!(kinds(&b.finish(Diagnostics::new())), (Family::Kineto, expected.to_vec()));

        let mut b = ProfileBuilder::new("xla");
        let (device, host) = (b.process("1", "/device:TPU:0"), b.process("2", "/host:CPU"));
        let tracks = [b.thread(device, "1", "XLA Ops"), b.thread(device, "2", "Steps"), b.thread(host, "3", "main")];
        for (t, name) in [(tracks[0], "fusion.1"), (tracks[0], "copy.2"), (tracks[1], "1"), (tracks[2], "Execute")] {
            b.slice(t, i64::from(name == "copy.2") * 10, 5, name, "", None);
        }
        let expected = [Work::Compute, Work::Transfer, Work::Marker, Work::Host].map(Some);
        assert_eq!(kinds(&b.finish(Diagnostics::new())), (Family::Xla, expected.to_vec()));

        let mut b = ProfileBuilder::new("neuron");
        for (pid, process) in [("1", EXECUTION_PROCESS), ("2", "Process Data Transfer"), ("3", "Process Control")] {
            let p = b.process(pid, process);
            let t = b.thread(p, "1", HLO_TRACK);
            b.slice(t, 0, 5, "dot", "", None);
        }
        let expected = vec![Some(Work::Compute), Some(Work::Transfer), None];
        assert_eq!(kinds(&b.finish(Diagnostics::new())), (Family::Neuron, expected));

        let mut b = ProfileBuilder::new("any");
        let p = b.process("1", "clang");
        let t = b.thread(p, "1", "");
        b.slice(t, 0, 5, "Frontend", "", None);
        assert_eq!(kinds(&b.finish(Diagnostics::new())), (Family::Other, vec![None]));
    }
}
