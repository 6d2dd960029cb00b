//! Reads a line in place.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::error::LineError;
use ns_base::quoted_nan;
use ns_base::{Refusal, refuse};

/// The parts that every reader of a line needs. Numbers stay text until they are needed.
#[derive(Debug, Deserialize)]
pub struct RawRecord<'a> {
    #[serde(borrow)]
    pub model: RawModel<'a>,
    #[serde(borrow)]
    pub experiment: RawExperiment<'a>,
    #[serde(borrow)]
    pub metrics: RawMetrics<'a>,
    /// Seconds since 1970.
    #[serde(borrow)]
    pub timestamp: &'a RawValue,
    /// Number of timed runs requested.
    #[serde(borrow, default, deserialize_with = "raw")]
    pub repeat: Option<&'a RawValue>,
    /// Inferences inside one timed run.
    #[serde(borrow, default, deserialize_with = "raw")]
    pub iterations_per_run: Option<&'a RawValue>,
    /// The verifier's code; older schemas lack it.
    #[serde(borrow, default, deserialize_with = "raw")]
    pub verification_code: Option<&'a RawValue>,
}

/// The model of a line.
#[derive(Debug, Deserialize)]
pub struct RawModel<'a> {
    #[serde(borrow)]
    pub model_name: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "raw")]
    pub suite_name: Option<&'a RawValue>,
}

/// The configuration of a line, with the keys that reports need. Every key must be present, but may be null.
#[derive(Debug, Deserialize)]
pub struct RawExperiment<'a> {
    /// Kind of accelerator; older schemas lack it.
    #[serde(borrow, default)]
    pub accelerator: Option<Cow<'a, str>>,
    /// Name of the accelerator's product.
    #[serde(borrow)]
    pub accelerator_model: Cow<'a, str>,
    /// Samples of one inference, or null.
    #[serde(borrow)]
    pub batch_size: &'a RawValue,
    /// Backend of torch.compile, or null.
    #[serde(borrow, deserialize_with = "present")]
    pub dynamo: Option<Cow<'a, str>>,
    /// `eval` or `train`.
    #[serde(borrow)]
    pub test: Cow<'a, str>,
    /// Runtime under XLA, or null.
    #[serde(borrow, deserialize_with = "present")]
    pub xla: Option<Cow<'a, str>>,
    /// The variable `XLA_FLAGS`.
    #[serde(borrow, default, deserialize_with = "raw")]
    pub xla_flags: Option<&'a RawValue>,
    /// torch_xla2 mode; older schemas lack it.
    #[serde(borrow, default, deserialize_with = "raw")]
    pub torch_xla2: Option<&'a RawValue>,
}

/// The metrics of a line, with the keys that reports need.
#[derive(Debug, Deserialize)]
pub struct RawMetrics<'a> {
    /// Seconds of each repeat; absent in a record of a failure.
    #[serde(borrow, default, deserialize_with = "raw")]
    pub total_time: Option<&'a RawValue>,
    /// Compile time of XLA in each repeat, seconds.
    #[serde(borrow, default, rename = "xla_CompileTime_time_s", deserialize_with = "raw")]
    pub compile_time_s: Option<&'a RawValue>,
    /// The reason why other metrics are missing.
    #[serde(borrow, default, deserialize_with = "raw")]
    pub error: Option<&'a RawValue>,
}

/// A key that must be present, but may be null. Naming a function turns off serde's default for options.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    Ok(Option::<Text<'de>>::deserialize(from)?.map(|t| t.0))
}

/// A value that may be missing, but is kept if it is null.
fn raw<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// A line without the characters that the suite's reader strips from its end: line feed, carriage return and `|`. Fails when the
/// line is empty after trimming, or is not UTF-8.
pub fn trimmed(line: &[u8]) -> Result<&str, LineError> {
    let end = line.iter().rposition(|b| !matches!(b, b'\n' | b'\r' | b'|')).map_or(0, |last| last + 1);
    let text = std::str::from_utf8(&line[..end])
        .map_err(|e| refuse!("the line is not UTF-8 from byte {} on", e.valid_up_to()))?;
    if text.trim().is_empty() { Err(LineError::Blank) } else { Ok(text) }
}

