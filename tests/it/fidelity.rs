//! Published rows that ship with the project: predicted without looking at what was measured.

use neuronscope::fidelity::{PublishedRow, Summary, Validation, read_rows, validate};

fn rows() -> Vec<PublishedRow> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/published/calibration.csv");
    read_rows(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn every_row_has_an_answer_in_order_and_the_errors_stay_where_they_are() {
    let rows = rows();
    let answers: Vec<Validation> = rows.iter().map(validate).collect();
    for (row, answer) in rows.iter().zip(&answers) {
        assert_eq!(row.model, answer.model);
        assert!(answer.predicted.is_some() != answer.skipped.is_some(), "{answer:?}");
    }
    let summary = Summary::of(answers.iter());
    assert!(summary.n >= 25, "{summary:?}");
    // What docs/fidelity.md states, with a little room: a change that makes this worse has to say so there.
    assert!(summary.median_abs_error.unwrap() < 0.045, "{summary:?}");
    assert!(summary.p90_abs_error.unwrap() < 0.085, "{summary:?}");
    assert!((summary.geomean_ratio.unwrap() - 1.0).abs() < 0.02, "{summary:?}");
}

#[test]
fn scaling_what_was_measured_changes_no_prediction() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/published/calibration.csv");
    let mut reader = csv::Reader::from_path(path).unwrap();
    let headers = reader.headers().unwrap().clone();
    let mut scaled = csv::Writer::from_writer(Vec::new());
    scaled.write_record(&headers).unwrap();
    for record in reader.records() {
        let record = record.unwrap();
        let cells = headers.iter().zip(&record).map(|(column, cell)| {
            let measured = ["throughput", "latency_p50_ms", "latency_p99_ms", "derived_service_ms_per_batch_per_core"];
            match cell.parse::<f64>() {
                Ok(x) if measured.contains(&column) => (x * 3.7).to_string(),
                _ => cell.to_owned(),
            }
        });
        scaled.write_record(cells).unwrap();
    }
    let scaled = read_rows(&scaled.into_inner().unwrap()).unwrap();
    for (row, scaled) in rows().iter().zip(&scaled) {
        let (first, second) = (validate(row), validate(scaled));
        assert_eq!(first.predicted, second.predicted, "{}", row.model);
        assert_eq!(first.skipped, second.skipped, "{}", row.model);
    }
}
