//! The microbenchmark as the page runs it: the same figures as the command line, the pitfalls, sweeps, a measured processor.

use std::cell::Cell;
use std::process::Command;
use std::rc::Rc;

use neuronscope::base::{Clock, WallNs};
use neuronscope::session::studies::{StudyKind, StudyResult, StudySpec};
use neuronscope::session::{
    Control, Event, JobId, JobRequest, JobResult, Message, Request, ResultPart, Session, StepResult,
};
use neuronscope::view::document::{Block, Document, Plot, Source};
use serde_json::Value;

/// A clock that advances by a millisecond whenever it is read.
struct Moving(Cell<u64>);

impl Clock for Moving {
    fn now(&self) -> WallNs {
        self.0.set(self.0.get() + 1_000_000);
        WallNs(self.0.get())
    }

    fn resolution_ns(&self) -> u64 {
        1_000_000
    }
}

fn study(fields: &[(&str, &str)]) -> StudySpec {
    let mut spec = StudySpec::new(StudyKind::Matmult);
    for (key, text) in fields {
        spec.set(key, text).unwrap();
    }
    spec
}

fn events(spec: StudySpec) -> Vec<Event> {
    let mut session = Session::new().with_clock(Rc::new(Moving(Cell::new(0))));
    session.handle(Request::new(JobId(1), JobRequest::Study(Box::new(spec), String::new())), None);
    let mut events = Vec::new();
    while session.step(1_000, &mut |e| events.push(e)) == StepResult::More {}
    events
}

fn result(fields: &[(&str, &str)]) -> StudyResult {
    match events(study(fields)).pop() {
        Some(Event::Message(_, Message::Done(JobResult::Study(result)))) => *result,
        other => panic!("{other:?}"),
    }
}

fn file<'a>(result: &'a StudyResult, label: &str) -> &'a str {
    &result.files.iter().find(|f| f.label == label).unwrap().text
}

fn reports(result: &StudyResult) -> Vec<Value> {
    let json: Value = serde_json::from_str(file(result, "JSON")).unwrap();
    json["reports"].as_array().unwrap().clone()
}

/// All blocks, including those in parts side by side.
fn blocks(document: &Document) -> Vec<&Block> {
    fn inside(block: &Block) -> Vec<&Block> {
        match block {
            Block::Beside(parts) => parts.iter().flat_map(blocks).collect(),
            other => vec![other],
        }
    }
    document.blocks.iter().flat_map(inside).collect()
}

fn tile(document: &Document, name: &str) -> (String, String) {
    let tiles = blocks(document).into_iter().filter_map(|b| if let Block::Tiles(t) = b { Some(t) } else { None });
    let found = tiles.flatten().find(|t| t.name == name);
    found.map(|t| (t.value.clone(), t.note.clone())).unwrap_or_else(|| panic!("no tile {name}"))
}

fn findings(document: &Document) -> Vec<(String, String)> {
    let finding = |b: &Block| if let Block::Finding(f) = b { Some((f.title.clone(), f.text.clone())) } else { None };
    blocks(document).into_iter().filter_map(finding).collect()
}

fn finding(document: &Document, title: &str) -> String {
    let all = findings(document);
    all.iter().find(|(t, _)| t == title).map(|(_, text)| text.clone()).unwrap_or_else(|| panic!("{title} in {all:?}"))
}

fn command(document: &Document) -> Vec<String> {
    let found = document.blocks.iter().find_map(|b| if let Block::Command(c) = b { Some(c) } else { None });
    found.unwrap().split(' ').skip(1).map(str::to_owned).collect()
}

