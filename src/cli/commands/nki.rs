//! `neuronscope nki`

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::shell::Shell;
use crate::shell::to_json;
use anyhow::{Result, anyhow, bail};

use super::kept_kernels::KeptKernels;
use crate::interrupt::{self, InterruptError};
use crate::nki_args::NkiArgs;
use crate::nki_recorder::{Call, Python, Recorder, name_of, text_of};
use crate::progress::ProgressBar;
use crate::remarks::{Remark, with_remarks, write_profile};
use ns_base::units::{format_number, format_plural};
use ns_base::{FxHashMap, digest64};
use ns_nki::{Answer, Ranked, Ranking, Settings, Setup, WITH_LIMITS, answer};

use ns_session::studies::{KernelComparison, KernelDocument, KernelRow, NkiStudy, compare_kernel, kernel_profile};
use ns_view::{markdown, terminal};

pub(super) fn run(shell: &Shell, args: NkiArgs) -> Result<()> {
    let mut study = NkiStudy::default();
    study.shapes.clear();
    args.options.put_into(&mut study, &[])?;
    let setup = study.setup().map_err(|e| anyhow!(e))?;
    let cases = cases_of(&study, &args)?;
    if cases.len() > 1 && (args.output.is_some() || args.list.is_some()) {
        bail!("--output and --list write one kernel; leave --set and --rank out, or give each constant one value");
    }
    let mut recorder = Recorder::new();
    recorder.prepare(shell, cases.iter().map(|case| case.kernel.as_str()))?;
    interrupt::listen(shell)?;
    let setup = Setup { with_limits: cases.len() <= WITH_LIMITS, ..setup };
    let done = rank_all(shell, &cases, &recorder, &args, (&study, &setup))?;
    let stopped = done.len() < cases.len();
    let time = |case: &Case| case.ranked.total_us().unwrap_or(f64::INFINITY);
    let best = done.iter().min_by(|a, b| time(a).total_cmp(&time(b))).cloned().unwrap_or_default();
    let ranking = Ranking::of(done.iter().map(|case| case.ranked.clone()).collect());
    match ranking.ranked.as_slice() {
        [Ranked { error: Some(error), .. }] => bail!("{error}"),
        [Ranked { answer: Some(found), .. }] if args.json => {
            shell.print(&with_remarks(to_json(found)?, &best.remarks)?)?;
        }
        _ if args.json => shell.print_json(&ranking)?,
        _ => {}
    }
    let of =
        KernelDocument { instance: study.usual(), source: None, ranking: &ranking, files: &best.files, command: "" };
    let document = of.document();
    if !args.json {
        shell.print_lines(&terminal::document(&document))?;
    }
    if let Some(path) = &args.report {
        crate::output::write(shell, path, markdown::document(&document))?;
    }
    args.page.save(shell, None, &document)?;
    if stopped {
        return Err(InterruptError(format!("stopped after {} of {} kernels", done.len(), cases.len())).into());
    }
    ranking.ranked.first().map_or(Ok(()), |best| judge(best, args.budget_us))
}

/// The cases that have a time or an error, in their order; those that the file of --resume has are not run again. Fails when that file is of
/// another source or call.
fn rank_all(
    shell: &Shell,
    cases: &[Call],
    recorder: &Recorder,
    args: &NkiArgs,
    (study, setup): (&NkiStudy, &Setup),
) -> Result<Vec<Case>> {
    let rows =
        args.resume.as_deref().map(|path| KeptKernels::open(path, digest(shell, study, args, setup)?)).transpose()?;
    let (file, rows) = rows.unzip();
    let key = |kernel: &String, settings: &Settings| (kernel.clone(), settings.clone());
    let of_row = |case: Case| (key(&case.ranked.kernel, &case.ranked.settings), case);
    // Of the files of a list, the first is the kernel's.
    let case = |ranked: Ranked| Case { files: vec![name_of(&ranked.kernel)], ranked, ..Case::default() };
    let rows = rows.unwrap_or_default().into_iter().map(|ranked| of_row(case(ranked)));
    let mut finished: FxHashMap<_, _> = rows.collect();
    let has = |call: &&Call| finished.contains_key(&key(&call.kernel, &call.settings));
    let left: Vec<Call> = cases.iter().filter(|call| !has(call)).cloned().collect();
    if left.len() < cases.len() {
        let count = format_plural(cases.len() - left.len(), "kernel");
        ProgressBar::new(shell).note(&format!("an earlier run finished {count}; only what is missing runs"));
    }
    let done = in_workers(shell, &left, "kernels", |call, python| {
        let mut case = rank(call, recorder, args, (study, setup), python);
        if let Some(file) = file.as_ref().filter(|_| case.ranked.total_us().is_some())
            && let Err(error) = file.add(&case.ranked)
        {
            case.ranked.error = Some(format!("{error:#}"));
        }
        // Ctrl-C ends Python too.
        (case.ranked.error.is_none() || !interrupt::is_stop_requested()).then_some(case)
    });
    finished.extend(done.into_iter().map(of_row));
    let done = cases.iter().filter_map(|call| finished.get(&key(&call.kernel, &call.settings)).cloned());
    Ok(done.collect())
}

/// A digest of what decides the answers: the text of the files, the call but for its settings, and this version.
fn digest(shell: &Shell, study: &NkiStudy, args: &NkiArgs, setup: &Setup) -> Result<u64> {
    let study = NkiStudy { set: String::new(), ..study.clone() };
    let of = (study, setup.with_limits, env!("CARGO_PKG_VERSION"));
    let mut text = format!("{of:?}");
    for kernel in args.rank.iter().chain(&args.kernel) {
        text += &text_of(shell, kernel)?;
    }
    Ok(digest64(&text))
}

