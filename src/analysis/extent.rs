//! How long a profile took: its steps, the window in which devices work, its span.

use serde::{Deserialize, Serialize};

use ns_base::IndexVec;
use ns_profile::levels::wrappers::Wrapper;
use ns_profile::levels::{Family, Level, LevelId, Levels};
use ns_profile::{Profile, SliceFlags};

/// How long a profile took, measured in up to three ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// From the first to the last event, in ns.
    pub span_ns: i64,
    /// From the start of the first step to the end of the last, in ns; absent when no steps are marked.
    pub steps_ns: Option<i64>,
    /// From the first to the last slice of a device, in ns; absent when no device is known. For a simulated run this is the
    /// device window, which does not include setting up the runtime.
    pub device_ns: Option<i64>,
}

/// Measures a profile; visits every slice once.
pub fn extent(profile: &Profile) -> Extent {
    let levels = profile.levels();
    let of_level: IndexVec<LevelId, LevelPart> = levels.all().map(|level| part_of(levels, level)).collect();
    let (mut steps, mut device) = (None, None);
    let slices = profile.slices();
    for track in profile.tracks().ids() {
        for id in slices.of_track(track).filter(|id| !slices.flags(*id).has(SliceFlags::UNCLOSED)) {
            let found = match of_level.get(levels.of_slice(profile, track, id)) {
                Some(LevelPart::Steps) => &mut steps,
                Some(LevelPart::Device) => &mut device,
                _ => continue,
            };
            let (start, end) = (slices.start(id).0, slices.end(id).0);
            let (from, to) = found.get_or_insert((start, end));
            (*from, *to) = (start.min(*from), end.max(*to));
        }
    }
    let length = |found: Option<(i64, i64)>| found.map(|(from, to)| to.saturating_sub(from));
    Extent { span_ns: profile.span_ns(), steps_ns: length(steps), device_ns: length(device) }
}

#[derive(Clone, Copy)]
enum LevelPart {
    Steps,
    Device,
    Neither,
}

fn part_of(levels: &Levels, level: &Level) -> LevelPart {
    let is_host = ["host", "CPU ops", "Python", "runtime calls", "annotations", "other"].contains(&level.name.as_str());
    match levels.family() {
        _ if level.name == Wrapper::Step.level() => LevelPart::Steps,
        Family::Other => LevelPart::Neither,
        Family::Kineto if level.name != "device kernels" => LevelPart::Neither,
        _ if level.wraps || is_host => LevelPart::Neither,
        _ => LevelPart::Device,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;

    #[test]
    fn steps_and_devices_are_measured_where_a_profile_has_them() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let (t, k) = (b.thread(p, "1", "main"), b.thread(p, "7", "stream 7"));
        b.slice(t, 0, 1000, "PyTorch Profiler (0)", "Trace", None);
        b.slice(t, 100, 200, "ProfilerStep#1", "user_annotation", None);
        b.slice(t, 300, 250, "ProfilerStep#2", "user_annotation", None);
        b.slice(k, 150, 50, "gemm", "kernel", None);
        b.slice(k, 500, 100, "gemm", "kernel", None);
        let found = extent(&b.finish(Diagnostics::new()));
        assert_eq!(found, Extent { span_ns: 1000, steps_ns: Some(450), device_ns: Some(450) });

        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "clang");
        let t = b.thread(p, "1", "main");
        b.slice(t, 0, 70, "Frontend", "", None);
        assert_eq!(extent(&b.finish(Diagnostics::new())), Extent { span_ns: 70, ..Extent::default() });
    }
}
