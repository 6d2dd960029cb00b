//! The first view of profiles of all kinds, as text: a simulated execution, PyTorch traces, JAX, a host alone, stacks.

use std::fmt::Write as _;
use std::path::Path;

use neuronscope::compiler::Workflow;
use neuronscope::session::share::Tool;
use neuronscope::session::{
    AnalysisRequest, Answer, ByteSource, Event, Evidence, JobId, JobRequest, JobResult, Message, ProfileInfo,
    ProfileKey, ProfileSpec, Question, Reply, Request, Session, StepResult,
};
use neuronscope::view::document::{Block, Document, Ranked};

fn events(session: &mut Session, request: Request, source: Option<Box<dyn ByteSource>>) -> Vec<Event> {
    session.handle(request, source);
    let mut events = Vec::new();
    while session.step(1_000_000, &mut |e| events.push(e)) == StepResult::More {}
    events
}

/// Whether a figure or a listing is among the blocks.
fn has_drawings(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| match block {
        Block::Beside(parts) => parts.iter().any(|part| has_drawings(&part.blocks)),
        Block::Plot(_) | Block::Plots(_) | Block::Points { .. } | Block::Source(_) => true,
        _ => false,
    })
}

/// What a session says about the profile it just made or opened, and its overview.
fn overview(request: Request, file: Option<Vec<u8>>) -> (ProfileInfo, Document) {
    let mut session = Session::new();
    let source = file.map(|bytes| Box::new(bytes) as Box<dyn ByteSource>);
    let opened = events(&mut session, request, source);
    let info = opened.into_iter().find_map(|e| match e {
        Event::Message(_, Message::Done(JobResult::Profile(info))) => Some(*info),
        Event::Message(_, Message::Failed(message)) => panic!("{message}"),
        _ => None,
    });
    let ask = Request::new(JobId(2), AnalysisRequest::Analyse(Question::Overview).of(ProfileKey(0)));
    let answer = events(&mut session, ask, None).into_iter().find_map(|e| match e {
        Event::Message(_, Message::Answer(Reply::Analysed(answer))) => Some(*answer),
        _ => None,
    });
    let Some(Answer::Overview(document)) = answer else { panic!("no overview: {answer:?}") };
    assert!(!has_drawings(&document.blocks), "the program of profiles has no charts of documents: {document:?}");
    (info.unwrap(), document)
}

fn simulated(model: &str, instance: &str, batch_size: Option<u32>) -> (ProfileInfo, Document) {
    let (workflow, instance) = (Workflow::Trace, instance.to_owned());
    let spec = ProfileSpec { model: model.to_owned(), workflow, instance, batch_size, ..ProfileSpec::default() };
    overview(Request::new(JobId(1), JobRequest::Profile(spec)), None)
}

fn of_file(name: &str) -> (ProfileInfo, Document) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/traces").join(name);
    of_bytes(name, std::fs::read(path).unwrap())
}

fn of_bytes(name: &str, bytes: Vec<u8>) -> (ProfileInfo, Document) {
    overview(Request::new(JobId(1), JobRequest::Open { name: name.to_owned(), size: bytes.len() as u64 }), Some(bytes))
}

/// A document as lines; every link in it leads to a tool.
fn text(document: &Document) -> String {
    let mut out = String::new();
    let way = |target: &str| Evidence::parse(target).unwrap_or_else(|| panic!("'{target}' leads nowhere")).print();
    for block in &document.blocks {
        match block {
            Block::Tiles(tiles) => {
                tiles.iter().for_each(|t| writeln!(out, "[{}] {} ({})", t.name, t.value, t.note).unwrap());
            }
            Block::Shares(shares) => {
                writeln!(out, "{}", shares.title).unwrap();
                for p in &shares.parts {
                    let to = if p.target.is_empty() { String::new() } else { way(&p.target) };
                    writeln!(out, "  {} {} {:.1} % -> {to}", p.name, p.value, p.share * 100.0).unwrap();
                }
            }
            Block::Columns(columns) => {
                writeln!(out, "{}, at most {}", columns.title, columns.most).unwrap();
                columns.columns.iter().take(4).for_each(|c| {
                    writeln!(out, "  {} {}: {} -> {}", c.name, c.value, c.described, way(&c.target)).unwrap();
                });
            }
            Block::Ranked { all, note } => {
                for r in all {
                    writeln!(out, "* {} | {}\n  {}", r.title, r.saving, r.text).unwrap();
                    r.ways.iter().for_each(|w| writeln!(out, "  -> {}: {}", w.text, way(&w.target)).unwrap());
                }
                writeln!(out, "{note}").unwrap();
            }
            Block::Heading(t) | Block::Text(t) => writeln!(out, "{t}").unwrap(),
            Block::Table { title, table, .. } => writeln!(out, "{title}\n{}", table.to_csv()).unwrap(),
            other => panic!("{other:?}"),
        }
    }
    out
}

fn shares(document: &Document) -> Vec<(String, f64)> {
    let shares = document.blocks.iter().find_map(|b| if let Block::Shares(s) = b { Some(s) } else { None });
    shares.unwrap().parts.iter().map(|p| (p.name.clone(), p.share)).collect()
}

fn ranked(document: &Document) -> Vec<Ranked> {
    document
        .blocks
        .iter()
        .find_map(|b| if let Block::Ranked { all, .. } = b { Some(all.clone()) } else { None })
        .unwrap()
}

#[test]
fn a_device_opens_with_the_figures_of_its_own_summary() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/neuron/device.json");
    let (_, document) = of_bytes("device.json", std::fs::read(path).unwrap());
    insta::assert_snapshot!("overview_device", text(&document));
}

