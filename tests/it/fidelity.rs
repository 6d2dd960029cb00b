//! Published rows that ship with the project: predicted without looking at the measured figures.

use neuronscope::base::NeverCancel;
use neuronscope::bench::{BenchConfig, ConfigurationRun, RunDetail, RunOptions, SdkGeneration, expand, service_times};
use neuronscope::device::ModelLibrary;
use neuronscope::fidelity::{
    Calibrator, HELD_OUT, PublishedRow, Summary, Validation, device_factors, read_rows, shipped_rows, validate,
};
use neuronscope::machine::cost::{CostTable, FITTED, Throttle, register_markdown};

fn rows() -> Vec<PublishedRow> {
    shipped_rows()
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
    // The two rows from which a constant was solved are predicted, but not counted.
    let solved: Vec<&str> = answers.iter().filter_map(|a| a.solved.as_deref()).collect();
    assert_eq!(solved, ["sustained_matmul_permille", "hbm_access_ns"]);
    assert_eq!(summary.n, answers.iter().filter(|a| a.ratio.is_some()).count() - 2);
    assert!(summary.n >= 23, "{summary:?}");
    // The errors in docs/fidelity.md, with a little room: a change that makes them worse has to say so there.
    assert!(summary.median_abs_error.unwrap() < 0.045, "{summary:?}");
    assert!(summary.p90_abs_error.unwrap() < 0.085, "{summary:?}");
    assert!((summary.geomean_ratio.unwrap() - 1.0).abs() < 0.02, "{summary:?}");
}

#[test]
fn scaled_measurements_change_no_prediction() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fidelity/published.csv");
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

#[test]
fn a_benchmark_of_the_rows_generation_gives_what_is_predicted_for_it() {
    let row = rows().into_iter().find(|r| r.model == "resnet50" && r.framework == "PyTorch 1.13.1").unwrap();
    let answer = validate(&row);
    let of_generation = |sdk_generation| {
        let config = BenchConfig {
            model: "resnet50".into(),
            instance_type: "inf2.xlarge".into(),
            batch_sizes: vec![row.batch_size.unwrap()],
            n_models: answer.n_models.map(|n| vec![n]),
            workers_per_model: answer.workers_per_model.map(|n| vec![n]),
            duration_s: 4.0,
            options: RunOptions { sdk_generation, ..RunOptions::default() },
            ..BenchConfig::default()
        };
        let configuration = expand(&config).unwrap().configurations.remove(0);
        let times = service_times(&configuration, &ModelLibrary::default());
        let run = ConfigurationRun::new(configuration, times.as_ref().map_err(ToString::to_string));
        run.run(&NeverCancel, RunDetail::default()).report.throughput_window
    };
    assert_eq!(of_generation(SdkGeneration::Pt1), answer.predicted);
    let (old, new) = (of_generation(SdkGeneration::Pt1).unwrap(), of_generation(SdkGeneration::Pt2).unwrap());
    assert!((new / old - f64::from(FITTED.torch_1_permille) / 1_000.0).abs() < 0.01, "{old} {new}");
}

/// One test makes all eight fits, because they share their simulations.
#[test]
fn the_fitted_numbers_and_the_table_of_held_out_rows_are_what_calibration_finds() {
    let mut calibrator = Calibrator::new(&rows());
    assert_eq!(calibrator.fit(|_| true).calibration, FITTED);
    let left_out = calibrator.leave_one_model_out();
    assert_eq!(left_out.len(), HELD_OUT.len());
    let rounded = |ratio: &f64| (ratio * 1e4).round() / 1e4;
    for (left, held) in left_out.iter().zip(HELD_OUT) {
        assert_eq!((left.model.as_str(), left.fit.calibration), (held.model, held.calibration));
        assert_eq!(left.ratios.iter().map(rounded).collect::<Vec<_>>(), held.ratios, "{}", held.model);
    }
    assert_eq!(HELD_OUT.iter().map(|held| held.ratios.len()).sum::<usize>(), 23);
    let (low, high) = device_factors();
    let all: Vec<f64> = HELD_OUT.iter().flat_map(|held| held.ratios).map(|ratio| 1.0 / ratio).collect();
    let inside = all.iter().filter(|factor| (low..=high).contains(*factor)).count();
    assert!(inside * 10 >= all.len() * 8, "8 of 10 cases: {inside} of {} are between {low} and {high}", all.len());
    assert!((inside - 2) * 10 < all.len() * 8, "the interval is no wider than that: {inside}");
}

/// `UPDATE_DOCS=1 cargo test` writes the tables.
#[test]
fn the_tables_of_costs_are_what_is_printed() {
    super::doc_tables::assert_written("docs/costs.md", "neuronscope devices --costs", &register_markdown());
}

/// `UPDATE_DOCS=1 cargo test` writes the table: the errors of the rows under other limits of Inferentia2's clock, nothing fitted again.
#[test]
fn what_the_limit_of_the_clock_contributes() {
    let own = CostTable::inferentia2().engine.tensor_throttle.unwrap();
    let cases = [
        ("7/8, and 5/8 after a window that used more", own),
        ("7/8 always, as on Trn1", Throttle { dense_eighths: 7, ..own }),
        ("5/8 always", Throttle { light_eighths: 5, ..own }),
        ("from 0.4 of a window", Throttle { threshold_permille: 400, ..own }),
        ("from 0.5 of a window", Throttle { threshold_permille: 500, ..own }),
        ("from 0.7 of a window", Throttle { threshold_permille: 700, ..own }),
        ("windows of 16 us", Throttle { window_ns: 16_000, ..own }),
    ];
    let mut calibrator = Calibrator::new(&rows());
    let mut table =
        "| limit of the clock of Inf2 | median error | 90th percentile | bias |\n|---|---|---|---|\n".to_owned();
    let mut medians = Vec::new();
    for (name, throttle) in cases {
        calibrator.try_inf2_throttle(throttle);
        let s = calibrator.summary(&FITTED, |_| true);
        let (median, p90, bias) = (s.median_abs_error.unwrap(), s.p90_abs_error.unwrap(), s.geomean_ratio.unwrap());
        table.push_str(&format!("| {name} | {:.1} % | {:.1} % | {bias:.3} |\n", median * 100.0, p90 * 100.0));
        medians.push(median);
    }
    assert!(medians[1] > 2.0 * medians[0], "without the limit the error is more than twice as large: {medians:?}");
    super::doc_tables::assert_written("docs/fidelity.md", "the clock of Inf2", &table);
}
