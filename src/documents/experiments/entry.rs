//! The part of a record that is kept: a few numbers and the place of its line. The samples stay in the file until they are opened.

use std::rc::Rc;

use serde_json::value::RawValue;

use ns_base::Refusal;
use ns_bench::mean_ci95;
use ns_experiment::aggregate::{Backend, Measure, Metric, RecordView, WARM_UP};
use ns_experiment::record::{LineError, RawRecord, numbers, timestamp};

/// The experiment that was run, without its time and outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    pub suite: String,
    pub model: String,
    /// Kind of accelerator; older schemas lack it.
    pub kind: Option<String>,
    /// Product that the experiment ran on.
    pub product: String,
    pub xla: Option<String>,
    pub xla_flags: Option<String>,
    pub dynamo: Option<String>,
    pub torch_xla2: Option<String>,
    /// `eval` or `train`.
    pub test: String,
    /// Samples of one inference as the record writes them: a number, or `null`.
    pub batch: String,
    pub repeat: Option<String>,
    pub iterations: Option<String>,
    pub backend: Backend,
}

/// The mean of the repeats that count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanTime {
    /// Mean and standard deviation, seconds, as in reports.
    pub measure: Measure,
    /// Half of the mean's 95 % confidence interval, seconds; `None` for a single repeat.
    pub reach: Option<f64>,
}

/// How an experiment ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The experiment was timed.
    Timed {
        /// Time once warm; `None` for fewer than four repeats.
        execution: Option<MeanTime>,
        /// How much longer the first repeat took, seconds; `None` for a single repeat.
        compilation: Option<f64>,
        /// Number of repeats.
        repeats: usize,
    },
    /// The experiment failed: the last line of its error.
    Failed(Rc<str>),
    /// The experiment was not meant to run there.
    Skipped,
    /// The experiment was run only to verify its values.
    Untimed,
}

/// One record.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub config: Rc<Config>,
    /// Seconds since 1970.
    pub timestamp: f64,
    pub outcome: Outcome,
    /// The verifier's code; older schemas lack it.
    pub code: Option<Rc<str>>,
    /// Compile time that XLA reports, seconds, all repeats together.
    pub xla_compile_s: Option<f64>,
    /// Position of its file.
    pub file: usize,
    /// Number of its line, from 1.
    pub line: u64,
    /// Offset and length of the line, in bytes.
    pub place: (u64, usize),
}

/// A record before its texts are shared.
pub struct RecordDraft {
    pub config: Config,
    pub timestamp: f64,
    pub outcome: Outcome,
    pub code: Option<String>,
    pub xla_compile_s: Option<f64>,
}

/// A text of a record; any other value as written; null as an empty text.
fn text(value: Option<&RawValue>) -> Option<String> {
    let written = value?.get().trim();
    match written.as_bytes().first()? {
        b'n' => None,
        b'"' => serde_json::from_str(written).ok(),
        _ => Some(written.to_owned()),
    }
}

/// The last line of a traceback holds the error.
fn last_line(error: &str) -> &str {
    error.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(error).trim()
}

impl RecordDraft {
    /// Extracts the kept part of a record. Fails when its times, its timestamp or its backend cannot be used.
    pub fn of(record: &RawRecord<'_>) -> Result<Self, LineError> {
        let (experiment, metrics) = (&record.experiment, &record.metrics);
        let owned = |t: &Option<std::borrow::Cow<'_, str>>| t.as_deref().map(str::to_owned);
        let timestamp = timestamp(record.timestamp.get())?;
        let config = Config {
            suite: text(record.model.suite_name).unwrap_or_default(),
            model: record.model.model_name.clone().into_owned(),
            kind: owned(&experiment.accelerator),
            product: experiment.accelerator_model.clone().into_owned(),
            xla: owned(&experiment.xla),
            xla_flags: text(experiment.xla_flags),
            dynamo: owned(&experiment.dynamo),
            torch_xla2: text(experiment.torch_xla2),
            test: experiment.test.clone().into_owned(),
            batch: experiment.batch_size.get().to_owned(),
            repeat: text(record.repeat),
            iterations: text(record.iterations_per_run),
            backend: Backend::of(experiment.dynamo.as_deref(), experiment.xla.as_deref())?,
        };
        let compiled = metrics.compile_time_s.and_then(|t| numbers("xla_CompileTime_time_s", t.get()).ok());
        Ok(Self {
            config,
            timestamp: timestamp + 0.0,
            outcome: outcome(record)?,
            code: text(record.verification_code),
            xla_compile_s: compiled.map(|times| times.iter().sum()),
        })
    }
}

fn outcome(record: &RawRecord<'_>) -> Result<Outcome, Refusal> {
    if let Some(times) = record.metrics.total_time.filter(|t| t.get() != "null") {
        let times = numbers("metrics.total_time", times.get())?;
        let steady = times.get(WARM_UP..).unwrap_or_default();
        let reach = mean_ci95(steady).map(|(low, high)| (high - low) / 2.0);
        return Ok(Outcome::Timed {
            execution: Metric::Execution.of(&times).map(|measure| MeanTime { measure, reach }),
            compilation: Metric::Compilation.of(&times).map(|m| m.avg),
            repeats: times.len(),
        });
    }
    Ok(match text(record.metrics.error) {
        Some(error) if error.trim() == "SKIP" => Outcome::Skipped,
        Some(error) => Outcome::Failed(last_line(&error).into()),
        None => Outcome::Untimed,
    })
}

impl Entry {
    /// The time that a metric compares; `None` for a record that failed or has too few repeats.
    pub fn timed(&self, metric: Metric) -> Option<MeanTime> {
        match (&self.outcome, metric) {
            (Outcome::Timed { execution, .. }, Metric::Execution) => *execution,
            (Outcome::Timed { compilation, .. }, Metric::Compilation) => {
                compilation.map(|avg| MeanTime { measure: Measure { avg, std: 0.0 }, reach: None })
            }
            _ => None,
        }
    }

    /// The record in the form that the aggregate reads.
    pub fn view(&self, measure: Option<Measure>) -> RecordView<'_> {
        let c = &self.config;
        RecordView {
            kind: c.kind.as_deref(),
            product: &c.product,
            model: &c.model,
            test: &c.test,
            backend: c.backend,
            batch: &c.batch,
            timestamp: self.timestamp,
            measure,
        }
    }
}
