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
    assert!(summary.n >= 23, "{summary:?}");
    // What docs/fidelity.md states, with a little room: a change that makes this worse has to say so there.
    assert!(summary.median_abs_error.unwrap() < 0.075, "{summary:?}");
    assert!(summary.p90_abs_error.unwrap() < 0.22, "{summary:?}");
    assert!((summary.geomean_ratio.unwrap() - 1.0).abs() < 0.04, "{summary:?}");
}

#[test]
fn scaling_what_was_measured_changes_no_prediction() {
    for row in rows().into_iter().filter(|r| r.model == "resnet50" || r.model == "bert-base-uncased").take(3) {
        let scaled = PublishedRow { published: row.published.map(|t| t * 3.0), ..row.clone() };
        assert_eq!(validate(&row).predicted, validate(&scaled).predicted);
    }
}
