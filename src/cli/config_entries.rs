//! The keys of a configuration file with their lines, and JSON lists in the form that the flags take.

use std::fmt;

use anyhow::{Result, bail};
use serde::Deserializer as _;
use serde::de::{Error as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// A key of the file.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its name.
    pub key: String,
    /// The line of its value, from 1.
    pub line: usize,
    /// Its value.
    pub value: Value,
}

/// The keys of an object, in the order of the text. Fails when the text is not JSON (with line and column), not an object, or has a
/// key twice.
pub(super) fn entries(text: &str) -> Result<Vec<Entry>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = serde_json::Deserializer::from_str(text);
    let pairs = reader.deserialize_map(Pairs).and_then(|pairs| reader.end().map(|()| pairs));
    let pairs = pairs.map_err(|e| {
        let hint = "write an object of arguments, such as {\"n_models\": [1, 2], \"duration\": 10}";
        format!("{e}; {hint}")
    })?;
    let mut found: Vec<Entry> = Vec::new();
    for (key, raw) in pairs {
        // The value is a slice of the text, so its offset gives its line.
        let at = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let line = text.get(..at).map_or(0, |before| before.matches('\n').count()) + 1;
        if let Some(first) = found.iter().find(|e| e.key == key) {
            return Err(format!("line {line}: {key} is given twice, first in line {}; remove one", first.line));
        }
        let value = serde_json::from_str(raw.get()).map_err(|e| format!("line {line}, {key}: {e}"))?;
        found.push(Entry { key, line, value });
    }
    Ok(found)
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(key) = map.next_key()? {
            if pairs.len() == 1_000 {
                return Err(A::Error::custom("more than 1000 keys"));
            }
            pairs.push((key, map.next_value()?));
        }
        Ok(pairs)
    }
}

/// A list in the form that its flag takes: `1,16`. Fails with the entry that is neither text nor a number.
pub(super) fn text_of_list(list: &[Value]) -> Result<String> {
    let mut texts = Vec::new();
    for entry in list {
        texts.push(match entry {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            other => bail!("{other} cannot be an entry of this list; write strings or numbers"),
        });
    }
    Ok(texts.join(","))
}

/// Shapes of inputs in the form that their flag takes. `[[1, 3, 224, 224]]` is a list of one shape, `[[[6, 128], [6, 128]]]` of one
/// tuple of two; strings are taken as they are. Fails with the entry that is not a shape.
pub(super) fn text_of_inputs(list: &[Value]) -> Result<String> {
    if list.iter().any(Value::is_number) {
        return shape(list);
    }
    let mut entries = Vec::new();
    for entry in list {
        entries.push(match entry {
            Value::String(text) => text.clone(),
            Value::Array(tuple) if tuple.iter().any(Value::is_array) => {
                let shapes: Vec<String> =
                    tuple.iter().map(|s| shape(s.as_array().map_or(&[], Vec::as_slice))).collect::<Result<_>>()?;
                format!("({})", shapes.join(","))
            }
            Value::Array(one) => shape(one)?,
            other => bail!("{other} is not a shape; write a list of sizes, such as [1, 3, 224, 224]"),
        });
    }
    Ok(entries.join(";"))
}

fn shape(sizes: &[Value]) -> Result<String> {
    let sizes: Option<Vec<String>> = sizes.iter().map(|s| s.as_u64().map(|n| n.to_string())).collect();
    match sizes.filter(|s| !s.is_empty()) {
        Some(sizes) => Ok(sizes.join("x")),
        None => bail!("a shape is a list of whole numbers, such as [1, 3, 224, 224]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_lines() {
        let found = entries("\u{feff}{\n \"a\": 1,\n\n \"b\": [\n2]}").unwrap();
        let rows: Vec<_> = found.iter().map(|e| (e.key.as_str(), e.line)).collect();
        assert_eq!(rows, [("a", 2), ("b", 4)]);
        assert_eq!(found[1].value, serde_json::json!([2]));
        assert!(entries("{\"a\": 1,\n\"a\": 2}").unwrap_err().contains("line 2: a is given twice, first in line 1"));
    }

    #[test]
    fn an_invalid_object_error_names_its_place() {
        assert!(entries("{\"a\": 1,\n\"b\": }").unwrap_err().contains("line 2 column 6"));
        assert!(entries("[1]").unwrap_err().contains("expected an object"));
        assert!(entries("{} x").unwrap_err().contains("trailing"));
        assert!(entries("").unwrap_err().contains("write an object of arguments"));
    }

    #[test]
    fn lists_and_shapes() {
        let of = |text: &str| serde_json::from_str::<Vec<Value>>(text).unwrap();
        assert_eq!(text_of_list(&of("[1, 16, \"8-10\"]")).unwrap(), "1,16,8-10");
        assert!(text_of_list(&of("[[1]]")).is_err());
        assert_eq!(text_of_inputs(&of("[1, 3, 224, 224]")).unwrap(), "1x3x224x224");
        assert_eq!(text_of_inputs(&of("[[1, 3], [2, 3]]")).unwrap(), "1x3;2x3");
        assert_eq!(text_of_inputs(&of("[[[6, 128], [6, 128]], \"1x4\"]")).unwrap(), "(6x128,6x128);1x4");
        assert!(text_of_inputs(&of("[[1.5]]")).is_err() && text_of_inputs(&of("[true]")).is_err());
    }
}
