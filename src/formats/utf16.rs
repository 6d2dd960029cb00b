//! UTF-16 to UTF-8, in pieces: some tools on Windows write UTF-16.

/// A decoder. It takes the byte order from the byte order mark, or from the first character.
#[derive(Debug)]
pub(super) struct Utf16 {
    big_endian: bool,
    /// Half of a character of the piece before.
    pending: Option<u8>,
    /// First half of a pair.
    high: Option<u16>,
    started: bool,
    out: String,
}

impl Utf16 {
    /// A decoder for a text with this start; see [`looks_utf16`].
    pub fn of(head: &[u8]) -> Self {
        let big_endian = matches!(head, [0xfe, 0xff, ..] | [0, ..]);
        Self { big_endian, pending: None, high: None, started: false, out: String::new() }
    }

    /// Takes the next piece and gives it as UTF-8. Unpaired surrogates become U+FFFD.
    pub fn decode(&mut self, piece: &[u8]) -> &[u8] {
        self.out.clear();
        for &byte in piece {
            let Some(first) = self.pending.take() else {
                self.pending = Some(byte);
                continue;
            };
            let unit =
                if self.big_endian { u16::from_be_bytes([first, byte]) } else { u16::from_le_bytes([first, byte]) };
            self.unit(unit);
        }
        self.out.as_bytes()
    }

    fn unit(&mut self, unit: u16) {
        let is_mark = !self.started && unit == 0xfeff;
        self.started = true;
        match (self.high.take(), unit) {
            _ if is_mark => {}
            (Some(high), 0xdc00..0xe000) => {
                let code = 0x1_0000 + ((u32::from(high) - 0xd800) << 10) + (u32::from(unit) - 0xdc00);
                self.out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (lone, unit) => {
                if lone.is_some() {
                    self.out.push(char::REPLACEMENT_CHARACTER);
                }
                if (0xd800..0xdc00).contains(&unit) {
                    self.high = Some(unit);
                } else {
                    self.out.push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
            }
        }
    }
}

/// Whether a text is UTF-16: by its byte order mark, or because every other byte of its start is zero.
pub(super) fn looks_utf16(head: &[u8]) -> bool {
    let of_ascii = |pair: &[u8]| matches!(pair, [1..=0x7f, 0]) || matches!(pair, [0, 1..=0x7f]);
    let pairs = &head[..head.len().min(8)];
    matches!(head, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
        || pairs.len() == 8 && pairs.chunks(2).all(of_ascii) && pairs.chunks(2).all(|p| (p[0] == 0) == (pairs[0] == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_same_in_both_orders_and_any_pieces() {
        let text = "[{\"name\":\"\u{e9} \u{1f600}\"}]";
        for (big_endian, mark) in [(true, true), (false, true), (true, false), (false, false)] {
            let marked = if mark { format!("\u{feff}{text}") } else { text.to_owned() };
            let bytes: Vec<u8> = marked
                .encode_utf16()
                .flat_map(|unit| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() })
                .collect();
            assert!(looks_utf16(&bytes));
            for size in [1, 2, 3, 100] {
                let mut decoder = Utf16::of(&bytes);
                let out: Vec<u8> = bytes.chunks(size).flat_map(|piece| decoder.decode(piece).to_vec()).collect();
                assert_eq!(String::from_utf8(out).unwrap(), text);
            }
        }
        assert!(!looks_utf16(b"[{\"a\":1}") && !looks_utf16(b"\x0a\0\0\0\0\0\0\0"));
    }
}
