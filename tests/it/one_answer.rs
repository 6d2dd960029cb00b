//! The same question gets the same answer everywhere: what limits an execution, how much a change can save, and which share of the
//! time each operator has.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use neuronscope::analysis::compare::{OperatorTotals, grouped_by_default};
use neuronscope::analysis::modules::module_tree;
use neuronscope::analysis::operators::{OpQuery, operator_stats};
use neuronscope::analysis::query::{QueryValue, ask};
use neuronscope::analysis::{GroupBy, Instances, Selection};
use neuronscope::base::Interval;
use neuronscope::base::units::{format_ns, format_plural, format_share};
use neuronscope::compiler::Workflow;
use neuronscope::formats::{WriteFormat, read_bytes};
use neuronscope::insight::{Insights, Resource, ResourceTime, Rule};
use neuronscope::machine::cost::Limit;
use neuronscope::profile::Profile;
use neuronscope::profile::neuron::{OperatorView, operator_table};
use neuronscope::readers::read_model;
use neuronscope::session::{
    AnalysisRequest, Answer, Event, ExportKind, InspectAsk, InspectField, InspectSpec, JobId, JobRequest, JobResult,
    Message, OperatorKind, ProfileKey, ProfileQuestion, ProfileSpec, Question, Reply, Request, Session, StepResult,
};
use neuronscope::view::document::{Block, Document, Ranked, Tile};
use neuronscope::view::table::Cell;

/// Models with different limits, the instances, and the batch sizes.
const MODELS: &[&str] = &["nn", "bert-base-uncased", "resnet50", "google/vit-base-patch16-224", "mlp"];
const INSTANCES: &[&str] = &["inf2.xlarge", "trn1.2xlarge"];
const BATCH_SIZES: &[u32] = &[1, 8];
/// Model files, at their own batch size.
const MODEL_FILES: &[&str] = &[
    "onnx/mobilenet-v2-b1--torch2.9.1.onnx.gz",
    "pt2/t5-small-encoder-b1-s128--torch2.9.1.pt2.gz",
    "hlo/vit-base-p16-b1--torchxla2.9.0.hlo_module.pb.gz",
];
/// Traces of other tools.
const TRACES: &[&str] = &[
    "kineto_resnet50_workers0_a.json.gz",
    "hta_triton_example.json.gz",
    "tracelens_jax_conv_legacy.xplane.pb",
    "tracelens_bert_small_mi300.json.gz",
];

/// Everything that the page and the command line say about one execution.
struct Answers {
    insights: Insights,
    overview: Document,
    sentences: Vec<String>,
    /// Nanoseconds of each framework operator, and of each HLO operator.
    framework: Times,
    hlo: Times,
    /// The run as its file holds it.
    saved: Profile,
    /// All operators of the model with their times.
    inspected: Document,
}

type Times = BTreeMap<String, i64>;

fn message(session: &mut Session, request: Request) -> Option<Message> {
    session.handle(request, None);
    let mut last = None;
    let mut take = |event| {
        if let Event::Message(_, message @ (Message::Answer(_) | Message::File(_) | Message::Done(_))) = event {
            last = Some(message);
        }
    };
    while session.step(1_000_000, &mut take) == StepResult::More {}
    last
}

fn reply(session: &mut Session, request: Request) -> Option<Reply> {
    match message(session, request) {
        Some(Message::Answer(reply)) => Some(reply),
        _ => None,
    }
}

fn file(session: &mut Session, kind: ExportKind) -> Vec<u8> {
    let export = ProfileQuestion::Export { kind, marks: Vec::new() }.of(ProfileKey(0));
    match message(session, Request::new(JobId(4), export)) {
        Some(Message::File(file)) => file.bytes,
        other => panic!("{other:?}"),
    }
}

/// The table of operators that the page shows.
fn operators(session: &mut Session, kind: OperatorKind) -> Times {
    let question = ProfileQuestion::Operators { kind, range: None, level: None, instances: Instances::Merged };
    match reply(session, Request::new(JobId(5), question.of(ProfileKey(0)))) {
        Some(Reply::Operators(table)) => table.rows.into_iter().map(|r| (r.name, r.time_ns as i64)).collect(),
        other => panic!("{other:?}"),
    }
}

