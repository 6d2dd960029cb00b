//! The memory of each device: how much is allocated and reserved, which operators allocate, and what each step leaves behind.
//!
//! The source is the memory events of PyTorch's profiler: their totals are counters, and each allocation belongs to the
//! operators around it on its thread.

use serde::{Deserialize, Serialize};

use super::grouping::process_text;
use super::lookup::parse_args;
use ns_base::convert::f64_to_i64;
use ns_base::{FxHashMap, Idx, Order, StrId, TraceNs};
use ns_profile::memory::{ALLOCATED, ALLOCATED_SINCE, MEMORY_EVENT, RESERVED, device_name, device_of_counter};
use ns_profile::{InstantId, ProcessId, Profile, SeriesId, SliceId, TrackId};

/// The level of the operators of PyTorch.
const OPERATORS: &str = "CPU ops";

/// The memory of one device in one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceMemory {
    /// The device: `CUDA 0`.
    pub device: String,
    /// The process.
    pub process: String,
    /// Bytes in use.
    pub allocated: Option<MemoryLevel>,
    /// Whether the bytes in use count from the start of the recording, because the profiler did not write totals.
    pub is_since_start: bool,
    /// Bytes that the allocator holds; absent if the profiler did not write them.
    pub reserved: Option<MemoryLevel>,
    /// Number of allocations.
    pub allocations: u64,
    /// Number of releases.
    pub releases: u64,
    /// Sum of all allocations, in bytes.
    pub allocated_bytes: u64,
    /// Operators with allocations, most bytes first, ties by name.
    pub operators: Vec<OperatorMemory>,
    /// Marked steps in order of time.
    pub steps: Vec<StepMemory>,
}

/// A number of bytes over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryLevel {
    /// Bytes after the first event.
    pub first: i64,
    /// Bytes at the end.
    pub last: i64,
    /// The most bytes.
    pub peak: i64,
    /// When they are first reached, in ns.
    pub peak_at_ns: i64,
}

/// The allocations inside an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorMemory {
    /// Its name; empty for allocations outside of all operators.
    pub name: String,
    /// Number of allocations.
    pub allocations: u64,
    /// Sum of the allocations, in bytes. An allocation counts for each operator around it.
    pub bytes: u64,
    /// The part of them that has no operator further inside, in bytes. These add up to all allocations.
    pub self_bytes: u64,
    /// The largest allocation, in bytes.
    pub largest: u64,
    /// The slice with the largest allocation, by its number.
    #[serde(skip)]
    pub slice: Option<SliceId>,
}

/// The bytes in use during a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepMemory {
    /// Its name: `ProfilerStep#3`.
    pub name: String,
    /// Bytes at its end less bytes at its start: what it leaves behind.
    pub growth: i64,
    /// The most bytes in use.
    pub peak: i64,
    /// When it starts, in ns.
    pub start_ns: i64,
    /// Its slice, by its number.
    #[serde(skip)]
    pub slice: Option<SliceId>,
}

/// A device and the allocations seen so far.
#[derive(Debug, Default)]
struct Allocations {
    allocations: u64,
    releases: u64,
    bytes: u64,
    /// By operator; the empty name stands for allocations outside of all.
    operators: FxHashMap<StrId, OperatorMemory>,
    /// Bytes of the first event, which changed what was in use before.
    first_change: Option<(TraceNs, i64)>,
}

/// Reads the memory events a part at a time.
#[derive(Debug)]
pub struct MemoryPass {
    next: usize,
    event: Option<StrId>,
    devices: FxHashMap<(ProcessId, String), Allocations>,
}