/// Reads a trimmed line and passes the record to `read`. Fails when the line is not JSON (Python's `NaN` and `Infinity` are
/// accepted), lacks a key, or `read` fails.
pub fn parse_line<T>(line: &str, read: impl Fn(&RawRecord<'_>) -> Result<T, LineError>) -> Result<T, LineError> {
    // serde would read a list of the right values as a record, by position.
    match line.trim_start().chars().next() {
        Some('{') => {}
        Some('\u{feff}') => {
            return Err(refuse!("the line begins with a byte order mark; save the file as UTF-8 without one").into());
        }
        _ if serde_json::from_str::<serde::de::IgnoredAny>(&quoted_nan(line)).is_ok() => {
            return Err(refuse!("the line is JSON but not an object; each line must be a JSON object").into());
        }
        _ => {}
    }
    let error = match serde_json::from_str::<RawRecord<'_>>(line) {
        Ok(record) => return read(&record),
        Err(error) => error,
    };
    let quoted = quoted_nan(line);
    let error = match &quoted {
        Cow::Borrowed(_) => error,
        Cow::Owned(text) => match serde_json::from_str::<RawRecord<'_>>(text) {
            Ok(record) => return read(&record),
            Err(error) => error,
        },
    };
    // Python takes the last of two equal keys.
    if error.to_string().starts_with("duplicate field")
        && let Ok(value) = serde_json::from_str::<serde_json::Value>(&quoted)
        && let Ok(record) = serde_json::from_str::<RawRecord<'_>>(&value.to_string())
    {
        return read(&record);
    }
    Err(not_a_record(&error).into())
}

/// The parser's message without its `line 1`: the line's number is named elsewhere.
fn not_a_record(error: &serde_json::Error) -> Refusal {
    let reason = error.to_string();
    let reason = reason.split(" at line ").next().unwrap_or(&reason);
    // The names of our own types mean nothing to a user.
    let reason = reason.split(", expected struct Raw").next().map_or_else(String::new, |known| {
        if known.len() < reason.len() { format!("{known}, expected an object") } else { reason.to_owned() }
    });
    let what = if error.is_data() { "not a record" } else { "not JSON" };
    refuse!("{what}: {reason} (column {})", error.column())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"model": {"model_name": "a"}, "experiment": {"accelerator_model": "m", "batch_size": 1, "dynamo": null, "test": "eval", "xla": null}, "metrics": {"total_time": [1, 2.5]}, "timestamp": 3.5}"#;

    fn total_time(line: &str) -> Result<Option<String>, LineError> {
        parse_line(line, |r| Ok(r.metrics.total_time.map(|t| t.get().to_owned())))
    }

    #[test]
    fn the_least_a_record_has() {
        assert_eq!(total_time(LINE), Ok(Some("[1, 2.5]".to_owned())));
        assert_eq!(total_time(&LINE.replace("[1, 2.5]", "null")), Ok(Some("null".to_owned())));
        assert_eq!(total_time(&LINE.replace("total_time", "error")), Ok(None));
        let nan = total_time(&LINE.replace("2.5", "NaN")).unwrap().unwrap();
        assert_eq!(nan, "[1, \"\\u0000NaN\"]");
        assert_eq!(
            total_time(&LINE.replace("\"timestamp\"", "\"timestamp\": 1, \"timestamp\"")).unwrap().unwrap(),
            "[1,2.5]"
        );
    }

    #[test]
    fn missing_fields_are_named() {
        for key in ["model_name", "accelerator_model", "batch_size", "dynamo", "test", "xla", "timestamp"] {
            let error = total_time(&LINE.replace(&format!("\"{key}\""), "\"other\"")).unwrap_err().to_string();
            assert!(error.contains(&format!("missing field `{key}`")), "{key}: {error}");
        }
        assert!(total_time("{").unwrap_err().to_string().starts_with("not JSON: EOF"));
        let error = total_time(&LINE.replace("{\"model_name\": \"a\"}", "3")).unwrap_err().to_string();
        assert!(error.starts_with("not a record: invalid type: integer `3`, expected an object (column"), "{error}");
        for other in ["[1, 2]", "3", "NaN", "\"a\"", "null"] {
            assert!(
                total_time(other).unwrap_err().to_string().starts_with("the line is JSON but not an object"),
                "{other}"
            );
        }
        assert!(total_time(&format!("\u{feff}{LINE}")).unwrap_err().to_string().contains("byte order mark"));
        assert!(total_time("model").unwrap_err().to_string().starts_with("not JSON"));
        assert_eq!(trimmed(b"{}|\r\n"), Ok("{}"));
        assert_eq!(trimmed(b"\n"), Err(LineError::Blank));
        assert_eq!(trimmed(b"ab\xff\n").unwrap_err().to_string(), "the line is not UTF-8 from byte 2 on");
    }
}
