//! Tracks by their uuid. A descriptor may come after the events of its track, so the name and the place of a track are
//! settled at the end.

use ns_base::FxHashMap;
use ns_base::convert::i64_to_f64;
use ns_base::wire::Fields;
use ns_profile::{ProfileBuilder, TrackId};

/// The most parents that are followed.
const MAX_PARENTS: u32 = 64;

/// The known tracks, processes and threads.
#[derive(Debug, Default)]
pub(super) struct TrackTable {
    described: FxHashMap<u64, Descriptor>,
    /// Tracks with events, in order of appearance.
    used: Vec<(u64, TrackId)>,
    place_of: FxHashMap<u64, usize>,
    process_names: FxHashMap<i64, String>,
    /// Process and name of threads, from process trees.
    threads: FxHashMap<i64, (i64, String)>,
}

#[derive(Clone, Debug, Default)]
struct Descriptor {
    parent: Option<u64>,
    name: String,
    pid: Option<i64>,
    tid: Option<i64>,
    order: Option<i64>,
    counter: Option<Counter>,
}

/// How to read the values of a counter track.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub(super) unit: String,
    pub(super) multiplier: f64,
    pub(super) is_incremental: bool,
}

/// The final place of a track.
pub(super) struct TrackPlace {
    pub(super) pid: String,
    pub(super) process_name: String,
    pub(super) tid: String,
    pub(super) name: String,
}

impl TrackTable {
    /// The track of events with this uuid.
    pub fn find(&mut self, builder: &mut ProfileBuilder, uuid: u64) -> TrackId {
        if let Some(&at) = self.place_of.get(&uuid) {
            return self.used[at].1;
        }
        let track = builder.loose_track();
        self.place_of.insert(uuid, self.used.len());
        self.used.push((uuid, track));
        track
    }

    /// Whether it is a counter track, and of which kind.
    pub fn counter(&self, uuid: u64) -> Option<&Counter> {
        self.described.get(&uuid).and_then(|d| d.counter.as_ref())
    }

    /// Takes a `TrackDescriptor`.
    pub fn describe(&mut self, message: &[u8]) {
        let (mut uuid, mut d) = (0, Descriptor::default());
        for (field, value) in Fields::of(message) {
            match field {
                1 => uuid = value.u64(),
                2 | 10 | 13 => d.name = value.text().into_owned(),
                5 => d.parent = Some(value.u64()),
                12 => d.order = Some(value.i64()),
                3 => {
                    for (field, value) in Fields::of(value.bytes()) {
                        match field {
                            1 => d.pid = Some(value.i64()),
                            6 if d.name.is_empty() => d.name = value.text().into_owned(),
                            _ => {}
                        }
                    }
                    if let Some(pid) = d.pid.filter(|_| !d.name.is_empty()) {
                        self.process_names.insert(pid, d.name.clone());
                    }
                }
                4 => {
                    for (field, value) in Fields::of(value.bytes()) {
                        match field {
                            1 => d.pid = Some(value.i64()),
                            2 => d.tid = Some(value.i64()),
                            5 if d.name.is_empty() => d.name = value.text().into_owned(),
                            _ => {}
                        }
                    }
                }
                8 => d.counter = Some(counter(value.bytes())),
                _ => {}
            }
        }
        // A later descriptor of a track adds to an earlier one.
        let known = self.described.entry(uuid).or_default();
        if !d.name.is_empty() {
            known.name = d.name;
        }
        known.parent = d.parent.or(known.parent);
        known.pid = d.pid.or(known.pid);
        known.tid = d.tid.or(known.tid);
        known.order = d.order.or(known.order);
        known.counter = d.counter.or(known.counter.take());
    }

    /// Takes a `ProcessTree`: processes with their command lines, and threads.
    pub fn process_tree(&mut self, message: &[u8]) {
        for (field, value) in Fields::of(message) {
            let (mut first, mut text, mut tgid) = (0, String::new(), 0);
            for (inner, value) in Fields::of(value.bytes()) {
                match (field, inner) {
                    (_, 1) => first = value.i64(),
                    (1, 3) if text.is_empty() => text = value.text().into_owned(),
                    (2, 2) => text = value.text().into_owned(),
                    (2, 3) => tgid = value.i64(),
                    _ => {}
                }
            }
            match field {
                1 if !text.is_empty() => {
                    self.process_names.entry(first).or_insert(text);
                }
                2 => {
                    self.threads.insert(first, (tgid, text));
                }
                _ => {}
            }
        }
    }

