//! Reads an index of either format, also one edited by hand.

use std::str::FromStr;

use serde_json::{Map, Value};

use super::entry::level_of_cast_mode;
use super::{EntryStatus, ModelEntry, ModelIndex};
use crate::config::bench_config::{MAX_BATCH, MAX_PARALLEL};
use ns_base::convert::{f64_to_u64, low8, u64_to_u32};
use ns_base::without_nan;
use ns_base::{Refusal, refuse};
use ns_compiler::UnknownOption;

/// An index, and notes on problems in its text.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadIndex {
    /// The index. Entries that could not be understood have status `error`.
    pub index: ModelIndex,
    /// Notes on assumptions and on parts that could not be read, one sentence each.
    pub warnings: Vec<String>,
    /// Whether the text names the model; otherwise the first entry's file does.
    pub is_named: bool,
}

impl ModelIndex {
    /// Reads a file. An index that does not name its model is named after the file, as NeuronPerf's log does. Fails as
    /// [`Self::read`].
    pub fn read_file(text: &str, file_name: &str) -> Result<ReadIndex, Refusal> {
        let mut read = Self::read(text)?;
        if !read.is_named {
            file_name.clone_into(&mut read.index.model_name);
        }
        Ok(read)
    }

    /// Reads the newer format (`NeuronPerf_version`, `performance_level`, `status`) or the older one (`version`,
    /// `input_idx`, `cast_mode`). An entry that cannot be understood is kept as a failed one. Fails when the text is not JSON, or
    /// not an index.
    pub fn read(text: &str) -> Result<ReadIndex, Refusal> {
        let value: Value = serde_json::from_str(&without_nan(text))
            .map_err(|e| refuse!("the index is not JSON: {e}; it may be cut off"))?;
        let Some(Value::Array(configs)) = value.get("model_configs") else {
            return Err(refuse!("this JSON is not a model index: it has no list \"model_configs\""));
        };
        let mut warnings = Vec::new();
        let text_of = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let version = text_of("NeuronPerf_version").or_else(|| text_of("version"));
        let version = version.unwrap_or_else(|| {
            warnings.push("the index does not say which version wrote it".to_owned());
            "unknown".to_owned()
        });
        let entries: Vec<ModelEntry> =
            configs.iter().enumerate().map(|(i, config)| entry(i + 1, config, &mut warnings)).collect();
        let own_name = text_of("model_name");
        let is_named = own_name.is_some();
        let model_name =
            own_name.or_else(|| entries.iter().find_map(|e| e.filename.clone())).unwrap_or_else(|| "Model".to_owned());
        Ok(ReadIndex { index: ModelIndex { version, model_name, model_configs: entries }, warnings, is_named })
    }
}

fn entry(number: usize, config: &Value, warnings: &mut Vec<String>) -> ModelEntry {
    let Value::Object(map) = config else {
        let error = format!("entry {number} of the index is not an object");
        warnings.push(error.clone());
        return ModelEntry { status: EntryStatus::Error, error: Some(error), ..ModelEntry::default() };
    };
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut entry = ModelEntry {
        filename: text("filename"),
        compile_s: map.get("compile_s").and_then(Value::as_f64),
        model: text("model"),
        instance_type: text("instance_type"),
        compile_s_source: text("compile_s_source"),
        error: text("error"),
        ..ModelEntry::default()
    };
    let mut problems = Vec::new();
    let mut count = |key: &str, low: u64, high: u64, default: u64| match number_of(map, key) {
        Ok(Some(n)) if (low..=high).contains(&n) => n,
        Ok(None) => default,
        Ok(Some(_)) | Err(()) => {
            let given = map.get(key).map(Value::to_string).unwrap_or_default();
            problems.push(format!("{key} is {given}, not a whole number from {low} to {high}"));
            default
        }
    };
    // Each number fits its field because of its bound.
    entry.batch_size = u64_to_u32(count("batch_size", 1, u64::from(MAX_BATCH), 1));
    entry.pipeline_size = u64_to_u32(count("pipeline_size", 1, u64::from(MAX_PARALLEL), 1));
    entry.performance_level = low8(count("performance_level", 0, 3, 3));
    entry.lnc = match count("lnc", 1, u64::from(MAX_PARALLEL), 0) {
        0 => None,
        lnc => Some(u64_to_u32(lnc)),
    };
    entry.input_idx = match map.get("input_idx") {
        None | Some(Value::Null) => None,
        Some(_) => Some(u64_to_u32(count("input_idx", 0, u64::from(u32::MAX), 0))),
    };
    take_cast_mode(&mut entry, number, map, warnings);
    entry.auto_cast = option(map, "auto_cast", &mut problems);
    entry.auto_cast_type = option(map, "auto_cast_type", &mut problems);
    entry.optlevel = option(map, "optlevel", &mut problems);
    entry.status = status(map, &mut problems);
    if entry.status == EntryStatus::Finished && entry.filename.is_none() && entry.model.is_none() {
        problems.push("it names no file and no model".to_owned());
    }
    if !problems.is_empty() {
        let error = format!("entry {number} of the index: {}; correct it or remove it", problems.join("; "));
        warnings.push(error.clone());
        (entry.status, entry.error) = (EntryStatus::Error, Some(error));
    }
    entry
}