fn inspected(session: &mut Session, model: &str, instance: &str, batch_size: Option<u32>) -> Document {
    let spec = InspectSpec::default()
        .with(InspectField::Model, model)
        .with(InspectField::Instance, instance)
        .with(InspectField::Batch, &batch_size.map_or_else(String::new, |size| size.to_string()))
        .with(InspectField::View, "table");
    let request = JobRequest::Inspect(InspectAsk::Show(Box::new(spec)));
    match message(session, Request::new(JobId(6), request)) {
        Some(Message::Done(JobResult::Inspected(shown))) => shown.panel.unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Opens a model file of the fixtures; returns how the session names it.
fn opened(session: &mut Session, path: &str) -> String {
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models").join(path);
    let (name, bytes) = (whole.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&whole).unwrap());
    let request = JobRequest::OpenModel { name, size: bytes.len() as u64, settings: Box::default() };
    session.handle(Request::new(JobId(7), request), Some(Box::new(bytes)));
    let mut id = Err("no answer".to_owned());
    let mut take = |event| match event {
        Event::Message(_, Message::Done(JobResult::Model(found))) => id = Ok(found.0.id),
        Event::Message(_, Message::Failed(message)) => id = Err(message),
        _ => {}
    };
    while session.step(1_000_000, &mut take) == StepResult::More {}
    id.unwrap_or_else(|message| panic!("{path}: {message}"))
}

fn answers(session: &mut Session, model: &str, instance: &str, batch_size: Option<u32>) -> Answers {
    let inspected = inspected(session, model, instance, batch_size);
    let (model, instance) = (model.to_owned(), instance.to_owned());
    let spec = ProfileSpec { model, instance, batch_size, workflow: Workflow::Trace, ..ProfileSpec::default() };
    reply(session, Request::new(JobId(1), JobRequest::Profile(spec)));
    let mut ask = |question: Question| {
        let request = AnalysisRequest::Analyse(question).of(ProfileKey(0));
        match reply(session, Request::new(JobId(2), request)) {
            Some(Reply::Analysed(answer)) => *answer,
            other => panic!("{other:?}"),
        }
    };
    let Answer::Overview(overview) = ask(Question::Overview) else { panic!("an overview") };
    let Answer::Sentences(sentences) = ask(Question::Sentences) else { panic!("sentences") };
    let sentences = sentences.into_iter().map(|s| s.text).collect();
    let Answer::Summary(Some(insights)) = ask(Question::Summary) else { panic!("a simulated execution has a summary") };
    let framework = operators(session, OperatorKind::Framework);
    let hlo = operators(session, OperatorKind::Hlo);
    let saved = read_bytes("run.json", &file(session, ExportKind::ChromeJson)).unwrap();
    Answers { insights: *insights, overview, sentences, framework, hlo, saved, inspected }
}

fn tile(document: &Document, name: &str) -> Tile {
    let tiles = document.blocks.iter().filter_map(|b| if let Block::Tiles(t) = b { Some(t) } else { None }).flatten();
    tiles.into_iter().find(|t| t.name == name).unwrap_or_else(|| panic!("no tile {name}")).clone()
}

fn ranked(document: &Document) -> Vec<Ranked> {
    let ranked = document.blocks.iter().find_map(|b| if let Block::Ranked { all, .. } = b { Some(all) } else { None });
    ranked.cloned().unwrap_or_default()
}

/// Asks each combination once, and calls `check` with its name and its answers.
fn each(check: impl Fn(&str, &Answers)) {
    static ALL: OnceLock<Vec<(String, Answers)>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let on = |model| INSTANCES.iter().flat_map(move |i| BATCH_SIZES.iter().map(move |b| (model, *i, *b)));
        let named = |(model, instance, batch)| {
            let answers = answers(&mut Session::new(), model, instance, Some(batch));
            (format!("{model} on {instance} at batch {batch}"), answers)
        };
        let brought = |(path, instance): (&str, &str)| {
            let mut session = Session::new().with_model_reader(read_model);
            let model = opened(&mut session, path);
            (format!("{path} on {instance}"), answers(&mut session, &model, instance, None))
        };
        let files = MODEL_FILES.iter().flat_map(|path| INSTANCES.iter().map(move |instance| (*path, *instance)));
        MODELS.iter().copied().flat_map(on).map(named).chain(files.map(brought)).collect()
    });
    all.iter().for_each(|(name, answers)| check(name, answers));
}

