//! A whole JSON document, read in place. No tree is built: a value is a position, and looking into it scans from
//! there. A document that is cut off or broken gives everything before the damage, whose position is remembered.

use std::borrow::Cow;
use std::cell::Cell;

use super::scan::{skip_space, string_end, text_of, unescape, value_end};
use crate::decimal::{TimeUnit, text_to_ns};
use ns_base::Diagnostics;
use ns_profile::{ArgsId, ProfileBuilder};

/// The byte order mark that a text may begin with.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug)]
pub struct Doc<'a> {
    text: &'a [u8],
    damage: Cell<Option<usize>>,
}

/// A value of a document, by its position.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    doc: &'a Doc<'a>,
    at: usize,
}

impl<'a> Doc<'a> {
    /// The document in a text, which may begin with a byte order mark.
    pub fn new(text: &'a [u8]) -> Self {
        Self { text: text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text), damage: Cell::new(None) }
    }

    /// The outermost value.
    pub fn root(&'a self) -> Value<'a> {
        Value { doc: self, at: skip_space(self.text, 0) }
    }

    /// The byte at which scanning had to stop, if there was damage.
    pub fn damage(&self) -> Option<usize> {
        self.damage.get()
    }

    /// Reports the first broken place, if there is one.
    pub fn report_damage(&self, diagnostics: &mut Diagnostics) {
        let Some(at) = self.damage() else { return };
        if at >= self.text.len() {
            diagnostics.add("not_closed", Some(at as u64), || {
                "the text ends before its last bracket: read as far as it goes".to_owned()
            });
        } else {
            let byte = char::from(self.text[at]);
            diagnostics.add("bad_json", Some(at as u64), || {
                format!("not JSON: {byte:?} is out of place; what comes after it was not read")
            });
        }
    }

    fn note(&self, at: usize) {
        self.damage.set(Some(self.damage.get().map_or(at, |known| known.min(at))));
    }

    /// End of the value at `at`; `None` after damage.
    fn end_of(&self, at: usize) -> Option<usize> {
        use super::scan::Stop;
        match value_end(self.text, at) {
            Ok(end) => Some(end),
            Err(Stop::Incomplete) => {
                self.note(self.text.len());
                None
            }
            Err(Stop::Bad(bad) | Stop::TooDeep(bad)) => {
                self.note(bad);
                None
            }
        }
    }
}

impl<'a> Value<'a> {
    fn first(self) -> Option<u8> {
        self.doc.text.get(self.at).copied()
    }

    pub fn is_object(self) -> bool {
        self.first() == Some(b'{')
    }

    pub fn is_array(self) -> bool {
        self.first() == Some(b'[')
    }

    pub fn is_string(self) -> bool {
        self.first() == Some(b'"')
    }

    /// Position in the document.
    pub fn offset(self) -> u64 {
        self.at as u64
    }

    /// The text of the value as it is written; empty when the document ends inside it.
    pub fn raw(self) -> &'a [u8] {
        self.doc.end_of(self.at).and_then(|end| self.doc.text.get(self.at..end)).unwrap_or(&[])
    }

    /// The value as the arguments of an event: a part of the text, which is kept for them.
    pub fn args(self, builder: &mut ProfileBuilder) -> ArgsId {
        builder.add_args_part(self.offset(), self.raw().len())
    }

    /// [`Self::raw`] as text, bad UTF-8 replaced.
    pub fn raw_text(self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.raw())
    }

    /// The members of an object; empty for any other value. Keys are as written.
    pub fn members(self) -> DocMembers<'a> {
        DocMembers(Walk::new(self, b'{', b'}'))
    }

    /// The items of an array; empty for any other value.
    pub fn items(self) -> Items<'a> {
        Items(Walk::new(self, b'[', b']'))
    }

    /// The values of some keys of an object, in one pass. If a key occurs twice, the last counts; null gives `None`.
    pub fn fields<const N: usize>(self, keys: [&str; N]) -> [Option<Self>; N] {
        let mut found = [None; N];
        for (key, value) in self.members() {
            if let Some(i) = keys.iter().position(|k| k.as_bytes() == key) {
                found[i] = (!value.is_null()).then_some(value);
            }
        }
        found
    }

    /// The value of a key of an object.
    pub fn get(self, key: &str) -> Option<Self> {
        let [value] = self.fields([key]);
        value
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.first() == Some(b'n')
    }

    /// The text of a string.
    pub fn str(self) -> Option<Cow<'a, str>> {
        if !self.is_string() {
            return None;
        }
        match self.raw() {
            [b'"', inner @ .., b'"'] => Some(unescape(inner)),
            _ => None,
        }
    }

    /// The text of a string, number or word; `None` for arrays and objects.
    pub fn scalar(self) -> Option<Cow<'a, str>> {
        (!self.is_object() && !self.is_array() && !self.is_null()).then(|| text_of(self.raw()))
    }

    fn digits(self) -> &'a [u8] {
        if self.is_object() || self.is_array() { &[] } else { super::scan::number_bytes(self.raw()) }
    }

    /// A number, which may be written as text.
    pub fn f64(self) -> Option<f64> {
        std::str::from_utf8(self.digits()).ok()?.parse().ok()
    }

    /// A whole number, which may be written as text or with a fraction of zero.
    pub fn i64(self) -> Option<i64> {
        let text = std::str::from_utf8(self.digits()).ok()?;
        if let Ok(number) = text.parse() {
            return Some(number);
        }
        text_to_ns(text.as_bytes(), TimeUnit::Ns).ok()
    }

    /// A position: a whole number that is not negative.
    pub fn index(self) -> Option<usize> {
        self.i64().and_then(|n| usize::try_from(n).ok())
    }

    /// A time in ns, exact.
    pub fn ns(self, unit: TimeUnit) -> Option<i64> {
        text_to_ns(self.digits(), unit).ok()
    }
}

