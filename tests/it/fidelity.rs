//! Published rows that ship with the project: predicted without looking at the measured figures.

use neuronscope::base::NeverCancel;
use neuronscope::bench::{BenchConfig, ConfigurationRun, RunDetail, RunOptions, SdkGeneration, expand, service_times};
use neuronscope::device::ModelLibrary;
use neuronscope::fidelity::{
    Calibrator, CostChange, PlacementBasis, PublishedRow, RowComparison, Summary, Validation, compare, coverage,
    device_factors, left_out_csv, measured_markdown, ratios_by_one_factor, read_measured, read_rows, shipped_rows,
    validate,
};
use neuronscope::machine::cost::{CostTable, Entry, FITTED, Throttle, register, register_markdown};

fn rows() -> Vec<PublishedRow> {
    shipped_rows().to_vec()
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
    assert!(summary.median_abs_error.unwrap() < 0.035, "{summary:?}");
    assert!(summary.p90_abs_error.unwrap() < 0.075, "{summary:?}");
    assert!((summary.geomean_ratio.unwrap() - 1.0).abs() < 0.02, "{summary:?}");
    // Rows that the fit has seen lie inside more often than the 8 of 10 that are promised for others.
    assert!(summary.inside_share.unwrap() >= 0.9, "{summary:?}");
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

/// Number, median error, 90th percentile and bias of some rows, as cells of a table.
fn errors(s: &Summary) -> String {
    let bias = s.geomean_ratio.unwrap();
    format!("{} | {} | {} | {bias:.3}", s.n, percent(s.median_abs_error), percent(s.p90_abs_error))
}

fn percent(share: Option<f64>) -> String {
    format!("{:.1} %", share.unwrap() * 100.0)
}

/// The README has this sentence, wherever its lines break.
fn assert_in_readme(sentence: &str) {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let words = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(sentence), "README.md does not say: {sentence}");
}

/// `UPDATE_DOCS=1 cargo test` writes the table.
#[test]
fn the_rows_of_the_document_are_what_is_predicted() {
    let answers: Vec<Validation> = rows().iter().map(validate).filter(|answer| answer.ratio.is_some()).collect();
    let mut table = "| model | instance | batch | cores x workers | published | predicted | in 8 of 10 cases | ratio |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    for a in &answers {
        let name = a.model.split(" (").next().unwrap();
        let solved = a.solved.as_ref().map_or_else(String::new, |constant| format!(" (not counted: `{constant}`)"));
        let star = if a.placed_by == Some(PlacementBasis::LittlesLaw) { "*" } else { "" };
        let placed = format!("{} x {}{star}", a.n_models.unwrap(), a.workers_per_model.unwrap());
        let (low, high) = (a.throughput_low.unwrap(), a.throughput_high.unwrap());
        table.push_str(&format!(
            "| {name}{solved} | {} | {} | {placed} | {:.1} | {:.1} | {low:.1} to {high:.1} | {:.3} |\n",
            a.instance,
            a.batch_size.unwrap(),
            a.published.unwrap(),
            a.predicted.unwrap(),
            a.ratio.unwrap()
        ));
    }
    table.push_str("\n| model | rows | median error | 90th percentile | bias (geometric mean of the ratio) |\n|---|---|---|---|---|\n");
    let mut models: Vec<&str> = answers.iter().filter(|a| a.judges()).map(|a| a.model.as_str()).collect();
    models.sort_unstable();
    models.dedup();
    for model in models {
        let of_model = Summary::of(answers.iter().filter(|a| a.model == model));
        assert!(of_model.median_abs_error.unwrap() < 0.09, "{model}: {of_model:?}");
        table.push_str(&format!("| {model} | {} |\n", errors(&of_model)));
    }
    let of_releases = [("PyTorch 1", true), ("PyTorch 2", false)].map(|(name, is_old)| {
        let of_release: Vec<Validation> =
            rows().iter().filter(|row| row.framework.starts_with("PyTorch 1.") == is_old).map(validate).collect();
        let summary = Summary::of(of_release.iter());
        table.push_str(&format!("| all of {name} | {} |\n", errors(&summary)));
        summary
    });
    let all = Summary::of(answers.iter());
    table.push_str(&format!("| all | {} |\n", errors(&all)));
    let [_, new] = &of_releases;
    assert_in_readme(&format!(
        "On {} published rows of Inf2 and Trn1 the median error of the throughput is {} and the 90th percentile {} ({} and {} on the {} rows of PyTorch 2).",
        all.n,
        percent(all.median_abs_error),
        percent(all.p90_abs_error),
        percent(new.median_abs_error).trim_end_matches(" %"),
        percent(new.p90_abs_error),
        new.n
    ));
    super::doc_tables::assert_written("docs/fidelity.md", "rows", &table);
}

