//! Speed-ups of records over a baseline, as PyTorch/XLA's script prints them: `neuronscope aggregate`.

use ns_base::{Refusal, refuse};
use ns_bench::comma_list;
use ns_experiment::aggregate::{
    AcceleratorChoice, Aggregator, Backend, BackendNames, Baseline, KNOWN_ACCELERATORS, Metric, Report, ReportKind,
    Selection, known_accelerator, speedups, unlike_batches,
};
use ns_experiment::figure::{FigureSize, Picture, figure};
use ns_experiment::plan::{ModelFilter, Test};
use ns_forms::options::{Choice, Flag, Opt, OptionText, Options, flag, name_of_choice, names, opt, some};
use ns_forms::studies::{FieldKind, field};

/// What is reported, of which records.
#[derive(Clone, Debug)]
pub struct Aggregation {
    accelerator: Option<String>,
    /// The backends to compare; empty for those of the suite.
    backends: Vec<Backend>,
    baseline: Baseline,
    names: BackendNames,
    report: ReportKind,
    test: Test,
    metric: Metric,
    format: AggregateFormat,
    models: ModelFilter,
    width_in: f64,
    height_in: f64,
    title: Option<String>,
    is_lenient: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AggregateFormat {
    Csv,
    Tab,
    Png,
    Svg,
    Ascii,
}

/// Warning about models whose times cannot be compared.
const UNLIKE: &str = "models have different batch sizes in a backend and the baseline";
/// The accelerator of reports that do not name one.
const DEFAULT_ACCELERATOR: &str = "v100";
/// Size of a picture in characters: what a terminal has at least.
const COLUMNS: u32 = 79;
const ROWS: u32 = 24;

impl Default for Aggregation {
    fn default() -> Self {
        Self {
            accelerator: None,
            backends: Vec::new(),
            baseline: Baseline::Oldest,
            names: BackendNames::Suite,
            report: ReportKind::Speedup,
            test: Test::Eval,
            metric: Metric::Execution,
            format: AggregateFormat::Csv,
            models: ModelFilter::default(),
            width_in: 9.0,
            height_in: 6.75,
            title: None,
            is_lenient: false,
        }
    }
}

impl Options for Aggregation {
    const OPTIONS: &'static [&'static [Opt<Self>]] = &[AGGREGATION_OPTIONS];
}

const BASELINES: [Choice<Baseline>; 2] = [
    ("oldest", "The oldest time of each model", Baseline::Oldest),
    ("latest", "The newest timestamp", Baseline::Latest),
];
const NAMES: [Choice<BackendNames>; 2] = [
    ("suite", "XLA+Dynamo, as the suite today", BackendNames::Suite),
    ("readme", "PytorchXLA, as the samples in the suite's README", BackendNames::Readme),
];
const REPORTS: [Choice<ReportKind>; 5] = [
    ("latest", "Models by speed-up, each backend at its newest timestamp", ReportKind::Latest),
    ("latest_grouped", "Models by name at the newest timestamp", ReportKind::LatestGrouped),
    ("histogram", "Percentiles over time", ReportKind::Histogram),
    ("speedup", "Geometric mean over time", ReportKind::Speedup),
    ("changes", "Models that became slower and still are", ReportKind::Changes),
];
const TESTS: [Choice<Test>; 2] = [("inference", "", Test::Eval), ("training", "", Test::Train)];
const METRICS: [Choice<Metric>; 2] =
    [("exec", "Time of a warm execution", Metric::Execution), ("compile", "Time to compile", Metric::Compilation)];
const FORMATS: [Choice<AggregateFormat>; 5] = [
    ("csv", "Comma-separated values", AggregateFormat::Csv),
    ("tab", "A table with frames", AggregateFormat::Tab),
    ("png", "A raster picture", AggregateFormat::Png),
    ("svg", "A vector picture", AggregateFormat::Svg),
    ("ascii", "A picture in characters, as png on a terminal is", AggregateFormat::Ascii),
];

