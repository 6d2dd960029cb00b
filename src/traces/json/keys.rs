//! The keys of the outermost object of a text that comes in pieces.

/// The most bytes of one key that are remembered.
const MAX_KEY_BYTES: usize = 200;

/// Finds the keys of the outermost object.
#[derive(Debug, Default)]
pub struct KeyScanner {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// Whether the next string of the outermost object is a key.
    expects_key: bool,
    text: Vec<u8>,
    keys: Vec<String>,
}

impl KeyScanner {
    /// The most keys that are remembered.
    pub const MAX_KEYS: usize = 64;

    /// Takes the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        let mut at = 0;
        while let Some(&byte) = piece.get(at) {
            at += 1;
            if self.in_string {
                // By far the most bytes belong to strings: they are skipped at once when nothing has to be remembered.
                if !self.escaped && !matches!(byte, b'"' | b'\\') && !self.is_key() {
                    at += memchr::memchr2(b'"', b'\\', &piece[at..]).unwrap_or(piece.len() - at);
                    continue;
                }
                self.in_text(byte);
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.text.clear();
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    self.expects_key = self.depth == 1 && byte == b'{';
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b',' if self.depth == 1 => self.expects_key = true,
                b':' if self.depth == 1 => self.expects_key = false,
                _ => {}
            }
        }
    }

    /// The keys so far.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    fn is_key(&self) -> bool {
        self.depth == 1 && self.expects_key
    }

    fn in_text(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => {
                self.in_string = false;
                if self.is_key() && self.keys.len() < Self::MAX_KEYS {
                    self.keys.push(String::from_utf8_lossy(&self.text).into_owned());
                }
                return;
            }
            _ => {}
        }
        if self.is_key() && self.text.len() < MAX_KEY_BYTES {
            self.text.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_outermost_keys_however_the_text_is_cut() {
        let text = br#"{"a":{"x":[{"y":1}]},"b":"c\"d,e:","f":[1,"g"],"h":1}"#;
        for piece in [1, 2, 7, 100] {
            let mut scanner = KeyScanner::default();
            text.chunks(piece).for_each(|p| scanner.feed(p));
            assert_eq!(scanner.keys(), ["a", "b", "f", "h"]);
        }
    }
}
