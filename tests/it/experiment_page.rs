//! The page of experiments: a session shows the same numbers of records as `aggregate` prints.

use std::fs;

use neuronscope::session::{
    Ask, ByteSource, Event, ExperimentField as Field, ExperimentSpec, ExportedFile, JobId, JobRequest, JobResult,
    Message, QuestionRequest, RecordsAsk, RecordsFile, RecordsKey, RecordsRead, RecordsResult, RecordsSource, Reply,
    Request, Session, StepResult,
};
use neuronscope::view::document::{Block, Document, Plot};
use neuronscope::view::table::{Cell, Table};

use crate::experiment_plan::xla;
use crate::experiment_reports::aggregated;

const SET: RecordsKey = RecordsKey(3);

pub struct Page {
    session: Session,
    pub read: RecordsRead,
}

impl Page {
    fn ask(&mut self, ask: RecordsAsk) -> Result<Message, String> {
        self.message(QuestionRequest::Records(SET, ask), None)
    }

    /// How a request ends.
    pub fn message(&mut self, ask: impl Into<Ask>, source: Option<Box<dyn ByteSource>>) -> Result<Message, String> {
        self.session.handle(Request::new(JobId(1), ask), source);
        let mut last = None;
        loop {
            let result = self.session.step(1_000, &mut |event| {
                if let Event::Message(_, message) = event
                    && message.is_last()
                {
                    last = Some(message);
                }
            });
            if result == StepResult::Idle {
                break;
            }
        }
        match last.unwrap() {
            Message::Failed(message) => Err(message),
            message => Ok(message),
        }
    }

    pub fn with(files: &[(&str, &[u8])]) -> Self {
        let mut page = Self { session: Session::new(), read: RecordsRead::default() };
        for (name, bytes) in files {
            page.open(name, bytes).unwrap();
        }
        page
    }

    pub fn open(&mut self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let file = RecordsSource::File { name: name.to_owned(), size: bytes.len() as u64 };
        self.read(file, Some(Box::new(bytes.to_vec())))
    }

    fn unpack(&mut self, link: &str) -> Result<(), String> {
        self.read(RecordsSource::Link(link.to_owned()), None)
    }

    pub fn read(&mut self, from: RecordsSource, source: Option<Box<dyn ByteSource>>) -> Result<(), String> {
        match self.message(JobRequest::ReadRecords(SET, from), source)? {
            Message::Done(JobResult::Records(read)) => self.read = read,
            other => panic!("{other:?}"),
        }
        Ok(())
    }

    pub fn show(&mut self, spec: &[(Field, &str)]) -> RecordsResult {
        let spec = spec.iter().fold(ExperimentSpec::default(), |s, (field, text)| s.with(*field, text));
        match self.ask(RecordsAsk::Show(Box::new(spec))).unwrap() {
            Message::Answer(Reply::Records(shown)) => *shown,
            other => panic!("{other:?}"),
        }
    }

    fn saved(&mut self, spec: &[(Field, &str)], file: RecordsFile) -> String {
        let spec = spec.iter().fold(ExperimentSpec::default(), |s, (field, text)| s.with(*field, text));
        match self.ask(RecordsAsk::Save(Box::new(spec), file)).unwrap() {
            Message::File(ExportedFile { bytes, .. }) => String::from_utf8(bytes).unwrap(),
            other => panic!("{other:?}"),
        }
    }
}

pub fn input(name: &str) -> Vec<u8> {
    fs::read(xla(&format!("upstream/inputs/{name}"))).unwrap()
}

/// Tables of a document: title, content, what rows open.
pub fn tables(document: &Document) -> Vec<(&str, &Table, &[String])> {
    let mut all: Vec<(&str, &Table, &[String])> = Vec::new();
    for block in &document.blocks {
        match block {
            Block::Rows { title, table, targets, .. } => all.push((title, table, targets)),
            Block::Table { title, table, .. } => all.push((title, table, &[])),
            Block::Beside(parts) => all.extend(parts.iter().flat_map(tables)),
            _ => {}
        }
    }
    all
}

