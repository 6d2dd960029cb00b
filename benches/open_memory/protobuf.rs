//! Formats that are protocol buffers: pprof and XPlane.

use neuronscope::base::Rng;

use crate::TEXT_BYTES;
use crate::program::{FUNCTIONS, Walk, below, function};

/// Writes protocol buffers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    fn number(mut self, field: u64, n: u64) -> Self {
        self.varint(field << 3);
        self.varint(n);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }
}

pub fn pprof() -> Vec<u8> {
    pprof_of(&[("cpu", "nanoseconds")], |walk, values| values.varint(u64::from(walk.delta_us()) * 1000))
}

/// As Go writes its heap: four values for each sample, two of which are mostly zero.
pub fn pprof_of_a_heap() -> Vec<u8> {
    let kinds =
        [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")];
    pprof_of(&kinds, |walk, values| {
        let (objects, kept) = (u64::from(below(&mut walk.rng, 900)), u64::from(below(&mut walk.rng, 40) / 39));
        [objects, objects * 48, objects * kept, objects * kept * 48].into_iter().for_each(|n| values.varint(n));
    })
}

fn pprof_of(kinds: &[(&str, &str)], fill: impl Fn(&mut Walk, &mut Message)) -> Vec<u8> {
    let mut texts = vec![String::new()];
    let mut file = Message::default();
    for (i, (kind, unit)) in kinds.iter().enumerate() {
        let at = 1 + 2 * i as u64;
        file = file.bytes(1, &Message::default().number(1, at).number(2, at + 1).0);
        texts.extend([(*kind).to_owned(), (*unit).to_owned()]);
    }
    let names_at = texts.len() as u64;
    for i in 0..u64::from(FUNCTIONS) {
        let line = Message::default().number(1, i + 1).number(2, i);
        file = file.bytes(4, &Message::default().number(1, i + 1).number(3, i * 16).bytes(4, &line.0).0);
        file = file.bytes(5, &Message::default().number(1, i + 1).number(2, i + names_at).0);
    }
    for name in texts.into_iter().chain((0..FUNCTIONS).map(function)) {
        file = file.bytes(6, name.as_bytes());
    }
    let mut walk = Walk::new();
    while file.0.len() < TEXT_BYTES {
        walk.step();
        let mut places = Message::default();
        walk.stack.iter().rev().for_each(|&f| places.varint(u64::from(f) + 1));
        let mut values = Message::default();
        fill(&mut walk, &mut values);
        file = file.bytes(2, &Message::default().bytes(1, &places.0).bytes(2, &values.0).0);
    }
    file.0
}

pub fn xplane() -> Vec<u8> {
    xplane_of(|event, _| event)
}

pub fn xplane_with_stats() -> Vec<u8> {
    xplane_of(|event, i| {
        let stat = |id: u64, n: u64| Message::default().number(1, id).number(4, n).0;
        event.bytes(4, &stat(1, i)).bytes(4, &stat(2, i * 3))
    })
}

fn xplane_of(stats: impl Fn(Message, u64) -> Message) -> Vec<u8> {
    let mut rng = Rng::new(11, 3);
    let mut plane = Message::default().number(1, 1).bytes(2, b"/device:TPU:0");
    let mut i = 0;
    for line in 0..4 {
        let mut lines = Message::default().number(1, line).bytes(2, b"XLA Ops").number(3, 1_700_000_000_000_000_000);
        let mut now_ps = 0;
        while lines.0.len() < TEXT_BYTES / 4 {
            let dur = u64::from(below(&mut rng, 9_000_000));
            let event = Message::default().number(1, u64::from(below(&mut rng, FUNCTIONS)));
            lines = lines.bytes(4, &stats(event.number(2, now_ps).number(3, dur), i).0);
            now_ps += dur + 1_000_000;
            i += 1;
        }
        plane = plane.bytes(3, &lines.0);
    }
    for i in 0..FUNCTIONS {
        let metadata = Message::default().number(1, u64::from(i)).bytes(2, function(i).as_bytes());
        plane = plane.bytes(4, &Message::default().number(1, u64::from(i)).bytes(2, &metadata.0).0);
    }
    for (id, name) in [(1, "correlation_id"), (2, "group_id")] {
        let metadata = Message::default().number(1, id).bytes(2, name.as_bytes());
        plane = plane.bytes(5, &Message::default().number(1, id).bytes(2, &metadata.0).0);
    }
    Message::default().bytes(1, &plane.0).0
}