/// Walks over the content of an array or object.
struct Walk<'a> {
    doc: &'a Doc<'a>,
    /// The value returned last, whose end is not known yet.
    open: Option<usize>,
    at: usize,
    close: u8,
    ended: bool,
}

impl<'a> Walk<'a> {
    fn new(value: Value<'a>, open: u8, close: u8) -> Self {
        let ended = value.first() != Some(open);
        Self { doc: value.doc, open: None, at: value.at + 1, close, ended }
    }

    /// Position of the next thing that is not a comma; ends the walk at the bracket or at damage.
    fn next_start(&mut self) -> Option<usize> {
        if self.ended {
            return None;
        }
        if let Some(open) = self.open.take() {
            match self.doc.end_of(open) {
                Some(end) => self.at = end,
                None => return self.end(),
            }
        }
        let text = self.doc.text;
        self.at = skip_space(text, self.at);
        while text.get(self.at) == Some(&b',') {
            self.at = skip_space(text, self.at + 1);
        }
        match text.get(self.at) {
            None => {
                self.doc.note(text.len());
                self.end()
            }
            Some(&byte) if byte == self.close => self.end(),
            Some(b'}' | b']' | b':') => {
                self.doc.note(self.at);
                self.end()
            }
            Some(_) => Some(self.at),
        }
    }

    fn end(&mut self) -> Option<usize> {
        self.ended = true;
        None
    }
}

/// Items of an array.
pub struct Items<'a>(Walk<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        let at = self.0.next_start()?;
        self.0.open = Some(at);
        Some(Value { doc: self.0.doc, at })
    }
}

/// Members of an object.
pub struct DocMembers<'a>(Walk<'a>);

impl<'a> Iterator for DocMembers<'a> {
    type Item = (&'a [u8], Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let walk = &mut self.0;
        let at = walk.next_start()?;
        let text = walk.doc.text;
        let key_end = if text[at] == b'"' { string_end(text, at + 1) } else { None };
        let colon = key_end.map(|end| skip_space(text, end + 1));
        let value = colon.filter(|&c| text.get(c) == Some(&b':')).map(|c| skip_space(text, c + 1));
        match (key_end, value) {
            (Some(key_end), Some(value)) if value < text.len() => {
                walk.open = Some(value);
                Some((&text[at + 1..key_end], Value { doc: walk.doc, at: value }))
            }
            _ => {
                let cut = key_end.is_none() || colon.is_none_or(|c| c >= text.len()) || value.is_some();
                walk.doc.note(if cut && text[at] == b'"' { text.len() } else { colon.unwrap_or(at) });
                walk.end();
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_place() {
        let doc = Doc::new(br#" {"a":[1,"two",{"b":null}],"n":-2.5e3,"a2":true,"n":"7"} "#);
        let root = doc.root();
        let [a, n, none] = root.fields(["a", "n", "zz"]);
        assert_eq!((n.unwrap().i64(), n.unwrap().f64()), (Some(7), Some(7.0)));
        assert!(none.is_none() && root.get("a2").unwrap().scalar().as_deref() == Some("true"));
        let items: Vec<_> = a.unwrap().items().collect();
        assert_eq!((items[0].i64(), items[1].str().as_deref()), (Some(1), Some("two")));
        assert!(items[2].get("b").is_none() && items[2].is_object());
        assert_eq!(doc.damage(), None);
        assert_eq!(Doc::new(b"1.5").root().ns(TimeUnit::Ms), None); // a word needs a byte after it
        assert_eq!(Doc::new(b"[1.5]").root().items().next().unwrap().ns(TimeUnit::Ms), Some(1_500_000));
    }

    fn text_at(text: &[u8], part: &str) -> usize {
        memchr::memmem::find(text, part.as_bytes()).unwrap()
    }

    #[test]
    fn values_before_the_damage_are_read() {
        let text = br#"{"list":[{"x":1},{"x":2},{"x":34}]}"#;
        for cut in 0..text.len() {
            let doc = Doc::new(&text[..cut]);
            let xs: Vec<_> = doc.root().get("list").into_iter().flat_map(Value::items).collect();
            let xs: Vec<_> = xs.into_iter().filter_map(|v| v.get("x")).filter_map(Value::i64).collect();
            assert!([1, 2, 34].starts_with(&xs), "cut at {cut}: {xs:?}");
            let whole = [text_at(text, "1}"), text_at(text, "2}"), text_at(text, "34}") + 1];
            assert_eq!(xs.len(), whole.iter().filter(|&&at| cut > at + 1).count(), "cut at {cut}");
        }
        let doc = Doc::new(br#"{"list":[1,2,!,4],"after":5}"#);
        assert_eq!(doc.root().get("list").unwrap().items().filter_map(Value::i64).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(doc.damage(), Some(13));
    }
}