#[test]
fn overview_metrics_findings_and_bounds_name_one_limiter() {
    each(|name, a| {
        let (limiter, bounds) = (&a.insights.limiter, &a.insights.bounds);
        let first = limiter.first().unwrap();
        let sentence = limiter.sentence().unwrap();
        assert!(a.sentences.contains(&sentence), "{name}: {:?}", a.sentences);
        // What limits the execution is what a simulation without it says, on every page.
        let finding = a.insights.findings.iter().find(|f| f.rule == Rule::LimitingUnit).unwrap();
        assert_eq!(finding.title, a.insights.bound_sentence().unwrap(), "{name}");
        let (words, saves_ns, percent) = a.insights.limit_costs().swap_remove(0);
        assert!(tile(&a.overview, "Limited by").value.eq_ignore_ascii_case(&words), "{name}");
        assert_eq!(finding.saves_ns, Some(saves_ns as u64), "{name}");
        let ranked = ranked(&a.overview);
        if percent >= 1.0 {
            let of_bound = ranked.iter().find(|f| f.title.ends_with(" limits the execution")).unwrap();
            let expected = format!("up to {} ({})", format_ns(saves_ns), format_share(percent));
            assert_eq!(of_bound.saving, expected, "{name}");
        }
        // The times of the metrics are the same times, in seconds.
        let summary = &a.insights.summary;
        let metric = |resource| match resource {
            Resource::Dma => summary.dma_active_time,
            Resource::Tensor => summary.tensor_engine_active_time,
            Resource::Vector => summary.vector_engine_active_time,
            Resource::Scalar => summary.scalar_engine_active_time,
            Resource::GpSimd => summary.gpsimd_engine_active_time,
        };
        for unit in &limiter.resources {
            assert_eq!(unit.busy_ns as f64 / 1e9, metric(unit.resource), "{name}: {:?}", unit.resource);
        }
        let pipeline = bounds.bounds.iter().find(|b| b.name == "perfect_pipeline").unwrap();
        assert_eq!(
            (pipeline.seconds, pipeline.then.as_str()),
            (first.busy_ns as f64 / 1e9, first.resource.name()),
            "{name}"
        );
    });
}

#[test]
fn every_table_has_one_time_of_each_operator() {
    each(|name, a| {
        let rows = |view| operator_table(&a.saved, view).into_iter().map(|r| (r.name, r.time_ns)).collect::<Times>();
        assert_eq!(rows(OperatorView::Framework), a.framework, "{name}: the saved run");
        assert_eq!(rows(OperatorView::Hlo), a.hlo, "{name}: the saved run");
        for (level, expected) in [("framework ops", &a.framework), ("HLO ops", &a.hlo)] {
            let selection = Selection::of_level(a.saved.levels().find(level).unwrap());
            for group_by in [GroupBy::CategoryOrName, GroupBy::Category] {
                let query = OpQuery { group_by, selection: selection.clone(), percentiles: true };
                let table = operator_stats(&a.saved, &query);
                let found = table.stats.iter().map(|s| (table.name(&a.saved, s).to_owned(), s.self_ns));
                assert_eq!(&found.collect::<Times>(), expected, "{name}: statistics of {level}");
            }
            let text = "group by operator select operator, sum(self)";
            let answer = ask(&a.saved, text, selection.level).unwrap();
            let found = answer.rows.iter().map(|row| match &row[..] {
                [QueryValue::Text(operator), QueryValue::Int(ns)] => (operator.clone(), *ns),
                other => panic!("{other:?}"),
            });
            assert_eq!(&found.collect::<Times>(), expected, "{name}: a query of {level}");
        }
    });
}

