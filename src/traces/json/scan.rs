//! Where JSON values begin and end in a buffer that may stop in the middle of one.

use std::borrow::Cow;

/// Why a value was not scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The buffer ends inside it.
    Incomplete,
    /// Not JSON at this position.
    Bad(usize),
    /// Nested deeper than [`MAX_DEPTH`], at this position.
    TooDeep(usize),
}

/// How deep the arguments of an event may nest.
pub const MAX_DEPTH: u32 = 512;

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// High bit set in (at least) the first byte that equals `byte`.
fn matches(word: u64, byte: u8) -> u64 {
    let x = word ^ (LOW * u64::from(byte));
    x.wrapping_sub(LOW) & !x & HIGH
}

/// Position of the first `"` or `\` at or after `at`.
fn quote_or_escape(buf: &[u8], mut at: usize) -> Option<usize> {
    while let Some(bytes) = buf.get(at..at + 8) {
        let Ok(bytes) = <[u8; 8]>::try_from(bytes) else { break };
        let word = u64::from_le_bytes(bytes);
        let hit = matches(word, b'"') | matches(word, b'\\');
        if hit != 0 {
            return Some(at + (hit.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    let tail = buf.get(at..)?;
    tail.iter().position(|&b| b == b'"' || b == b'\\').map(|i| at + i)
}

/// Position of the quote that closes the string whose first character is at `at`.
pub fn string_end(buf: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let hit = quote_or_escape(buf, at)?;
        if buf[hit] == b'"' {
            return Some(hit);
        }
        at = hit + 2;
    }
}

/// Position of the first byte at or after `at` that is not white space.
pub fn skip_space(buf: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = buf.get(at) {
        at += 1;
    }
    at
}

/// Position after the value that begins at `at`. Inside arrays and objects only brackets and strings are looked at.
pub fn value_end(buf: &[u8], at: usize) -> Result<usize, Stop> {
    match buf.get(at) {
        None => Err(Stop::Incomplete),
        Some(b'"') => string_end(buf, at + 1).map(|end| end + 1).ok_or(Stop::Incomplete),
        Some(b'{' | b'[') => nested_end(buf, at),
        Some(_) => word_end(buf, at),
    }
}

/// Position after the array or object that begins at `start`; brackets must match in kind.
pub fn nested_end(buf: &[u8], start: usize) -> Result<usize, Stop> {
    let (mut at, mut depth) = (start, 0u32);
    // One bit per level: whether it is an array.
    let mut arrays = [0u64; (MAX_DEPTH / 64) as usize];
    while let Some(&byte) = buf.get(at) {
        at += 1;
        // One test for the many bytes that do not affect the structure.
        if !STRUCTURAL[usize::from(byte)] {
            continue;
        }
        match byte {
            b'"' => at = string_end(buf, at).ok_or(Stop::Incomplete)? + 1,
            b'{' | b'[' => {
                let Some(word) = arrays.get_mut((depth / 64) as usize) else { return Err(Stop::TooDeep(at - 1)) };
                let bit = 1 << (depth % 64);
                *word = if byte == b'[' { *word | bit } else { *word & !bit };
                depth += 1;
            }
            _ => {
                depth -= 1;
                let is_array = arrays[(depth / 64) as usize] >> (depth % 64) & 1 == 1;
                if is_array != (byte == b']') {
                    return Err(Stop::Bad(at - 1));
                }
                if depth == 0 {
                    return Ok(at);
                }
            }
        }
    }
    Err(Stop::Incomplete)
}

const STRUCTURAL: [bool; 256] = {
    let mut table = [false; 256];
    table[b'"' as usize] = true;
    table[b'{' as usize] = true;
    table[b'}' as usize] = true;
    table[b'[' as usize] = true;
    table[b']' as usize] = true;
    table
};

/// End of a number, `true`, `null`, `NaN`, `-Infinity`: anything that consists of the bytes of those.
fn word_end(buf: &[u8], start: usize) -> Result<usize, Stop> {
    let mut at = start;
    while let Some(&byte) = buf.get(at) {
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+')) {
            return if at == start { Err(Stop::Bad(at)) } else { Ok(at) };
        }
        at += 1;
    }
    Err(Stop::Incomplete)
}

/// Key (without quotes, escapes not resolved) and value (with quotes) of a member.
pub type Member<'a> = (&'a [u8], &'a [u8]);

/// The members of an object, one by one.
pub struct Members<'a> {
    buf: &'a [u8],
    /// Offset after the last member that was returned; at the end, after the object.
    pub at: usize,
    first: bool,
}

impl<'a> Members<'a> {
    /// The members of the object whose brace is at `at`.
    pub fn new(buf: &'a [u8], at: usize) -> Self {
        Self { buf, at: at + 1, first: true }
    }

    /// The next member; `None` after the last.
    pub fn next_member(&mut self) -> Result<Option<Member<'a>>, Stop> {
        let buf = self.buf;
        let mut at = skip_space(buf, self.at);
        if !self.first {
            match buf.get(at) {
                Some(b',') => at = skip_space(buf, at + 1),
                Some(b'}') => {}
                other => return Err(stop_at(other, at)),
            }
        }
        match buf.get(at) {
            Some(b'}') => {
                self.at = at + 1;
                return Ok(None);
            }
            Some(b'"') => {}
            other => return Err(stop_at(other, at)),
        }
        self.first = false;
        let key_end = string_end(buf, at + 1).ok_or(Stop::Incomplete)?;
        let key = &buf[at + 1..key_end];
        at = skip_space(buf, key_end + 1);
        match buf.get(at) {
            Some(b':') => {}
            other => return Err(stop_at(other, at)),
        }
        at = skip_space(buf, at + 1);
        let end = value_end(buf, at)?;
        self.at = end;
        Ok(Some((key, &buf[at..end])))
    }
}

