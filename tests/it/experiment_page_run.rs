//! Experiments that run on the page: a session plans and runs them, and their records are those of the command line.

use std::fs;

use neuronscope::experiment::sweep::{ExperimentRow, ExperimentsPlan, ExperimentsRequest, ExperimentsRun};
use neuronscope::session::commands::experiment_command;
use neuronscope::session::options::{PlanOption, default_experiments};
use neuronscope::session::{
    ExperimentField as Field, ExperimentJobRequest, JobRequest, JobResult, Message, RecordsSource,
};
use neuronscope::view::table::Table;

use crate::experiment_page::{Page, input, tables};
use crate::folder::Folder;

/// The request of a form with these texts.
fn request(texts: &[(&str, &str)]) -> ExperimentsRequest {
    let mut request = default_experiments();
    for (key, text) in texts {
        PlanOption::find(key).unwrap().set(&mut request, text).unwrap();
    }
    request
}

impl Page {
    fn plan(&mut self, request: &ExperimentsRequest) -> ExperimentsPlan {
        match self.message(JobRequest::PlanExperiments(Box::new(request.clone())), None).unwrap() {
            Message::Done(JobResult::ExperimentsPlan(plan)) => *plan,
            other => panic!("{other:?}"),
        }
    }

    fn run(&mut self, request: &ExperimentsRequest) -> Vec<ExperimentRow> {
        let timestamp = request.timestamp.unwrap();
        let run = ExperimentsRun { request: request.clone(), timestamp, processor: "browser, 2 threads".to_owned() };
        let plan = self.plan(request);
        let row = |(row, planned): (u32, _)| {
            let job = ExperimentJobRequest { row, run: run.clone(), planned };
            match self.message(JobRequest::RunExperiment(Box::new(job)), None).unwrap() {
                Message::Done(JobResult::Experiment { row: at, result }) if at == row => *result,
                other => panic!("{other:?}"),
            }
        };
        (0..).zip(plan.rows).map(row).collect()
    }
}