#[test]
fn comparisons_modules_and_the_overview_quote_the_table() {
    each(|name, a| {
        let level = a.saved.levels().default_level();
        let selection = Selection::of_level(level);
        let query =
            OpQuery { group_by: grouped_by_default(&a.saved), selection: selection.clone(), ..OpQuery::default() };
        let totals = OperatorTotals::of(&a.saved, &selection, &operator_stats(&a.saved, &query), name);
        let compared = totals.rows.iter().map(|r| (r.name.clone(), r.self_ns)).collect::<Times>();
        assert_eq!(compared, a.framework, "{name}: a comparison");
        let sum: i64 = a.framework.values().sum();
        let modules = module_tree(&a.saved, &Selection::default(), 10_000);
        assert_eq!(modules.nodes[0].total_ns + modules.outside_ns, sum, "{name}: the modules");
        let (top, most) = a.framework.iter().max_by_key(|(_, ns)| **ns).unwrap();
        let share = format_share(*most as f64 * 100.0 / sum as f64);
        let quoted = tile(&a.overview, "Top operation");
        assert_eq!(&quoted.value, top, "{name}");
        assert!(quoted.note.contains(&format_ns(*most as f64)) && quoted.note.contains(&share), "{name}: {quoted:?}");
        let said = a.sentences.iter().find(|s| s.contains("takes the most")).unwrap();
        assert!(said.contains(top.as_str()) && said.contains(&share), "{name}: {said}");
    });
}

/// `aten__batch_norm_multiply` is an instruction of `aten::batch_norm`.
fn operator_of(instruction: &str) -> String {
    instruction.rsplit_once('_').map_or(instruction, |(operator, _)| operator).replacen("__", "::", 1)
}

#[test]
fn inspecting_a_model_quotes_the_table() {
    each(|name, a| {
        let table =
            a.inspected.blocks.iter().find_map(|b| if let Block::Rows { table, .. } = b { Some(table) } else { None });
        let mut found: BTreeMap<String, f64> = BTreeMap::new();
        let table = table.unwrap();
        let column = |id: &str| table.columns.iter().position(|c| c.id == id).unwrap();
        let (operator, time, share) = (column("operator"), column("time_us"), column("share"));
        let mut shares = 0.0;
        for row in &table.rows {
            let (Cell::Text(operator), Cell::Number(us), Cell::Number(share)) =
                (&row[operator], &row[time], &row[share])
            else {
                panic!("{row:?}");
            };
            // HLO without metadata numbers its instructions: `add.101`.
            let operation = operator.split('.').next().unwrap_or(operator);
            *found.entry(operation.to_owned()).or_default() += us * 1e3;
            shares += share;
        }
        assert!((shares - 100.0).abs() < 1e-6, "{name}: shares sum up to {shares}");
        let mut expected: BTreeMap<String, f64> = BTreeMap::new();
        for (instruction, ns) in &a.framework {
            *expected.entry(operator_of(instruction)).or_default() += *ns as f64;
        }
        found.retain(|_, ns| *ns > 0.0);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{name}");
        let sum: f64 = expected.values().sum();
        for (operator, ns) in expected {
            // A profile counts each slice of a fused operation in whole nanoseconds.
            let off = (found[&operator] - ns).abs() / sum;
            assert!(off < 1e-3, "{name}: {operator} has {} ns of {ns}", found[&operator]);
        }
    });
}

#[test]
fn the_times_of_operators_are_the_time_in_which_something_executes() {
    each(|name, a| {
        let slices = a.saved.slices();
        let of_level = |level: &str| {
            let level = a.saved.levels().find(level).unwrap().unwrap();
            let ids = slices.ids().filter(|id| a.saved.levels().of_slice(&a.saved, slices.track(*id), *id) == level);
            Interval::merge(ids.map(|id| slices.interval(id)).collect())
        };
        for (level, times) in [("framework ops", &a.framework), ("HLO ops", &a.hlo)] {
            let busy: i64 = of_level(level).iter().map(|t| t.end.0 - t.start.0).sum();
            assert_eq!(times.values().sum::<i64>(), busy, "{name}: {level}");
        }
        let most = a.insights.limiter.window_ns as i64;
        assert!(a.framework.values().sum::<i64>() <= most, "{name}");
    });
}

