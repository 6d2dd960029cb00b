//! Skips text that is not read: values of other keys, elements that are not events, broken text.

use crate::json::scan::skip_space;

/// Skips one JSON value that may come in pieces, whatever its size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Skipper {
    depth: u64,
    in_string: bool,
    escaped: bool,
    started: bool,
}

impl Skipper {
    /// Takes the next piece; the position after the value if it ends here. A word ends before the byte after it.
    pub(super) fn feed(&mut self, buf: &[u8]) -> Option<usize> {
        for (i, &byte) in buf.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return Some(i + 1);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    if self.depth == 0 {
                        // A stray bracket must not stop the reading: at the very start it counts as the value.
                        return Some(if self.started { i } else { i + 1 });
                    }
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(i + 1);
                    }
                }
                b',' | b' ' | b'\n' | b'\r' | b'\t' if self.depth == 0 => return Some(i),
                _ => {}
            }
            self.started = true;
        }
        None
    }
}

/// Where an event seems to begin at or after `from`: a brace and a quote, after the close of another event or at the
/// start of a line.
pub(super) fn next_event_start(buf: &[u8], from: usize) -> Option<usize> {
    for brace in memchr::memchr_iter(b'{', buf.get(from..)?).map(|i| i + from) {
        if buf.get(skip_space(buf, brace + 1)) != Some(&b'"') {
            continue;
        }
        let before = buf[..brace].trim_ascii_end();
        let on_new_line = buf[before.len()..brace].contains(&b'\n');
        let after_close = before.strip_suffix(b",").is_some_and(|head| head.trim_ascii_end().ends_with(b"}"));
        if on_new_line || after_close {
            return Some(brace);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_skipped_in_one_piece_or_in_many() {
        for (text, end) in [(r#"{"a":"}\"","b":[1]},"#, 19), ("12,", 2), (r#""a\\","#, 5), ("nul]", 3)] {
            assert_eq!(Skipper::default().feed(text.as_bytes()), Some(end), "{text}");
            let mut skipper = Skipper::default();
            let at = text.bytes().enumerate().find_map(|(i, b)| skipper.feed(&[b]).map(|used| i + used));
            assert_eq!(at, Some(end), "{text} byte by byte");
        }
    }

    #[test]
    fn events_begin_after_events_or_on_lines() {
        assert_eq!(next_event_start(br#"x},{"ph""#, 0), Some(3));
        assert_eq!(next_event_start(b"x,\n  { \"ph\"", 0), Some(5));
        assert_eq!(next_event_start(br#""args":{"a":{}}"#, 0), None);
    }
}