/// One test makes all fits, because they share their simulations.
#[test]
fn the_fitted_numbers_and_the_table_of_held_out_rows_are_what_calibration_finds() {
    let mut calibrator = Calibrator::new(&rows());
    assert_eq!(calibrator.fit(|_| true).calibration, FITTED);
    super::doc_tables::assert_file("src/fidelity/left_out.csv", &left_out_csv(&calibrator.left_out_rows()));
    let left_out = calibrator.leave_one_family_out();
    let mut table = "| family left out | rows | median error | 90th percentile | bias | call ms | copies GB/s | PyTorch 1 |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    for left in &left_out {
        let c = left.fit.calibration;
        let (call, copies) = (c.host_call_ns as f64 / 1e6, c.host_copy_bytes_per_us as f64 / 1e3);
        let torch_1 = f64::from(c.torch_1_permille) / 1e3;
        table.push_str(&format!(
            "| {} | {} | {call:.3} | {copies:.1} | {torch_1:.3} |\n",
            left.family,
            errors(&left.errors)
        ));
    }
    let all: Vec<f64> = left_out.iter().flat_map(|left| left.ratios.iter().copied()).collect();
    let all = Summary::of_ratios(&all);
    table.push_str(&format!("| all, each without its family | {} | | | |\n", errors(&all)));
    let floor = Summary::of_ratios(&ratios_by_one_factor(&rows()));
    table.push_str(&format!("| floor: PyTorch 2 as published, PyTorch 1 by one factor | {} | | | |\n", errors(&floor)));
    super::doc_tables::assert_written("docs/fidelity.md", "models left out", &table);
    assert_eq!(all.n, 23);
    assert_in_readme(&format!(
        "When each family of models is predicted with numbers fitted without it, they are {} and {}:",
        percent(all.median_abs_error),
        percent(all.p90_abs_error)
    ));
}

/// A family is judged by a width that has not seen it: as a device that nobody published would be.
#[test]
fn intervals_hold_for_eight_of_ten_rows_of_families_that_they_have_not_seen() {
    let mut text = String::new();
    for (name, generation) in [("PyTorch 2", SdkGeneration::Pt2), ("PyTorch 1", SdkGeneration::Pt1)] {
        let (low, high) = device_factors(generation).unwrap();
        text.push_str(&format!(
            "With {name}, a device is between {low:.2} and {high:.2} times the simulated throughput in 8 of 10 cases.\n"
        ));
    }
    text.push_str("\n| rows | number | inside |\n|---|---|---|\n");
    let coverage = coverage();
    for group in &coverage {
        text.push_str(&format!("| {} | {} | {} |\n", group.group, group.rows, group.inside));
    }
    super::doc_tables::assert_written("docs/fidelity.md", "interval", &text);
    let all = coverage.last().unwrap();
    assert!(all.inside * 100 >= all.rows * 75, "{all:?}");
}

/// `UPDATE_DOCS=1 cargo test` writes the tables.
#[test]
fn the_tables_of_costs_are_what_is_printed() {
    let all: Vec<Entry> = register().into_iter().chain(neuronscope::llm::cost_entries()).collect();
    super::doc_tables::assert_written("docs/costs.md", "neuronscope devices --costs", &register_markdown(&all));
}

