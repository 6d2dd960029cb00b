//! What kind of work slices are, where a trace says so: computing or moving data on a device, or anything on the host.

use super::{Profile, SliceFlags, SliceId, TrackId};
use crate::base::Interval;

/// Kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A device computes.
    Compute,
    /// A device, or the host for it, moves data.
    Transfer,
}

/// Categories of device slices as PyTorch's and AMD's profilers name them.
const COMPUTE: [&str; 3] = ["kernel", "Kernel", "gpu_op"];
const TRANSFER: [&str; 4] = ["gpu_memcpy", "gpu_memset", "Memcpy", "Memset"];

/// What a device did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceActivity {
    /// What its process is called.
    pub name: String,
    /// When it computed, merged.
    pub compute: Vec<Interval<i64>>,
    /// When it moved data, merged.
    pub transfer: Vec<Interval<i64>>,
    /// The longest slice of each kind.
    pub longest: Option<SliceId>,
}

impl DeviceActivity {
    /// From its first to its last activity.
    #[must_use]
    pub fn span(&self) -> Interval<i64> {
        let all = || self.compute.iter().chain(&self.transfer);
        let start = all().map(|i| i.start).min().unwrap_or(0);
        Interval::new(start, all().map(|i| i.end).max().unwrap_or(start))
    }
}

/// Length of merged spans.
#[must_use]
pub fn length_ns(spans: &[Interval<i64>]) -> i64 {
    spans.iter().map(|i| i.end - i.start).sum()
}

/// Length of what two lists of merged spans have in common.
#[must_use]
pub fn overlap_ns(a: &[Interval<i64>], b: &[Interval<i64>]) -> i64 {
    let both = Interval::merge(a.iter().chain(b).copied().collect());
    length_ns(a) + length_ns(b) - length_ns(&both)
}

/// The devices of a profile, by process; empty for a profile that says nothing of devices.
#[must_use]
pub fn devices(profile: &Profile) -> Vec<DeviceActivity> {
    let mut found = Vec::new();
    for (id, process) in profile.processes().iter_enumerated() {
        let tracks: Vec<TrackId> =
            profile.tracks().iter_enumerated().filter(|(_, t)| t.process == id).map(|(t, _)| t).collect();
        let name = profile.process_label(id);
        let is_xla_device = name.contains("/device:");
        let is_engines = process.neuron_core.is_some() && name.contains("engines");
        let (mut compute, mut transfer, mut longest) = (Vec::new(), Vec::new(), None::<SliceId>);
        for track in tracks {
            let label = profile.track_label(track);
            let on_track = of_track(&label, is_xla_device, is_engines);
            for slice in profile.slices().of_track(track) {
                let Some(kind) = on_track.or_else(|| of_category(profile, slice)) else { continue };
                if profile.slices().flags(slice).has(SliceFlags::UNCLOSED) {
                    continue;
                }
                let time = Interval::new(profile.slices().start(slice).0, profile.slices().end(slice).0);
                if kind == Kind::Compute {
                    compute.push(time)
                } else {
                    transfer.push(time)
                }
                if longest.is_none_or(|l| profile.slices().dur_ns(l) < profile.slices().dur_ns(slice)) {
                    longest = Some(slice);
                }
            }
        }
        if longest.is_some() {
            let (compute, transfer) = (Interval::merge(compute), Interval::merge(transfer));
            found.push(DeviceActivity { name, compute, transfer, longest });
        }
    }
    found
}

/// What all slices of a track are, where its name tells.
fn of_track(label: &str, is_xla_device: bool, is_engines: bool) -> Option<Kind> {
    match () {
        () if is_engines && label.starts_with('q') => Some(Kind::Transfer),
        () if is_engines => Some(Kind::Compute),
        () if is_xla_device && label == "XLA Ops" => Some(Kind::Compute),
        () if is_xla_device && label.contains("Memcpy") => Some(Kind::Transfer),
        () => None,
    }
}

fn of_category(profile: &Profile, slice: SliceId) -> Option<Kind> {
    let category = profile.str(profile.slices().category(slice));
    if COMPUTE.contains(&category) {
        return Some(Kind::Compute);
    }
    TRANSFER.contains(&category).then_some(Kind::Transfer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::ProfileBuilder;

    #[test]
    fn devices_are_those_whose_slices_say_so() {
        let mut b = ProfileBuilder::new("test");
        let (host, gpu) = (b.process("1", "python"), b.process("2", "GPU 0"));
        let (main, stream, copies) = (b.thread(host, "1", "main"), b.thread(gpu, "7", ""), b.thread(gpu, "8", ""));
        b.slice(main, 0, 100, "aten::mm", "cpu_op", None);
        b.slice(stream, 10, 20, "gemm", "kernel", None);
        b.slice(stream, 40, 20, "gemm", "kernel", None);
        b.slice(copies, 25, 10, "Memcpy HtoD", "gpu_memcpy", None);
        let profile = b.finish(Diagnostics::new());
        let found = devices(&profile);
        assert_eq!(found.len(), 1);
        let gpu = &found[0];
        assert_eq!((length_ns(&gpu.compute), length_ns(&gpu.transfer)), (40, 10));
        assert_eq!(overlap_ns(&gpu.compute, &gpu.transfer), 5);
        assert_eq!(gpu.span(), Interval::new(10, 60));
    }
}