/// The records that the printed command writes.
fn records_of_command(name: &str, request: &ExperimentsRequest) -> String {
    let folder = Folder::new(name);
    let command = experiment_command(request);
    let words = command.split(' ').skip(1).map(|word| word.trim_matches('\''));
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_neuronscope"))
        .args(words)
        .arg(format!("--output-dirname={}", folder.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(folder.join("results.jsonl")).unwrap()
}

#[test]
fn a_run_of_the_page_has_the_bytes_of_its_command() {
    let plans: [&[(&str, &str)]; 3] = [
        &[
            ("run_suite", "zoo"),
            ("run_models", "nn,mlp"),
            ("run_accelerator", "trn1,inf2,trn2,cuda"),
            ("run_test", "eval,train"),
            ("run_repeat", "4"),
            ("run_iterations", "3"),
            ("run_batch", "8"),
        ],
        &[("run_suite", "torchbench"), ("run_models", ""), ("run_filter", "^alexnet$"), ("run_dynamo", "None,openxla")],
        &[
            ("run_suite", "dummy"),
            ("run_models", ""),
            ("run_verify", "current"),
            ("run_seed", "7"),
            ("run_repeat", "2"),
        ],
    ];
    for (i, texts) in plans.into_iter().enumerate() {
        let request = request(&[texts, &[("run_timestamp", "1700000000.25")]].concat());
        let mut page = Page::with(&[]);
        let lines: String = page.run(&request).iter().map(|row| format!("{}\n", row.line)).collect();
        let expected = records_of_command(&format!("page_run_{i}"), &request);
        assert!(!expected.is_empty());
        assert_eq!(lines, expected, "{}", experiment_command(&request));
    }
}

#[test]
fn records_of_a_run_replace_those_before_and_leave_other_files() {
    let request = request(&[
        ("run_suite", "dummy"),
        ("run_models", ""),
        ("run_accelerator", "trn1,inf2"),
        ("run_timestamp", "1700000000"),
    ]);
    let mut page = Page::with(&[("v100.jsonl", &input("v100.jsonl"))]);
    let before = page.read.records;
    let lines: Vec<String> = page.run(&request).iter().map(|row| format!("{}\n", row.line)).collect();
    // Each time an experiment ends, the page gives all lines so far.
    for count in 1..=lines.len() {
        let from = RecordsSource::Lines { name: "run.jsonl".to_owned(), lines: lines[..count].concat() };
        page.read(from, None).unwrap();
        assert_eq!((page.read.files.len(), page.read.records), (2, before + count as u64));
    }
    page.open("a6000.jsonl", &input("a6000.jsonl")).unwrap();
    let all = page.read.records;
    page.read(RecordsSource::Lines { name: "run.jsonl".to_owned(), lines: lines.concat() }, None).unwrap();
    assert_eq!((page.read.files.len(), page.read.records), (3, all));
    // The records are found in the files where they are now.
    for (accelerator, model) in [("trn1", "dummy"), ("a6000", "BERT_pytorch")] {
        let shown = page.show(&[(Field::View, "latest_grouped"), (Field::Accelerator, accelerator)]);
        let tables = tables(&shown.document);
        let has_model = |table: &Table| table.rows.iter().flatten().any(|cell| cell.raw() == model);
        assert!(tables.iter().any(|(_, table, _)| has_model(table)), "{accelerator}: {:?}", shown.document);
    }
    let opened = page.show(&[(Field::Accelerator, "trn1"), (Field::Open, "model=dummy&backend=openxla%2Bdynamo")]);
    assert!(opened.document.title.starts_with("Records of dummy"), "{}", opened.document.title);
    let text = format!("{:?}", opened.document);
    assert!(text.contains("run.jsonl:"), "{text}");
}

#[test]
fn the_view_opens_on_an_accelerator_that_has_times() {
    let request = request(&[
        ("run_suite", "dummy"),
        ("run_models", ""),
        ("run_accelerator", "cuda,trn1"),
        ("run_timestamp", "1700000000"),
    ]);
    let mut page = Page::with(&[]);
    let rows = page.run(&request);
    let skipped = rows.iter().filter(|row| row.is_skip).count();
    assert!(skipped > rows.len() - skipped, "most records are of the GPU that is not here");
    let lines: String = rows.iter().map(|row| format!("{}\n", row.line)).collect();
    page.read(RecordsSource::Lines { name: "run.jsonl".to_owned(), lines }, None).unwrap();
    assert_eq!(page.show(&[]).spec.get(Field::Accelerator), "trn1");
}

#[test]
fn a_plan_that_leaves_nothing_says_why_and_a_measurement_needs_a_clock() {
    let mut page = Page::with(&[]);
    let nothing = page.plan(&request(&[("run_models", ""), ("run_filter", "resnett18")]));
    assert!(nothing.rows.is_empty() && nothing.problem.unwrap().contains("the nearest are resnet18"));
    assert!(nothing.suite_models.contains(&"vgg16".to_owned()));
    let bad = page.plan(&request(&[("run_filter", "(")]));
    assert!(bad.problem.unwrap().starts_with("'(' is not a valid regular expression"));
    let unknown = page.plan(&request(&[("run_models", "resnet19")]));
    assert!(unknown.problem.unwrap().contains("suite torchbench has no model 'resnet19'"));
    let measured = request(&[("run_suite", "dummy"), ("run_models", ""), ("run_accelerator", "cpu")]);
    let planned = page.plan(&measured).rows.swap_remove(0);
    let run = ExperimentsRun { request: measured, timestamp: 1.0, processor: String::new() };
    let job = ExperimentJobRequest { row: 0, run, planned };
    let refused = page.message(JobRequest::RunExperiment(Box::new(job)), None).unwrap_err();
    assert!(refused.contains("has no clock"), "{refused}");
}