/// An operator that was interrupted ran once, and one that has several members in a fused operation too.
#[test]
fn every_tool_has_one_count_of_each_operator() {
    each(|name, a| {
        let rows = operator_table(&a.saved, OperatorView::Framework).into_iter().map(|r| (r.name, r.occurrences));
        let counts: BTreeMap<String, u64> = rows.collect();
        let level = a.saved.levels().find("framework ops").unwrap();
        let query =
            OpQuery { group_by: GroupBy::CategoryOrName, selection: Selection::of_level(level), percentiles: true };
        let stats = operator_stats(&a.saved, &query);
        let found: BTreeMap<String, u64> =
            stats.stats.iter().map(|s| (stats.name(&a.saved, s).to_owned(), s.count)).collect();
        assert_eq!(found, counts, "{name}: statistics");
        for s in &stats.stats {
            let (p, mean) = (s.percentiles.unwrap(), s.mean_ns());
            let (min, max) = (s.min_ns as f64, s.max_ns as f64);
            assert!(min <= p.p50_ns && p.p50_ns <= p.p99_ns && p.p99_ns <= max, "{name}: {s:?}");
            assert!(min <= mean && mean <= max, "{name}: {s:?}");
        }
        let in_words = |operator: &str| format!(" in {}", format_plural(counts[operator], "occurrence"));
        let top = a.sentences.iter().find_map(|s| s.strip_prefix('"')?.split_once("\" takes the most"));
        let (operator, rest) = top.unwrap_or_else(|| panic!("{name}: {:?}", a.sentences));
        assert!(rest.contains(&in_words(operator)), "{name}: {operator}{rest}");
        for finding in ranked(&a.overview) {
            if let Some((operator, _)) = finding.title.split_once(" takes ").filter(|(o, _)| counts.contains_key(*o)) {
                assert!(finding.text.ends_with(&format!("{}.", in_words(operator))), "{name}: {}", finding.text);
            }
        }
    });
}

#[test]
fn shares_of_members_survive_every_format_that_has_arguments() {
    each(|name, a| {
        if !name.starts_with("resnet50 on inf2.xlarge at batch 1") {
            return;
        }
        assert!(!a.saved.fusions().is_empty() && a.framework.contains_key("aten__batch_norm_multiply"), "{name}");
        for format in [WriteFormat::Chrome, WriteFormat::Perfetto] {
            let again = read_bytes(&format!("run{}", format.suffix()), &format.write(&a.saved)).unwrap();
            let rows = operator_table(&again, OperatorView::Framework).into_iter().map(|r| (r.name, r.time_ns));
            assert_eq!(rows.collect::<Times>(), a.framework, "{name}: {format:?}");
        }
    });
}

#[test]
fn no_saving_is_above_what_the_other_units_allow() {
    each(|name, a| {
        let limiter = &a.insights.limiter;
        let first = limiter.first().unwrap();
        for finding in &a.insights.findings {
            // Set-up and tear-down are outside of the window.
            let total_ns = (a.insights.summary.total_time * 1e9).round() as u64;
            let most = if finding.rule == Rule::LimitingUnit { total_ns } else { limiter.window_ns };
            assert!(finding.saves_ns.unwrap_or(0) <= most.min(finding.time_ns), "{name}: {}", finding.title);
        }
        let gains = a.insights.limits.as_ref().unwrap();
        for (rule, limits) in [
            (Rule::ClockLimit, &[Limit::Throttle][..]),
            (Rule::Spills, &[Limit::Sbuf]),
            (Rule::SmallTransfers, &[Limit::DmaRate, Limit::DmaIssue]),
        ] {
            let most: u64 = limits.iter().map(|limit| gains.ns(*limit)).sum();
            for finding in a.insights.findings.iter().filter(|f| f.rule == rule) {
                let expected = if limits.len() == 1 { most } else { most.min(finding.time_ns) };
                assert_eq!(finding.saves_ns, Some(expected), "{name}: {}", finding.title);
            }
        }
        for finding in ranked(&a.overview) {
            assert!(finding.share <= 1.0, "{name}: {}", finding.title);
            // A single operator leaves the busiest unit as busy as its other operators keep it.
            let is_of_operator = finding.title.contains(" of the self time");
            let is_full = limiter.share(first.busy_ns) > 99.0 && first.resource == Resource::Dma;
            assert!(
                !(is_full && is_of_operator) || finding.share < 0.02,
                "{name}: {}: {}",
                finding.title,
                finding.saving
            );
        }
    });
}

#[test]
fn only_an_engine_that_works_for_a_tenth_of_the_time_is_said_to_stand_still() {
    each(|name, a| {
        let limiter = &a.insights.limiter;
        for finding in a.insights.findings.iter().filter(|f| f.rule == Rule::EngineWaits) {
            let of_title =
                |r: &&ResourceTime| finding.title.starts_with(&format!("The {} engine", engine_of(r.resource)));
            let unit = limiter.resources.iter().find(of_title).unwrap_or_else(|| panic!("{name}: {}", finding.title));
            assert!(limiter.share(unit.busy_ns) >= 10.0, "{name}: {}: {} ns", finding.title, unit.busy_ns);
        }
    });
}

