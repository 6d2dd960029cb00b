//! `neuronscope nki`

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};

use super::text;
use crate::interrupt::{self, InterruptError};
use crate::nki_args::NkiArgs;
use crate::nki_recorder::{Call, Recorder};
use crate::progress::ProgressBar;
use crate::remarks::{Remark, with_remarks, write_profile};
use ns_base::Order;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_bytes, format_change, format_count, format_number, format_range};
use ns_capture::{Recorder as Spans, build_profile};
use ns_compiler::Workflow;
use ns_fidelity::{KernelComparison, KernelRow, KernelSummary, compare_kernel, read_kernels, summarise_kernels};
use ns_neuron::sim::simulate;
use ns_nki::{
    Answer, Busy, List, Problem, Ranked, Ranking, Settings, Setup, WITH_LIMITS, answer, combinations, executable_of,
};

pub(super) fn run(args: NkiArgs) -> Result<()> {
    let setup = Setup::new(&args.instance, args.lnc, &args.flag, &args.without)?;
    let cases = cases_of(&args)?;
    let mut recorder = Recorder::new();
    recorder.prepare(cases.iter().map(|case| case.kernel.as_str()))?;
    match &cases[..] {
        [case] => one(case, &recorder, &args, &setup),
        cases => several(cases, &recorder, &args, &setup),
    }
}

/// A kernel with its settings.
#[derive(Clone, Debug, Default)]
struct Case {
    kernel: String,
    /// Each as `NAME=VALUE`.
    settings: Vec<String>,
}

impl Case {
    fn call(&self, args: &NkiArgs) -> Call {
        Call {
            kernel: self.kernel.clone(),
            settings: self.settings.clone(),
            shapes: args.shapes.clone(),
            grid: args.grid.clone(),
            dtype: args.dtype.clone(),
            instance: args.instance.clone(),
            lnc: args.lnc,
        }
    }

    fn label(&self) -> String {
        if self.settings.is_empty() { self.kernel.clone() } else { self.settings.join(" ") }
    }
}

/// Every kernel with every combination of the values.
fn cases_of(args: &NkiArgs) -> Result<Vec<Case>> {
    let settings = combinations(args.set.iter().map(String::as_str), MOST_CASES);
    let settings = settings.map_err(|error| error.within(|what| format!("--set: {what}")))?;
    let kernels = args.rank.iter().chain(&args.kernel);
    let of_kernel = |kernel: &String| {
        let case = |settings: &Settings| Case { kernel: kernel.clone(), settings: settings.clone() };
        settings.iter().map(case).collect::<Vec<_>>()
    };
    Ok(kernels.flat_map(of_kernel).collect())
}

const MOST_CASES: usize = 10_000;

fn one(case: &Case, recorder: &Recorder, args: &NkiArgs, setup: &Setup) -> Result<()> {
    let (list_text, list) = recorder.read(&case.call(args))?;
    if let Some(path) = &args.list {
        crate::output::write(path, &list_text)?;
    }
    setup.check(&list, &args.instance)?;
    let found = answer(&list, setup)?;
    let remarks = match &args.output {
        Some(path) if found.builds => write_timeline(path, &list, args, setup)?,
        _ => Vec::new(),
    };
    if args.json {
        text::print(&with_remarks(text::to_json(&found)?, &remarks)?)?;
    } else {
        text::print_lines(&describe(&list, &found, args))?;
    }
    judge(&case.label(), &found, args.budget_us)
}

/// Whether the kernel builds, within its budget.
fn judge(label: &str, found: &Answer, budget_us: Option<f64>) -> Result<()> {
    let Some(total) = found.total_us else {
        let first = found.errors.first().map(|e| e.message.trim_end_matches('.')).unwrap_or_default();
        bail!("{label} does not build: {first}");
    };
    match budget_us {
        Some(budget) if total > budget => {
            bail!("{label} takes {} us, more than the budget of {} us", format_number(total), format_number(budget))
        }
        _ => Ok(()),
    }
}

fn write_timeline(path: &Path, list: &List, args: &NkiArgs, setup: &Setup) -> Result<Vec<Remark>> {
    let executable = executable_of(list, setup);
    let mut spans = Spans::default();
    simulate(&executable, &setup.costs, &mut spans)?;
    let title = format!("{} on {}", list.function(), args.instance);
    let captured = build_profile(&executable, &spans, &setup.costs, Workflow::Trace, title.as_str().into());
    write_profile(path, &captured.profile, args.export)
}

