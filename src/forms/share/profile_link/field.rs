//! A field of a link: its name, its text, and what a text does to the state.

use crate::share::{Notice, Query};

/// What a text should be, and what is used in its place.
type Wrong = (String, &'static str);

pub(super) struct Field<T> {
    name: &'static str,
    /// Its text; none is written for a default.
    get: fn(&T) -> Option<String>,
    put: fn(&mut T, &str) -> Result<(), Wrong>,
    /// Whether spaces around a text belong to it, and an empty text is one.
    is_raw: bool,
}

pub(super) const fn field<T>(
    name: &'static str,
    get: fn(&T) -> Option<String>,
    put: fn(&mut T, &str) -> Result<(), Wrong>,
) -> Field<T> {
    Field { name, get, put, is_raw: false }
}

/// A field with a text as it was typed.
pub(super) const fn raw_field<T>(
    name: &'static str,
    get: fn(&T) -> Option<String>,
    put: fn(&mut T, &str) -> Result<(), Wrong>,
) -> Field<T> {
    Field { name, get, put, is_raw: true }
}

impl<T> Field<T> {
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl Notice {
    /// A text that is not what the field wants.
    pub(super) fn wrong(field: &str, text: &str, wanted: &str, used: &str) -> Self {
        Self { field: field.to_owned(), message: format!("{field}: '{text}' is not {wanted}. {used} is used.") }
    }
}

pub(super) fn read_fields<T>(fields: &[Field<T>], state: &mut T, query: &Query, notices: &mut Vec<Notice>) {
    for field in fields {
        let Some(text) = query.get(field.name) else { continue };
        let text = if field.is_raw { text } else { text.trim() };
        if text.is_empty() && !field.is_raw {
            continue;
        }
        if let Err((wanted, used)) = (field.put)(state, text) {
            notices.push(Notice::wrong(field.name, text, &wanted, used));
        }
    }
}

pub(super) fn write_fields<T>(fields: &[Field<T>], state: &T, query: &mut Query) {
    for field in fields {
        if let Some(text) = (field.get)(state) {
            query.set(field.name, &text);
        }
    }
}

/// Sets a value; without one it stays, and the text was not what is `wanted`.
pub(super) fn set<V>(
    place: &mut V,
    value: Option<V>,
    wanted: impl Into<String>,
    used: &'static str,
) -> Result<(), Wrong> {
    *place = value.ok_or_else(|| (wanted.into(), used))?;
    Ok(())
}

/// Sets one of two values by its word; the first is the default.
pub(super) fn choose<V>(place: &mut V, text: &str, choices: [(&'static str, V); 2]) -> Result<(), Wrong> {
    let [(usual, _), (other, _)] = choices;
    let value = choices.into_iter().find(|(word, _)| *word == text).map(|(_, value)| value);
    set(place, value, format!("{usual} or {other}"), usual)
}

/// Sets a text.
#[expect(clippy::unnecessary_wraps, reason = "as the other setters, which may fail")]
pub(super) fn fill(place: &mut impl From<String>, text: &str) -> Result<(), Wrong> {
    *place = text.to_owned().into();
    Ok(())
}

/// A text that is written if it has letters.
pub(super) fn text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// A word that is written if something holds.
pub(super) fn word(is: bool, word: &str) -> Option<String> {
    is.then(|| word.to_owned())
}
