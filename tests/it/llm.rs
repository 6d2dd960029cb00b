//! Rows of text generation that ship with the project: predicted without looking at the measured figures.

use neuronscope::fidelity::{
    DECODE_HELD_OUT, DecodeCalibrator, Decoders, SERVED_HELD_OUT, ServedCalibrator, ServedGroup, Summary, Validation,
    decode_factors, errors_of, published_decodes, rms_of_ratios, shipped_decode_rows, shipped_served_rows,
    validate_generation,
};
use neuronscope::llm::{FAMILIES, FITTED, LONGEST_ROW, NormPlace, QkNorm, known_fields, read_config};
use neuronscope::session::options::Options;
use neuronscope::session::studies::{LlmStudy, StudyKind, StudyResult, StudySpec};
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
    table.push_str("\n| model left out | rows | median TPOT error | 90th percentile | bias | all-reduce us | further cache | first token ms, Inf2 and Trn1 |\n");
    table.push_str("|---|---|---|---|---|---|---|---|\n");
    for left in &left_out {
        let c = left.calibration;
        let own = format!(
            " {:.1} | {:.2} | {:.1}, {:.1} |\n",
            c.all_reduce_ns as f64 / 1e3,
            c.further_cache_permille as f64 / 1e3,
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

/// The same for rows of served models.
#[test]
fn the_numbers_of_todays_libraries_are_what_calibration_finds() {
    let mut calibrator = ServedCalibrator::new(&shipped_served_rows());
    assert_eq!(calibrator.fit(|_| true), FITTED);
    let fitted = errors_of(&calibrator.ratios(FITTED, |_| true));
    let left_out: Vec<_> = calibrator.leave_one_model_out().into_iter().flat_map(|left| left.ratios).collect();
    // The width of intervals is measured by models that a fit has not seen.
    let held = ServedGroup::ALL.map(|group| {
        let own: Vec<f64> = left_out.iter().filter(|(of, _)| *of == group).map(|(_, ratio)| *ratio).collect();
        (group, own.len(), (rms_of_ratios(&own) * 1e4).round() / 1e4)
    });
    assert_eq!(held, SERVED_HELD_OUT);
    let left_out = errors_of(&left_out);
    let mut table = "| group | rows | median error | 90th percentile | bias | each model by the fit without it | factor of the interval | inside |\n".to_owned();
    table.push_str("|---|---|---|---|---|---|---|---|\n");
    for (own, left) in fitted.iter().zip(&left_out) {
        let percent = |x: Option<f64>| format!("{:.1} %", x.unwrap_or(0.0) * 100.0);
        let factor = ServedGroup::ALL.into_iter().find(|group| group.name() == own.group).unwrap().factor();
        let first = line(&[own.group], &own.summary);
        let (rows, inside) = (left.summary.n, left.inside);
        let errors = [left.summary.median_abs_error, left.summary.p90_abs_error].map(percent);
        let share = (100 * inside).div_ceil(rows);
        table.push_str(&format!("{} {} | {factor:.2} | {inside}, {share} % |\n", first.trim_end(), errors.join(", ")));
        // Of few rows one outside is already more than a tenth.
        let is_many = rows >= 10;
        assert!(
            is_many && (80..=97).contains(&share) || !is_many && inside + 1 >= rows,
            "{}: {inside} of {rows}",
            own.group
        );
    }
    super::doc_tables::assert_written("docs/fidelity.md", "served models", &table);
    let of = |name: &str| &fitted.iter().find(|group| group.group.starts_with(name)).unwrap().summary;
    for (name, median, p90) in [
        ("a token, Inf2 and Trn1, batch", 0.08, 0.2),
        ("a token, batch 16", 0.12, 0.25),
        ("first token, Inf2", 0.1, 0.28),
        ("first token, Trn2", 0.3, 0.3),
        ("a token, experts, Inf2", 0.12, 0.25),
        ("a token, experts, Trn2", 0.25, 0.45),
    ] {
        let summary = of(name);
        assert!(
            summary.median_abs_error.unwrap() <= median && summary.p90_abs_error.unwrap() <= p90,
            "{name}: {summary:?}"
        );
    }
}

#[test]
fn the_families_and_the_fields_of_a_file_are_in_the_documents() {
    let mut table = "| `model_type` | also | norms | feed-forward part | positions | biases | more |\n|---|---|---|---|---|---|---|\n".to_owned();
    for f in FAMILIES {
        let also: Vec<String> = f.also.iter().map(|name| format!("`{name}`")).collect();
        let place = match f.norm_place {
            NormPlace::Before => "before each part",
            NormPlace::Shared => "one for both parts",
            NormPlace::Around => "before and after each part",
            NormPlace::After => "after each part",
        };
        let mlp = format!("{:?}, {:?}", f.mlp, f.activation).to_lowercase();
        let positions = format!("{:?}", f.positions).split(' ').next().unwrap().to_lowercase();
        let all = [
            ("queries, keys, values", f.bias.qkv),
            ("output", f.bias.output),
            ("feed-forward", f.bias.mlp),
            ("head", f.bias.head),
        ];
        let biases: Vec<&str> = all.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect();
        let windows = match f.full_of {
            0 => String::new(),
            1 => "windows".to_owned(),
            n => format!("windows but every {n}."),
        };
        let more = [
            (f.qk_norm != QkNorm::None, "norms of queries and keys"),
            (!windows.is_empty(), windows.as_str()),
            (f.experts.is_some(), "experts"),
            (f.is_latent, "latent attention"),
            (f.has_attention_gate, "gate of attention"),
            (f.has_word_norm, "norm of words"),
            (f.tied, "tied"),
        ];
        let more: Vec<&str> = more.iter().filter(|(has, _)| *has).map(|(_, what)| *what).collect();
        let norm = format!("{:?}, {place}", f.norm).to_lowercase();
        table.push_str(&format!(
            "| `{}` | {} | {norm} | {mlp} | {positions} | {} | {} |\n",
            f.name,
            also.join(", "),
            biases.join(", "),
            more.join(", ")
        ));
    }
    super::doc_tables::assert_written("docs/llm.md", "families", &table);
    let mut table = "| what becomes of them | fields |\n|---|---|\n".to_owned();
    for (what, fields) in known_fields() {
        let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
        table.push_str(&format!("| {what} | {} |\n", fields.join(", ")));
    }
    super::doc_tables::assert_written("docs/llm.md", "fields of a config.json", &table);
}

/// A table of served models is read as it stands, and a row that cannot be predicted has a reason.
#[test]
fn served_models_are_validated_in_their_order() {
    let f = Folder::new("served");
    let head = "set,model,config,instance,tp,batch,input,output,buckets,weights_dtype,metric,value_ms,note\n";
    let sizes = r#""{""layers"": 2, ""hidden"": 256, ""heads"": 4, ""kv_heads"": 2, ""head_dim"": 64, ""intermediate"": 512, ""vocab"": 1000, ""tied"": true}""#;
    f.write(
        "rows.csv",
        format!(
            "{head}a,made-up,{sizes},trn1.32xlarge,1,1,128,,128,bf16,\"decode step, device\",1.5,\n\
             b,unknown-model,,trn1.32xlarge,1,1,128,,128,bf16,TPOT,2,\nc,qwen3-8b,,trn1.32xlarge,3,1,128,128,,bf16,TPOT,3,\n"
        ),
    );
    let json: serde_json::Value = serde_json::from_str(&f.stdout("neuronscope validate rows.csv --json")).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    let [low, ms, high] = ["low_ms", "predicted_ms", "high_ms"].map(|key| rows[0][key].as_f64().unwrap());
    assert!(low < ms && ms < high && rows[0]["skipped"].is_null());
    assert!(rows[1]["skipped"].as_str().unwrap().contains("no language model 'unknown-model'"));
    assert_eq!(rows[2]["skipped"], "trn1.32xlarge has no groups of 3 cores");
    let text = f.stdout("neuronscope validate rows.csv");
    assert!(text.contains("a token, Inf2 and Trn1") && text.contains("has no groups of 3 cores"), "{text}");
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
    let positions = rows.iter().filter_map(|row| row.sequence_or_image.parse().ok()).max();
    assert_eq!(positions, Some(LONGEST_ROW));
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
    assert_eq!(commands, 8);
    let served = f.stdout("neuronscope generate --model llama-3-8b --output 1 --weights fp8 --request-rate 1");
    assert!(served.contains("a request of one token has no further one"), "{served}");
    assert!(served.contains("No published row has weights of fp8"), "{served}");
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
        (
            "generate --model llama-2-7b --request-rate 0",
            "--request-rate: '0' is not a number of requests a second above 0",
        ),
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

/// Options of today's servers: what they change, and what is refused.
#[test]
fn experts_storage_guesses_and_active_sequences_change_what_they_should() {
    let f = Folder::new("llm-more");
    let run = |line: &str| -> serde_json::Value {
        serde_json::from_str(&f.stdout(&format!("neuronscope generate {line} --json"))).unwrap()
    };
    let figure = |json: &serde_json::Value, key: &str| json[key].as_f64().unwrap();
    let base = "--model llama-3-8b --instance trn2.48xlarge --tp 4 --batch 8 --output 256";
    let plain = run(base);
    // Fewer sequences in the same executables: the same step, fewer tokens.
    let few = run(&format!("{base} --active 2"));
    assert_eq!(figure(&few, "tpot_p50_ms"), figure(&plain, "tpot_p50_ms"));
    assert!(figure(&few, "throughput_tokens_per_s") < figure(&plain, "throughput_tokens_per_s") / 2.0);
    let guessed = run(&format!("{base} --guesses 3"));
    assert!(figure(&guessed, "tpot_p50_ms") < figure(&plain, "tpot_p50_ms"));
    assert!(guessed["remarks"][0].as_str().unwrap().starts_with("A step checks 3 guessed tokens"));
    let fp8 = run(&format!("{base} --weights fp8"));
    assert!(figure(&fp8, "tpot_p50_ms") < figure(&plain, "tpot_p50_ms"));
    assert!(fp8["remarks"][0].as_str().unwrap().starts_with("No published row has weights of fp8"));
    assert_eq!(
        plain["serve_command"],
        "vllm serve meta-llama/Meta-Llama-3-8B --tensor-parallel-size 4 --max-num-seqs 8 --max-model-len 384 --dtype bfloat16"
    );
    let parts: f64 =
        plain["ttft_breakdown_ms"].as_object().unwrap().values().filter_map(serde_json::Value::as_f64).sum();
    assert!((parts - figure(&plain, "ttft_ms")).abs() < 1e-6);
    // No row is published of logical cores of one physical core.
    let narrow = run("--model llama-3-8b --instance trn2.48xlarge --tp 8 --lnc 1");
    assert!(narrow["interval"].is_null() && narrow["remarks"][0].as_str().unwrap().contains("(LNC 1)"));
    let sparse = "--model qwen3-30b-a3b --instance trn2.48xlarge --tp 4 --output 128";
    let (one, two) = (run(sparse), run(&format!("{sparse} --ep 2")));
    assert_eq!(one["expert_loads"]["loads"], 8);
    assert_eq!((&two["expert_loads"]["loads"], &two["expert_loads"]["most"]), (&4.into(), &64.into()));
    assert_eq!(run(&format!("{sparse} --ep 1")), one);
    // A file says how its weights are stored.
    let config = r#"{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 8192}"#;
    f.write("plain.json", config);
    let stored = r#"{"quantization_config": {"quant_method": "awq", "bits": 4}, "#;
    f.write("awq.json", config.replacen('{', stored, 1));
    let at = |file: &str| run(&format!("--model-config {file} --instance trn2.48xlarge --tp 4 --output 128"));
    let (whole, small) = (at("plain.json"), at("awq.json"));
    let bytes = |json: &serde_json::Value| json["memory"]["weight_bytes"].as_f64().unwrap();
    assert!(bytes(&small) < bytes(&whole) * 0.45 && figure(&small, "tpot_p50_ms") < figure(&whole, "tpot_p50_ms"));
    for (line, reason) in [
        (format!("{base} --active 9"), "--active 9 is not possible in a batch of 8; use at most 8"),
        (format!("{base} --ep 2"), "llama-3-8b has no experts"),
        (format!("{sparse} --ep 3"), "the nearest is --ep 2"),
        (format!("{base} --guesses 40"), "--guesses 40 is not possible; use 1 to 16"),
        (
            format!("{base} --weights int3"),
            "--weights: weights 'int3' are not possible; use bf16, int8, fp8, int4 or mxfp4",
        ),
    ] {
        let output = f.run(&format!("neuronscope generate {line}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(reason), "{line}: {said}");
    }
    let served = run(&format!("{base} --request-rate 2 --max-ttft-ms 300 --prefill-chunk 64 --buckets 256,384"));
    let rates = served["rates"].as_array().unwrap();
    assert!(rates.len() > 5 && served["knee_requests_per_s"].as_f64().is_some(), "{served}");
    // The queue grows with the rate.
    let waits: Vec<f64> = rates.iter().map(|r| r["ttft_ms"][1].as_f64().unwrap()).collect();
    assert!(waits[0] < waits[waits.len() - 1], "{waits:?}");
    let text = f.stdout(&format!("neuronscope generate {base} --max-tpot-ms 0.1"));
    assert!(text.contains("It misses by: token") && text.contains("vllm serve meta-llama/Meta-Llama-3-8B "), "{text}");
}

/// Runs a study to its end.
fn study(spec: StudySpec) -> StudyResult {
    let mut session = Session::new();
    session.handle(Request::new(JobId(1), JobRequest::Study(Box::new(spec), String::new())), None);
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
    for instance in ["inf2.48xlarge", "trn2.48xlarge", "trn3-ultraserver-gen1"] {
        let mut spec = StudySpec::new(StudyKind::Llm);
        for (key, text) in fields.into_iter().chain([("instance", instance)]) {
            spec.set(key, text).unwrap();
        }
        let result = study(spec);
        let (command, json) = (result.document.command().unwrap(), &result.files[0].text);
        let args: Vec<&str> = command.split(' ').skip(1).chain(["--json"]).collect();
        let printed = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(&args).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&printed.stdout), *json, "{command}");
        assert_eq!(json.contains("\"note\""), instance.starts_with("trn3"), "{json}");
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

/// The study of language models with some options.
fn with(options: &[(&str, &str)]) -> LlmStudy {
    let mut study = LlmStudy::default();
    for (key, text) in options {
        LlmStudy::option(key).unwrap().set(&mut study, text).unwrap();
    }
    study
}

/// A name that says how weights are stored keeps it on the page, in its link and in the printed command.
#[test]
fn the_storage_of_a_name_is_that_of_the_run() {
    let study = with(&[("model", "llama3.1:8b-instruct-q4_K_M")]);
    let request = study.request().unwrap();
    assert_eq!((request.config.name.as_str(), request.weights.to_string().as_str()), ("llama-3.1-8b", "int4"));
    let (command, text) = (study.command("generate", &request), study.text_of("model"));
    assert!(
        command.contains("--model llama3.1:8b-instruct-q4_K_M ") && with(&[("model", &text)]) == study,
        "{command}"
    );
    // Another model of the grid has its own name.
    let other = with(&[("model", "gpt2")]).request().unwrap();
    assert!(study.command("generate", &other).contains("--model gpt2 "));
}

/// A server loads what was typed, or what the hub calls the model; steps that were published of it stand beside it.
#[test]
fn a_server_loads_the_name_of_the_hub() {
    let command = |name: &str| with(&[("model", name)]).request().unwrap().serve_command();
    for (typed, loaded) in [
        ("llama-3.1-8b", "meta-llama/Llama-3.1-8B"),
        ("RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8", "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8"),
        ("llama3.1:8b", "meta-llama/Llama-3.1-8B"),
        ("bartowski/Llama-3.1-8B-Instruct-Q4_K_M.gguf", "meta-llama/Llama-3.1-8B"),
    ] {
        let line = command(typed);
        let wanted = format!(
            "vllm serve {loaded} --tensor-parallel-size 24 --max-num-seqs 1 --max-model-len 1152 --dtype bfloat16"
        );
        assert_eq!(line, wanted);
    }
    let config = r#"{"_name_or_path": "org/own", "model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "vocab_size": 512, "num_attention_heads": 24, "head_dim": 64, "intermediate_size": 512, "max_position_embeddings": 4096}"#;
    let own = with(&[("config", config)]);
    assert!(own.request().unwrap().serve_command().starts_with("vllm serve org/own "));
    let study = with(&[("model", "llama-3.1-8b"), ("input", "1024"), ("tp", "8")]);
    let published = published_decodes(&study.request().unwrap());
    let served = published.iter().find(|row| row.request.instance.name == "inf2.xlarge").unwrap();
    assert!((served.throughput - 1e3 / served.tpot_ms).abs() < 1e-9 && served.framework == "nxdi");
}

/// Files as people have them open with their parameters and their cache, or are refused with the field; every field is known.
#[test]
fn files_as_people_have_them_open_or_are_refused_by_field() {
    for line in include_str!("fixtures/llm/configs.jsonl").lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = row["name"].as_str().unwrap();
        match (read_config(name, row["config"].as_str().unwrap().as_bytes()), row["refused"].as_str()) {
            (Err(error), Some(wanted)) => assert!(error.to_string().contains(wanted), "{error}"),
            (Ok(config), None) => {
                let cache: u64 = config.kinds.iter().map(|k| k.count * 4 * k.kv_heads * k.head_size).sum();
                let [parameters, wanted] = ["parameters", "cache"].map(|key| row[key].as_u64());
                assert_eq!(parameters.unwrap_or(config.parameters()), config.parameters(), "{name}");
                assert_eq!(wanted.unwrap_or(cache), cache, "{name}");
                let stored = config.stored.to_string();
                assert_eq!(row["stored"].as_str().unwrap_or(&stored), stored, "{name}");
                assert!(
                    !config.remarks.iter().any(|r| r.contains("not known are not used")),
                    "{name}: {:?}",
                    config.remarks
                );
            }
            (made, wanted) => panic!("{name}: {:?} and {wanted:?}", made.map(|c| c.parameters())),
        }
    }
}
