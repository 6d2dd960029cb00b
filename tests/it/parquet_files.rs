//! Parquet files are read back with the crate that wrote them, and compared with the JSON and CSV of the same things.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use neuronscope::experiment::record::{numbers, parse_line};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::Value;

use crate::experiment_plan::xla;
use crate::folder::Folder;

/// Runs the command line: stdout and stderr.
fn run(args: &[&str]) -> (Vec<u8>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{args:?}: {stderr}");
    (output.stdout, stderr)
}

fn write(table: &str, source: &str, file: &Path) -> String {
    run(&["parquet", source, "--table", table, "--output", file.to_str().unwrap()]).1
}

fn rows(file: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

/// The table that a file names as its kind.
fn table_of(file: &Path) -> String {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let about = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
    about.into_iter().find(|kv| kv.key == "neuronscope.table").unwrap().value.unwrap()
}

/// A cell as JSON; numbers as doubles.
fn cell(row: &Row, name: &str) -> Value {
    let (_, field) = row.get_column_iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no column {name}"));
    match field {
        Field::Null => Value::Null,
        Field::Str(text) => Value::from(text.as_str()),
        Field::Long(n) => Value::from(*n as f64),
        Field::Double(x) => Value::from(*x),
        Field::Bool(b) => Value::from(*b),
        other => panic!("{name}: {other:?}"),
    }
}

/// Whole numbers of JSON as doubles.
fn plain(value: &Value) -> Value {
    value.as_f64().map_or_else(|| value.clone(), Value::from)
}

#[test]
fn records_come_back_with_a_row_for_each_repeat() {
    let folder = Folder::new("parquet_records");
    let (source, file) = (xla("upstream/inputs/v100.jsonl"), folder.join("records.parquet"));
    let said = write("records", source.to_str().unwrap(), &file);
    assert!(said.contains("metrics have no column"), "{said}");
    assert_eq!(table_of(&file), "records");
    let text = std::fs::read_to_string(&source).unwrap();
    let found = rows(&file);
    let mut next = found.iter();
    for (number, line) in text.lines().enumerate() {
        let record: Value = serde_json::from_str(line).unwrap();
        // To the last bit, which serde_json's own numbers may miss.
        let times = parse_line(line, |r| Ok(r.metrics.total_time.and_then(|t| numbers("total_time", t.get()).ok())));
        let times = times.unwrap().unwrap_or_default();
        for sample in 0..times.len().max(1) {
            let row = next.next().unwrap();
            assert_eq!(cell(row, "line"), Value::from(number as f64 + 1.0));
            assert_eq!(cell(row, "model_name"), record["model"]["model_name"]);
            for key in ["accelerator_model", "xla", "dynamo", "test", "batch_size"] {
                assert_eq!(cell(row, key), plain(&record["experiment"][key]), "{key} of line {}", number + 1);
            }
            assert_eq!(cell(row, "timestamp"), plain(&record["timestamp"]));
            assert_eq!(cell(row, "total_time"), Value::from(times.get(sample).copied()));
            // Without times there is no repeat.
            assert_eq!(cell(row, "sample"), Value::from(times.get(sample).map(|_| sample as f64)));
        }
    }
    assert!(next.next().is_none());
}

#[test]
fn lines_that_are_no_records_are_counted() {
    let folder = Folder::new("parquet_bad");
    std::fs::write(folder.join("bad.jsonl"), "{\n\n[1]\n").unwrap();
    let file = folder.join("out.parquet");
    let said = write("records", folder.to_str().unwrap(), &file);
    assert!(said.contains("3 lines are not records") && said.contains("bad.jsonl:3: not a record"), "{said}");
    assert!(said.ends_with("0 rows\n"), "{said}");
    assert_eq!(rows(&file).len(), 0);
}

#[test]
fn more_rows_than_a_group_has_come_back_in_order() {
    let folder = Folder::new("parquet_groups");
    let line = |model: usize, times: &str| {
        format!(
            r#"{{"model": {{"model_name": "m{model}"}}, "experiment": {{}}, "metrics": {{"total_time": [{times}]}}, "timestamp": {model}}}"#
        )
    };
    let times = |model: usize| (0..500).map(|i| format!("{}.5", model * 500 + i)).collect::<Vec<_>>().join(",");
    let text: Vec<String> = (0..300).map(|model| line(model, &times(model))).collect();
    std::fs::write(folder.join("many.jsonl"), text.join("\n")).unwrap();
    let file = folder.join("many.parquet");
    write("records", folder.join("many.jsonl").to_str().unwrap(), &file);
    let reader = SerializedFileReader::new(File::open(&file).unwrap()).unwrap();
    assert_eq!(reader.num_row_groups(), 3);
    for (i, row) in rows(&file).iter().enumerate() {
        assert_eq!(cell(row, "total_time"), Value::from(i as f64 + 0.5));
        assert_eq!(cell(row, "model_name"), Value::from(format!("m{}", i / 500)));
    }
}

#[test]
fn reports_come_back_with_every_key() {
    let folder = Folder::new("parquet_reports");
    let (json, file) = (folder.join("reports.json"), folder.join("reports.parquet"));
    let (printed, _) =
        run(&["bench", "--model", "nn", "--duration", "0.5", "--n-models", "1,2", "--verbosity=0", "--json"]);
    std::fs::write(&json, &printed).unwrap();
    write("reports", json.to_str().unwrap(), &file);
    // `report` reads the same file, and so marks its rows as imported.
    let (read, _) = run(&["report", json.to_str().unwrap(), "--json"]);
    let expected: Value = serde_json::from_slice(&read).unwrap();
    let found = rows(&file);
    assert_eq!(found.len(), expected["reports"].as_array().unwrap().len());
    assert!(!found.is_empty());
    for (row, report) in found.iter().zip(expected["reports"].as_array().unwrap()) {
        let mut columns = 0;
        for (key, value) in report.as_object().unwrap() {
            if ["throughput_hist", "e2e_durations_ms", "estimate", "published", "interval"].contains(&key.as_str()) {
                continue;
            }
            assert_eq!(cell(row, key), plain(value), "{key}");
            columns += 1;
        }
        assert_eq!(columns, row.len());
    }
}

#[test]
fn slices_and_operators_come_back_as_they_are_listed() {
    let folder = Folder::new("parquet_profile");
    let (csv, slices, operators) =
        (folder.join("slices.csv"), folder.join("slices.parquet"), folder.join("operators.parquet"));
    run(&["profile", "--model", "nn", "--export", "csv", "--output", csv.to_str().unwrap()]);
    write("slices", "sim:nn", &slices);
    let mut reader = csv::Reader::from_path(&csv).unwrap();
    let names = reader.headers().unwrap().clone();
    let found = rows(&slices);
    let mut count = 0;
    for (row, line) in found.iter().zip(reader.records()) {
        for (name, text) in names.iter().zip(&line.unwrap()) {
            let shown = match cell(row, name) {
                Value::Null => String::new(),
                Value::String(text) => text,
                other => other.as_f64().map_or_else(|| other.to_string(), |x| x.to_string()),
            };
            assert_eq!(shown, text, "{name} of row {count}");
        }
        count += 1;
    }
    assert!(count > 50 && count == found.len(), "{count}");
    write("operators", "sim:nn", &operators);
    let listed: Value = serde_json::from_slice(&run(&["operators", "sim:nn", "--json"]).0).unwrap();
    let found = rows(&operators);
    assert_eq!((found.len(), table_of(&operators).as_str()), (listed.as_array().unwrap().len(), "operators"));
    for (row, operator) in found.iter().zip(listed.as_array().unwrap()) {
        for (key, value) in operator.as_object().unwrap() {
            let (read, listed) = (cell(row, key), plain(value));
            // The parser of the test's JSON rounds the last digit of a number its own way.
            let same = |a: &Value, b: &Value| match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * b.abs(),
                _ => a == b,
            };
            assert!(same(&read, &listed), "{key}: {read} is not {listed}");
        }
    }
}