pub fn texts(table: &Table, column: &str) -> Vec<String> {
    let at = table.columns.iter().position(|c| c.id == column).unwrap();
    table.rows.iter().map(|row| row[at].raw()).collect()
}

/// The cells of a CSV of the command line, without its heading.
fn cells(csv: &str) -> Vec<Vec<String>> {
    csv.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// As the command line writes a cell.
fn printed(cell: &Cell) -> String {
    match cell {
        Cell::Missing => String::new(),
        Cell::Number(x) => neuronscope::experiment::python::repr(*x),
        other => other.raw(),
    }
}

#[test]
fn tables_hold_what_the_command_line_prints() {
    let mut page = Page::with(&[("v100.jsonl", &input("v100.jsonl")), ("a6000.jsonl", &input("a6000.jsonl"))]);
    assert_eq!((page.read.files.len(), page.read.records), (2, 22));
    let backends = "inductor,openxla+dynamo,openxla+lazytensor";
    for (view, baseline) in
        [("speedup", "oldest"), ("speedup", "latest"), ("histogram", "oldest"), ("latest_grouped", "oldest")]
    {
        let spec = [
            (Field::View, view),
            (Field::Accelerator, "v100"),
            (Field::Baseline, baseline),
            (Field::Backends, backends),
        ];
        let csv = aggregated(
            &["--lenient", "--report", view, "--baseline", baseline, "--accelerator", "v100"],
            &["inductor", "openxla+dynamo", "openxla+lazytensor"],
        );
        assert_eq!(page.saved(&spec, RecordsFile::Csv), csv, "{view}");
        let shown = page.show(&spec);
        let document = tables(&shown.document);
        let (_, table, targets) = document[0];
        let expected = cells(&csv);
        assert_eq!((table.rows.len(), targets.len()), (expected.len(), expected.len()), "{view}");
        for (row, line) in table.rows.iter().zip(&expected) {
            let row: Vec<String> = row.iter().take(line.len()).map(printed).collect();
            assert_eq!(&row, line, "{view}");
        }
        assert!(page.saved(&spec, RecordsFile::Svg).starts_with("<svg"));
    }
    // Each backend has a table of its own; the command line puts them side by side.
    let spec = [(Field::View, "latest"), (Field::Accelerator, "v100"), (Field::Backends, backends)];
    let csv = aggregated(
        &["--lenient", "--report", "latest", "--accelerator", "v100"],
        &["inductor", "openxla+dynamo", "openxla+lazytensor"],
    );
    assert_eq!(page.saved(&spec, RecordsFile::Csv), csv);
    let shown = page.show(&spec);
    for (b, (_, table, _)) in tables(&shown.document).into_iter().enumerate() {
        for (row, line) in table.rows.iter().zip(cells(&csv)) {
            let of_backend = [printed(&row[2]), printed(&row[3]), printed(&row[0])];
            assert_eq!(of_backend[..], line[1 + 3 * b..4 + 3 * b]);
        }
    }
}

#[test]
fn inductor_is_the_baseline_where_it_has_records() {
    let v100 = String::from_utf8(input("v100.jsonl")).unwrap();
    let eager = v100.replace("\"dynamo\": \"inductor\"", "\"dynamo\": null");
    let mut page = Page::with(&[("v100.jsonl", &input("v100.jsonl")), ("eager.jsonl", eager.as_bytes())]);
    let backends = page.show(&[]).spec.get(Field::Backends).to_owned();
    assert!(backends.starts_with("inductor,eager,"), "{backends}");
}

#[test]
fn open_choices_are_made_for_the_records_and_wrong_ones_are_named() {
    let mut page = Page::with(&[("v100.jsonl", &input("v100.jsonl")), ("a6000.jsonl", &input("a6000.jsonl"))]);
    let shown = page.show(&[]);
    let get = |field| shown.spec.get(field).to_owned();
    assert_eq!(
        (get(Field::Accelerator), get(Field::Test), get(Field::View)),
        ("v100".into(), "inference".into(), "overview".into())
    );
    assert_eq!(get(Field::Backends), "inductor,openxla+dynamo,openxla+lazytensor");
    let accelerators: Vec<&str> = shown.choices.accelerators.iter().map(|c| c.0.as_str()).collect();
    assert_eq!(accelerators, ["a6000", "v100", "any"]);
    let wrong =
        page.show(&[(Field::Metric, "speed"), (Field::Filter, "("), (Field::Tier, "7"), (Field::Backends, "magic")]);
    let named: Vec<String> = wrong
        .document
        .blocks
        .iter()
        .filter_map(|b| match b {
            Block::Finding(f) if f.title.starts_with("A choice") => Some(f.text.clone()),
            _ => None,
        })
        .collect();
    assert!(
        named.len() == 4 && ["'speed'", "'('", "'7'", "magic"].iter().all(|w| named.iter().any(|n| n.contains(w))),
        "{named:?}"
    );
    // Every view with every choice is a document with a title.
    for (view, _) in &shown.choices.views {
        for against in ["previous", "oldest", "1699680738.7234068"] {
            let shown = page.show(&[(Field::View, view), (Field::Against, against), (Field::Test, "training")]);
            assert!(!shown.document.title.is_empty() && !shown.document.blocks.is_empty(), "{view}");
        }
    }
}

/// A record with this time, at this run.
fn record(model: &str, run: u64, dynamo: &str, batch: &str, times: &[f64]) -> String {
    let metrics = if times.is_empty() {
        "{\"error\": \"Traceback\\nRuntimeError: out of memory\\n\"}".to_owned()
    } else {
        format!("{{\"total_time\": {times:?}}}")
    };
    let batch = if times.is_empty() { "null" } else { batch };
    format!(
        "{{\"model\": {{\"suite_name\": \"torchbench\", \"model_name\": \"{model}\"}}, \"experiment\": {{\"accelerator\": \"cuda\", \"accelerator_model\": \"NVIDIA A100-SXM4-40GB\", \"xla\": null, \"xla_flags\": null, \"dynamo\": {dynamo}, \"test\": \"eval\", \"batch_size\": {batch}}}, \"repeat\": 8, \"iterations_per_run\": 1, \"metrics\": {metrics}, \"timestamp\": {run}, \"verification_code\": \"PASS\"}}\n"
    )
}

fn around(mean: f64) -> Vec<f64> {
    [9.0, mean, mean, mean * 0.999, mean, mean * 1.001, mean * 0.999, mean * 1.001].to_vec()
}

#[test]
fn changes_of_the_newest_run_are_distinguished() {
    let mut text = String::new();
    let mut add = |model: &str, then: &[f64], now: &[f64], batches: [&str; 2]| {
        text.push_str(&record(model, 100, "null", batches[0], then));
        text.push_str(&record(model, 200, "null", batches[1], now));
    };
    let same = ["8", "8"];
    add("slower", &around(1.0), &around(1.2), same);
    add("faster", &around(1.0), &around(0.5), same);
    add("noisy", &around(1.0), &around(1.01), same);
    add("short", &[9.0, 1.0, 1.0, 1.0], &[9.0, 1.0, 1.0, 2.0], same);
    add("breaks", &around(1.0), &[], same);
    add("mended", &[], &around(1.0), same);
    add("broken", &[], &[], same);
    add("resized", &around(1.0), &around(2.0), ["8", "16"]);
    text.push_str(&record("gone", 100, "null", "8", &around(1.0)));
    text.push_str(&record("new", 200, "null", "8", &around(1.0)));
    let mut page = Page::with(&[("results.jsonl", text.as_bytes())]);
    let shown = page.show(&[(Field::View, "changes")]);
    let all = tables(&shown.document);
    let (_, table, targets) = all[0];
    let rows: Vec<(String, String)> = texts(table, "model").into_iter().zip(texts(table, "status")).collect();
    let status =
        |model: &str| -> Vec<&str> { rows.iter().filter(|(m, _)| m == model).map(|(_, s)| s.as_str()).collect() };
    for (model, expected) in [
        ("slower", "regressed"),
        ("faster", "improved"),
        ("noisy", "within noise"),
        ("short", "not enough data"),
        ("breaks", "now failing"),
        ("mended", "now passing"),
        ("broken", "still failing"),
        ("gone", "gone"),
        ("new", "new"),
    ] {
        assert_eq!(status(model), [expected], "{model}");
    }
    assert_eq!(status("resized"), ["gone", "new"]);
    assert!(texts(table, "remark").iter().any(|r| r == "different batch sizes: now 16"));
    let rank = |model: &str, column| texts(table, column)[rows.iter().position(|(m, _)| m == model).unwrap()].clone();
    assert_eq!((rank("faster", "rank_ms"), rank("slower", "rank_ms")), ("2".into(), "3".into()));
    assert_eq!(rank("short", "rank_percent"), "1");
    assert_eq!(targets[0], "model=breaks&backend=eager");
    let overview = page.show(&[]);
    let Block::Tiles(tiles) = &overview.document.blocks[0] else { panic!("tiles first") };
    assert_eq!((tiles[0].value.as_str(), tiles[0].name.as_str()), ("70.0 %", "Passed"));
    assert!(tiles[0].note.starts_with("7 of 10 experiments of the newest run; gone from it: 1"), "{}", tiles[0].note);
    let (_, most, _) =
        tables(&overview.document).into_iter().find(|(title, ..)| *title == "What changed most").unwrap();
    let (models, statuses) = (texts(most, "model"), texts(most, "status"));
    assert_eq!((models[0].as_str(), statuses[0].as_str()), ("faster", "improved"), "{models:?}");
    assert!(statuses.contains(&"regressed".to_owned()) && statuses.contains(&"gone".to_owned()), "{statuses:?}");
    assert!(tiles.iter().any(|t| t.note.contains("covers 7 of 10 models")), "{tiles:?}");
}

#[test]
fn points_open_their_records_with_every_sample_and_a_command() {
    let bytes = input("v100.jsonl");
    let mut page = Page::with(&[("v100.jsonl", &bytes)]);
    let shown = page.show(&[(Field::View, "speedup")]);
    let Some(Block::Points { figure, targets }) = shown.document.blocks.first() else { panic!("a plot first") };
    let Plot::Lines(lines) = &figure.plot else { panic!("lines") };
    assert_eq!(lines.lines.iter().map(|l| l.points.len()).sum::<usize>(), targets.iter().map(Vec::len).sum::<usize>());
    let opened = page.show(&[(Field::View, "speedup"), (Field::Open, &targets[0][0])]);
    assert_eq!(opened.document.title, "Records with inductor in the run of 2023-11-11 05:32:18");
    let all = tables(&opened.document);
    let (_, samples, _) = all.iter().find(|(title, ..)| *title == "All samples of v100.jsonl:3").unwrap();
    // By its text: serde_json may miss the nearest double by one place.
    let line = String::from_utf8(bytes.split(|b| *b == b'\n').nth(2).unwrap().to_vec()).unwrap();
    let (_, list) = line.split_once("\"total_time\": [").unwrap();
    let expected: Vec<f64> = list.split(']').next().unwrap().split(", ").map(|t| t.parse().unwrap()).collect();
    let found: Vec<f64> = texts(samples, "total_time").iter().map(|t| t.parse().unwrap()).collect();
    assert_eq!(found, expected);
    let commands: Vec<&String> = opened
        .document
        .blocks
        .iter()
        .filter_map(|b| match b {
            Block::Command(text) => Some(text),
            _ => None,
        })
        .collect();
    assert!(
        commands.iter().any(|c| c.contains("experiment_runner.py --suite-name=torchbench --filter=^BERT_pytorch$")
            || c.contains("--filter='^BERT_pytorch$'")),
        "{commands:?}"
    );
}

#[test]
fn bad_lines_are_counted_with_their_places_and_the_rest_is_used() {
    let good = record("a", 100, "null", "8", &around(1.0));
    let old = good.replace("\"accelerator\": \"cuda\", ", "");
    let unknown = good.replace("NVIDIA A100-SXM4-40GB", "Abacus 3000");
    let nan = good.replace("9.0", "NaN").replace("0.999", "NaN").replace("\"a\"", "\"b\"");
    let text = format!("{good}{{\"model\":\n\n{old}{unknown}{nan}{good}[1]\nnull\n{}", &good[..40]);
    let mut page = Page::with(&[("bad.jsonl", text.as_bytes()), ("empty.jsonl", b"")]);
    assert_eq!(page.read.records, 5);
    let shown = page.show(&[(Field::View, "lines")]);
    let all = tables(&shown.document);
    let (_, noted, _) = all[1];
    let places = texts(noted, "place");
    for start in [
        "bad.jsonl:2: not JSON",
        "bad.jsonl:3",
        "bad.jsonl:8: the line is JSON but",
        "bad.jsonl:9: the line is JSON but",
        "bad.jsonl:10: not JSON",
        "bad.jsonl:4: it has no accelerator",
        "bad.jsonl:5: Abacus 3000",
        "bad.jsonl:7",
        "bad.jsonl:6",
        "empty.jsonl",
    ] {
        assert!(places.iter().any(|p| p.starts_with(start)), "{start}: {places:#?}");
    }
    assert_eq!(page.read.remarks, 10, "{places:#?}");
    let nothing = Page::with(&[("x.jsonl", b"{}\n")]).show(&[]);
    assert_eq!(nothing.spec.get(Field::View), "lines");
    assert!(matches!(&nothing.document.blocks[0], Block::Finding(f) if f.title == "No record could be used."));
    assert!(page.open("photo.png", b"\x89PNG\r\n\x1a\n").is_err());
}

#[test]
fn small_files_travel_in_a_link() {
    let mut page = Page::with(&[("v100.jsonl", &input("v100.jsonl"))]);
    let packed = page.read.packed.clone().unwrap();
    assert!(packed.len() < 4_000, "{} letters", packed.len());
    let mut other = Page::with(&[]);
    other.unpack(&packed).unwrap();
    assert_eq!(other.read, page.read);
    assert_eq!(other.show(&[]), page.show(&[]));
    other.unpack("sample").unwrap();
    assert!(other.unpack("1.broken").unwrap_err().contains("in the link"));
    let mut sample = Page::with(&[]);
    sample.unpack("sample").unwrap();
    assert_eq!((sample.read.packed.as_deref(), sample.read.remarks > 0), (Some("sample"), true));
    let large = "x".repeat(300_000);
    assert_eq!(Page::with(&[("large.jsonl", large.as_bytes())]).read.packed, None);
}

#[test]
fn the_order_of_files_changes_nothing_but_their_places() {
    let (a, b) = (input("v100.jsonl"), input("a6000.jsonl"));
    for view in ["overview", "speedup", "latest", "latest_grouped", "histogram", "changes"] {
        let titles = |files: &[(&str, &[u8])]| {
            let shown = Page::with(files).show(&[(Field::View, view), (Field::Accelerator, "any")]);
            tables(&shown.document).into_iter().map(|(t, table, _)| (t.to_owned(), table.clone())).collect::<Vec<_>>()
        };
        assert_eq!(titles(&[("a", &a), ("b", &b)]), titles(&[("b", &b), ("a", &a)]), "{view}");
    }
}

/// What each point of a plot opens.
pub fn opened_by_points(document: &Document) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for block in &document.blocks {
        match block {
            Block::Points { targets, .. } => found.extend(targets.clone()),
            Block::Beside(parts) => parts.iter().for_each(|part| found.extend(opened_by_points(part))),
            _ => {}
        }
    }
    found
}

#[test]
fn points_of_latest_open_the_records_that_they_are_of() {
    let mut page = Page::with(&[("v100.jsonl", &input("v100.jsonl"))]);
    let choices = [(Field::View, "latest"), (Field::Accelerator, "any")];
    let shown = page.show(&choices);
    let targets = opened_by_points(&shown.document).concat();
    let models: usize = tables(&shown.document).iter().map(|(_, table, _)| table.rows.len()).sum();
    assert!(models > 0 && targets.len() == models, "{targets:?}");
    for target in targets {
        let opened = page.show(&[choices[0], choices[1], (Field::Open, target.as_str())]);
        assert!(opened.document.title.starts_with("Records of "), "{target}: {}", opened.document.title);
    }
}