#[rustfmt::skip]
const AGGREGATION_OPTIONS: &[Opt<Aggregation>] = &[
    opt(field("accelerator", "Accelerator", "Accelerator: a100, v100 or a6000; with --lenient any name, or all records when none is given [default: v100]", "", FieldKind::Line),
        flag("ACCELERATOR", ""),
        |a| some(a.accelerator.as_ref()), |a, given| { a.accelerator = given.some_text(); Ok(()) }),
    opt(field("backends", "Backends", "", "", FieldKind::Line),
        Flag::elsewhere("backends").list(),
        |a| comma_list(&a.backends.iter().map(|b| b.name()).collect::<Vec<_>>()), |a, given| given.each_text(|name| backend(&name)).map(|all| a.backends = all)),
    opt(field("baseline", "Baseline", "Which times of the first backend make the baseline", "", FieldKind::Choice(&names(BASELINES))),
        flag("BASELINE", "").values(&names(BASELINES)),
        |a| name_of_choice(&BASELINES, a.baseline), |a, given| given.choice(&BASELINES).map(|baseline| a.baseline = baseline)),
    opt(field("report", "Report", "Report", "", FieldKind::Choice(&names(REPORTS))),
        flag("REPORT", "").values(&names(REPORTS)),
        |a| name_of_choice(&REPORTS, a.report), |a, given| given.choice(&REPORTS).map(|report| a.report = report)),
    opt(field("names", "Names", "How headings call the backends", "", FieldKind::Choice(&names(NAMES))),
        flag("NAMES", "").values(&names(NAMES)),
        |a| name_of_choice(&NAMES, a.names), |a, given| given.choice(&NAMES).map(|names| a.names = names)),
    opt(field("test", "Test", "", "", FieldKind::Line),
        Flag::elsewhere("test"),
        |a| name_of_choice(&TESTS, a.test), |a, given| given.choice(&TESTS).map(|test| a.test = test)),
    opt(field("metric", "Metric", "Metric that is compared", "", FieldKind::Choice(&names(METRICS))),
        flag("METRIC", "").values(&names(METRICS)),
        |a| name_of_choice(&METRICS, a.metric), |a, given| given.choice(&METRICS).map(|metric| a.metric = metric)),
    opt(field("format", "Format", "Format", "", FieldKind::Choice(&names(FORMATS))),
        flag("FORMAT", "").values(&names(FORMATS)),
        |a| name_of_choice(&FORMATS, a.format), |a, given| given.choice(&FORMATS).map(|format| a.format = format)),
    opt(field("fig_width", "Width", "Width of a picture, in inches of 100 pixels", "", FieldKind::Decimal),
        flag("FIG_WIDTH", ""),
        |a| a.width_in.to_string(), |a, given| inches(given).map(|length| a.width_in = length)),
    opt(field("fig_height", "Height", "Height of a picture, in inches of 100 pixels", "", FieldKind::Decimal),
        flag("FIG_HEIGHT", ""),
        |a| a.height_in.to_string(), |a, given| inches(given).map(|length| a.height_in = length)),
    opt(field("title", "Title", "Second line of a picture's title", "", FieldKind::Line),
        flag("TITLE", ""),
        |a| some(a.title.as_ref()), |a, given| { a.title = given.some_text(); Ok(()) }),
    opt(field("lenient", "Lenient", "Count and list unusable lines and go on; also accept any accelerator", "", FieldKind::Flag),
        flag("", ""),
        |a| a.is_lenient.to_string(), |a, given| given.flag().map(|is_lenient| a.is_lenient = is_lenient)),
];

fn backend(given: &OptionText<'_>) -> Result<Backend, String> {
    let known = || Backend::ALL.map(Backend::name).join(", ");
    Backend::from_name(given.text).ok_or_else(|| {
        format!("{} is not a backend; choose from {}. Write -- after the last backend", given.text, known())
    })
}

const INCHES: &str = "a finite number above 0";

/// The side of a picture.
fn inches(given: &OptionText<'_>) -> Result<f64, String> {
    given.above_zero(INCHES)?.ok_or_else(|| given.wrong(INCHES))
}

/// What a report gives.
pub enum AggregateResult {
    Text(String),
    /// A picture of pixels, which the shell paints.
    Picture(Picture),
    /// A sentence about records that are not there.
    Missing(String),
}

/// Records that are read for a report.
pub struct AggregationRun {
    aggregation: Aggregation,
    records: Aggregator,
    backends: Vec<Backend>,
}

impl Aggregation {
    /// Takes only these models: by regular expressions and tiers, to keep and to leave out. Fails with the expression that cannot be read.
    pub fn of_models(mut self, names: [&[String]; 2], tiers: [&[i64]; 2]) -> Result<Self, Refusal> {
        self.models = ModelFilter::new(names[0], names[1], tiers[0], tiers[1])?;
        Ok(self)
    }

    /// Becomes lenient where the first record is of an accelerator that the suite does not know, as all of this program's own are, and no
    /// option asks for one that it does.
    pub fn suit(&mut self, first_record: impl FnOnce() -> Option<Vec<u8>>) {
        let is_known = |name: &String| KNOWN_ACCELERATORS.iter().any(|(known, _)| known == name);
        if self.is_lenient || self.accelerator.as_ref().is_some_and(is_known) {
            return;
        }
        let record: Option<serde_json::Value> = first_record().and_then(|line| serde_json::from_slice(&line).ok());
        let product = record.as_ref().and_then(|record| record.pointer("/experiment/accelerator_model")?.as_str());
        self.is_lenient = product.is_some_and(|product| known_accelerator(product).is_none());
    }

    /// Whether lines and files that cannot be used are counted.
    pub const fn is_lenient(&self) -> bool {
        self.is_lenient
    }