fn bars(document: &Document, title: &str) -> Vec<(String, f64)> {
    let figures = blocks(document).into_iter().flat_map(|b| match b {
        Block::Plot(one) => vec![one],
        Block::Plots(all) => all.iter().collect(),
        _ => Vec::new(),
    });
    let found = figures.filter(|f| f.title == title).find_map(|f| match &f.plot {
        Plot::Bars(bars, _) => Some(bars.bars.iter().map(|b| (b.name.clone(), b.value)).collect()),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no bars {title}"))
}

fn run(args: &[String], last: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).arg(last).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_command_of_a_document_prints_the_files_of_its_result() {
    for fields in [
        &[("num_timed_iterations", "50")][..],
        &[("matrix_dim", "64,128"), ("loop_count", "1,20"), ("dtype", "bf16,fp32"), ("optlevel", "1")],
        &[("no_loop", "true"), ("no_warmup", "true"), ("no_bias", "true"), ("coarse_clock", "true"), ("sync", "true")],
        &[("unchained", "true"), ("small", "true"), ("lazy", "true"), ("skip_compilation", "true"), ("seed", "7")],
        &[("model", "mlp"), ("batch_size", "32")],
    ] {
        let r = result(fields);
        let args = command(&r.document);
        assert_eq!(run(&args, "--json"), file(&r, "JSON"), "{args:?}");
        assert_eq!(run(&args, "--csv"), file(&r, "CSV"), "{args:?}");
    }
}

#[test]
fn the_guides_example_shows_its_rate_its_phases_and_no_pitfall() {
    let r = result(&[("num_timed_iterations", "200")]);
    let report = &reports(&r)[0];
    let number = |key: &str| report[key].as_f64().unwrap();
    let (value, note) = tile(&r.document, "Achieved");
    assert_eq!(value, format!("{:.2} TFLOPS", number("tops_computed")));
    assert!(note.starts_with(&format!("{:.1} % of the array’s peak of 91.75", number("peak_percent"))), "{note}");
    assert!((74.0..81.0).contains(&number("tops")), "the guide's figure is 77.6: {}", number("tops"));
    let phases = bars(&r.document, "Phases");
    let names: Vec<&str> = phases.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Compile (modelled)", "Load", "Warm-up, 8 calls", "Timed run, 200 calls"]);
    assert!((phases[3].1 - number("benchmark_s")).abs() < 1e-9, "{phases:?}");
    let call = bars(&r.document, "One call");
    assert!(call[0].0 == "End to end" && call[1].0 == "Device" && call[1].1 <= call[0].1 * 1.001);
    finding(&r.document, "No pitfall of the guide was found.");
    assert!(finding(&r.document, "Limited by Tensor.").contains("works for"));
    let figures = blocks(&r.document).into_iter().filter_map(|b| if let Block::Plots(p) = b { Some(p) } else { None });
    let plots: Vec<&Plot> = figures.flatten().map(|f| &f.plot).collect();
    let Some(Plot::Lines(calls)) = plots.iter().find(|p| matches!(p, Plot::Lines(_))) else { panic!("no histogram") };
    let counted: f64 = calls.lines[0].points.iter().map(|p| p.1).sum();
    assert_eq!(counted, 200.0);
    let Some(Plot::Roofline(roof)) = plots.iter().find(|p| matches!(p, Plot::Roofline(_))) else { panic!("no roof") };
    // The weights are read once for 1000 products.
    assert!(roof.points.len() == 2 && roof.points.iter().all(|p| !p.is_memory_bound && p.of_roof_percent < 100.0));
    // Calls vary by a percent; the execution that is simulated once does not.
    assert!(roof.points[0].rate * 1.01 >= roof.points[1].rate);
}

/// TOPS with and without a pitfall, from the bars of its effect.
fn effect(fields: &[(&str, &str)], title: &str) -> (f64, f64) {
    let r = result(fields);
    let effects = bars(&r.document, "Cost of each pitfall");
    let without = effects.iter().find(|(name, _)| *name == format!("Without: {title}"));
    (effects[0].1, without.unwrap_or_else(|| panic!("{title} in {effects:?}")).1)
}

#[test]
fn every_pitfall_has_its_sentence_and_its_effect() {
    let times = |fields: &[(&str, &str)], title: &str| {
        let (with, without) = effect(fields, title);
        without / with
    };
    assert!(times(&[("no_loop", "true")], "Overheads dominate") > 20.0);
    assert!(times(&[("unchained", "true")], "Products removed") > 20.0);
    let few = [("loop_count", "100"), ("num_timed_iterations", "4")];
    let cold = times(&[few[0], few[1], ("no_warmup", "true")], "No warm-up");
    assert!(cold > 1.01, "{cold}");
    assert!(times(&[("small", "true")], "Small matrices") > 20.0);
    // Recording 4,001 ops takes 647 ms, the products 28 ms.
    let lazy = times(&[("lazy", "true")], "Lazy execution");
    assert!((20.0..25.0).contains(&lazy), "{lazy}");
    let (read, right) = effect(&[("coarse_clock", "true")], "Coarse clock");
    // One call of 28 ms is one or two ticks of 15.6 ms.
    assert!((read / right - 1.0).abs() > 0.1 && (right - 77.0).abs() < 2.0, "{read} for {right}");
    let no_bias = result(&[("no_bias", "true")]).document;
    assert!(finding(&no_bias, "No bias.").contains("how much is not published"));
    assert_eq!(tile(&no_bias, "Values").0, "only zeros");
}

#[test]
fn a_clock_that_does_not_tick_gives_no_rate() {
    // Some seed begins such a short call so that no tick falls into it.
    let mut silent =
        (0..20).map(|seed| result(&[("coarse_clock", "true"), ("loop_count", "2"), ("seed", &seed.to_string())]));
    let silent = silent.find(|r| reports(r)[0]["benchmark_s"] == 0.0).unwrap();
    assert_eq!(reports(&silent)[0]["tops"], Value::Null);
    assert_eq!(tile(&silent.document, "Achieved").0, "The clock did not tick");
    assert!(finding(&silent.document, "Coarse clock.").contains("saw 0 ticks"));
}

#[test]
fn removed_products_are_shown_in_the_programs_side_by_side() {
    let r = result(&[("unchained", "true"), ("loop_count", "3"), ("matrix_dim", "128")]);
    let sources: Vec<&Source> =
        blocks(&r.document).into_iter().filter_map(|b| if let Block::Source(s) = b { Some(s) } else { None }).collect();
    let products = |s: &Source| s.lines.iter().filter(|l| l.text.contains(" dot(")).count();
    assert_eq!(sources.iter().map(|s| products(s)).collect::<Vec<_>>(), [3, 1]);
    assert!(finding(&r.document, "Products removed.").contains("removed 2 of 3 products"));
    // A long program leaves its middle out, and says how much of it.
    let long = result(&[("unchained", "true"), ("loop_count", "500"), ("matrix_dim", "128")]);
    let left_out = blocks(&long.document).into_iter().any(|b| match b {
        Block::Source(s) => s.lines.len() < 30 && s.lines.iter().any(|l| l.text.contains("lines like these")),
        _ => false,
    });
    assert!(left_out);
}

#[test]
fn a_sweep_reports_each_case_and_maps_the_throughput() {
    let fields = [("matrix_dim", "64,256"), ("loop_count", "1,10,100"), ("batch_size", "1,2"), ("no_bias", "true")];
    let all = events(study(&fields));
    let titles: Vec<String> = all
        .iter()
        .filter_map(|e| match e {
            Event::Message(_, Message::Part(ResultPart::Study(result)) | Message::Done(JobResult::Study(result))) => {
                Some(result.document.title.clone())
            }
            _ => None,
        })
        .collect();
    assert_eq!(titles.first().map(String::as_str), Some("1 of 12 cases"));
    assert_eq!(titles.last().map(String::as_str), Some("12 of 12 cases"));
    assert_eq!(all.iter().filter(|e| matches!(e, Event::Message(_, message) if message.is_last())).count(), 1);
    let Some(Event::Message(_, Message::Done(JobResult::Study(result)))) = all.last() else {
        panic!("a study ends with its document")
    };
    let plots: Vec<_> = blocks(&result.document)
        .into_iter()
        .flat_map(|b| if let Block::Plots(p) = b { p.iter().collect() } else { Vec::new() })
        .collect();
    let names: Vec<&str> = plots.iter().map(|f| f.title.as_str()).collect();
    assert_eq!(names, ["Utilisation: Batch size 1", "Utilisation: Batch size 2"]);
    let Plot::HeatMap(map) = &plots[0].plot else { panic!("is a heat map") };
    assert_eq!((map.columns.len(), map.rows.len()), (3, 2));
    let reports = reports(result);
    let of = |n: u64, l: u64| {
        let is =
            |r: &&Value| r["case"]["matrix_dim"] == n && r["case"]["loop_count"] == l && r["case"]["batch_size"] == 1;
        reports.iter().find(is).unwrap()["peak_percent"].as_f64()
    };
    // JSON is read to within the last digit.
    for (row, column, n, l) in [(1, 2, 256, 100), (0, 0, 64, 1)] {
        let (cell, report) = (map.rows[row].cells[column].as_ref().unwrap().value, of(n, l).unwrap());
        assert!((cell / report - 1.0).abs() < 1e-14, "{cell} {report}");
    }
}

#[test]
fn this_processor_is_measured_beside_and_says_so() {
    let r = result(&[("matrix_dim", "32,64"), ("loop_count", "10"), ("cpu", "true")]);
    let measured = bars(&r.document, "Measured processor beside the simulated core");
    let names: Vec<&str> = measured.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..2], ["Measured: N 32, batch 1", "Measured: N 64, batch 1"]);
    assert!(names[2].starts_with("Simulated") && measured.iter().all(|(_, gflops)| *gflops > 0.0));
    // Two sizes of 10 products; the files do not contain it, because a seed reproduces their figures.
    assert!(!file(&r, "JSON").contains("measured"));
    let mut session = Session::new();
    session.handle(Request::new(JobId(1), JobRequest::Study(Box::new(study(&[("cpu", "true")])), String::new())), None);
    let mut events = Vec::new();
    while session.step(1_000, &mut |e| events.push(e)) == StepResult::More {}
    assert!(
        matches!(&events[..], [Event::Message(_, Message::Failed(message))] if message.contains("no clock")),
        "{events:?}"
    );
}

#[test]
fn a_study_that_cannot_run_says_why_and_a_study_is_cancelled() {
    let r = result(&[("instance", "inf1.xlarge")]);
    assert!(!finding(&r.document, "It cannot be measured.").is_empty());
    let r = result(&[("model", "gpt-9")]);
    let said = finding(&r.document, "It cannot be measured.");
    assert!(said.contains("\"gpt-9\""), "{said}");
    let mut session = Session::new();
    let spec = study(&[("matrix_dim", "64"), ("loop_count", "1-50")]);
    session.handle(Request::new(JobId(4), JobRequest::Study(Box::new(spec), String::new())), None);
    let mut events = Vec::new();
    for _ in 0..5 {
        session.step(1_000, &mut |e| events.push(e));
    }
    session.handle(Control::Cancel(JobId(4)).into(), None);
    assert_eq!(session.step(1_000, &mut |e| events.push(e)), StepResult::Idle);
    assert!(matches!(events.last(), Some(Event::Message(JobId(4), Message::Cancelled))));
}
