//! `bench --return-timers`: the document of timers; for `--json-format neuronperf` with the starts and ends of all.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::Serialize;

use super::text;
use crate::output::{self, Output};
use crate::{host, interrupt};
use ns_base::convert::u64_to_f64;
use ns_bench::{
    Configuration, ConfigurationRun, DeviceType, MOST_TIMED_INFERENCES, RowResult, RunDetail, ServiceTimes,
    SpanRecorder, TimedResults, decide_workers, service_times,
};
use ns_device::ModelLibrary;
use ns_fidelity::put_beside;

/// The document of `--return-timers`. Each configuration adds its result when it has run, so that one at a time is in memory.
pub(super) struct TimersDocument {
    to: Place,
    /// What stands before the next result, and after the last one.
    marks: (&'static str, &'static str),
}

/// Where a document goes.
enum Place {
    File(Output),
    /// Of a host, or of stdout.
    Memory(Option<PathBuf>, Vec<u8>),
}

impl TimersDocument {
    /// Begins the document in a file, or, without one, for stdout. Fails when the file cannot be written.
    pub fn begin(path: Option<&Path>, has_spans: bool) -> Result<Self> {
        let to = match path.filter(|_| !host::is_present()) {
            Some(path) => Place::File(output::create(path)?),
            None => Place::Memory(path.map(Path::to_owned), Vec::new()),
        };
        let marks = if has_spans { ("[", "]\n") } else { ("{\"results\":[", "]}\n") };
        Ok(Self { to, marks })
    }

    /// Adds the result of a configuration. Fails when it cannot be written.
    pub fn add(&mut self, result: &impl Serialize) -> Result<()> {
        let before = std::mem::replace(&mut self.marks.0, ",");
        self.put(before, Some(result))
    }

    /// Ends the document; `note` is told where it is. Fails when it cannot be written.
    pub fn finish(mut self, mut note: impl FnMut(String)) -> Result<()> {
        let (next, end) = self.marks;
        let none: Option<&()> = None;
        self.put(if next == "," { "" } else { next }, none)?;
        self.put(end, none)?;
        let path = match self.to {
            Place::Memory(None, text) => return text::print(&text),
            Place::Memory(Some(path), text) => output::write(&path, text).map(|()| path)?,
            Place::File(file) => {
                let path = file.path().to_owned();
                file.finish().map(|()| path)?
            }
        };
        note(format!("note: the timers are in {}", path.display()));
        Ok(())
    }

    fn put(&mut self, mark: &str, result: Option<&impl Serialize>) -> Result<()> {
        let out: &mut dyn Write = match &mut self.to {
            Place::File(file) => file,
            Place::Memory(_, text) => text,
        };
        let mut out = BufWriter::new(out);
        let written = out.write_all(mark.as_bytes()).map_err(anyhow::Error::from);
        let written = written.and_then(|()| result.map_or(Ok(()), |r| Ok(serde_json::to_writer(&mut out, r)?)));
        let written = written.and_then(|()| Ok(out.flush()?));
        drop(out);
        written.map_err(|error| match &self.to {
            Place::File(file) => file.reason(error),
            Place::Memory(..) => error,
        })
    }
}

/// Runs configurations with a recorder of spans; compiled models are kept for the next configuration.
#[derive(Default)]
pub(super) struct TimedRuns {
    times: BTreeMap<u64, ServiceTimes>,
    /// Models that were loaded.
    models: ModelLibrary,
    /// The results of the last run, if anything ran.
    pub last: Option<TimedResults>,
}

impl TimedRuns {
    /// No results yet; configurations may name these models.
    pub fn new(models: &ModelLibrary) -> Self {
        Self { models: models.clone(), ..Self::default() }
    }

    /// Runs a configuration and returns its row; its spans are in [`Self::last`] if anything ran. Fails when there are more
    /// inferences than can be kept, or when the processor is measured.
    pub fn run(&mut self, configuration: &Configuration, detail: RunDetail) -> Result<RowResult> {
        if configuration.options.device_type == DeviceType::Cpu {
            bail!(
                "--return-timers: starts and ends are kept only for simulated runs; leave --json-format out for the timers of the processor"
            );
        }
        let key = configuration.times_key();
        // Errors are not kept: others share the key of a configuration with more copies than cores.
        let checked = configuration.check().map_err(|error| error.to_string());
        let times = checked.and_then(|()| match self.times.get(&key) {
            Some(times) => Ok(times.clone()),
            None => service_times(configuration, &self.models).map_err(|error| error.to_string()),
        });
        if let Ok(times) = &times {
            self.times.insert(key, times.clone());
        }
        let configuration = &match &times {
            Ok(times) => decide_workers(configuration.clone(), times),
            Err(_) => configuration.clone(),
        };
        let recorder = SpanRecorder::new(configuration);
        let mut run = ConfigurationRun::observed(configuration.clone(), times.as_ref().map_err(Clone::clone), recorder);
        let expected = run.estimate().inferences;
        if expected > MOST_TIMED_INFERENCES {
            let longest = configuration.duration_s * (u64_to_f64(MOST_TIMED_INFERENCES) / u64_to_f64(expected)) * 0.99;
            bail!(
                "--return-timers: about {expected} inferences are more than the {MOST_TIMED_INFERENCES} whose starts and ends are kept; give a --duration of at most {longest:.3}, or leave --json-format out for sums"
            );
        }
        while !interrupt::is_stop_requested() && !run.step(200_000).done {}
        let (mut row, recorder) = run.finish(RunDetail { timers: true, ..detail });
        put_beside(&mut row.report, configuration);
        if let (Some(recorder), Some(measurement), true) = (recorder, &row.measurement, row.report.is_finished()) {
            let Some(spans) = recorder.into_spans() else {
                bail!("--return-timers: more than {MOST_TIMED_INFERENCES} inferences; give a shorter --duration")
            };
            self.last = Some(TimedResults::new(configuration, measurement, &row.report, spans));
        }
        Ok(row)
    }
}
