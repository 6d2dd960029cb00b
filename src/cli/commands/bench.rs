//! `neuronscope bench`

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use anyhow::{Result, anyhow, bail};

use super::index::with_warnings;
use super::kept_sweep::KeptSweep;
use super::result_files::refuse_index;
use super::timers::TimersDocument;
use super::{bench_trace, reports};
use crate::bench_args::BenchArgs;
use crate::dataset;
use crate::driver::Driver;
use crate::file::read_text;
use crate::interrupt::{self, InterruptError};
use crate::output_args::OutputArgs;
use crate::shell::Shell;

use ns_base::units::format_count;
use ns_bench::evaluate::JudgedRecords;
use ns_bench::export::JsonFormat;
use ns_bench::{
    BenchConfig, Beside, Configuration, DeviceType, Estimate, Report, ReportDetail, RowResult, RowState, RunDetail,
    RunResults, ServiceTimes, SweepRow, SweepState, Verbosity, estimate, service_times,
};
use ns_session::reports::{
    MetricsAsk, bench_records, check_metrics, index_to_run, is_count, put_index, settings_of_index,
};
use ns_session::{JobRequest, JobResult, Message, RunRequest, TimedRuns};

pub(super) fn run(shell: &Shell, args: BenchArgs) -> Result<()> {
    let args = args.with_positional_model()?;
    check_output(shell, &args.output)?;
    let mut config = args.config(shell)?;
    let mut driver = Driver::new(shell);
    let index = match &args.model_filename {
        Some(path) => {
            let place = path.display().to_string();
            let index =
                with_warnings(shell, index_to_run(&place, &read_text(shell, path)?, |key| args.options.text(key))?);
            Some((place, index))
        }
        None => None,
    };
    // Where operators are placed was said when the index was compiled.
    let decided = index.as_ref().map(|(_, index)| settings_of_index(index)).unwrap_or_default();
    if let Some(opened) = args.file_flags.open_with(&mut driver, &config.model, &decided)? {
        args.put_model(&mut config, opened);
    }
    if let Some((path, index)) = index {
        put_index(&mut config, &path, index, |key| args.options.text(key))?;
    }
    if let (DeviceType::Cpu, Some(instance)) = (config.options.device_type, args.options.text("instance")) {
        shell.note(&format!("--instance {instance} is not used: --device-type cpu measures this machine"));
    }
    if let Some(settings) = config.mlperf.clone() {
        return super::mlperf::run(driver, config, settings, args.output.table.json);
    }
    if config.options.device_type == DeviceType::Cpu && args.output.trace.trace.is_some() {
        bail!("--trace shows simulated runs only; leave --device-type cpu out");
    }
    if config.options.device_type == DeviceType::Cpu && config.n_models.is_none() {
        config.n_models = Some(super::cpu::default_copies());
    }
    let records = records_of(shell, &args, &config.model)?;
    interrupt::listen(shell)?;
    let index_name = config.index.as_ref().and_then(|_| args.model_filename.as_deref()?.file_name());
    let index_name = index_name.map(|name| name.to_string_lossy().into_owned());
    let mut sweep = Sweep { index_name, ..Sweep::new(driver, config, &args.output)? };
    for (file, note) in
        records.iter().flat_map(|(file, judged)| judged.records.diagnostics.items().iter().map(move |d| (file, d)))
    {
        sweep.driver.say(&format!("note: {file}: {note}"));
    }
    let configurations: Vec<Configuration> =
        sweep.state.rows().iter().map(|row| row.planned.configuration.clone()).collect();
    if let Some((_, judged)) = records.filter(|_| args.eval.eval_metrics.is_some()) {
        let values = judged.judge_each(&configurations, sweep.driver.models());
        sweep.eval_metrics = Some(values.map_err(|e| anyhow!("--eval-metrics: {e}"))?);
    }
    sweep.run()?;
    sweep.give_results()?;
    if interrupt::is_stop_requested() {
        return Err(InterruptError(sweep.how_to_go_on()).into());
    }
    // Rows that failed are in the output; a run without any result is not a success.
    let reports = || sweep.state.reports();
    let first = reports().find(|r| !r.is_finished()).and_then(|r| r.error.as_deref());
    match first {
        Some(error) if !reports().any(Report::is_finished) => bail!("no configuration could run: {error}"),
        _ => Ok(()),
    }
}

/// The file of the data set with its records, where there is one.
fn records_of<'a>(shell: &Shell, args: &'a BenchArgs, model: &str) -> Result<Option<(&'a str, JudgedRecords)>> {
    let Some(file) = args.options.text("dataset") else { return Ok(None) };
    let names = args.eval.eval_metrics.as_deref().unwrap_or_default();
    let ask = MetricsAsk { names, target: args.eval.eval_target_col.as_deref() };
    check_metrics(ask, file)?;
    if is_count(file) {
        return Ok(None);
    }
    Ok(Some((file, bench_records(file, dataset::read(shell, Path::new(file))?, ask, model)?)))
}