fn engine_of(resource: Resource) -> &'static str {
    match resource {
        Resource::Dma => "DMA",
        Resource::Tensor => "Tensor",
        Resource::Vector => "Vector",
        Resource::Scalar => "Scalar",
        Resource::GpSimd => "GpSimd",
    }
}

#[test]
fn the_parts_of_the_bar_are_the_window() {
    each(|name, a| {
        let shares =
            a.overview.blocks.iter().find_map(|b| if let Block::Shares(s) = b { Some(s) } else { None }).unwrap();
        let sum: f64 = shares.parts.iter().map(|p| p.share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{name}: {sum}");
        assert_eq!(shares.parts[0].name, a.insights.limiter.first().unwrap().resource.name(), "{name}");
    });
}

/// What the page and the command line say about a trace of another tool.
#[test]
fn traces_have_one_time_of_each_operation_too() {
    for name in TRACES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/traces").join(name);
        let bytes = std::fs::read(path).unwrap();
        let mut session = Session::new();
        let request = JobRequest::Open { name: (*name).to_owned(), size: bytes.len() as u64 };
        session.handle(Request::new(JobId(1), request), Some(Box::new(bytes.clone())));
        while session.step(1_000_000, &mut |_| {}) == StepResult::More {}
        let question = ProfileQuestion::Operators {
            kind: OperatorKind::Slices,
            range: None,
            level: None,
            instances: Instances::Merged,
        };
        let Some(Reply::Operators(table)) = reply(&mut session, Request::new(JobId(2), question.of(ProfileKey(0))))
        else {
            panic!("{name}: no operators")
        };
        let shown: Times = table.rows.iter().map(|r| (r.name.clone(), r.self_ns.unwrap() as i64)).collect();
        let profile = read_bytes(name, &bytes).unwrap();
        let selection = Selection::of_level(profile.levels().default_level());
        let query = OpQuery { group_by: grouped_by_default(&profile), selection: selection.clone(), percentiles: true };
        let stats = operator_stats(&profile, &query);
        let found: Times = stats.stats.iter().map(|s| (stats.name(&profile, s).to_owned(), s.self_ns)).collect();
        assert_eq!(found, shown, "{name}: statistics");
        let totals = OperatorTotals::of(&profile, &selection, &stats, name);
        let compared: Times = totals.rows.iter().map(|r| (r.name.clone(), r.self_ns)).collect();
        assert_eq!(compared, shown, "{name}: a comparison");
        let answer = ask(&profile, "group by operation select operation, sum(self)", selection.level).unwrap();
        let asked = answer.rows.iter().map(|row| match &row[..] {
            [QueryValue::Text(operation), QueryValue::Int(ns)] => (operation.clone(), *ns),
            other => panic!("{name}: {other:?}"),
        });
        assert_eq!(asked.collect::<Times>(), shown, "{name}: a query");
        let mut ask = |question: Question| {
            let request = AnalysisRequest::Analyse(question).of(ProfileKey(0));
            match reply(&mut session, Request::new(JobId(3), request)) {
                Some(Reply::Analysed(answer)) => *answer,
                other => panic!("{other:?}"),
            }
        };
        let Answer::Overview(overview) = ask(Question::Overview) else { panic!("an overview") };
        let Answer::Sentences(sentences) = ask(Question::Sentences) else { panic!("sentences") };
        let top = tile(&overview, "Top operation");
        let ns = shown.get(&top.value).unwrap_or_else(|| panic!("{name}: {top:?}"));
        assert!(top.note.starts_with(&format_ns(*ns as f64)), "{name}: {top:?}, {ns} ns in the table");
        let said = sentences.iter().find(|s| s.text.contains("takes the most")).unwrap();
        assert!(said.text.contains(&format_ns(*ns as f64)), "{name}: {said:?}, {ns} ns in the table");
        assert!(ranked(&overview).iter().all(|r| (0.0..=1.0).contains(&r.share)), "{name}");
    }
}