    /// Begins to read records. An accelerator that the suite does not know is wrong usage, like any bad choice.
    pub fn start(self) -> Result<AggregationRun, String> {
        let accelerator = match (&self.accelerator, self.is_lenient) {
            (Some(name), true) => AcceleratorChoice::Named(name.clone()),
            (None, true) => AcceleratorChoice::Any,
            (given, false) => {
                let name = given.as_deref().unwrap_or(DEFAULT_ACCELERATOR);
                let known = KNOWN_ACCELERATORS.map(|(known, _)| known);
                if !known.contains(&name) {
                    let known = known.join(", ");
                    return Err(format!("--accelerator {name}: choose from {known}, or add --lenient for any other"));
                }
                AcceleratorChoice::Known(name.to_owned())
            }
        };
        let Self { test, metric, is_lenient: lenient, .. } = self;
        let records = Aggregator::new(Selection { accelerator, models: self.models.clone(), test, metric, lenient });
        let suites = || vec![Backend::Inductor, Backend::OpenxlaDynamo];
        let backends = if self.backends.is_empty() { suites() } else { self.backends.clone() };
        Ok(AggregationRun { aggregation: self, records, backends })
    }
}

impl AggregationRun {
    /// Whether lines that cannot be used are counted.
    pub fn is_lenient(&self) -> bool {
        self.aggregation.is_lenient
    }

    /// Takes a line. `place` is its position for messages: `file:line`. Fails when the line cannot be used.
    pub fn push_line(&mut self, line: &[u8], place: impl Fn() -> String) -> Result<(), Refusal> {
        self.records.push_line(line, &place).map_err(|e| refuse!("{}: {e}", place()))
    }

    /// Notes something about a file, such as that it is empty.
    pub fn note(&mut self, what: &'static str, example: impl FnOnce() -> String) {
        self.records.note(what, example);
    }

    /// What is to be said of the records once all are read.
    pub fn remarks(&mut self) -> String {
        // Runs of NeuronCores have no Inductor to compare with.
        let present = self.records.backends();
        let is_lenient = self.aggregation.is_lenient;
        if is_lenient && self.aggregation.backends.is_empty() && !self.backends.iter().all(|b| present.contains(b)) {
            self.backends = present;
        }
        for unlike in unlike_batches(&self.records, &self.backends) {
            self.records.note(UNLIKE, || unlike.to_string());
        }
        let notes = self.records.notes();
        if is_lenient { notes.describe() } else { notes.describe_only(UNLIKE) }
    }

    /// A warning about times of different accelerators.
    pub fn mix(&self) -> Option<String> {
        let products: Vec<&str> = self.records.accelerators().collect();
        let is_mixed = self.aggregation.is_lenient && self.aggregation.accelerator.is_none() && products.len() > 1;
        let (count, names) = (products.len(), products.join("; "));
        is_mixed.then(|| {
            format!(
                "note: records of {count} accelerators are mixed, and each is compared with itself; choose one with --accelerator: {names}"
            )
        })
    }

    /// The report. In a terminal, characters draw the picture. Fails when there are no records, or no records of the baseline.
    pub fn result(&self, is_terminal: bool) -> Result<AggregateResult, Refusal> {
        self.records.check_some()?;
        let Aggregation { report: kind, baseline, names, metric, format, .. } = self.aggregation;
        let times = speedups(&self.records, &self.backends, baseline)?;
        let report = Report { kind, times: &times, backends: &self.backends, baseline, names };
        let Some(table) = report.table() else {
            let any = if self.aggregation.is_lenient { "any" } else { DEFAULT_ACCELERATOR };
            let accelerator = self.aggregation.accelerator.as_deref().unwrap_or(any);
            return Ok(AggregateResult::Missing(format!("cannot find data for accelerator {accelerator}")));
        };
        let is_text = match format {
            AggregateFormat::Csv => return Ok(AggregateResult::Text(table.to_csv())),
            AggregateFormat::Tab => return Ok(AggregateResult::Text(table.to_framed())),
            AggregateFormat::Ascii => true,
            AggregateFormat::Png => is_terminal,
            AggregateFormat::Svg => false,
        };
        if kind == ReportKind::Changes {
            return Err(refuse!("--report changes is a list and cannot be drawn; use --format csv or tab"));
        }
        let size = FigureSize { width_in: self.aggregation.width_in, height_in: self.aggregation.height_in };
        let size = if is_text { FigureSize::of_characters(COLUMNS, ROWS) } else { size };
        let drawing = figure(&report, metric, size, self.aggregation.title.as_deref());
        Ok(match format {
            _ if is_text => AggregateResult::Text(drawing.to_characters()),
            AggregateFormat::Svg => AggregateResult::Text(drawing.to_svg()),
            _ => AggregateResult::Picture(drawing),
        })
    }
}
