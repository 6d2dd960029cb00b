//! An `XSpace` of XLA: a plane for each process, a line for each thread.

use std::cmp::Reverse;

use super::chrome::source_start_ns;
use super::lanes::{Change, lane_name, lanes};
use super::message::Message;
use crate::json::Doc;
use crate::xplane::CUSTOM_PLANE;
use ns_base::convert::usize_to_i64;
use ns_base::{FxHashMap, Order, StrId};
use ns_profile::neuron::{OperatorView, tracks_by_core};
use ns_profile::{ProcessId, Profile, SliceId, TrackId};

pub(super) fn write(profile: &Profile) -> Vec<u8> {
    space(profile, CUSTOM_PLANE).finish()
}

/// The same with a plane more for each NeuronCore, from which XProf makes its tables of operators and its op profile: as a TPU's plane is,
/// with lines `XLA Modules` and `XLA Ops`. It tells again what the other planes tell, which belong to the first TPU: beside a TPU, XProf shows
/// no custom plane.
pub(super) fn write_with_operators(profile: &Profile) -> Vec<u8> {
    let cores = tracks_by_core(profile, OperatorView::Hlo);
    if cores.is_empty() {
        return write(profile);
    }
    let mut space = space(profile, &format!("{TPU_PLANE}0 "));
    for (number, (_, tracks)) in (0i64..).zip(cores) {
        let plane = OperatorPlane { profile, operators: FxHashMap::default() };
        space.message(1, &plane.write(number, &tracks));
    }
    space.finish()
}

fn space(profile: &Profile, prefix: &str) -> Message {
    let mut space = Message::default();
    for process in profile.processes_in_order() {
        let plane = Plane { profile, names: Table::default(), stats: Table::default() };
        if let Some(plane) = plane.write(process, prefix) {
            space.message(1, &plane);
        }
    }
    space
}

/// Names of the statistics of [`OperatorPlane`], by number from 1.
const OPERATOR_STATS: [&str; 4] = ["tf_op", "hlo_category", "program_id", "symbol_id"];
/// How names of a TPU's planes begin, before its number.
const TPU_PLANE: &str = "/device:TPU:";
/// Number of the first core's plane, above those of the processes.
const FIRST_CORE: i64 = 1_000_000;
/// The one program of a run.
const PROGRAM: i64 = 1;

/// A NeuronCore's HLO operators as those of a TPU.
struct OperatorPlane<'a> {
    profile: &'a Profile,
    /// Each operator's number, and a slice of it.
    operators: FxHashMap<StrId, (i64, SliceId)>,
}

impl OperatorPlane<'_> {
    fn write(mut self, number: i64, tracks: &[TrackId]) -> Message {
        let slices = self.profile.slices();
        let mut ids: Vec<SliceId> = tracks.iter().flat_map(|&track| slices.of_track(track)).collect();
        ids.order_by_key(|id| (slices.start(*id), Reverse(slices.end(*id)), self.profile.str(slices.name(*id)), *id));
        let mut plane = Message::default();
        plane.int(1, FIRST_CORE + number).text(2, &format!("{TPU_PLANE}{number}"));
        let start_ns = source_start_ns(self.profile).max(0);
        let line = |number: i64, name: &str| {
            let mut line = Message::default();
            line.int(1, number).text(2, name).int(3, start_ns);
            line
        };
        let (mut modules, mut ops) = (line(1, "XLA Modules"), line(2, "XLA Ops"));
        let event = |number: i64, from: i64, to: i64| {
            let mut event = Message::default();
            event.int(1, number).int(2, from.saturating_mul(1000)).int(3, (to - from).max(0).saturating_mul(1000));
            event
        };
        for (at, id) in ids.iter().enumerate() {
            let (from, end) = (slices.start(*id).0, slices.end(*id).0);
            // Operators of a line are nested: one that overlaps the next ends where that begins.
            let next = ids.get(at + 1).map(|next| (slices.start(*next).0, slices.end(*next).0));
            let to = next.filter(|(begin, after)| *begin < end && *after > end).map_or(end, |(begin, _)| begin);
            let new = usize_to_i64(self.operators.len()) + 2;
            let (number, _) = *self.operators.entry(slices.name(*id)).or_insert((new, *id));
            ops.message(4, &event(number, from, to));
        }
        let (first, last) = (ids.first().map(|id| slices.start(*id).0), ids.iter().map(|id| slices.end(*id).0).max());
        if let (Some(first), Some(last)) = (first, last) {
            let (mut whole, mut program) = (event(1, first, last), Message::default());
            program.int(1, 3).int(4, PROGRAM);
            modules.message(4, whole.message(4, &program));
        }
        plane.message(3, &modules).message(3, &ops);
        self.write_metadata(&mut plane);
        plane
    }

    fn write_metadata(&self, plane: &mut Message) {
        let mut entry = |field: u32, number: i64, metadata: &Message| {
            let mut entry = Message::default();
            entry.int(1, number).message(2, metadata);
            plane.message(field, &entry);
        };
        let named = |number: i64, name: &str| {
            let mut metadata = Message::default();
            metadata.int(1, number).text(2, name);
            metadata
        };
        entry(4, 1, &named(1, &format!("program({PROGRAM})")));
        let mut operators: Vec<(i64, SliceId)> = self.operators.values().copied().collect();
        operators.order_by_key(|(number, _)| *number);
        for (number, id) in operators {
            let slices = self.profile.slices();
            let (name, category) = (self.profile.str(slices.name(id)), self.profile.str(slices.category(id)));
            let doc = Doc::new(self.profile.args().get(slices.args(id)).as_bytes());
            let path = doc.root().get("path").and_then(|path| path.scalar()).unwrap_or_default();
            let kind = path.rsplit('/').next().unwrap_or_default();
            let short = name.split(" = ").next().unwrap_or(name).trim_start_matches('%');
            let mut metadata = named(number, name);
            metadata.text(4, short);
            let mut stat = |number: i64, put: &dyn Fn(&mut Message)| {
                let mut stat = Message::default();
                stat.int(1, number);
                put(&mut stat);
                metadata.message(5, &stat);
            };
            stat(1, &|stat| {
                stat.text(5, &format!("{path}:{kind}"));
            });
            stat(2, &|stat| {
                stat.text(5, if category.is_empty() { short } else { category });
            });
            stat(3, &|stat| {
                stat.int(4, PROGRAM);
            });
            stat(4, &|stat| {
                stat.int(4, number);
            });
            entry(4, number, &metadata);
        }
        for (number, name) in (1..).zip(OPERATOR_STATS) {
            entry(5, number, &named(number, name));
        }
    }
}

