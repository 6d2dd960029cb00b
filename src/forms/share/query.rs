//! The query of a link: names and values, percent-encoded so that the text stays readable.

use std::collections::BTreeSet;

use ns_base::likely_name;

/// Names and values in order; the last value of a name counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Reads `a=1&b=2`. Parts without `=` have an empty value.
    pub fn parse(text: &str) -> Self {
        let pair = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (decode(name), decode(value))
        };
        Self { pairs: text.split('&').filter(|p| !p.is_empty()).map(pair).collect() }
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// Names that are not among the known ones and resemble one of them, with that one: `instance_type`, `instance`. Others may
    /// belong to a later version.
    pub fn misspelt(&self, known: &BTreeSet<&'static str>) -> Vec<(String, &'static str)> {
        let unknown: BTreeSet<&str> = self.names().filter(|name| !known.contains(name)).collect();
        let near = |name: &str| likely_name(name, known.iter().copied()).map(|known| (name.to_owned(), known));
        unknown.into_iter().filter_map(near).collect()
    }

    /// Whether it has no names.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The names, in order; a name that is set twice occurs twice.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|(name, _)| name.as_str())
    }

    /// Adds a name and its value.
    pub fn set(&mut self, name: &str, value: &str) {
        self.pairs.push((name.to_owned(), value.to_owned()));
    }

    /// The query as text.
    pub fn print(&self) -> String {
        let pairs: Vec<String> = self.pairs.iter().map(|(n, v)| format!("{}={}", encode(n), encode(v))).collect();
        pairs.join("&")
    }
}

/// Escapes characters that would end a value or are not safe in an address. Commas, colons, slashes and brackets stay.
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b',' | b':' | b'/' | b'*' | b'(' | b')' => {
                out.push(char::from(byte));
            }
            // Inside `model=matmult:n=64` the second sign is part of the value: only the first one divides.
            b'=' => out.push('='),
            _ => {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                out.push('%');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
    out
}

/// Undoes [`encode`]; `+` is a space; an invalid escape stays as it is, and invalid UTF-8 is replaced.
pub fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let escaped = (bytes[i] == b'%').then(|| bytes.get(i + 1..i + 3)).flatten().and_then(|hex| {
            let hex = std::str::from_utf8(hex).ok().filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()))?;
            u8::from_str_radix(hex, 16).ok()
        });
        match (escaped, bytes[i]) {
            (Some(byte), _) => {
                out.push(byte);
                i += 2;
            }
            (None, b'+') => out.push(b' '),
            (None, byte) => out.push(byte),
        }
        i += 1;
    }
    String::from_utf8(out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn readable_characters_are_not_escaped() {
        assert_eq!(encode("matmult:n=64,add_bias=true"), "matmult:n=64,add_bias=true");
        assert_eq!(encode("a b&c#%+"), "a%20b%26c%23%25%2B");
        assert_eq!(decode("100%+%zz%4"), "100% %zz%4");
        assert_eq!(decode("%FF"), "\u{fffd}");
    }

    #[test]
    fn a_name_close_to_a_field_is_a_misspelling() {
        let known = BTreeSet::from(["instance", "n_models", "level", "seed", "model", "duration"]);
        let query = Query::parse("instance_type=a&n_model=1&later=x&seed=7&Seed=8");
        let found = query.misspelt(&known);
        let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (a.as_str(), *b)).collect();
        assert_eq!(found, [("Seed", "seed"), ("instance_type", "instance"), ("n_model", "n_models")]);
        assert_eq!(Query::parse("instance_type=a").misspelt(&BTreeSet::new()), []);
    }

    proptest! {
        #[test]
        fn any_text_survives(text in "\\PC*") {
            prop_assert_eq!(decode(&encode(&text)), text);
        }
    }
}
