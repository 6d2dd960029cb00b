//! All experiments of a plan, each in its own process, so that one that dies or hangs does not affect the others.

#![allow(clippy::disallowed_methods, reason = "deadlines are of the wall clock")]

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::CommandFactory;

use super::plan::model_of;
use super::results;
use crate::args::Args;
use crate::commands::analyze::now_s;
use crate::commands::cpu::processor;
use crate::experiment_args::ExperimentArgs;
use crate::flags;
use crate::progress::ProgressBar;
use crate::shell::Shell;
use crate::suite_args::LogLevelArg;
use ns_experiment::plan::ExperimentConfig;
use ns_experiment::python::{json_dumps, repr};
use ns_experiment::record::{Metrics, Record, SKIP};
use ns_experiment::run::Experiment;
use ns_experiment::sweep::ExperimentsRequest;

/// Flags that a child does not get: they are about all experiments.
const OWN: [&str; 3] = ["--no-resume", "--retry-failed", "--strict"];
/// How often a child is polled.
const LOOK: Duration = Duration::from_millis(5);

/// Runs every model with every configuration, and appends their records.
pub(super) fn run(
    shell: &Shell,
    args: &ExperimentArgs,
    request: &ExperimentsRequest,
    configs: &[ExperimentConfig],
    models: &[String],
) -> Result<()> {
    if !(args.subprocess_timeout > 0.0 && args.subprocess_timeout < 1e9) {
        bail!("--subprocess-timeout {} is not a number of seconds above 0", args.subprocess_timeout);
    }
    let models = models.iter().map(|name| model_of(args, request.plan.suite, name)).collect::<Result<Vec<_>, _>>()?;
    let file = results::path(args);
    let _alone = results::prepare(args, &file)?;
    let before = results::done_before(&file)?;
    if before.bad_lines > 0 {
        shell.note(&format!("{}: {} lines are not records and are skipped", file.display(), before.bad_lines));
    }
    let (name, timestamp) = (processor(), request.timestamp.unwrap_or_else(now_s));
    if args.suite.says(LogLevelArg::Info) {
        for (model, sentence) in models.iter().filter_map(|m| Some((m, m.stand_in()?))) {
            shell.note(&format!("{}: {sentence}", model.name));
        }
    }
    let (mut ran, mut passed_over, mut unverified, mut not_here) = (0, 0, 0, 0);
    let (mut bar, mut lines) = (ProgressBar::new(shell), BTreeSet::new());
    let total = (models.len() * configs.len()) as u64;
    for model in &models {
        for config in configs {
            if args.suite.progress_bar {
                bar.show(ran + passed_over, total, &model.name);
            }
            let experiment = request.settings.experiment(request.plan.suite, model, config, &name, timestamp);
            if !before.wants(&experiment, args.retry_failed) {
                passed_over += 1;
                continue;
            }
            if args.verify && args.suite.says(LogLevelArg::Info) {
                let (at, accelerator) = (ran + passed_over + 1, config.accelerator.name());
                bar.note(&format!(
                    "verifying {} on {accelerator}, {} ({at} of {total})",
                    model.name,
                    config.test.name()
                ));
            }
            let size = results::size(&file);
            let failure = run_child(shell, args, &experiment, &mut lines)?;
            // A child that wrote its record and then died has a record already.
            if let Some(failure) = failure.filter(|_| results::size(&file) == size) {
                if args.suite.says(LogLevelArg::Error) {
                    bar.note(&format!("{}: {failure}", model.name));
                }
                results::append(&file, &experiment.record(Metrics::failed(failure), None))?;
            }
            ran += 1;
            let last = results::last(&file);
            unverified += u64::from(last.as_ref().is_some_and(|record| record.unverified().is_some()));
            not_here += u64::from(last.as_ref().is_some_and(Record::is_skip));
        }
    }
    bar.clear();
    say_counts(shell, args, &file, [ran, passed_over, not_here]);
    if unverified > 0 && args.strict {
        bail!("{unverified} of {ran} experiments did not pass the verification; {} has the reasons", file.display());
    }
    Ok(())
}

/// Says how many experiments ran, were there before, and cannot run here.
fn say_counts(shell: &Shell, args: &ExperimentArgs, file: &Path, [ran, passed_over, not_here]: [u64; 3]) {
    if !args.suite.says(LogLevelArg::Info) {
        return;
    }
    if not_here > 0 {
        shell.note(&format!(
            "{not_here} of {ran} cannot run here, for the reasons above; their records have the error {SKIP}"
        ));
    }
    let are_there = match passed_over {
        0 => String::new(),
        1 => ", 1 has its record already and was skipped: --no-resume runs it again".to_owned(),
        n => format!(", {n} have their records already and were skipped: --no-resume runs them again"),
    };
    let had_times = ran - not_here;
    let noun = if had_times == 1 { "experiment" } else { "experiments" };
    shell.note(&format!("{}: {had_times} {noun} ran{are_there}", file.display()));
}

/// Runs an experiment in a child process; returns why it failed, if it did. A line that an earlier child said too is said once.
fn run_child(
    shell: &Shell,
    args: &ExperimentArgs,
    experiment: &Experiment<'_>,
    lines: &mut BTreeSet<String>,
) -> Result<Option<String>> {
    let program = std::env::current_exe().context("the path of this program cannot be found")?;
    let given = flags::plain(std::env::args_os().collect(), &Args::command())?;
    let shared = given.into_iter().skip(1).filter(|a| !OWN.iter().any(|own| a == own));
    let model = json_dumps(&serde_json::json!({ "model_name": experiment.model.name }))?;
    let mut child = Command::new(program)
        .args(shared)
        .arg(format!("--experiment-config={}", json_dumps(experiment.config)?))
        .arg(format!("--model-config={model}"))
        .arg("--in-a-run")
        .arg(format!("--timestamp={}", repr(experiment.timestamp)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("the process of an experiment cannot be started")?;
    // A thread reads its messages while it runs, so that a full pipe never blocks it.
    let pipe = child.stderr.take();
    let messages = thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    });
    let ended = wait(&mut child, Duration::from_secs_f64(args.subprocess_timeout))?;
    let messages = messages.join().unwrap_or_default();
    if args.suite.print_subprocess && ended != Some(true) {
        messages.lines().for_each(|line| shell.say(line));
    }
    Ok(match ended {
        None => Some(format!("the experiment timed out after {} seconds", repr(args.subprocess_timeout))),
        Some(true) => {
            messages.lines().filter(|line| lines.insert((*line).to_owned())).for_each(|line| shell.say(line));
            None
        }
        Some(false) if messages.trim().is_empty() => Some("the experiment's process died without a message".to_owned()),
        Some(false) => Some(messages),
    })
}

/// Waits until a child has ended: whether it succeeded, or `None` when it was killed at its deadline.
fn wait(child: &mut Child, most: Duration) -> Result<Option<bool>> {
    let deadline = Instant::now() + most;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}
