//! Rows of text generation that ship with the project: predicted without looking at the measured figures.

use neuronscope::fidelity::{
    DECODE_HELD_OUT, DecodeCalibrator, Decoders, Summary, Validation, decode_factors, rms_of_ratios,
    shipped_decode_rows, validate_generation,
};
use neuronscope::llm::FITTED;
use neuronscope::session::studies::{StudyKind, StudyResult, StudySpec};
use neuronscope::session::{Event, JobId, JobRequest, JobResult, Message, Request, Session, StepResult};
use neuronscope::view::document::Block;
use std::process::Command;

use crate::folder::Folder;

/// One test makes all fits and writes the tables, because they share their simulations.
#[test]
fn the_fitted_numbers_and_the_tables_are_what_calibration_finds() {
    let mut calibrator = DecodeCalibrator::new(&shipped_decode_rows());
    let fit = calibrator.fit(|_| true);
    assert_eq!(fit.calibration, FITTED);
    let left_out = calibrator.leave_one_model_out();
    let rounded = |ratio: &f64| (ratio * 1e4).round() / 1e4;
    let held: Vec<(&str, Vec<f64>)> = DECODE_HELD_OUT.iter().map(|h| (h.model, h.ratios.to_vec())).collect();
    let found: Vec<(&str, Vec<f64>)> =
        left_out.iter().map(|l| (l.model.as_str(), l.tpot.iter().map(rounded).collect())).collect();
    assert_eq!(held, found);
    let mut table = "| figure | rows | median error | 90th percentile | bias |\n|---|---|---|---|---|\n".to_owned();
    for (name, summary) in fit.summaries() {
        table.push_str(&line(&[name], &summary));
    }
    let [(_, tpot), ..] = fit.summaries();
    assert!(tpot.median_abs_error.unwrap() <= 0.04 && tpot.p90_abs_error.unwrap() <= 0.1, "{tpot:?}");
    let all: Vec<f64> = left_out.iter().flat_map(|l| l.tpot.iter().copied()).collect();
    assert!(rms_of_ratios(&all) <= 0.1, "{}", rms_of_ratios(&all));
    table.push_str("\n| model left out | rows | median TPOT error | 90th percentile | bias | all-reduce us | further sequence us | first token ms, Inf2 and Trn1 |\n");
    table.push_str("|---|---|---|---|---|---|---|---|\n");
    for left in &left_out {
        let c = left.calibration;
        let own = format!(
            " {:.1} | {:.1} | {:.1}, {:.1} |\n",
            c.all_reduce_ns as f64 / 1e3,
            c.sequence_ns as f64 / 1e3,
            c.first_token_inf2_us as f64 / 1e3,
            c.first_token_trn_us as f64 / 1e3
        );
        let summary = line(&[left.model.as_str()], &Summary::of_ratios(&left.tpot));
        table.push_str(&format!("{}{own}", summary.trim_end()));
    }
    table.push_str(&format!("\nAll three together: root mean square {:.1} %.\n", rms_of_ratios(&all) * 100.0));
    super::doc_tables::assert_written("docs/fidelity.md", "text generation", &table);
    let (low, high) = decode_factors();
    // The factors are of rounded ratios, so the ratios at the ends have to be rounded as well.
    let inside = all.iter().filter(|r| (low..=high).contains(&(1.0 / rounded(r)))).count();
    assert!(inside * 10 >= all.len() * 9, "{inside} of {} are between {low} and {high}", all.len());
}

fn line(cells: &[&str], s: &Summary) -> String {
    let percent = |x: Option<f64>| format!("{:.1} %", x.unwrap_or(0.0) * 100.0);
    let errors = (percent(s.median_abs_error), percent(s.p90_abs_error));
    format!("| {} | {} | {} | {} | {:.3} |\n", cells.join(" | "), s.n, errors.0, errors.1, s.geomean_ratio.unwrap())
}

