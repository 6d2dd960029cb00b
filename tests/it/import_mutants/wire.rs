//! Protocol buffers changed field by field, with correct lengths around them.

use neuronscope::base::Rng;

use super::change::{below, changed_bytes};

/// A field of a message.
#[derive(Clone)]
struct Field {
    /// Number and type.
    key: u64,
    /// Its number or length; fields of fixed width have only bytes.
    number: u64,
    bytes: Vec<u8>,
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The fields of a message; none when the bytes are not a message.
fn fields(bytes: &[u8]) -> Option<Vec<Field>> {
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        let key = varint(bytes, &mut at)?;
        let (number, long) = match key & 7 {
            0 => (varint(bytes, &mut at)?, 0),
            1 => (0, 8),
            2 => {
                let long = varint(bytes, &mut at)?;
                (long, usize::try_from(long).ok()?)
            }
            5 => (0, 4),
            _ => return None,
        };
        if key >> 3 == 0 || key >> 3 > 1 << 16 {
            return None;
        }
        let end = at.checked_add(long)?;
        found.push(Field { key, number, bytes: bytes.get(at..end)?.to_vec() });
        at = end;
    }
    (!found.is_empty()).then_some(found)
}

fn written(fields: &[Field]) -> Vec<u8> {
    let mut out = Vec::new();
    for field in fields {
        put(&mut out, field.key);
        if matches!(field.key & 7, 0 | 2) {
            put(&mut out, field.number);
        }
        out.extend(&field.bytes);
    }
    out
}

/// A message with one field changed at some depth; none when the bytes are not a message.
pub(super) fn changed(rng: &mut Rng, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut all = fields(bytes)?;
    let at = below(rng, all.len());
    let inner = if all[at].key & 7 == 2 && below(rng, 10) > 0 { changed(rng, &all[at].bytes) } else { None };
    if let Some(inner) = inner {
        (all[at].number, all[at].bytes) = (inner.len() as u64, inner);
        return Some(written(&all));
    }
    let edges = [0, 1, 2, 1 << 31, (1 << 31) - 1, 1 << 32, i64::MAX as u64, 1 << 63, u64::MAX];
    match below(rng, 8) {
        0 => drop(all.remove(at)),
        1 => all.insert(at, all[at].clone()),
        2 => {
            let other = below(rng, all.len());
            all.swap(at, other);
        }
        // A wrong length, or a number at a limit.
        3 | 4 if all[at].key & 7 == 2 && below(rng, 3) == 0 => all[at].number = edges[below(rng, edges.len())],
        5 => all[at].key = all[at].key & 7 | (1 + below(rng, 40) as u64) << 3,
        _ if all[at].key & 7 == 0 => all[at].number = edges[below(rng, edges.len())],
        _ => {
            all[at].bytes = changed_bytes(rng, &all[at].bytes);
            all[at].number = all[at].bytes.len() as u64;
        }
    }
    Some(written(&all))
}