    /// Takes a `ProcessDescriptor` of a packet, the form from before there were tracks.
    pub fn old_process(&mut self, sequence: u64, message: &[u8]) {
        let d = self.described.entry(sequence_track(sequence)).or_default();
        for (field, value) in Fields::of(message) {
            match field {
                1 => d.pid = Some(value.i64()),
                6 => {
                    if let Some(pid) = d.pid {
                        self.process_names.insert(pid, value.text().into_owned());
                    }
                }
                _ => {}
            }
        }
    }

    /// Takes a `ThreadDescriptor` of a packet, the form from before there were tracks.
    pub fn old_thread(&mut self, sequence: u64, message: &[u8]) {
        let d = self.described.entry(sequence_track(sequence)).or_default();
        for (field, value) in Fields::of(message) {
            match field {
                1 => d.pid = Some(value.i64()),
                2 => d.tid = Some(value.i64()),
                5 => d.name = value.text().into_owned(),
                _ => {}
            }
        }
    }

    /// The place of a track: its own process, or the process of the nearest parent that has one.
    pub fn place(&self, uuid: u64) -> TrackPlace {
        let none = Descriptor::default();
        let own = self.described.get(&uuid).unwrap_or(&none);
        let (mut at, mut pid, mut top) = (Some(uuid), None, "");
        for _ in 0..MAX_PARENTS {
            let Some(d) = at.and_then(|u| self.described.get(&u)) else { break };
            pid = pid.or(d.pid).or_else(|| d.tid.and_then(|tid| self.threads.get(&tid)).map(|t| t.0));
            top = &d.name;
            at = d.parent;
        }
        let process_name = match pid {
            Some(pid) => self.process_names.get(&pid).cloned().unwrap_or_default(),
            // Without a process, the outermost track groups the others.
            None if own.parent.is_some() => top.to_owned(),
            None => String::new(),
        };
        let pid_text = pid.map_or_else(|| process_name.clone(), |pid| pid.to_string());
        let thread_name = own.tid.and_then(|tid| self.threads.get(&tid)).map(|t| t.1.clone());
        let name = if own.name.is_empty() { thread_name.unwrap_or_default() } else { own.name.clone() };
        let tid = match own.tid {
            Some(tid) => tid.to_string(),
            None => format!("track {uuid}"),
        };
        TrackPlace { pid: pid_text, process_name, tid, name }
    }

    /// The thread of a track, by name and id; the track's own number if it does not belong to a thread.
    pub fn thread_around(&self, uuid: u64) -> String {
        let mut at = Some(uuid);
        for _ in 0..MAX_PARENTS {
            let Some((u, d)) = at.and_then(|u| self.described.get(&u).map(|d| (u, d))) else { break };
            if let Some(tid) = d.tid {
                let name = self.place(u).name;
                return if name.is_empty() { format!("thread {tid}") } else { format!("{name} {tid}") };
            }
            at = d.parent;
        }
        format!("track {uuid}")
    }

    /// Names every used track and places it under its process.
    pub fn finish(&mut self, builder: &mut ProfileBuilder) {
        for &(uuid, track) in &self.used {
            let place = self.place(uuid);
            let process = builder.process(&place.pid, &place.process_name);
            builder.place_track(track, process, &place.tid, &place.name);
            if let Some(order) = self.described.get(&uuid).and_then(|d| d.order) {
                builder.set_track_sort_index(track, order);
            }
        }
    }
}

/// The number of the track of a sequence whose events name none.
pub(super) fn sequence_track(sequence: u64) -> u64 {
    sequence.wrapping_add(0x5e90_0000_0000_0000)
}

fn counter(message: &[u8]) -> Counter {
    let mut counter = Counter { unit: String::new(), multiplier: 1.0, is_incremental: false };
    for (field, value) in Fields::of(message) {
        match field {
            // The unit of a built-in counter follows from its kind: a thread's time, its instructions.
            1 if counter.unit.is_empty() => {
                let known = ["", "ns", "count"].get(usize::try_from(value.u64()).unwrap_or(0));
                counter.unit = (*known.unwrap_or(&"")).to_owned();
            }
            3 => {
                let known = ["", "ns", "count", "bytes"].get(usize::try_from(value.u64()).unwrap_or(0));
                counter.unit = (*known.unwrap_or(&"")).to_owned();
            }
            6 => counter.unit = value.text().into_owned(),
            4 => counter.multiplier = i64_to_f64(value.i64()),
            5 => counter.is_incremental = value.u64() != 0,
            _ => {}
        }
    }
    counter
}