impl MemoryPass {
    /// Prepares it.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        Self { next: 0, event: profile.strings().lookup(MEMORY_EVENT), devices: FxHashMap::default() }
    }

    /// Looks at up to `limit` instants more. Returns whether it has seen all.
    pub fn advance(&mut self, profile: &Profile, limit: usize) -> bool {
        let instants = profile.instants();
        let Some(event) = self.event else { return true };
        let end = self.next.saturating_add(limit.max(1)).min(instants.len());
        for id in (self.next..end).map(InstantId::from_usize).filter(|id| instants.name(*id) == event) {
            self.note(profile, id);
        }
        self.next = end;
        end == instants.len()
    }

    fn note(&mut self, profile: &Profile, id: InstantId) {
        let instants = profile.instants();
        let args = parse_args(profile.args().get(instants.args(id)));
        let number = |key: &str| args.iter().find(|(k, _)| k == key).and_then(|(_, value)| value.parse::<i64>().ok());
        let Some(change) = number("Bytes") else { return };
        let device = device_name(number("Device Type").unwrap_or(0), number("Device Id").unwrap_or(-1));
        let (track, at) = (instants.track(id), instants.ts(id));
        let Some(process) = profile.tracks().get(track).map(|t| t.process) else { return };
        let of = self.devices.entry((process, device)).or_default();
        if of.first_change.is_none() {
            of.first_change = Some((at, change));
        }
        match u64::try_from(change) {
            Err(_) => of.releases += 1,
            Ok(bytes) => {
                of.allocations += 1;
                of.bytes = of.bytes.saturating_add(bytes);
                of.count(profile, &operators_around(profile, track, at), bytes);
            }
        }
    }

    /// The memory of each device, by process, then by name of the device. Devices without an event are those whose counters the
    /// file has without them.
    pub fn finish(mut self, profile: &Profile) -> Vec<DeviceMemory> {
        let counters = profile.counters();
        let steps = steps(profile);
        let mut all: Vec<((ProcessId, String), DeviceMemory)> = Vec::new();
        for counter in counters.counters().iter() {
            let Some(device) = device_of_counter(profile.str(counter.name)) else { continue };
            let key = (counter.process, device.to_owned());
            let series = |wanted: &str| {
                counter.series.iter().copied().find(|s| profile.str(counters.series()[*s].key) == wanted)
            };
            let (total, since) = (series(ALLOCATED), series(ALLOCATED_SINCE));
            let events = self.devices.remove(&key).unwrap_or_default();
            let in_use = total.or(since);
            let memory = DeviceMemory {
                device: device.to_owned(),
                process: process_text(profile, counter.process),
                allocated: in_use.and_then(|s| level(profile, s)),
                is_since_start: total.is_none() && since.is_some(),
                reserved: series(RESERVED).and_then(|s| level(profile, s)),
                steps: in_use.map_or_else(Vec::new, |s| growths(profile, s, events.first_change, &steps)),
                ..events.finish()
            };
            all.push((key, memory));
        }
        all.order_by(|(a, _), (b, _)| a.cmp(b));
        all.into_iter().map(|(_, memory)| memory).collect()
    }
}

/// The memory of each device of a profile.
pub fn memory(profile: &Profile) -> Vec<DeviceMemory> {
    let mut pass = MemoryPass::new(profile);
    while !pass.advance(profile, usize::MAX) {}
    pass.finish(profile)
}

impl Allocations {
    /// Counts an allocation for the operators around it, innermost first; each name once.
    fn count(&mut self, profile: &Profile, around: &[SliceId], bytes: u64) {
        let names = around.iter().map(|id| (profile.slices().name(*id), Some(*id)));
        let outside = around.is_empty().then_some((StrId::EMPTY, None));
        let mut seen: Vec<StrId> = Vec::new();
        for (i, (name, slice)) in names.chain(outside).enumerate() {
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let of = self.operators.entry(name).or_default();
            of.allocations += 1;
            of.bytes = of.bytes.saturating_add(bytes);
            of.self_bytes = of.self_bytes.saturating_add(if i == 0 { bytes } else { 0 });
            if of.slice.is_none() && of.largest == 0 || bytes > of.largest {
                (of.largest, of.slice) = (bytes, slice);
            }
            if of.name.is_empty() {
                profile.str(name).clone_into(&mut of.name);
            }
        }
    }

    fn finish(self) -> DeviceMemory {
        let mut operators: Vec<OperatorMemory> = self.operators.into_values().collect();
        operators.order_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
        DeviceMemory {
            allocations: self.allocations,
            releases: self.releases,
            allocated_bytes: self.bytes,
            operators,
            ..DeviceMemory::default()
        }
    }
}

/// The operators that enclose an instant on its thread, innermost first. In a profile without the operators of PyTorch, all
/// slices that do work.
fn operators_around(profile: &Profile, track: TrackId, at: TraceNs) -> Vec<SliceId> {
    let (slices, levels) = (profile.slices(), profile.levels());
    let range = slices.range_of(track);
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if slices.start(SliceId::from_usize(middle)) <= at { low = middle + 1 } else { high = middle }
    }
    let last = (low > range.start).then(|| SliceId::from_usize(low - 1));
    let around = std::iter::successors(last, |id| slices.enclosing(*id)).filter(|id| at <= slices.end(*id));
    let is_operator = |id: &SliceId| match levels.find(OPERATORS) {
        Ok(Some(operators)) => levels.of_slice(profile, track, *id) == operators,
        _ => !levels.wraps(profile, track, *id),
    };
    around.filter(is_operator).collect()
}

fn level(profile: &Profile, series: SeriesId) -> Option<MemoryLevel> {
    let mut samples = profile.counters().samples(series).map(|(at, value)| (at.0, f64_to_i64(value)));
    let (at, first) = samples.next()?;
    let mut level = MemoryLevel { first, last: first, peak: first, peak_at_ns: at };
    for (at, value) in samples {
        level.last = value;
        if value > level.peak {
            (level.peak, level.peak_at_ns) = (value, at);
        }
    }
    Some(level)
}

