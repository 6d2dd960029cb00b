//! Commands that the page copies, run by a shell: they print the numbers that the page shows.

use neuronscope::bench::{BenchConfig, Report, RunDetail};
use neuronscope::session::commands::{bench_command, profile_command};
use neuronscope::session::share::{ProfileLink, Tool};
use neuronscope::session::{
    AnalysisRequest, Ask, Event, GroupsOf, JobId, JobRequest, JobResult, Listing, Message, ProfileSpec, Reply, Request,
    ResultPart, Rows, RunRequest, Session, SliceFilter, StepResult,
};
use neuronscope::view::table::Cell;
use serde_json::Value;

use crate::folder::Folder;

/// What a shell prints for a command, as JSON.
fn run(line: &str) -> Value {
    serde_json::from_str(&Folder::new("copied").stdout(&format!("{line} --json"))).unwrap()
}

fn ask(session: &mut Session, ask: impl Into<Ask>) -> Vec<Message> {
    session.handle(Request::new(JobId(1), ask), None);
    let mut all = Vec::new();
    let mut sink = |event| {
        if let Event::Message(_, message) = event {
            all.push(message);
        }
    };
    while session.step(1_000_000, &mut sink) == StepResult::More {}
    all
}

/// The rows of a benchmark as the page runs them: first listed, then each run by itself.
fn reports(config: &BenchConfig) -> Vec<Report> {
    let mut session = Session::new();
    let planned = ask(&mut session, JobRequest::PlanBench(Box::new(config.clone())));
    let Message::Part(ResultPart::Plan(plan)) = &planned[0] else { panic!("{:?}", planned[0]) };
    let rows = plan.rows.iter().enumerate().map(|(i, row)| {
        let (row, configuration) = (u32::try_from(i).unwrap(), row.configuration.clone());
        let detail = RunDetail { charts: true, ..RunDetail::default() };
        let run = Box::new(RunRequest { row, configuration, times: None, detail });
        let events = ask(&mut session, JobRequest::RunConfiguration(run));
        let report = |message: Message| match message {
            Message::Done(JobResult::Row { result, .. }) => Some(result.report.clone()),
            _ => None,
        };
        events.into_iter().find_map(report).unwrap()
    });
    rows.collect()
}

#[test]
fn the_command_of_a_benchmark_prints_the_rows_of_the_page() {
    let mut config = BenchConfig { n_models: Some(vec![1, 2]), duration_s: 1.0, ..BenchConfig::default() };
    (config.batch_sizes, config.jitter, config.seed) = (vec![1, 4], 0.1, 7);
    config.model_name = Some("it's | mine".into());
    let printed = run(&bench_command(&config).unwrap())["reports"].clone();
    let own = reports(&config);
    assert_eq!(printed.as_array().unwrap().len(), own.len());
    for (printed, own) in printed.as_array().unwrap().iter().zip(&own) {
        assert_eq!(printed["model_name"], "it's | mine");
        let own = own.in_file_decimals();
        assert_eq!(printed["throughput_avg"].as_f64(), own.throughput_avg);
        assert_eq!(printed["latency_ms_p99"].as_f64(), own.latency_ms_p99);
    }
}

#[test]
fn the_command_of_statistics_prints_the_groups_of_the_page() {
    let mut session = Session::new();
    let spec = ProfileSpec { batch_size: Some(4), ..ProfileSpec::default() };
    let made = ask(&mut session, JobRequest::Profile(spec));
    let info = made.into_iter().find_map(|message| match message {
        Message::Done(JobResult::Profile(info)) => Some(info),
        _ => None,
    });
    let info = info.unwrap();
    let link = ProfileLink { tool: Tool::Statistics, ..ProfileLink::default() };
    let of = SliceFilter::default();
    let what = Listing::Groups(GroupsOf { by: link.group_by, range: of.range, tracks: of.tracks, level: of.level });
    let rows = Rows { skip: 0, limit: 1_000 };
    let listed = ask(&mut session, AnalysisRequest::List(what, rows).of(info.profile));
    let listed = listed.into_iter().find_map(|message| match message {
        Message::Answer(Reply::Listed(listed)) => Some(listed),
        _ => None,
    });
    let own: Vec<(String, f64)> = listed
        .unwrap()
        .table
        .rows
        .iter()
        .map(|row| match &row[0] {
            Cell::Text(name) => (name.clone(), row[1].number().unwrap()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(own.len(), 3, "dot, maximum and tanh: {own:?}");
    let printed = run(&profile_command(&info.origin, None, &link).unwrap());
    let text = printed.to_string();
    for (name, count) in own {
        let row = rows_of(&printed).into_iter().find(|row| row.values().any(|v| v == name.as_str()));
        let row = row.unwrap_or_else(|| panic!("{name} is not in {text}"));
        assert_eq!(row["count"].as_f64(), Some(count), "{name}");
    }
}

/// The objects of the first list of a document.
fn rows_of(value: &Value) -> Vec<serde_json::Map<String, Value>> {
    match value {
        Value::Array(all) => all.iter().filter_map(Value::as_object).cloned().collect(),
        Value::Object(object) => object.values().map(rows_of).find(|rows| !rows.is_empty()).unwrap_or_default(),
        _ => Vec::new(),
    }
}