fn several(cases: &[Case], recorder: &Recorder, args: &NkiArgs, setup: &Setup) -> Result<()> {
    if args.output.is_some() || args.list.is_some() {
        bail!("--output and --list write one kernel; leave --set and --rank out, or give each constant one value");
    }
    interrupt::listen()?;
    let setup = Setup { with_limits: cases.len() <= WITH_LIMITS, ..setup.clone() };
    let ranked = in_workers(cases, "settings", |case| rank(case, recorder, args, &setup));
    let stopped = ranked.len() < cases.len();
    let ranking = Ranking::of(ranked);
    if args.json {
        text::print_json(&ranking)?
    } else {
        text::print_lines(&table(&ranking.ranked))?
    }
    if stopped {
        let count = ranking.ranked.len();
        return Err(InterruptError(format!("stopped after {count} of {} settings", cases.len())).into());
    }
    let Some(best) = ranking.ranked.first() else { return Ok(()) };
    match (&best.answer, &best.error) {
        (Some(answer), _) => judge(&best.label(), answer, args.budget_us),
        (None, Some(error)) => bail!("no case could run: {error}"),
        (None, None) => Ok(()),
    }
}

/// Does the same for each of many, on all processors; what Ctrl-C left is missing.
fn in_workers<T: Sync, R: Send>(all: &[T], label: &str, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let done: Vec<Mutex<Option<R>>> = all.iter().map(|_| Mutex::new(None)).collect();
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let worker = || {
        while !interrupt::is_stop_requested() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((one, place)) = all.get(at).zip(done.get(at)) else { return };
            let result = work(one);
            if let Ok(mut place) = place.lock() {
                *place = Some(result);
            }
            finished.fetch_add(1, Ordering::Relaxed);
        }
    };
    let mut bar = ProgressBar::new();
    let count = thread::available_parallelism().map_or(1, usize::from).min(all.len());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(worker)).collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            bar.show(finished.load(Ordering::Relaxed) as u64, all.len() as u64, label);
            thread::sleep(Duration::from_millis(10));
        }
    });
    bar.clear();
    done.into_iter().filter_map(|result| result.into_inner().ok().flatten()).collect()
}

fn rank(case: &Case, recorder: &Recorder, args: &NkiArgs, setup: &Setup) -> Ranked {
    let run = || -> Result<Answer> {
        let (_, list) = recorder.read(&case.call(args))?;
        setup.check(&list, &args.instance)?;
        Ok(answer(&list, setup)?)
    };
    let (answer, error) = match run() {
        Ok(answer) => (Some(answer), None),
        Err(error) => (None, Some(format!("{error:#}"))),
    };
    Ranked { kernel: case.kernel.clone(), settings: case.settings.clone(), answer, error }
}

fn table(ranked: &[Ranked]) -> String {
    let row = |r: &Ranked| -> Vec<String> {
        let Some(a) = &r.answer else {
            return vec![r.label(), String::new(), String::new(), String::new(), r.error.clone().unwrap_or_default()];
        };
        let share = |name: &str| a.engines.get(name).map_or(String::new(), |b| format!("{:.1} %", 100.0 * b.share));
        let note = match (a.errors.first(), a.spill.bytes) {
            (Some(error), _) => format!("does not build: {} {}", error.code, error.message).replace("  ", " "),
            (None, 0) => a.bound.clone().map_or(String::new(), |bound| format!("bound by {bound}")),
            (None, bytes) => format!("spills {}", format_bytes(u64_to_f64(bytes))),
        };
        let bytes = format_bytes(u64_to_f64(a.hbm.read_bytes + a.hbm.write_bytes + a.spill.bytes));
        let time = |text: String| if a.builds { text } else { String::new() };
        vec![r.label(), a.total_us.map_or(String::new(), format_number), time(share("tensor")), time(bytes), note]
    };
    text::table(&["Settings", ">us", ">Tensor", ">Bytes moved", "Note"], &ranked.iter().map(row).collect::<Vec<_>>())
}

fn describe(list: &List, found: &Answer, args: &NkiArgs) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    let place = |problem: &Problem| {
        let file = list.files.get(problem.file).map_or("", String::as_str);
        if problem.line > 0 { format!("{file}:{}: ", problem.line) } else { String::new() }
    };
    for error in &found.errors {
        let code = if error.code.is_empty() { String::new() } else { format!(" [{}]", error.code) };
        line(format!("error: {}{}{code}", place(error), sentence(error)));
    }
    if let (Some(total), Some([low, high])) = (found.total_us, found.interval_us) {
        let range = format_range(low, high, "us");
        line(format!("{} on {}: {} us ({range} in 8 of 10 cases)", found.kernel, args.instance, format_number(total)));
        line(bound(found));
        line(String::new());
        let row = |(name, busy): (&String, &Busy)| {
            vec![name.clone(), format_number(busy.busy_us), format!("{:.1} %", 100.0 * busy.share)]
        };
        line(text::table(&["Engine", ">Busy us", ">Of the time"], &found.engines.iter().map(row).collect::<Vec<_>>()));
        line(bytes(found));
        let counts = found.instructions.iter().map(|(name, n)| format!("{name} {}", format_count(*n)));
        line(format!("Instructions: {}", counts.collect::<Vec<_>>().join(", ")));
        line(String::new());
        line(lines(found));
    }
    for warning in &found.warnings {
        line(format!("warning: {}{}", place(warning), sentence(warning)));
    }
    found.remarks.iter().for_each(|remark| line(format!("note: {remark}")));
    out
}

