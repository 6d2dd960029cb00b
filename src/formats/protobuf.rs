//! Tells the formats that are protocol buffers apart. All of them begin with field 1; its content differs.

use super::sniff::FileKind;
use ns_base::wire::{Fields, Wire, varint};

/// The tag of field 1 that has a length.
const FIRST: u8 = 0x0a;

/// The kind of a file that may be protocol buffers.
pub(super) fn sniff(head: &[u8]) -> Option<FileKind> {
    // A line feed begins text files too.
    let Some(rest) = head.strip_prefix(&[FIRST]) else {
        return is_pprof_in_any_order(head).then_some(FileKind::Pprof);
    };
    let (len, used) = varint(rest)?;
    let content = &rest[used..];
    let is_whole = len <= content.len() as u64;
    let message = if is_whole { &content[..usize::try_from(len).ok()?] } else { content };
    let mut fields = Fields::of(message);
    let read: Vec<_> = fields.by_ref().take(32).collect();
    let cut_field = if is_whole { None } else { next_field(&message[fields.offset()..]) };
    if is_whole && is_pprof(&read, &content[message.len()..]) {
        return Some(FileKind::Pprof);
    }
    // Planes first: their statistics have the same field number as a packet's clock snapshot, but no packet holds only a
    // name and tables.
    if is_plane(&read, cut_field) {
        return Some(FileKind::XPlane);
    }
    if is_perfetto(&read, cut_field) {
        return Some(FileKind::Perfetto);
    }
    let is_hlo = matches!(read.first(), Some((1, Wire::Bytes(name))) if is_text(name));
    (is_hlo && read.len() > 1 && !is_text(&head[..head.len().min(64)]))
        .then_some(FileKind::Known("an HLO module (protocol buffers)"))
}

/// The number of the field at the front, which may be incomplete.
fn next_field(bytes: &[u8]) -> Option<u32> {
    let (tag, _) = varint(bytes)?;
    u32::try_from(tag >> 3).ok().filter(|&n| n > 0 && tag & 7 == 2)
}

/// A `ValueType` has at most two numbers; the next field is another `ValueType`, a sample, a mapping or another part of a profile.
fn is_pprof(fields: &[(u32, Wire<'_>)], after: &[u8]) -> bool {
    let numbers = fields.iter().all(|(n, value)| matches!(n, 1 | 2) && matches!(value, Wire::Varint(_)));
    let next = after.first().map(|tag| (tag >> 3, tag & 7));
    let goes_on = next.is_none_or(|(field, kind)| (1..=6).contains(&field) && kind == 2 || (7..=15).contains(&field));
    numbers && !fields.is_empty() && fields.len() <= 2 && goes_on
}

/// Fields of a profile whose writer did not begin with the first field, as in C++: all have the right type.
fn is_pprof_in_any_order(head: &[u8]) -> bool {
    let read: Vec<_> = Fields::of(head).take(64).collect();
    let fits = |(n, value): &(u32, Wire<'_>)| match n {
        1..=6 | 11 => matches!(value, Wire::Bytes(_)),
        7..=10 | 12 | 14 | 15 => matches!(value, Wire::Varint(_)),
        13 => true,
        _ => false,
    };
    let has_samples = read.iter().any(|(n, _)| matches!(n, 1 | 2));
    read.len() >= 3 && read.iter().all(fits) && has_samples && !is_text(&head[..head.len().min(64)])
}

/// A `TracePacket` has fields that a plane lacks: a time, a sequence, an event, a descriptor.
fn is_perfetto(fields: &[(u32, Wire<'_>)], cut: Option<u32>) -> bool {
    let is_packet = |(n, value): &(u32, Wire<'_>)| match n {
        3 | 8 | 10 | 13 | 41 | 42 | 58 | 79 => matches!(value, Wire::Varint(_)),
        6 | 7 | 9 | 11 | 12 | 33 | 35 | 36 | 43 | 44 | 45 | 50 | 59 | 60 | 89 => matches!(value, Wire::Bytes(_)),
        _ => false,
    };
    let has_number = |n: u32| matches!(n, 11 | 12 | 33 | 35 | 36 | 50 | 60);
    fields.iter().any(is_packet) || cut.is_some_and(has_number)
}

/// An `XPlane` has a number or a name first, and then lines and tables.
fn is_plane(fields: &[(u32, Wire<'_>)], cut: Option<u32>) -> bool {
    let fits = |(n, value): &(u32, Wire<'_>)| match (n, value) {
        (1, Wire::Varint(_)) | (3..=6, Wire::Bytes(_)) => true,
        (2, Wire::Bytes(name)) => is_text(name),
        _ => false,
    };
    let named = fields.iter().any(|(n, value)| *n == 2 && matches!(value, Wire::Bytes(name) if !name.is_empty()));
    named && fields.iter().all(fits) && cut.is_none_or(|n| n <= 6)
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| text.chars().all(|c| !c.is_control() || c.is_whitespace()))
}
