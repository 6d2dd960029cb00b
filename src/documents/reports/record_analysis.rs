//! Statistics of records, as PyTorch/XLA's result analyzer writes them: `neuronscope analyze`.

use ns_base::{Refusal, refuse};
use ns_experiment::analyze::Analyzer;
use ns_forms::options::{Choice, Opt, Options, flag, name_of_choice, names, opt, some};
use ns_forms::studies::{FieldKind, field};

/// What is written of each record.
#[derive(Clone, Debug, Default)]
pub struct RecordAnalysis {
    is_jsonl: bool,
    /// Seconds since 1970, for records without a time.
    timestamp: Option<f64>,
    hide_errors: bool,
}

impl Options for RecordAnalysis {
    const OPTIONS: &'static [&'static [Opt<Self>]] = &[ANALYSIS_OPTIONS];
}

const FORMATS: [Choice<bool>; 2] =
    [("csv", "metric_report.csv, and the database", false), ("jsonl", "metric_report.jsonl", true)];
const FINITE: &str = "a finite number";

#[rustfmt::skip]
const ANALYSIS_OPTIONS: &[Opt<RecordAnalysis>] = &[
    opt(field("output_format", "Format", "What to write", "", FieldKind::Choice(&names(FORMATS))),
        flag("OUTPUT_FORMAT", "").values(&names(FORMATS)),
        |a| name_of_choice(&FORMATS, a.is_jsonl), |a, given| given.choice(&FORMATS).map(|is_jsonl| a.is_jsonl = is_jsonl)),
    opt(field("timestamp", "Timestamp", "Timestamp of records that have none, seconds since 1970 [default: now]", "", FieldKind::Decimal),
        flag("TIMESTAMP", ""),
        |a| some(a.timestamp), |a, given| given.some_where(FINITE, |time: &f64| time.is_finite()).map(|time| a.timestamp = time)),
    opt(field("hide_errors", "Hide errors", "Leave out the text of errors", "", FieldKind::Flag),
        flag("", ""),
        |a| a.hide_errors.to_string(), |a, given| given.flag().map(|hide_errors| a.hide_errors = hide_errors)),
];

/// Records that are read for a report.
pub struct RecordAnalysisRun {
    is_jsonl: bool,
    analyzer: Analyzer,
}

/// The texts of the report.
pub enum AnalysisReport {
    Jsonl(String),
    /// Of the report, and its rows for a file that has its heading.
    Csv {
        report: String,
        rows: String,
    },
}

impl RecordAnalysis {
    /// Begins to read records at a time in seconds since 1970.
    pub fn start(&self, now_s: f64) -> RecordAnalysisRun {
        let analyzer = Analyzer::new(self.timestamp.unwrap_or(now_s), self.hide_errors);
        RecordAnalysisRun { is_jsonl: self.is_jsonl, analyzer }
    }
}

impl RecordAnalysisRun {
    /// Takes a line; what is no record is noted. `place` is its position for messages: `file:line`.
    pub fn push_line(&mut self, line: &[u8], place: impl Fn() -> String) {
        self.analyzer.push_line(line, place);
    }

    /// What is to be said of the records once all are read.
    pub fn remarks(&self) -> String {
        self.analyzer.notes().describe()
    }

    /// The report. Fails when a value has no text.
    pub fn report(&self) -> Result<AnalysisReport, Refusal> {
        let csv = |heading| self.analyzer.to_csv(heading).map_err(|e| refuse!("{e}"));
        Ok(match self.is_jsonl {
            true => AnalysisReport::Jsonl(self.analyzer.to_jsonl().map_err(|e| refuse!("{e}"))?),
            false => AnalysisReport::Csv { report: csv(true)?, rows: csv(false)? },
        })
    }
}
