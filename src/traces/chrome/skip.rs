//! Skips text that is not read: values of other keys, elements that are not events, broken text.

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
}