fn stop_at(byte: Option<&u8>, at: usize) -> Stop {
    if byte.is_none() { Stop::Incomplete } else { Stop::Bad(at) }
}

/// The text of a scalar: a string unescaped, `null` as empty text, any other value as written.
pub fn text_of(value: &[u8]) -> Cow<'_, str> {
    match value {
        [b'"', inner @ .., b'"'] => unescape(inner),
        b"null" => Cow::Borrowed(""),
        _ => String::from_utf8_lossy(value),
    }
}

/// The bytes of a scalar without quotes and outer white space, for numbers that may be written as text.
pub fn number_bytes(value: &[u8]) -> &[u8] {
    match value {
        [b'"', inner @ .., b'"'] => inner.trim_ascii(),
        _ => value,
    }
}

/// A JSON string's content with its escapes resolved; unknown ones stay as they are, bad UTF-8 becomes U+FFFD.
pub fn unescape(inner: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inner).is_none() {
        return String::from_utf8_lossy(inner);
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let (text, used) = escape_of(&rest[at..]);
        out.extend_from_slice(text.encode_utf8(&mut [0; 4]).as_bytes());
        rest = rest.get(at + used..).unwrap_or(&[]);
    }
    out.extend_from_slice(rest);
    Cow::Owned(match String::from_utf8(out) {
        Ok(text) => text,
        Err(bad) => String::from_utf8_lossy(bad.as_bytes()).into_owned(),
    })
}

/// Whether a JSON string's content has backslashes that nobody escaped, as a path of Windows: an unknown escape, or a control character
/// in the name of a Python file.
pub fn has_unescaped_path(inner: &[u8]) -> bool {
    let (mut rest, mut has_control) = (inner, false);
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let escape = &rest[at..];
        let used = escape_of(escape).1;
        if used == 1 {
            return true;
        }
        has_control |= matches!(escape.get(1), Some(b'n' | b't' | b'r' | b'b' | b'f'));
        rest = escape.get(used..).unwrap_or(&[]);
    }
    has_control && memchr::memmem::find(inner, b".py(").is_some()
}

/// The character of the escape at the front, and its length.
fn escape_of(text: &[u8]) -> (char, usize) {
    let simple = match text.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unicode_escape(text),
        Some(&byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
        // Text that nobody escaped, such as a path of Windows: the backslash is one, and so is the letter after it.
        _ => return ('\\', 1),
    };
    (simple, 2)
}

fn unicode_escape(text: &[u8]) -> (char, usize) {
    let hex = |from: usize| {
        let digits = std::str::from_utf8(text.get(from..from + 4)?).ok()?;
        u32::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    let Some(high) = hex(2) else { return ('\\', 1) };
    let low = if text.get(6..8) == Some(br"\u") { hex(8) } else { None };
    if let (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) = (high, low) {
        let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_end_where_they_end() {
        for text in [r#""a\"b""#, "12.5", r#"{"a":[1,{"b":"}"}]}"#, "[]", "-Infinity", r#""\\""#] {
            let with_more = format!("{text} ,");
            assert_eq!(value_end(with_more.as_bytes(), 0), Ok(text.len()), "{text}");
            for cut in 1..text.len() {
                assert_eq!(value_end(&text.as_bytes()[..cut], 0), Err(Stop::Incomplete), "{text} cut at {cut}");
            }
        }
        assert_eq!(value_end(b",", 0), Err(Stop::Bad(0)));
        assert_eq!(value_end(b"[1,{2]", 0), Err(Stop::Bad(5)));
        let deep = "[".repeat(600);
        assert_eq!(value_end(deep.as_bytes(), 0), Err(Stop::TooDeep(512)));
    }

    #[test]
    fn escapes_are_resolved_as_serde_json_does() {
        for text in [r"plain", r"a\n\t\r\b\f\/\\\u0041", r"\ud83d\ude00 é", r#"say \"hi\""#] {
            let want: String = serde_json::from_str(&format!("\"{text}\"")).unwrap();
            assert_eq!(unescape(text.as_bytes()), want);
        }
        assert_eq!(unescape(br"\ud83d!\q\u12"), "\u{fffd}!\\q\\u12");
        assert_eq!(unescape(br"C:\Users\_x\modules"), r"C:\Users\_x\modules");
        assert_eq!(unescape(b"\xff\\n"), "\u{fffd}\n");
    }

    #[test]
    fn the_fast_string_scan_agrees_with_a_plain_one() {
        let mut rng = ns_base::Rng::new(3, 3);
        for _ in 0..2000 {
            let alphabet = [b'"', b'\\', b'a', 0x21, 0x23, 0x5b, 0x5d, 0xff, 0x80, 0];
            let buf: Vec<u8> = (0..40).map(|_| alphabet[rng.next_u32() as usize % alphabet.len()]).collect();
            let plain = buf.iter().position(|&b| b == b'"' || b == b'\\');
            assert_eq!(quote_or_escape(&buf, 0), plain);
        }
    }
}
