//! The pid and tid of an event, and the id that joins it to other events.

use std::borrow::Cow;
use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::event::RawEvent;
use crate::json::scan::{Members, text_of};
use ns_base::convert::u64_to_usize;
use ns_profile::{LinkValue, ProfileBuilder, TrackId};

const SLOTS: usize = 256;

/// Finds the track of a raw pid and tid without converting them to text for each event.
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
    /// The track, created if it is new. A number and the same number as text are equal; a missing id is empty text.
    pub(super) fn find(&mut self, builder: &mut ProfileBuilder, pid: &[u8], tid: &[u8]) -> TrackId {
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, None);
        }
        let mut hasher = FxHasher::default();
        hasher.write(pid);
        hasher.write_u8(b',');
        hasher.write(tid);
        let slot = u64_to_usize(hasher.finish() % SLOTS as u64);
        if let Some(known) = self.slots[slot].as_ref().filter(|s| s.pid == pid && s.tid == tid) {
            return known.track;
        }
        let process = builder.process(&id_text(pid), "");
        let track = builder.thread(process, &id_text(tid), "");
        self.slots[slot] = Some(Slot { pid: pid.to_vec(), tid: tid.to_vec(), track });
        track
    }
}

/// The text of a pid or tid. A whole number gives the same text with a fraction (`7.0`) and without.
pub(super) fn id_text(id: &[u8]) -> Cow<'_, str> {
    let whole = match memchr::memchr(b'.', id) {
        Some(point) if id[point + 1..].iter().all(|&b| b == b'0') => &id[..point],
        _ => return text_of(id),
    };
    let digits = whole.strip_prefix(b"-").unwrap_or(whole);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    text_of(if is_number { whole } else { id })
}

/// The id of a link event, from `id` or `id2`, and `scope`.
pub(super) fn link_value(builder: &mut ProfileBuilder, event: &RawEvent<'_>) -> LinkValue {
    let is_there = |value: &[u8]| !matches!(value, b"" | b"null");
    match (is_there(event.id), is_there(event.id2)) {
        (false, false) => LinkValue::None,
        (true, _) if is_there(event.id_scope) => {
            let text = scoped(event.id_scope, "id", event.id);
            LinkValue::Text(builder.intern(&text))
        }
        (true, _) => plain_value(builder, event.id),
        (false, true) => LinkValue::Text(builder.intern(&second_kind(event))),
    }
}

fn plain_value(builder: &mut ProfileBuilder, id: &[u8]) -> LinkValue {
    let text = text_of(id);
    if !id.starts_with(b"\"") {
        if let Some(number) = canonical(&text, 10) {
            return LinkValue::Number(number);
        }
    } else if let Some(number) = text.strip_prefix("0x").and_then(|hex| canonical(hex, 16)) {
        return LinkValue::Hex(number);
    }
    LinkValue::Text(builder.intern(&text))
}

/// An `id2`, which names its scope: one text for all equal ids, however they are written.
fn second_kind<'a>(event: &RawEvent<'a>) -> Cow<'a, str> {
    let mut found = None;
    if event.id2.starts_with(b"{") {
        let mut members = Members::new(event.id2, 0);
        while let Ok(Some((key, value))) = members.next_member() {
            match key {
                b"local" if value != b"null" => found = Some(("local", value)),
                b"global" if value != b"null" => found = Some(("global", value)),
                _ => {}
            }
        }
    }
    match found {
        Some((reach, value)) => scoped(event.id_scope, reach, value).into(),
        None => String::from_utf8_lossy(event.id2),
    }
}

/// `{"scope":...,"local":...}`; without `scope` if it is empty.
fn scoped(scope: &[u8], key: &str, value: &[u8]) -> String {
    let value = String::from_utf8_lossy(value);
    match scope {
        b"" | b"null" => format!("{{\"{key}\":{value}}}"),
        scope => format!("{{\"scope\":{},\"{key}\":{value}}}", String::from_utf8_lossy(scope)),
    }
}

/// The number, if writing it again gives the same text.
fn canonical(text: &str, radix: u32) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'));
    let number = u64::from_str_radix(text, radix).ok().filter(|_| plain)?;
    (text == "0" || !text.starts_with('0')).then_some(number)
}