/// Refuses outputs that cannot be printed together, and files that would be overwritten.
fn check_output(shell: &Shell, output: &OutputArgs) -> Result<()> {
    reports::check(shell, &output.table)?;
    if output.return_timers == Some(None) && (output.table.json || output.table.csv) {
        bail!("--return-timers prints timers instead of reports; name a file for them, or leave --json and --csv out");
    }
    refuse_index(shell, "--return-timers", output.return_timers.iter().flatten().next().map(|p| p.as_path()))
}

/// Most latencies that reports keep: about a gigabyte while they are written.
const MOST_KEPT_INFERENCES: u64 = 11_000_000;

/// A sweep on this machine, one configuration after another.
struct Sweep<'a> {
    state: SweepState,
    driver: Driver<'a>,
    verbosity: Verbosity,
    args: &'a OutputArgs,
    /// Timers, where they were asked for.
    timers: Option<TimersDocument>,
    /// Reasons of failures that were said.
    errors: BTreeSet<String>,
    /// Stage times that were needed before their configuration ran.
    times: BTreeMap<u64, ServiceTimes>,
    /// Starts and ends, where they were asked for.
    timed: Option<TimedRuns>,
    /// Names and values of evaluation metrics, where they were asked for.
    eval_metrics: Option<serde_json::Value>,
    /// The file that finished rows are kept in, where it was asked for.
    kept: Option<KeptSweep>,
    /// Inferences whose latencies the reports keep.
    kept_inferences: u64,
    /// The file of the index that is run.
    index_name: Option<String>,
}

impl<'a> Sweep<'a> {
    fn new(mut driver: Driver<'a>, config: BenchConfig, args: &'a OutputArgs) -> Result<Self> {
        let mut state = SweepState::new(config)?;
        let verbosity = args.verbosity;
        for message in state.messages.iter().filter(|_| verbosity > Verbosity::Silent) {
            driver.say(&format!("note: {message}"));
        }
        verbosity.at_start(&state.config).iter().for_each(|line| driver.say(line));
        let kept = args.resume.as_deref().map(|path| KeptSweep::open(driver.shell, path)).transpose()?;
        let kept = kept.map(|(kept, rows)| {
            if kept.cut > 0 {
                driver.say(&format!("note: {} rows were cut when a run was stopped, and run again", kept.cut));
            }
            if kept.was_there {
                let adopted = state.adopt(rows);
                driver.say(&format!("note: {adopted} configurations finished in an earlier run and are not run again"));
            }
            kept
        });
        let wants_spans = args.return_timers.is_some() && args.table.json_format == JsonFormat::Neuronperf;
        let timed = wants_spans.then(|| TimedRuns::new(driver.models()));
        let timers =
            args.return_timers.as_ref().map(|file| TimersDocument::begin(driver.shell, file.as_deref(), wants_spans));
        let timers = timers.transpose()?;
        Ok(Self {
            state,
            driver,
            verbosity,
            args,
            timers,
            errors: BTreeSet::new(),
            times: BTreeMap::new(),
            timed,
            eval_metrics: None,
            kept,
            kept_inferences: 0,
            index_name: None,
        })
    }

    fn run(&mut self) -> Result<()> {
        while !interrupt::is_stop_requested()
            && let Some((row, configuration)) = self.state.begin_next()
        {
            self.check_memory(&configuration)?;
            let left_s = self.left_s();
            let name = self.index_name.as_ref().unwrap_or(&configuration.model_name);
            self.say(self.verbosity.before(name, &configuration, left_s));
            let mut result = self.run_one(row, &configuration)?;
            if interrupt::is_stop_requested() && !result.report.is_finished() {
                self.state.give_back(row);
                break;
            }
            let configuration = configuration.as_run(&result.report);
            let error = result.report.error.as_deref();
            // Configurations that fail for one reason say it once; each row has it.
            let new_error = error.filter(|error| self.errors.insert((*error).to_owned()));
            self.say(self.verbosity.after(&configuration, result.measurement.as_ref(), new_error));
            if error.is_none() {
                let place = (row, self.state.rows().len());
                bench_trace::write(&mut self.driver, &configuration, &self.args.trace, place)?;
            }
            // The sweep keeps no measurement: eight bytes per inference, of every configuration.
            let measurement = result.measurement.take();
            let spans = self.timed.as_mut().and_then(|timed| timed.last.take());
            match (&mut self.timers, spans, measurement) {
                (Some(timers), Some(spans), _) => timers.add(&spans)?,
                (Some(timers), None, Some(measurement)) if self.timed.is_none() => {
                    let beside = Beside::of(&result.report);
                    timers.add(&RunResults { configuration, measurement, beside }.document(&result.report)?)?;
                }
                _ => {}
            }
            self.state.finish(row, result);
            if let (Some(kept), Some(row)) = (&mut self.kept, self.state.kept(row)) {
                kept.add(&row)?;
            }
        }
        Ok(())
    }