/// Names by number, in the order they came; numbers begin with 1.
#[derive(Default)]
struct Table {
    number_of: FxHashMap<String, i64>,
    names: Vec<String>,
}

impl Table {
    fn number(&mut self, name: &str) -> i64 {
        if let Some(&number) = self.number_of.get(name) {
            return number;
        }
        self.names.push(name.to_owned());
        let number = usize_to_i64(self.names.len());
        self.number_of.insert(name.to_owned(), number);
        number
    }

    /// Entries of a map of metadata.
    fn write(&self, field: u32, plane: &mut Message) {
        for (i, name) in self.names.iter().enumerate() {
            let number = usize_to_i64(i) + 1;
            let (mut metadata, mut entry) = (Message::default(), Message::default());
            metadata.int(1, number).text(2, name);
            entry.int(1, number).message(2, &metadata);
            plane.message(field, &entry);
        }
    }
}

struct Plane<'a> {
    profile: &'a Profile,
    names: Table,
    stats: Table,
}

impl Plane<'_> {
    /// The plane of a process. XProf shows planes whose names have a prefix that it knows.
    fn write(mut self, process: ProcessId, prefix: &str) -> Option<Message> {
        let mut plane = Message::default();
        plane.int(1, i64::from(process.0) + 1).text(2, &format!("{prefix}{}", self.profile.process_label(process)));
        let (mut lines, start_ns) = (0i64, source_start_ns(self.profile).max(0));
        for track in self.profile.tracks_in_order(process) {
            if !self.profile.tracks()[track].kind.is_own() {
                continue;
            }
            for (number, changes) in lanes(self.profile, track).iter().enumerate() {
                lines += 1;
                let mut line = Message::default();
                line.int(1, lines).text(2, &lane_name(self.profile, track, number)).int(3, start_ns);
                let opened = changes.iter().filter_map(|change| match change {
                    Change::Open(id, _) => Some(*id),
                    Change::Close(..) => None,
                });
                for id in opened {
                    let event = self.event(id);
                    line.message(4, &event);
                }
                plane.message(3, &line);
            }
        }
        self.names.write(4, &mut plane);
        self.stats.write(5, &mut plane);
        (lines > 0).then_some(plane)
    }

    fn event(&mut self, id: SliceId) -> Message {
        let slices = self.profile.slices();
        let ps = |ns: i64| ns.saturating_mul(1000);
        let mut event = Message::default();
        event.int(1, self.names.number(self.profile.str(slices.name(id))));
        event.int(2, ps(slices.start(id).0)).int(3, ps(slices.dur_ns(id)));
        if slices.category(id) != StrId::EMPTY {
            self.text_stat(&mut event, "category", self.profile.str(slices.category(id)));
        }
        let doc = Doc::new(self.profile.args().get(slices.args(id)).as_bytes());
        for (key, value) in doc.root().members() {
            let (key, text) = (String::from_utf8_lossy(key), value.scalar());
            match (value.is_string(), value.i64()) {
                (false, Some(number)) if number.to_string() == value.raw_text() => {
                    let mut stat = Message::default();
                    stat.int(1, self.stats.number(&key)).int(4, number);
                    event.message(4, &stat);
                }
                _ => self.text_stat(&mut event, &key, &text.unwrap_or_else(|| value.raw_text())),
            }
        }
        event
    }

    fn text_stat(&mut self, event: &mut Message, key: &str, text: &str) {
        let mut stat = Message::default();
        stat.int(1, self.stats.number(key)).text(5, text);
        event.message(4, &stat);
    }
}