#[test]
fn published_figures_reach_no_prediction_and_a_bad_row_has_a_reason() {
    let rows = shipped_decode_rows();
    let row = rows.iter().find(|r| r.model == "Llama-2-7b").unwrap();
    let mut decoders = Decoders::default();
    let first = validate_generation(row, &mut decoders);
    let mut scaled = row.clone();
    scaled.published = scaled.published.map(|x| x * 3.0);
    scaled.latency_p50_ms = scaled.latency_p50_ms.map(|x| x * 3.0);
    scaled.notes = scaled.notes.replace("TTFT_p50_ms=2", "TTFT_p50_ms=9");
    let second = validate_generation(&scaled, &mut decoders);
    assert!(first.predicted.is_some());
    let times = |v: &Validation| v.generation.map(|g| (g.predicted_tpot_ms, g.predicted_ttft_ms));
    assert_eq!((first.predicted, times(&first)), (second.predicted, times(&second)));
    let mut reason = |change: &dyn Fn(&mut neuronscope::fidelity::PublishedRow)| {
        let mut row = row.clone();
        change(&mut row);
        validate_generation(&row, &mut decoders).skipped.unwrap()
    };
    assert!(reason(&|r| r.model = "Falcon-9".into()).starts_with("no language model 'Falcon-9'"));
    assert_eq!(reason(&|r| r.n_models_text.clear()), "no tensor parallel degree");
    assert_eq!(reason(&|r| r.n_models_text = "TP=7".into()), "inf2.48xlarge has no groups of 7 cores");
    assert_eq!(reason(&|r| r.notes.clear()), "the notes do not say Input Length");
    assert_eq!(reason(&|r| r.batch_size = None), "no batch size");
}

