//! One event of the array: its members, found in place and not yet interpreted; and what the tokenizer
//! reports about events.

use crate::json::scan::{Members, Stop};

/// The members of an event that are read. Values are raw JSON with quotes; missing ones are empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RawEvent<'a> {
    pub(super) ph: &'a [u8],
    pub(super) ts: &'a [u8],
    pub(super) dur: &'a [u8],
    pub(super) name: &'a [u8],
    pub(super) cat: &'a [u8],
    pub(super) pid: &'a [u8],
    pub(super) tid: &'a [u8],
    pub(super) id: &'a [u8],
    pub(super) id2: &'a [u8],
    /// `s`, of an instant.
    pub(super) scope: &'a [u8],
    /// `scope`, of an id.
    pub(super) id_scope: &'a [u8],
    pub(super) bp: &'a [u8],
    pub(super) args: &'a [u8],
    pub(super) sf: &'a [u8],
    pub(super) stack: &'a [u8],
    /// Whether it has members at all, read or not.
    pub(super) has_members: bool,
}

/// The event whose brace is at `at`, and the position after it. If a member occurs twice, the last counts.
pub(super) fn scan_event(buf: &[u8], at: usize) -> Result<(RawEvent<'_>, usize), Stop> {
    let mut event = RawEvent::default();
    let mut members = Members::new(buf, at);
    while let Some((key, value)) = members.next_member()? {
        event.has_members = true;
        let field = match key {
            b"ph" => &mut event.ph,
            b"ts" => &mut event.ts,
            b"dur" => &mut event.dur,
            b"name" => &mut event.name,
            b"cat" => &mut event.cat,
            b"pid" => &mut event.pid,
            b"tid" => &mut event.tid,
            b"id" => &mut event.id,
            b"id2" => &mut event.id2,
            b"s" => &mut event.scope,
            b"scope" => &mut event.id_scope,
            b"bp" => &mut event.bp,
            b"args" => &mut event.args,
            b"sf" => &mut event.sf,
            b"stack" => &mut event.stack,
            _ => continue,
        };
        *field = value;
    }
    Ok((event, members.at))
}

/// Receives what the tokenizer finds. Offsets count from the start of the (uncompressed) text.
pub(super) trait EventSink {
    fn event(&mut self, event: &RawEvent<'_>, offset: u64);
    /// Something that should have been an event.
    fn broken(&mut self, why: Broken, offset: u64);
    /// Another member of the outer object: key as written, value as raw JSON, and where the value begins.
    fn member(&mut self, key: &[u8], value: &[u8], offset: u64);
    /// A member that belongs to the events but is larger than an event may be.
    fn large_member(&mut self, key: &[u8], offset: u64);
}

/// What is wrong with an element of the event array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// Not JSON; the first byte that is not, and its offset.
    Json { byte: u8, offset: u64 },
    /// Nested too deep.
    TooDeep,
    /// Larger than [`super::tokenizer::MAX_EVENT_BYTES`].
    TooLarge,
    /// Not an object.
    NotAnObject,
    /// The text ends inside it.
    Cut,
    /// The text is so broken from here on that reading stopped.
    GaveUp,
    /// Not an element, but text after the last bracket.
    AfterEnd,
    /// Not an element, but a byte between the keys of the outer object that is not allowed there.
    Keys { byte: u8 },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_in_any_order_and_unknown_ones_skipped() {
        let text = br#" {"args":{"x":[{"ph":"no"}]},"zz":1, "ph":"X" ,"ts":1.5,"ts":2,"name":"a\"b"} ,"#;
        let (event, end) = scan_event(text, 1).unwrap();
        assert_eq!((event.ph, event.ts, event.name), (&br#""X""#[..], &b"2"[..], &br#""a\"b""#[..]));
        assert_eq!(event.args, br#"{"x":[{"ph":"no"}]}"#);
        assert_eq!(end, text.len() - 2);
    }

    #[test]
    fn a_cut_event_is_incomplete_and_a_broken_one_bad() {
        let text = br#"{"ph":"X","ts":1}"#;
        for cut in 1..text.len() {
            assert_eq!(scan_event(&text[..cut], 0).unwrap_err(), Stop::Incomplete, "cut at {cut}");
        }
        assert_eq!(scan_event(br#"{"name":"foo, "ph":"X"}"#, 0).unwrap_err(), Stop::Bad(15));
        assert_eq!(scan_event(br#"{"a":1,}"#, 0).unwrap().1, 8);
        assert_eq!(scan_event(br#"{a:1}"#, 0).unwrap_err(), Stop::Bad(1));
    }
}