/// Converts the cast mode of the older format to a performance level.
fn take_cast_mode(entry: &mut ModelEntry, number: usize, map: &Map<String, Value>, warnings: &mut Vec<String>) {
    entry.cast_mode = match map.get("cast_mode") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    if let Some(cast_mode) = entry.cast_mode.as_deref().filter(|_| !map.contains_key("performance_level")) {
        match level_of_cast_mode(cast_mode) {
            Some(level) => entry.performance_level = level,
            None => warnings.push(format!(
                "entry {number} of the index: cast_mode \"{cast_mode}\" is not a performance level (0 to 3, or none, fp32-cast-matmult, all), so level 3 is used; add performance_level to the entry to choose another"
            )),
        }
    }
}

/// Whether the artifact exists; an entry without a status has one.
fn status(map: &Map<String, Value>, problems: &mut Vec<String>) -> EntryStatus {
    match map.get("status").map(|s| s.as_str()) {
        None | Some(Some("finished")) => EntryStatus::Finished,
        Some(Some("error")) => EntryStatus::Error,
        Some(_) => {
            let given = map.get("status").map(Value::to_string).unwrap_or_default();
            problems.push(format!("status is {given}, neither \"finished\" nor \"error\""));
            EntryStatus::Error
        }
    }
}

/// A compiler option by the name its flag has; a number counts as its text, and `O2` as `2`.
fn option<T>(map: &Map<String, Value>, key: &str, problems: &mut Vec<String>) -> Option<T>
where
    T: FromStr<Err = UnknownOption>,
{
    let given = match map.get(key) {
        None | Some(Value::Null) => return None,
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let name = if key == "optlevel" { given.trim_start_matches('O') } else { given.as_str() };
    name.parse().map_err(|e: UnknownOption| problems.push(format!("{key} is {given}, not {}", e.allowed))).ok()
}

/// A whole number, also one written as `4.0`; `Err` for any other value.
fn number_of(map: &Map<String, Value>, key: &str) -> Result<Option<u64>, ()> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let from_real =
                || value.as_f64().filter(|f| *f >= 0.0 && *f < 1e15 && libm::floor(*f) == *f).map(f64_to_u64);
            value.as_u64().or_else(from_real).map(Some).ok_or(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_are_read() {
        let newer = r#"{"NeuronPerf_version": "1.8.55.0", "model_name": "resnet50", "model_configs": [
            {"filename": "models/a.pt", "batch_size": 6, "pipeline_size": 1, "performance_level": 2, "compile_s": NaN, "status": "finished"},
            {"filename": null, "batch_size": 7, "pipeline_size": 1, "performance_level": 3, "compile_s": null, "status": "error"}]}"#;
        let read = ModelIndex::read(newer).unwrap();
        assert_eq!((read.index.model_name.as_str(), read.warnings.len()), ("resnet50", 0));
        let first = &read.index.model_configs[0];
        assert_eq!((first.batch_size, first.performance_level, first.compile_s), (6, 2, None));
        assert_eq!(read.index.finished().count(), 1);
        let older = r#"{"version": "0.0.0.0+0bc220a", "model_configs": [
            {"filename": "models/model_b1_p1_83bh3hhs.pt", "input_idx": 0, "batch_size": 1, "pipeline_size": 1, "cast_mode": null, "compile_s": 57.03}]}"#;
        let read = ModelIndex::read(older).unwrap();
        assert_eq!(read.index.version, "0.0.0.0+0bc220a");
        assert_eq!(read.index.model_name, "models/model_b1_p1_83bh3hhs.pt");
        let name_of = |text| ModelIndex::read_file(text, "resnet50.json").unwrap().index.model_name;
        assert_eq!((name_of(older), name_of(newer)), ("resnet50.json".to_owned(), "resnet50".to_owned()));
        assert_eq!(read.index.model_configs[0].compile_s, Some(57.03));
        assert_eq!(read.index.finished().count(), 1);
    }

    #[test]
    fn older_keys_are_kept_and_a_cast_mode_is_a_performance_level() {
        let text = r#"{"version": "0", "model_configs": [{"filename": "a.pt", "input_idx": 2, "cast_mode": "fp32-cast-matmult"},
            {"filename": "b.pt", "cast_mode": 0}, {"filename": "c.pt", "cast_mode": "fast"}, {"filename": "d.pt", "input_idx": "two"}]}"#;
        let read = ModelIndex::read(text).unwrap();
        let e = &read.index.model_configs;
        assert_eq!(
            (e[0].input_idx, e[0].cast_mode.as_deref(), e[0].performance_level),
            (Some(2), Some("fp32-cast-matmult"), 2)
        );
        assert_eq!((e[1].cast_mode.as_deref(), e[1].performance_level), (Some("0"), 0));
        assert_eq!(e[2].performance_level, 3);
        assert!(
            read.warnings.iter().any(|w| w.contains("entry 3") && w.contains("\"fast\" is not a performance level"))
        );
        assert!(read.warnings.iter().any(|w| w.contains("entry 4") && w.contains("input_idx is \"two\"")));
        let again = ModelIndex::read(&read.index.to_json().unwrap()).unwrap();
        assert_eq!(again.index.model_configs[..3], read.index.model_configs[..3]);
    }

    #[test]
    fn what_a_hand_got_wrong_is_a_failed_entry_with_its_number() {
        let text = r#"{"model_name": "m", "model_configs": [{"filename": "a.pt", "batch_size": "four"},
            {"filename": "b.pt", "batch_size": 4.0}, 7, {}, {"filename": "c.pt", "status": "done"}]}"#;
        let read = ModelIndex::read(text).unwrap();
        let status: Vec<_> = read.index.model_configs.iter().map(|e| e.status.name()).collect();
        assert_eq!(status, ["error", "finished", "error", "error", "error"]);
        assert!(read.warnings.iter().any(|w| w.contains("entry 1") && w.contains("batch_size is \"four\"")));
        assert!(read.warnings.iter().any(|w| w.contains("entry 4") && w.contains("no file and no model")));
        assert_eq!(read.index.model_configs[1].batch_size, 4);
    }

    #[test]
    fn how_it_was_compiled_reads_back_and_what_does_not_exist_is_named() {
        use ns_compiler::{AutoCast, CastType, CompileOptions, OptLevel};
        let options = CompileOptions {
            auto_cast: AutoCast::All,
            auto_cast_type: CastType::Fp8E4m3,
            opt_level: OptLevel::O1,
            lnc: Some(2),
        };
        let entry = ModelEntry { model: Some("nn".into()), ..ModelEntry::default() }.compiled_with(options);
        let index = ModelIndex { model_configs: vec![entry], ..ModelIndex::new("nn") };
        let read = ModelIndex::read(&index.to_json().unwrap()).unwrap();
        assert_eq!((read.index.clone(), read.warnings.len()), (index, 0));
        assert_eq!(read.index.model_configs[0].compile_options(CompileOptions::default()), Some(options));
        let text =
            r#"{"model_configs": [{"model": "nn", "auto_cast": "some"}, {"model": "nn", "optlevel": 1, "lnc": 0}]}"#;
        let read = ModelIndex::read(text).unwrap();
        assert!(read.warnings.iter().any(|w| w.contains("entry 1") && w.contains("none, matmult or all")));
        assert!(read.warnings.iter().any(|w| w.contains("entry 2") && w.contains("lnc is 0")), "{:?}", read.warnings);
        assert_eq!(read.index.model_configs[1].optlevel, Some(OptLevel::O1));
    }

    #[test]
    fn no_index_says_so() {
        let other = ModelIndex::read("{}").unwrap_err();
        assert_eq!(other.what(), "this JSON is not a model index: it has no list \"model_configs\"");
        let cut = ModelIndex::read("{\"model_configs\": [{\"filena").unwrap_err().to_string();
        assert!(cut.contains("line 1") && cut.contains("cut off"), "{cut}");
    }
}