#[test]
fn every_command_of_the_page_runs_and_bad_input_is_named() {
    let f = Folder::new("llm");
    let mut commands = 0;
    for (kind, text) in super::shell::blocks(&super::shell::page("docs/llm.md")) {
        match kind.as_str() {
            "json config.json" => f.write("config.json", text),
            // The table of published rows is a test of its own.
            "" => {
                for line in text.lines().filter(|l| !l.contains("validate")) {
                    assert!(!f.stdout(line).is_empty());
                    commands += 1;
                }
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(commands, 6);
    // The timeline is the page's.
    let mut spec = StudySpec::new(StudyKind::Llm);
    for (key, text) in [("model", "llama-2-7b"), ("tp", "24"), ("output", "3968")] {
        spec.set(key, text).unwrap();
    }
    assert_eq!(study(spec).files[1].text, f.read("token.json"));
    let all: serde_json::Value = serde_json::from_str(&f.stdout("neuronscope fit --batch 4 --json")).unwrap();
    let one: serde_json::Value =
        serde_json::from_str(&f.stdout("neuronscope fit --model llama-2-70b --batch 4 --json")).unwrap();
    assert!(all.as_array().unwrap().contains(&one));
    let made = f.stdout("neuronscope generate --model llama-3-8b --instance inf2.48xlarge --tp 24 --batch 1 --input 128 --output 3968 --json");
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let parts: f64 = made["breakdown_ms"].as_object().unwrap().values().map(|ms| ms.as_f64().unwrap()).sum();
    assert!((parts - made["tpot_p50_ms"].as_f64().unwrap()).abs() < 1e-6);
    assert!(made["step_ms_by_bucket"]["4096"].as_f64() > made["step_ms_by_bucket"]["256"].as_f64());
    let cost = made["cost_usd_per_million_tokens"].as_f64().unwrap();
    let by_hand = 12.98127 / 3.6e3 / made["throughput_tokens_per_s"].as_f64().unwrap() * 1e6;
    assert!((cost / by_hand - 1.0).abs() < 1e-9);
    for (line, reason) in [
        ("generate --model llama-9", "no language model 'llama-9'"),
        ("generate --model llama-2-7b --tp 5", "no groups of 5 cores; the nearest is 4"),
        ("generate --model llama-2-70b --tp 8", "are missing; it fits at a degree of 12"),
        ("generate --model llama-2-7b --output 8000", "the model has 4096 positions"),
        ("generate --model llama-2-7b --instance inf1.xlarge", "runs no language models here"),
        ("generate --model-config docs.json", "docs.json"),
        ("generate", "no model is named; give --model llama-3-8b"),
        ("fit --max-tpot-ms 20", "are for one model; name it with --model"),
        ("generate --model llama-2-7b --request-rate 0", "--request-rate 0 is not possible"),
    ] {
        let output = f.run(&format!("neuronscope {line}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(reason), "{line}: {said}");
    }
}

/// The page's study saves what the command line prints with `--request-rate`, and says what the rate does.
#[test]
fn requests_of_the_page_are_served_as_on_the_command_line() {
    let run = |rate: &str| {
        let mut spec = StudySpec::new(StudyKind::Llm);
        let fields = [
            ("model", "llama-3-8b"),
            ("batch", "8"),
            ("output", "256"),
            ("request_rate", rate),
            ("requests", "100"),
            ("max_ttft_ms", "200"),
            ("max_tpot_ms", "20"),
        ];
        fields.into_iter().for_each(|(key, text)| spec.set(key, text).unwrap());
        study(spec)
    };
    let slow = run("0.5");
    let mut commands = slow.document.blocks.iter().filter_map(|block| match block {
        Block::Command(line) => Some(line.clone()),
        _ => None,
    });
    let command = commands.next_back().unwrap();
    let args: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
    let printed = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(&args).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&printed.stdout), slow.files[2].text, "{command}");
    let figure = |result: &StudyResult, key: &str| -> f64 {
        let json: serde_json::Value = serde_json::from_str(&result.files[2].text).unwrap();
        json[key].as_f64().or_else(|| json[key][2].as_f64()).unwrap()
    };
    let warning = "wait longer and longer";
    let says = |result: &StudyResult| format!("{:?}", result.document).contains(warning);
    // More requests wait longer, fewer of them are good, and a rate that is too high is said.
    let fast = run("50");
    assert!(figure(&slow, "ttft_ms") < figure(&fast, "ttft_ms"));
    assert!(figure(&slow, "goodput_requests_per_s") > figure(&fast, "goodput_requests_per_s"));
    assert!(!says(&slow) && says(&fast));
    let mut spec = StudySpec::new(StudyKind::Llm);
    let error = spec.set("request_rate", "-1").unwrap_err();
    assert!(error.contains("request_rate: '-1' is not a number of requests a second above 0"), "{error}");
}

/// Runs a study to its end.
fn study(spec: StudySpec) -> StudyResult {
    let mut session = Session::new();
    session.handle(Request::new(JobId(1), JobRequest::Study(Box::new(spec))), None);
    let mut found = None;
    let mut keep = |event| {
        if let Event::Message(_, Message::Done(JobResult::Study(result))) = event {
            found = Some(*result);
        }
    };
    while session.step(1_000, &mut keep) != StepResult::Idle {}
    found.unwrap()
}

/// The page's study saves what the command line prints.
#[test]
fn the_page_and_the_command_line_have_one_answer() {
    let fields = [("model", "llama-2-7b"), ("tp", "8"), ("batch", "2"), ("output", "256"), ("weights", "int8")];
    for instance in ["inf2.48xlarge", "trn2.48xlarge"] {
        let mut spec = StudySpec::new(StudyKind::Llm);
        for (key, text) in fields.into_iter().chain([("instance", instance)]) {
            spec.set(key, text).unwrap();
        }
        let result = study(spec);
        let (command, json) = (result.document.command().unwrap(), &result.files[0].text);
        let args: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
        let printed = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(&args).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&printed.stdout), *json, "{command}");
        assert_eq!(json.contains("\"note\""), instance.starts_with("trn2"), "{json}");
    }
}

/// With limits the page begins with one place, which the command line names too; where none keeps them, both name the nearest.
#[test]
fn limits_have_one_answer_on_the_page_and_the_command_line() {
    for (limit, begins) in
        [("50", "The cheapest within the limits is "), ("1", "No place keeps the limits. The nearest is ")]
    {
        let mut spec = StudySpec::new(StudyKind::Llm);
        for (key, text) in [("model", "llama-2-70b"), ("batch", "20"), ("max_tpot_ms", limit)] {
            spec.set(key, text).unwrap();
        }
        let document = study(spec).document;
        assert!(document.title.ends_with(&format!("; each token within {limit} ms")), "{}", document.title);
        let [Block::Finding(first), Block::Tiles(tiles), ..] = &document.blocks[..] else { panic!("{document:?}") };
        assert!(first.title.starts_with(begins), "{}", first.title);
        let token = tiles.iter().find(|tile| tile.name == "A token, median").unwrap();
        let ms: f64 = token.value.strip_suffix(" ms").unwrap().parse().unwrap();
        assert_eq!(ms <= limit.parse().unwrap(), limit == "50", "{token:?}");
        assert_eq!(token.note.contains("ms above the limit of 1 ms"), limit == "1", "{token:?}");
        let is_fit = |block: &&Block| matches!(block, Block::Command(line) if line.starts_with("neuronscope fit "));
        let Some(Block::Command(line)) = document.blocks.iter().find(is_fit) else { panic!("{document:?}") };
        let printed = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(line.split(' ').skip(1)).output().unwrap();
        let printed = String::from_utf8(printed.stdout).unwrap();
        assert!(printed.contains(&first.title), "{line}: {printed}");
    }
}
