//! Who and what an event is about: pid and tid, and the id that joins it to others.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::event::RawEvent;
use crate::profile::formats::json::scan::text_of;
use crate::profile::{LinkValue, ProfileBuilder, TrackId};

const SLOTS: usize = 256;

/// Finds the track of a raw pid and tid without making text of them for each event.
#[derive(Default)]
pub(super) struct TrackCache {
    slots: Vec<Option<Slot>>,
}

#[derive(Clone)]
struct Slot {
    pid: Vec<u8>,
    tid: Vec<u8>,
    track: TrackId,
}

impl TrackCache {
    /// The track, made now if it is new. A number and the same number as text are one; a missing id is empty text.
    pub(super) fn find(&mut self, builder: &mut ProfileBuilder, pid: &[u8], tid: &[u8]) -> TrackId {
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, None);
        }
        let mut hasher = FxHasher::default();
        hasher.write(pid);
        hasher.write_u8(b',');
        hasher.write(tid);
        let slot = hasher.finish() as usize % SLOTS;
        if let Some(known) = self.slots[slot].as_ref().filter(|s| s.pid == pid && s.tid == tid) {
            return known.track;
        }
        let process = builder.process(&text_of(pid), "");
        let track = builder.thread(process, &text_of(tid), "");
        self.slots[slot] = Some(Slot { pid: pid.to_vec(), tid: tid.to_vec(), track });
        track
    }
}

/// The id of a link event, from `id` or `id2`.
pub(super) fn link_value(builder: &mut ProfileBuilder, event: &RawEvent<'_>) -> LinkValue {
    let text = match (event.id, event.id2) {
        (b"" | b"null", b"") => return LinkValue::None,
        (b"" | b"null", id2) => return LinkValue::Text(builder.intern(&String::from_utf8_lossy(id2))),
        (id, _) => text_of(id),
    };
    let is_text = event.id.starts_with(b"\"");
    if !is_text {
        if let Some(number) = canonical(&text, 10) {
            return LinkValue::Number(number);
        }
    } else if let Some(number) = text.strip_prefix("0x").and_then(|hex| canonical(hex, 16)) {
        return LinkValue::Hex(number);
    }
    LinkValue::Text(builder.intern(&text))
}

/// The number, if writing it again gives the same text.
fn canonical(text: &str, radix: u32) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'));
    let number = u64::from_str_radix(text, radix).ok().filter(|_| plain)?;
    (text == "0" || !text.starts_with('0')).then_some(number)
}