/// Slices that mark steps, by time: of each name the first, because devices repeat the marks of the host.
fn steps(profile: &Profile) -> Vec<SliceId> {
    let slices = profile.slices();
    let mut by_name: FxHashMap<StrId, SliceId> = FxHashMap::default();
    for id in slices.ids() {
        let name = slices.name(id);
        if !by_name.contains_key(&name) && !profile.str(name).starts_with("ProfilerStep#") {
            continue;
        }
        let first = by_name.entry(name).or_insert(id);
        if (slices.start(id), id) < (slices.start(*first), *first) {
            *first = id;
        }
    }
    let mut found: Vec<SliceId> = by_name.into_values().collect();
    found.order_by_key(|id| (slices.start(*id), *id));
    found
}

/// The bytes in use at the start and the end of each step.
fn growths(
    profile: &Profile,
    series: SeriesId,
    first_change: Option<(TraceNs, i64)>,
    steps: &[SliceId],
) -> Vec<StepMemory> {
    let samples: Vec<(TraceNs, i64)> =
        profile.counters().samples(series).map(|(at, value)| (at, f64_to_i64(value))).collect();
    let Some(&(first_at, first)) = samples.first() else { return Vec::new() };
    let before =
        first_change.filter(|(at, _)| *at == first_at).map_or(first, |(_, change)| first.saturating_sub(change));
    let value_at = |count: usize| if count == 0 { before } else { samples[count - 1].1 };
    let slices = profile.slices();
    let step = |&id: &SliceId| {
        let span = slices.interval(id);
        let (from, to) =
            (samples.partition_point(|(at, _)| *at < span.start), samples.partition_point(|(at, _)| *at <= span.end));
        let start = value_at(from);
        StepMemory {
            name: profile.str(slices.name(id)).to_owned(),
            growth: value_at(to).saturating_sub(start),
            peak: samples[from..to].iter().map(|(_, value)| *value).fold(start, i64::max),
            start_ns: span.start.0,
            slice: Some(id),
        }
    };
    steps.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;
    use ns_profile::memory::counter_name;

    /// Two steps of a thread; `aten::conv` allocates twice, once through `aten::empty`, and releases all but 30 bytes.
    fn profile() -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "7", "main");
        for (start, dur, name, category) in [
            (0, 100, "ProfilerStep#1", "user_annotation"),
            (100, 100, "ProfilerStep#2", "user_annotation"),
            (10, 40, "aten::conv", "cpu_op"),
            (20, 10, "aten::empty", "cpu_op"),
            (110, 40, "aten::conv", "cpu_op"),
        ] {
            b.slice(t, start, dur, name, category, None);
        }
        let (counter, key) = (b.intern(&counter_name("CUDA 0")), b.intern(ALLOCATED));
        let name = b.intern(MEMORY_EVENT);
        let mut allocated = 1_000;
        for (at, bytes) in [(25, 50), (40, 20), (60, -50), (90, -10), (120, 40), (140, -20), (170, 5)] {
            allocated += bytes;
            let args = format!(r#"{{"Bytes":{bytes},"Device Type":1,"Device Id":0,"Total Allocated":{allocated}}}"#);
            let args = b.add_args(&args);
            b.instant(t, at, b'i', b't', name, StrId::EMPTY, args);
            b.derived_counter(t, at, counter, StrId::EMPTY, &[(key, allocated as f64)]);
        }
        b.finish(Diagnostics::new())
    }

    #[test]
    fn allocations_belong_to_the_operators_around_them_and_steps_grow() {
        let devices = memory(&profile());
        assert_eq!(devices.len(), 1);
        let m = &devices[0];
        assert_eq!((m.device.as_str(), m.process.as_str(), m.is_since_start), ("CUDA 0", "python", false));
        assert_eq!(m.allocated, Some(MemoryLevel { first: 1_050, last: 1_035, peak: 1_070, peak_at_ns: 40 }));
        assert_eq!((m.reserved, m.allocations, m.releases, m.allocated_bytes), (None, 4, 3, 115));
        let operators: Vec<_> =
            m.operators.iter().map(|o| (o.name.as_str(), o.allocations, o.bytes, o.self_bytes, o.largest)).collect();
        assert_eq!(operators, [("aten::conv", 3, 110, 60, 50), ("aten::empty", 1, 50, 50, 50), ("", 1, 5, 5, 5)]);
        assert_eq!(m.operators.iter().map(|o| o.self_bytes).sum::<u64>(), m.allocated_bytes);
        let steps: Vec<_> = m.steps.iter().map(|s| (s.name.as_str(), s.growth, s.peak)).collect();
        assert_eq!(steps, [("ProfilerStep#1", 10, 1_070), ("ProfilerStep#2", 25, 1_050)]);
        assert!(memory(&Profile::default()).is_empty());
    }

    #[test]
    fn parts_give_what_the_whole_gives() {
        let profile = profile();
        let mut pass = MemoryPass::new(&profile);
        while !pass.advance(&profile, 1) {}
        assert_eq!(pass.finish(&profile), memory(&profile));
    }
}