fn sentence(problem: &Problem) -> String {
    let message = problem.message.trim_end_matches('.');
    if problem.fix.is_empty() {
        message.to_owned()
    } else {
        format!("{message}; {}", problem.fix.trim_end_matches('.'))
    }
}

/// What bounds the kernel, and what it would gain without each limit.
fn bound(found: &Answer) -> String {
    let mut gains: Vec<(&String, f64)> = found.saves_us.iter().map(|(name, us)| (name, *us)).collect();
    gains.order_by(|a, b| b.1.total_cmp(&a.1));
    let total = found.total_us.unwrap_or_default();
    let shown = gains.iter().filter(|(_, us)| *us >= total / 100.0);
    let list: Vec<String> = shown.map(|(name, us)| format!("{name} {} us", format_number(*us))).collect();
    match &found.bound {
        Some(bound) => format!("Bound by {bound}. Without one limit it would gain: {}", list.join(", ")),
        None => "No single limit bounds it".to_owned(),
    }
}

fn bytes(found: &Answer) -> String {
    let of = |bytes: u64| format_bytes(u64_to_f64(bytes));
    let spill = match found.spill.bytes {
        0 => String::new(),
        bytes => format!("; SBUF has no room for {}, which leave and come back", of(bytes)),
    };
    format!(
        "Device memory: {} read, {} written; each input and output once is {}{spill}",
        of(found.hbm.read_bytes),
        of(found.hbm.write_bytes),
        of(found.hbm.floor_bytes)
    )
}

fn lines(found: &Answer) -> String {
    let row = |line: &ns_nki::Line| {
        vec![
            format!("{}:{}", line.file, line.line),
            format_number(line.engine_us),
            format_number(line.dma_us),
            format_bytes(u64_to_f64(line.bytes)),
            format_count(line.count),
        ]
    };
    text::table(
        &["Line", ">Engines us", ">DMA us", ">Bytes", ">Instructions"],
        &found.lines.iter().map(row).collect::<Vec<_>>(),
    )
}

/// Measured kernels beside their predictions: `neuronscope validate tests/nki/calibration.csv`.
pub(super) fn validate(table: &Path, csv: &[u8], json: bool) -> Result<()> {
    let rows = read_kernels(csv)?;
    let mut recorder = Recorder::new();
    recorder.prepare(rows.iter().map(|row| row.kernel.as_str()))?;
    interrupt::listen()?;
    let folder = table.parent().unwrap_or(Path::new(""));
    let compare = |row: &KernelRow| -> Result<KernelComparison> {
        let instance = "trn2.48xlarge";
        let setup = Setup { with_limits: false, ..Setup::new(instance, 1, &row.flags, &[])? };
        let call = Call {
            kernel: folder.join(&row.kernel).display().to_string(),
            settings: row.settings.clone(),
            shapes: Some(row.shapes.clone()),
            grid: None,
            dtype: "float32".to_owned(),
            instance: instance.to_owned(),
            lnc: 1,
        };
        Ok(compare_kernel(row, &answer(&recorder.read(&call)?.1, &setup)?))
    };
    let kernels = in_workers(&rows, "kernels", compare).into_iter().collect::<Result<Vec<_>>>()?;
    let summary = summarise_kernels(&kernels);
    if json {
        return text::print_json(&serde_json::json!({ "kernels": kernels, "summary": summary }));
    }
    let number = |x: Option<f64>| x.map_or_else(String::new, format_number);
    let row = |c: &KernelComparison| {
        let built = if c.builds_as_measured { "" } else { "builds otherwise" };
        let spilt = if c.spills_as_measured == Some(false) { "spills otherwise" } else { "" };
        let error = c.error.map_or_else(String::new, |e| format_change(e * 100.0));
        vec![c.row.variant.clone(), number(c.row.measured_us), number(c.total_us), error, format!("{built}{spilt}")]
    };
    let percent = |x: f64| format!("{:.1} %", 100.0 * x);
    let of = |s: &KernelSummary| {
        let wrong = format!("{}, {}", s.wrong_builds, s.wrong_spills);
        let tau = |x: f64| format!("{x:.2}");
        vec![
            s.group.clone(),
            s.kernels.to_string(),
            percent(s.median),
            percent(s.p90),
            format_change(100.0 * s.bias),
            tau(s.tau),
            tau(s.tau_above_5),
            percent(s.regret),
            wrong,
        ]
    };
    let headings = ["Kernel", ">Measured us", ">Model us", ">Error", "Note"];
    let mut out = text::table(&headings, &kernels.iter().map(row).collect::<Vec<_>>());
    let headings =
        ["Operator", ">Kernels", ">Median", ">p90", ">Bias", ">Tau", ">Above 5 %", ">Regret", ">Wrong builds, spills"];
    out.push('\n');
    out.push_str(&text::table(&headings, &summary.iter().map(of).collect::<Vec<_>>()));
    text::print(out.as_bytes())
}