#[test]
fn a_wait_of_the_host_is_no_operation() {
    // As bazel writes it: a thread is in the evaluator while the work is elsewhere.
    let trace = r#"[{"ph":"X","ts":0,"dur":9000,"name":"Parallel Evaluator evaluation","pid":1,"tid":1},
        {"ph":"X","ts":100,"dur":500,"name":"compile a.cc","pid":1,"tid":2},{"ph":"X","ts":0,"dur":8000,"name":"java.lang.Thread.sleep","pid":1,"tid":2,"args":{}}]"#;
    let (_, document) = of_bytes("bazel.json", trace.as_bytes().to_vec());
    let said = text(&document);
    assert!(said.contains("[Top operation] compile a.cc"), "{said}");
    let first = said.split("What to look at first").nth(1).unwrap();
    assert!(!first.contains("Evaluator") && !first.contains("sleep"), "{first}");
}

#[test]
fn a_simulated_execution_says_what_it_waits_for_and_what_that_costs() {
    let (_, document) = simulated("bert-base-uncased", "inf2.xlarge", Some(8));
    insta::assert_snapshot!("overview_bert", text(&document));
}

#[test]
fn parts_of_the_time_add_up_and_savings_fall() {
    for (_, document) in [
        simulated("nn", "trn1.2xlarge", None),
        of_file("kineto_resnet50_workers0_a.json.gz"),
        of_file("tracelens_jax_conv_legacy.xplane.pb"),
        of_file("hta_cpu_only_rank34.json.gz"),
    ] {
        let sum: f64 = shares(&document).iter().map(|(_, share)| share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{}: {sum}", document.title);
        let savings: Vec<f64> = ranked(&document).iter().map(|r| r.share).collect();
        assert!(savings.windows(2).all(|w| w[0] >= w[1]), "{}: {savings:?}", document.title);
        assert!(savings.iter().all(|s| (0.0..=1.0).contains(s)), "{}: {savings:?}", document.title);
    }
}

/// Eight threads do the same at once, and wrappers around it wait: as in a build tool.
#[test]
fn what_runs_side_by_side_saves_at_most_half_of_the_time_that_it_covers() {
    let mut events = Vec::new();
    for thread in 0..8 {
        for turn in 0..20 {
            let (start, dur) = (turn * 1_000, 400);
            events.push(serde_json::json!({"ph": "X", "pid": 1, "tid": thread, "ts": start, "dur": dur, "name": "check cache hit"}));
        }
    }
    let compile = serde_json::json!({"ph": "X", "pid": 1, "tid": 9, "ts": 0, "dur": 20_000, "name": "compile"});
    events.push(compile);
    let trace = serde_json::to_vec(&serde_json::json!({ "traceEvents": events })).unwrap();
    let (_, document) = of_bytes("build.json", trace);
    let check = ranked(&document).into_iter().find(|r| r.title.contains("check cache hit")).unwrap();
    // Together 64 ms of 20 ms; they cover 8 ms of it, so at most 4 ms are saved.
    assert!(check.saving.contains("4.00 ms") && check.share <= 0.2 + 1e-9, "{check:?}");
    assert!(ranked(&document).iter().all(|r| r.share <= 1.0), "{document:?}");
}

#[test]
fn loader_workers_take_away_the_first_finding_of_a_training_run() {
    let (_, slow) = of_file("kineto_resnet50_workers0_a.json.gz");
    let (_, fast) = of_file("kineto_resnet50_workers4_a.json.gz");
    insta::assert_snapshot!("overview_resnet_workers0", text(&slow));
    insta::assert_snapshot!("overview_resnet_workers4", text(&fast));
    let first = &ranked(&slow)[0];
    assert!(first.title.contains("DataLoader") && first.text.contains("more loader workers"), "{first:?}");
    assert!(ranked(&fast).iter().all(|r| !r.title.contains("DataLoader")), "{:?}", ranked(&fast));
}

/// How the simulator lays out its rows is nobody's problem.
#[test]
fn a_simulated_profile_has_no_diagnostics() {
    for model in ["bert-base-uncased", "resnet50", "nn"] {
        let (info, _) = simulated(model, "inf2.xlarge", None);
        assert!(info.diagnostics.is_empty(), "{model}: {:?}", info.diagnostics);
    }
}

#[test]
fn a_jax_trace_has_an_overview() {
    insta::assert_snapshot!("overview_jax", text(&of_file("tracelens_jax_conv_legacy.xplane.pb").1));
}

#[test]
fn stacks_are_known_as_such_and_lead_with_their_functions() {
    let (info, document) = of_bytes("a.collapsed", b"main;load;read 30\nmain;compute 60\nmain 10\n".to_vec());
    assert!(info.is_stacks);
    insta::assert_snapshot!("overview_stacks", text(&document));
    assert!(of_file("fxprofiler_hello.cjs-20231120T211435.cpuprofile").0.is_stacks);
    assert!(of_file("speedscope_pprof_simple.prof").0.is_stacks);
    assert!(!of_file("catapult_simple_trace.json").0.is_stacks);
}

#[test]
fn a_profile_without_slices_says_so() {
    let (_, document) = of_bytes("empty.json", br#"[{"name":"x","ph":"i","ts":1,"pid":1,"tid":1}]"#.to_vec());
    assert!(text(&document).contains("has no slices"), "{}", text(&document));
}

#[test]
fn ways_lead_to_tools_that_the_page_has() {
    let (_, document) = simulated("nn", "trn1.2xlarge", None);
    let ways = ranked(&document).into_iter().flat_map(|r| r.ways);
    let tools: Vec<Tool> = ways.map(|w| Evidence::parse(&w.target).unwrap().tool).collect();
    assert!(tools.contains(&Tool::OperatorTimeline) && tools.contains(&Tool::Summary), "{tools:?}");
}
