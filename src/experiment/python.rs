//! Numbers and JSON as Python writes them, so that files match those of the PyTorch/XLA scripts byte for byte.

use std::io;

use ns_base::QUOTED_NAN;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::Formatter;

/// A float as Python's `repr` writes it: the shortest text that reads back as the same number, with `.0` if it is
/// whole, and an exponent below 1e-4 and from 1e16.
pub fn repr(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    // Rust's exponent form has the same shortest digits: `-1.25e-7`.
    let text = format!("{x:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if x != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = format!("{x}");
    if plain.contains('.') { plain } else { plain + ".0" }
}

/// A value from JSON, or from a Python literal: `{'xla': None, 'repeat': True}`. Fails with those of the text as JSON, if it is
/// neither.
pub fn from_python<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| serde_json::from_str(&json_of_literal(text)).map_err(|_| error))
}

/// A Python literal with the quotes and the words of JSON.
fn json_of_literal(text: &str) -> String {
    let (mut json, mut word, mut quote) = (String::new(), String::new(), None);
    let mut letters = text.chars().chain(std::iter::once(' '));
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => {
                quote = None;
                json.push('"');
            }
            (Some('\''), '"') => json.push_str("\\\""),
            (Some(_), '\\') => match letters.next() {
                Some('\'') => json.push('\''),
                Some(escaped) => json.extend(['\\', escaped]),
                None => {}
            },
            (None, letter) if letter.is_ascii_alphabetic() => word.push(letter),
            (quoted, letter) => {
                json.push_str(match word.as_str() {
                    "None" => "null",
                    "True" => "true",
                    "False" => "false",
                    other => other,
                });
                word.clear();
                if quoted.is_none() && matches!(letter, '\'' | '"') {
                    quote = Some(letter);
                    json.push('"');
                } else {
                    json.push(letter);
                }
            }
        }
    }
    json
}

/// `x` with eight decimals, as the reports print it.
pub fn round8(x: f64) -> f64 {
    if x.is_finite() { format!("{x:.8}").parse().unwrap_or(x) } else { x }
}

/// A number for [`json_dumps`], which writes the numbers that JSON lacks as Python's words.
pub fn number_or_word(x: f64) -> Value {
    let word = if x.is_nan() {
        "NaN"
    } else if x > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    };
    if x.is_finite() { Value::from(x) } else { Value::from(format!("\0{word}")) }
}

/// JSON as `json.dumps` writes it: a space after commas and colons, all non-ASCII characters escaped. Fails when the value has no
/// JSON form.
pub fn json_dumps<T: Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    let mut out = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, PythonJson))?;
    let mut text = String::from_utf8(out).map_err(serde::ser::Error::custom)?;
    for word in ["NaN", "Infinity", "-Infinity"] {
        text = text.replace(&format!("{QUOTED_NAN}{word}\""), word);
    }
    Ok(text)
}

/// The separators and escapes of `json.dumps`.
struct PythonJson;

impl Formatter for PythonJson {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(repr(value).as_bytes())
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if fragment.is_ascii() {
            return writer.write_all(fragment.as_bytes());
        }
        for c in fragment.chars() {
            if c.is_ascii() {
                write!(writer, "{c}")?;
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_dict_is_read_like_json() {
        let both = serde_json::json!({"a": "it's \"x\"", "b": [null, true, -1.5], "c": {"None": false}});
        for text in [r#"{'a': 'it\'s "x"', 'b': [None, True, -1.5], 'c': {'None': False}}"#, &both.to_string()] {
            assert_eq!(from_python::<Value>(text).unwrap(), both, "{text}");
        }
        for wrong in ["", "{'a'", "{a: 1}", "None None"] {
            assert!(from_python::<Value>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn floats_are_written_as_repr_does() {
        // Each value is the output of CPython 3.11.
        let cases = [
            (1.0, "1.0"),
            (0.7354119, "0.7354119"),
            (5e-7, "5e-07"),
            (1e16, "1e+16"),
            (1e15, "1000000000000000.0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-0.0, "-0.0"),
            (1.25e-100, "1.25e-100"),
            (123456.789, "123456.789"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (x, text) in cases {
            assert_eq!(repr(x), text);
        }
        assert_eq!(round8(1.234567894), 1.23456789);
        assert!(round8(f64::NAN).is_nan());
    }

    #[test]
    fn json_has_pythons_blanks_and_escapes() {
        let value = serde_json::json!({"a": [1, 2.0, null], "é😀": {"b\n": "\"x\""}});
        let text = r#"{"a": [1, 2.0, null], "\u00e9\ud83d\ude00": {"b\n": "\"x\""}}"#;
        assert_eq!(json_dumps(&value).unwrap(), text);
        let words = [f64::NAN, 1.5, f64::INFINITY, f64::NEG_INFINITY].map(number_or_word);
        assert_eq!(json_dumps(&words).unwrap(), "[NaN, 1.5, Infinity, -Infinity]");
    }
}
