//! Ways to change a file.

use neuronscope::base::Rng;

use super::{packed, wire};

/// Numbers at the limits of integer types.
pub(super) const EDGES: [&str; 10] = [
    "-1",
    "0",
    "1",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999999",
    "1e308",
];

pub(super) fn below(rng: &mut Rng, n: usize) -> usize {
    rng.next_u32() as usize % n.max(1)
}

/// A file changed in one of the ways for its format, and the name of the way.
pub(crate) fn changed(rng: &mut Rng, file: &[u8]) -> (&'static str, Vec<u8>) {
    if below(rng, 4) > 0 {
        if file.starts_with(b"PK\x03\x04")
            && let Some(bytes) = packed::changed(rng, file)
        {
            return ("an entry", bytes);
        }
        if let Ok(text) = std::str::from_utf8(file) {
            return ("text", changed_text(rng, text).into_bytes());
        }
        if let Some(bytes) = wire::changed(rng, file) {
            return ("a field", bytes);
        }
    }
    ("bytes", changed_bytes(rng, file))
}

/// Bytes flipped, set, moved, doubled, cut off.
pub(super) fn changed_bytes(rng: &mut Rng, file: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..=below(rng, 4) {
        let at = below(rng, bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte = match below(rng, 4) {
                0 => *byte ^ (1 << (rng.next_u32() % 8)),
                1 => 0xff,
                2 => 0,
                _ => rng.next_u32() as u8,
            };
        }
    }
    match below(rng, 8) {
        0 => bytes.truncate(below(rng, file.len())),
        1 | 2 => {
            let (from, to, long) = (below(rng, bytes.len()), below(rng, bytes.len()), below(rng, 300));
            let piece = bytes[from..bytes.len().min(from + long)].to_vec();
            let end = if below(rng, 2) == 0 { to } else { bytes.len().min(to + piece.len()) };
            bytes.splice(to..end, piece);
        }
        3 => {
            let from = below(rng, bytes.len());
            let end = bytes.len().min(from + below(rng, 200));
            bytes.drain(from..end);
        }
        _ => {}
    }
    bytes
}

/// Numbers replaced, lines and words doubled, left out and swapped.
pub(super) fn changed_text(rng: &mut Rng, text: &str) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for _ in 0..=below(rng, 2) {
        let at = below(rng, lines.len());
        match below(rng, 8) {
            0 => lines.insert(at, lines[at].clone()),
            1 if lines.len() > 1 => drop(lines.remove(at)),
            2 => {
                let other = below(rng, lines.len());
                lines.swap(at, other);
            }
            3 => {
                let mut words: Vec<&str> = lines[at].split(' ').collect();
                let (from, to) = (below(rng, words.len()), below(rng, words.len()));
                if below(rng, 2) == 0 {
                    words.swap(from, to)
                } else {
                    words.insert(to, words[from])
                }
                lines[at] = words.join(" ");
            }
            4 => {
                let line: Vec<char> = lines[at].chars().collect();
                let from = below(rng, line.len());
                let end = line.len().min(from + 1 + below(rng, 6));
                lines[at] = line[..from.min(line.len())].iter().chain(&line[end..]).collect();
            }
            _ => lines[at] = with_other_number(rng, &lines[at]),
        }
    }
    lines.join("\n")
}

/// One number of a text replaced by a number at a limit.
fn with_other_number(rng: &mut Rng, line: &str) -> String {
    let bytes = line.as_bytes();
    let is_start = |&i: &usize| bytes[i].is_ascii_digit() && (i == 0 || !bytes[i - 1].is_ascii_alphanumeric());
    let starts: Vec<usize> = (0..bytes.len()).filter(is_start).collect();
    let Some(&start) = starts.get(below(rng, starts.len())) else { return line.to_owned() };
    let end = (start..bytes.len()).find(|&i| !bytes[i].is_ascii_digit()).unwrap_or(bytes.len());
    format!("{}{}{}", &line[..start], EDGES[below(rng, EDGES.len())], &line[end..])
}