/// `UPDATE_DOCS=1 cargo test` writes the table: the errors of the rows without a mechanism, nothing fitted again.
#[test]
fn what_each_mechanism_of_the_costs_contributes() {
    fn clock(table: &mut CostTable, is_inf2: bool, change: fn(&mut Throttle)) {
        if let Some(throttle) = table.engine.tensor_throttle.as_mut().filter(|_| is_inf2) {
            change(throttle);
        }
    }
    let cases: [(&str, CostChange); 15] = [
        ("as it is", |_, _| {}),
        ("no limit of the clock", |t, _| t.engine.tensor_throttle = None),
        ("Inf2: 7/8 always, as on Trn1", |t, inf2| clock(t, inf2, |c| c.dense_eighths = 7)),
        ("Inf2: 5/8 always", |t, inf2| clock(t, inf2, |c| c.light_eighths = 5)),
        ("Inf2: from 0.5 of a window", |t, inf2| clock(t, inf2, |c| c.threshold_permille = 500)),
        ("Inf2: from 0.75 of a window", |t, inf2| clock(t, inf2, |c| c.threshold_permille = 750)),
        ("Inf2: windows of 16 us", |t, inf2| clock(t, inf2, |c| c.window_ns = 16_000)),
        ("Inf2: windows of 100 us", |t, inf2| clock(t, inf2, |c| c.window_ns = 100_000)),
        ("no time for descriptors", |t, _| t.dma.descriptor_ps = 0),
        ("descriptors at three times theirs", |t, _| t.dma.descriptor_ps *= 3),
        ("weights at 246 GB/s", |t, _| t.dma.aggregate_bytes_per_us = 246_000),
        ("an activation table in 500 ns", |t, _| t.engine.act_table_load_ns = 500),
        ("two tensors of SBUF at one cycle an element", |t, _| t.engine.sbuf_pair_cycles = 1),
        ("both engines read PSUM at once", |t, _| t.engine.psum_readers = 2),
        ("no overhead of the engines' instructions", |t, _| t.engine.static_overhead_cycles = 0),
    ];
    let mut calibrator = Calibrator::new(&rows());
    let mut table = "| costs | median error | 90th percentile | bias |\n|---|---|---|---|\n".to_owned();
    let mut medians = Vec::new();
    for (name, change) in cases {
        calibrator.try_costs(change);
        let s = calibrator.summary(&FITTED, |_| true);
        let (median, p90, bias) = (s.median_abs_error.unwrap(), s.p90_abs_error.unwrap(), s.geomean_ratio.unwrap());
        table.push_str(&format!("| {name} | {:.1} % | {:.1} % | {bias:.3} |\n", median * 100.0, p90 * 100.0));
        medians.push(median);
    }
    assert!(medians[1] > 2.0 * medians[0], "without the limit the error is more than twice as large: {medians:?}");
    super::doc_tables::assert_written("docs/fidelity.md", "mechanisms of the costs", &table);
}

/// `UPDATE_DOCS=1 cargo test` writes the table.
#[test]
fn measured_instructions_stand_beside_the_costs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fidelity/instructions.csv");
    let rows = read_measured(&std::fs::read(path).unwrap()).unwrap();
    let measured: Vec<RowComparison> = rows.iter().map(compare).collect();
    let compared = measured.iter().filter(|row| row.error.is_some()).count();
    assert!(compared >= 70, "{compared} of {} rows have a cost", rows.len());
    for row in &measured {
        assert!(row.error.is_some() != row.skipped.is_some(), "{row:?}");
        let is_off = row.error.is_some_and(|error| error.abs() > 0.1);
        assert_eq!(is_off, row.reason.is_some(), "a cost that is more than a tenth off has a reason: {row:?}");
    }
    super::doc_tables::assert_written("docs/instructions.md", "measured instructions", &measured_markdown(&measured));
}
