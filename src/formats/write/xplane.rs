//! An `XSpace` of XLA: a plane for each process, a line for each thread.

use super::chrome::source_start_ns;
use super::lanes::{Change, lane_name, lanes};
use super::message::Message;
use crate::json::Doc;
use crate::xplane::CUSTOM_PLANE;
use ns_base::convert::usize_to_i64;
use ns_base::{FxHashMap, StrId};
use ns_profile::{ProcessId, Profile, SliceId};

pub(super) fn write(profile: &Profile) -> Vec<u8> {
    let mut space = Message::default();
    for process in profile.processes_in_order() {
        let plane = Plane { profile, names: Table::default(), stats: Table::default() };
        if let Some(plane) = plane.write(process) {
            space.message(1, &plane);
        }
    }
    space.finish()
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

/// XProf shows planes whose names it knows, and all planes with this prefix.
fn plane_name(label: &str) -> String {
    format!("{CUSTOM_PLANE}{label}")
}

struct Plane<'a> {
    profile: &'a Profile,
    names: Table,
    stats: Table,
}

impl Plane<'_> {
    fn write(mut self, process: ProcessId) -> Option<Message> {
        let mut plane = Message::default();
        plane.int(1, i64::from(process.0) + 1).text(2, &plane_name(&self.profile.process_label(process)));
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