/// A case with its answer.
#[derive(Clone, Debug, Default)]
struct Case {
    ranked: Ranked,
    /// The files of its list, and what is to be said of the timeline that was written.
    files: Vec<String>,
    remarks: Vec<Remark>,
}

/// Every kernel with every combination of the values.
fn cases_of(study: &NkiStudy, args: &NkiArgs) -> Result<Vec<Call>> {
    let settings = study.cases(NkiStudy::MOST_SETTINGS).map_err(|e| anyhow!("--set: {e}"))?;
    let kernels = args.rank.iter().chain(&args.kernel);
    let calls = kernels.flat_map(|kernel| settings.iter().map(move |case| (kernel, case)));
    calls.map(|(kernel, settings)| Call::of(study, kernel, settings)).collect()
}

fn rank(
    call: &Call,
    recorder: &Recorder,
    args: &NkiArgs,
    (study, setup): (&NkiStudy, &Setup),
    python: &mut Option<Python>,
) -> Case {
    // The host is of another thread: what a worker writes is on disk.
    let shell = &Shell::default();
    let mut case = Case::default();
    let mut run = || -> Result<Answer> {
        let (text, list) = recorder.read(call, python)?;
        if let Some(path) = &args.list {
            crate::output::write(shell, path, &text)?;
        }
        let (instance, setup) = study.placed(&list, setup)?;
        let found = answer(&list, &setup)?;
        if let Some(path) = args.output.as_ref().filter(|_| found.builds) {
            case.remarks = write_profile(shell, path, &kernel_profile(&list, &setup, &instance)?, args.export)?;
        }
        case.files = list.files;
        Ok(found)
    };
    let (answer, error) = match run() {
        Ok(answer) => (Some(answer), None),
        Err(error) => (None, Some(format!("{error:#}"))),
    };
    Case { ranked: Ranked { kernel: call.kernel.clone(), settings: call.settings.clone(), answer, error }, ..case }
}

/// Whether the best kernel builds, within its budget, with the values that are wanted.
fn judge(best: &Ranked, budget_us: Option<f64>) -> Result<()> {
    let label = best.label();
    let Some(found) = &best.answer else {
        bail!("no kernel could run: {}", best.error.as_deref().unwrap_or_default());
    };
    let Some(total) = found.total_us else {
        let first = found.errors.first().map(|e| e.message.trim_end_matches('.')).unwrap_or_default();
        bail!("{label} does not build: {first}");
    };
    if let Some(error) = found.check.as_ref().and_then(ns_nki::Check::error) {
        bail!("{label}: the values cannot be compared: {error}");
    }
    match budget_us {
        Some(budget) if total > budget => {
            bail!(
                "{label} takes {} \u{b5}s, more than the budget of {} \u{b5}s",
                format_number(total),
                format_number(budget)
            )
        }
        _ => Ok(()),
    }
}

/// Does the same for each of many, on all processors, each with a Python of its own; what Ctrl-C left is missing.
fn in_workers<T: Sync, R: Send>(
    shell: &Shell,
    all: &[T],
    label: &str,
    work: impl Fn(&T, &mut Option<Python>) -> Option<R> + Sync,
) -> Vec<R> {
    let done: Vec<Mutex<Option<R>>> = all.iter().map(|_| Mutex::new(None)).collect();
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let worker = || {
        let mut python = None;
        while !interrupt::is_stop_requested() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((one, place)) = all.get(at).zip(done.get(at)) else { return };
            let result = work(one, &mut python);
            if let Ok(mut place) = place.lock() {
                *place = result;
            }
            finished.fetch_add(1, Ordering::Relaxed);
        }
    };
    let mut bar = ProgressBar::new(shell);
    let count = thread::available_parallelism().map_or(1, usize::from).min(all.len());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(worker)).collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            if all.len() > 1 {
                bar.show(finished.load(Ordering::Relaxed) as u64, all.len() as u64, label);
            }
            thread::sleep(Duration::from_millis(5));
        }
    });
    bar.clear();
    done.into_iter().filter_map(|result| result.into_inner().ok().flatten()).collect()
}

/// Measured kernels beside their predictions: `neuronscope validate tests/nki/calibration.csv`.
pub(super) fn compare(shell: &Shell, table: &Path, rows: &[KernelRow]) -> Result<Vec<KernelComparison>> {
    let folder = table.parent().unwrap_or(Path::new(""));
    let kernel_of = |row: &KernelRow| folder.join(&row.kernel).display().to_string();
    let kernels: Vec<String> = rows.iter().map(kernel_of).collect();
    let mut recorder = Recorder::new();
    recorder.prepare(shell, kernels.iter().map(String::as_str))?;
    interrupt::listen(shell)?;
    let compare = |row: &KernelRow, python: &mut Option<Python>| -> Result<KernelComparison> {
        let mut study = NkiStudy { shapes: row.shapes.clone(), ..NkiStudy::default() };
        study.flag = row.flags.first().cloned().unwrap_or_default();
        let setup = Setup { with_limits: false, ..study.setup().map_err(|e| anyhow!(e))? };
        let call = Call::of(&study, &kernel_of(row), &row.settings)?;
        Ok(compare_kernel(row, &answer(&recorder.read(&call, python)?.1, &setup)?))
    };
    in_workers(shell, rows, "kernels", |row, python| Some(compare(row, python))).into_iter().collect()
}