    /// Prints and writes the requested output.
    fn give_results(&mut self) -> Result<()> {
        let shell = self.driver.shell;
        let reports: Vec<Report> = self.state.reports().cloned().collect();
        let table = &self.args.table;
        let (verbosity, driver) = (self.verbosity, &mut self.driver);
        let mut note = |line: String| {
            if verbosity > Verbosity::Silent {
                driver.say(&line);
            }
        };
        let metrics = self.eval_metrics.as_ref();
        let files = reports::write_files(shell, &reports, table, Some(&self.state.config), metrics, &mut note);
        let timers = self.timers.take().map_or(Ok(()), |timers| timers.finish(shell, note));
        // A file that cannot be written loses no result.
        if self.args.return_timers != Some(None) {
            reports::print(shell, &reports, table, metrics)?;
        }
        files.and(timers)
    }

    /// The time of the configurations that are not done, in seconds: their durations; with a dataset, the time of one pass.
    fn left_s(&mut self) -> f64 {
        let is_left = |row: &&Rc<SweepRow>| matches!(row.state, RowState::Waiting | RowState::Running);
        let left: Vec<Configuration> =
            self.state.rows().iter().filter(is_left).map(|row| row.planned.configuration.clone()).collect();
        left.iter().map(|configuration| self.expected_s(configuration)).sum()
    }

    fn expected_s(&mut self, configuration: &Configuration) -> f64 {
        let runs_through = configuration.options.dataset.is_some_and(|d| !d.looped);
        if !runs_through || configuration.options.device_type == DeviceType::Cpu {
            return configuration.duration_s;
        }
        self.estimate(configuration).map_or(0.0, |estimate| estimate.simulated.to_secs_f64())
    }

    /// `None` for a configuration that cannot run, which says so in its row.
    fn estimate(&mut self, configuration: &Configuration) -> Option<Estimate> {
        let key = configuration.times_key();
        if let Entry::Vacant(place) = self.times.entry(key) {
            place.insert(service_times(configuration, self.driver.models()).ok()?);
        }
        self.times.get(&key).map(|times| estimate(configuration, times))
    }

    /// Refuses reports with more latencies than memory should hold.
    fn check_memory(&mut self, configuration: &Configuration) -> Result<()> {
        if self.args.report_verbosity < 2 || configuration.options.device_type == DeviceType::Cpu {
            return Ok(());
        }
        self.kept_inferences += self.estimate(configuration).map_or(0, |estimate| estimate.inferences);
        if self.kept_inferences > MOST_KEPT_INFERENCES {
            bail!(
                "--report-verbosity 2: the reports would keep about {} latencies, and the most is {}; give a shorter --duration or --max-inferences, or --return-timers FILE, which writes the latencies of each configuration when it has run",
                format_count(self.kept_inferences),
                format_count(MOST_KEPT_INFERENCES)
            );
        }
        Ok(())
    }

    fn run_one(&mut self, row: u32, configuration: &Configuration) -> Result<RowResult> {
        let report = match self.args.report_verbosity {
            0 => ReportDetail::Summary,
            1 => ReportDetail::Seconds,
            _ => ReportDetail::Latencies,
        };
        let timers = self.args.return_timers.is_some() || self.verbosity == Verbosity::Debug;
        let detail = RunDetail { report, charts: false, timers };
        if let Some(timed) = &mut self.timed {
            return Ok(timed.run(configuration, detail, interrupt::is_stop_requested)?);
        }
        if configuration.options.device_type == DeviceType::Cpu {
            return Ok(super::cpu::run(configuration, self.driver.models(), detail));
        }
        let times = self.times.get(&configuration.times_key()).cloned();
        let run = Box::new(RunRequest { row, configuration: configuration.clone(), times, detail });
        let failed = |error: String| RowResult::failed(configuration, error);
        Ok(match self.driver.run(JobRequest::RunConfiguration(run), None) {
            Ok(Some(Message::Done(JobResult::Row { result, .. }))) => *result,
            Ok(_) => failed("the run returned no row".to_owned()),
            Err(error) => failed(error.to_string()),
        })
    }

    /// The message after Ctrl-C: how much has finished, and how to run the rest.
    fn how_to_go_on(&self) -> String {
        let (done, all) = (self.state.reports().count(), self.state.rows().len());
        let said = format!("stopped after {done} of {all} configurations");
        match &self.args.resume {
            Some(path) if done > 0 => format!("{said}; run the same command again to go on from {}", path.display()),
            Some(_) => format!("{said}; run the same command again to start over"),
            None => {
                format!(
                    "{said}; with --resume FILE, finished configurations are kept and the same command goes on from them"
                )
            }
        }
    }

    fn say(&mut self, lines: Vec<String>) {
        lines.iter().for_each(|line| self.driver.say(line));
    }
}
