//! The document of a custom operator: the figures, the errors, where the time goes, the source line by line.

use super::sweeps;
use ns_base::Interval;
use ns_base::convert::{u64_to_f64, u64_to_i64};
use ns_base::units::{format_bytes, format_count, format_figures, format_ns, format_share, unit_of_ns};
use ns_fidelity::{custom_op_beside, published_steps_per_s};
use ns_forms::options::command_line;
use ns_forms::studies::{CasePurpose, CustomopStudy, KernelCase};
use ns_kernel::{CoreMeter, Kind, Severity, is_source_name};
use ns_neuron::gpsimd::{CustomOpReport, CustomOpSpec, DiagnosticLine, Fault};
use ns_neuron::sim::busy_shares;
use ns_view::document::{Block, Document, Figure, Finding, Plot, Source, SourceLine, Tile, Tone};
use ns_view::plot::{Bars, Lanes};
use ns_view::table::{Cell, Column, ColumnKind, Table};

#[derive(Clone, Debug)]
pub(super) struct CaseReport {
    pub case: KernelCase,
    pub report: CustomOpReport,
    /// What each processor does over time; `None` if the kernel did not run.
    pub timeline: Option<Figure>,
}

/// The results of the runs so far.
pub(super) fn document(study: &CustomopStudy, finished: &[CaseReport]) -> Document {
    let Some(best) = sweeps::best(finished) else { return Document::default() };
    let (spec, report) = (&best.case.spec, &best.report);
    let mut blocks = vec![Block::Tiles(tiles(spec, report))];
    blocks.extend(sweeps::best_in_words(finished).map(Block::Text));
    blocks.extend(report.diagnostics.iter().map(|d| Block::Finding(finding(d))));
    if report.comparable_ns_per_element().is_some() {
        blocks.push(Block::Finding(Finding {
            tone: Tone::Neutral,
            title: "What would help:".to_owned(),
            text: report.advice(),
        }));
    }
    if !study.multicore && study.cores.len() > 1 {
        blocks.push(Block::Finding(Finding {
            tone: Tone::Warning,
            title: "Numbers of processors are not compared:".to_owned(),
            text: "one processor runs this kernel. Switch on \u{201c}Run on all processors\u{201d} for a kernel that divides its work."
                .to_owned(),
        }));
    }
    blocks.extend(step_blocks(finished));
    blocks.extend(sweeps::blocks(finished));
    if report.ns_per_element.is_some() {
        blocks.push(Block::Heading("Where the time goes".to_owned()));
        blocks.push(Block::Text(reach(spec)));
        blocks.push(Block::Plots(vec![parts(report), processors(report)]));
        blocks.extend(best.timeline.clone().map(Block::Plot));
        blocks.extend(network_steps(report));
    }
    blocks.push(Block::Heading("Line by line".to_owned()));
    blocks.push(Block::Source(source(spec, report)));
    if !report.output.is_empty() {
        blocks.push(values(report));
    }
    blocks.push(Block::Heading("On the command line".to_owned()));
    blocks.push(Block::Command(command(study)));
    Document { title: title(spec, report), blocks }
}

fn title(spec: &CustomOpSpec, report: &CustomOpReport) -> String {
    let processors =
        if report.cores == 1 { "one processor".to_owned() } else { format!("{} processors", report.cores) };
    format!("{} on {processors}", spec.name)
}

/// The scope of times and lines.
fn reach(spec: &CustomOpSpec) -> String {
    let processors = "Parts are those of the slowest processor.";
    match &spec.input {
        Some(dims) => {
            let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
            format!("One call on an input of {}. {processors}", dims.join(" x "))
        }
        None => format!("All calls of one step of the network. {processors}"),
    }
}

fn tiles(spec: &CustomOpSpec, report: &CustomOpReport) -> Vec<Tile> {
    let layers: Vec<String> = spec.layers.iter().map(u64::to_string).collect();
    let network = format!("{}, batch {}", layers.join("-"), spec.batch);
    let rate = report.iterations_per_s.map_or_else(
        || Tile { tone: Tone::Bad, ..Tile::new("Iterations per second", "\u{2013}".to_owned(), no_rate(report)) },
        |rate| {
            let beside = custom_op_beside(spec, rate).map(|published| format!("{network}; {published}"));
            Tile::new("Iterations per second", figures(rate), beside.unwrap_or(network))
        },
    );
    let step = report.step_ns.zip(report.bound_by).map(|(ns, bound)| {
        let parts = report.step_in_words().map_or_else(String::new, |parts| format!(": {parts}"));
        Tile::new("A step takes", format_ns(ns), format!("bound by the {bound}{parts}"))
    });
    let element = report
        .ns_per_element
        .map(|ns| Tile::new("Operator, per element", format_ns(ns), format!("most of it: {}", report.largest_part())));
    let (value, note, tone) = correctness(report);
    let correct = Tile { tone, ..Tile::new("Values", value, note) };
    [Some(rate), step, element, Some(correct)].into_iter().flatten().collect()
}

fn figures(value: f64) -> String {
    if value >= 100.0 { format!("{value:.1}") } else { format!("{value:.3}") }
}

/// Why the report has no rate: this kernel has a fault, or another kernel of the step does not finish.
fn no_rate(report: &CustomOpReport) -> String {
    let what = match report.fault() {
        Some(Fault::DoesNotCompile(place)) => ("the kernel does not compile", place),
        Some(Fault::DoesNotFinish(place)) => ("the kernel does not finish", place),
        _ => ("a kernel of the step does not finish", None),
    };
    match what {
        (what, Some(d)) => format!("{what}: line {}", d.line),
        (what, None) => what.to_owned(),
    }
}

fn correctness(report: &CustomOpReport) -> (String, String, Tone) {
    match (report.fault(), report.max_abs_error) {
        (Some(Fault::DoesNotCompile(_)), _) => {
            ("none".to_owned(), "nothing ran: the kernel does not compile".to_owned(), Tone::Bad)
        }
        (Some(Fault::DoesNotFinish(_)), None) => ("none".to_owned(), no_rate(report), Tone::Bad),
        (Some(_), Some(0.0)) => {
            ("equal".to_owned(), "to the reference, but still wrong: see below".to_owned(), Tone::Bad)
        }
        (Some(_), None) => ("wrong".to_owned(), "see below".to_owned(), Tone::Bad),
        (None, Some(0.0)) => ("exact".to_owned(), "equal to the reference".to_owned(), Tone::Good),
        (fault, Some(error)) => {
            let (note, tone) = match fault {
                Some(_) => ("the largest difference from the reference", Tone::Bad),
                None => ("the largest difference from the reference is rounding", Tone::Good),
            };
            (format!("off by {}", format_figures(error)), note.to_owned(), tone)
        }
        (None, None) => ("not compared".to_owned(), "give a reference, an expression of x".to_owned(), Tone::Neutral),
    }
}

fn finding(d: &DiagnosticLine) -> Finding {
    let (tone, kind) = if d.severity == Severity::Error { (Tone::Bad, "Error") } else { (Tone::Warning, "Warning") };
    let title = format!("{kind} at line {}, column {} ({}):", d.line, d.column, d.code);
    Finding { tone, title, text: d.message.clone() }
}

fn parts(report: &CustomOpReport) -> Figure {
    let b = &report.breakdown_ns;
    let beside = (b.host > 0.0).then_some(("the host, at the same time", b.host));
    let bars = b.parts().into_iter().filter(|p| p.1 > 0.0).chain(beside);
    let group = |name: &str| if name.starts_with("the host") { "host" } else { "device" }.to_owned();
    let bars: Vec<(&str, f64)> = bars.collect();
    let (unit, scale) = unit_of_ns(bars.iter().map(|(_, ns)| *ns).fold(0.0, f64::max));
    let plot = Bars::new(bars.into_iter().map(|(name, ns)| (name.to_owned(), group(name), ns / scale)));
    Figure {
        title: "Parts".to_owned(),
        note: format!("The device takes {} in all.", format_ns(b.device_ns())),
        plot: Plot::Bars(plot, unit.to_owned()),
    }
}

/// A step of the network by itself, as the other commands and pages have it; empty if a kernel of the step does not finish.
fn network_steps(report: &CustomOpReport) -> Option<Block> {
    let table = Table::of(&report.steps)
        .text("workflow", "Workflow", |s| s.workflow.name())
        .number("host_ms", "Host (ms)", |s| s.host_ns / 1e6)
        .number("link_ms", "Link (ms)", |s| s.link_ns / 1e6)
        .number("device_ms", "Device (ms)", |s| s.device_ns / 1e6)
        .number("waited_ms", "Each result waited for (ms)", |s| s.waited_ns / 1e6)
        .number("ahead_ms", "One step ahead (ms)", |s| s.ahead_ns / 1e6)
        .table();
    let title = "A step of the network, with no batch to load".to_owned();
    (!report.steps.is_empty()).then(|| Block::Table { title, file: "customop-step".to_owned(), table })
}

fn processors(report: &CustomOpReport) -> Figure {
    let bars = report.cores_ns.iter().enumerate();
    let (unit, scale) = unit_of_ns(report.cores_ns.iter().copied().fold(0.0, f64::max));
    let plot = Bars::new(bars.map(|(i, ns)| (format!("processor {i}"), String::new(), ns / scale)));
    Figure {
        title: "Processors".to_owned(),
        note: "The operator takes as long as the slowest. Open as timeline shows what each does when.".to_owned(),
        plot: Plot::Bars(plot, unit.to_owned()),
    }
}

/// The source with count and time of every line, and its errors.
/// Pieces of the time of a timeline.
const PIECES: u64 = 120;

/// When each processor does instructions, and when it waits for device memory; `None` if that is not known.
pub(super) fn timeline(processors: &[CoreMeter]) -> Option<Figure> {
    let end = processors.iter().map(CoreMeter::total_ps).max().filter(|end| *end > 0)?;
    // A meter keeps a processor's first few thousand segments: a kernel with more would have a picture of its beginning only.
    let compute = |meter: &CoreMeter| -> u64 {
        let work = meter.segments().iter().filter(|segment| segment.kind == Kind::Compute);
        work.map(|segment| segment.end_ps - segment.start_ps).sum()
    };
    if processors.iter().any(|meter| compute(meter) != meter.kind_ps(Kind::Compute)) {
        return None;
    }
    let lane = |(number, meter): (usize, &CoreMeter)| {
        let work = meter.segments().iter().filter(|segment| segment.kind == Kind::Compute);
        let percent = busy_shares(work.map(|s| Interval::new(s.start_ps, s.end_ps)), end, end.div_ceil(PIECES));
        (format!("Processor {number}"), percent)
    };
    let lanes = Lanes::new(0, u64_to_i64(end / 1_000), processors.iter().enumerate().map(lane));
    Some(Figure {
        title: "Processors over time".to_owned(),
        note: "The share of each moment in instructions; for the rest a processor waits for device memory.".to_owned(),
        plot: Plot::Lanes(lanes),
    })
}

fn source(spec: &CustomOpSpec, report: &CustomOpReport) -> Source {
    let total: f64 = report.lines.iter().map(|l| l.time_ns).sum();
    let line = |(i, text): (usize, &str)| {
        let number = i + 1;
        let cost = report.lines.iter().find(|l| l.line == number);
        let share = cost.map_or(0.0, |l| l.time_ns / total.max(1e-9));
        let values = cost.map_or_else(Vec::new, |l| {
            let bytes = if l.bytes > 0 { format_bytes(u64_to_f64(l.bytes)) } else { String::new() };
            vec![format_count(l.count), format_ns(l.time_ns), format_share(100.0 * share), bytes]
        });
        let here = || report.diagnostics.iter().filter(|d| d.line as usize == number);
        let column = here().next().map_or(0, |d| d.column);
        let notes = here().map(|d| format!("column {}: {} [{}]", d.column, d.message, d.code)).collect();
        SourceLine { text: text.to_owned(), values, share, notes, column }
    };
    Source {
        name: format!("{}, with what all processors do on each line", spec.name),
        columns: ["Count", "Time", "Share", "Bytes"].map(str::to_owned).to_vec(),
        lines: spec.source.lines().enumerate().map(line).collect(),
    }
}

fn values(report: &CustomOpReport) -> Block {
    let columns =
        vec![Column::new("element", "Element", ColumnKind::Count), Column::new("value", "Value", ColumnKind::Exact)];
    let row = |(i, x): (usize, &Option<f32>)| vec![Cell::Count(i as u64), x.map(shortest).into()];
    let table = Table { columns, rows: report.output.iter().enumerate().map(row).collect() };
    Block::Table { title: "First values of the result".to_owned(), file: "customop-values".to_owned(), table }
}

/// A single-precision number with the fewest digits that identify it.
fn shortest(x: f32) -> f64 {
    x.to_string().parse().unwrap_or(f64::from(x))
}

/// The command that gives the same result; an edited kernel is first saved as a file.
fn command(study: &CustomopStudy) -> String {
    let built_in = ns_kernel::built_in(&study.kernel).filter(|_| !study.is_edited());
    let own = built_in.is_none();
    let file = if is_source_name(&study.kernel) { &study.kernel } else { "kernel.cpp" };
    let is_built_so = built_in.is_some_and(|k| k.multicore);
    let line =
        command_line("customop", study, &CustomopStudy::default(), &["kernel", "layers"], |line, option, text| {
            match option.key() {
                "kernel" => line.option("kernel", if own { file } else { text }),
                "multicore" => line.flag("multicore", study.multicore && !is_built_so),
                _ => option.on(line, text),
            }
        });
    let saved = if own { format!("# with the source above saved as {file}\n") } else { String::new() };
    format!("{saved}{}", line.print())
}

/// The tutorial's steps side by side, each with its gain over the previous one and the reason; empty if they were not requested.
fn step_blocks(finished: &[CaseReport]) -> Vec<Block> {
    let steps: Vec<&CaseReport> = finished.iter().filter(|f| f.case.purpose == CasePurpose::Step).collect();
    if steps.is_empty() {
        return Vec::new();
    }
    let text = "The same ReLU in the same network. The element-wise kernel fetches every element from device memory by itself. The \
                second copies blocks to local memory (TCM) and works on them there. The third divides the elements among the \
                processors.";
    let rates = steps.iter().filter_map(|f| {
        let rate = f.report.comparable_rate()?;
        Some((f.report.kernel.clone(), f.report.kernel.clone(), rate))
    });
    let plot = Plot::Bars(Bars::new(rates), "iterations/s".to_owned());
    let before = std::iter::once(None).chain(steps.iter().map(|f| Some(&f.report)));
    let pairs: Vec<(&CaseReport, Option<&CustomOpReport>)> = steps.iter().copied().zip(before).collect();
    let reason = |r: &CustomOpReport, before: Option<&CustomOpReport>| match (r.fault(), before) {
        (Some(fault), _) => fault.to_string(),
        (None, Some(before)) => r.reason_against(before),
        (None, None) => format!("most of it: {}", r.largest_part()),
    };
    let table = Table::of(&pairs)
        .text("kernel", "Kernel", |(f, _)| f.report.kernel.as_str())
        .number("iterations_per_s", "Iterations/s", |(f, _)| f.report.comparable_rate())
        .number("published", "AWS, iterations/s", |(f, _)| published_steps_per_s(&f.case.spec))
        .number("gain", "Gain", |(f, before)| Some(f.report.comparable_rate()? / before.as_ref()?.comparable_rate()?))
        .number("ns_per_element", "ns per element", |(f, _)| f.report.comparable_ns_per_element())
        .text("bound_by", "Bound by", |(f, _)| f.report.bound_by.unwrap_or("-"))
        .text("reason", "Why", |(f, before)| reason(&f.report, *before))
        .table();
    vec![
        Block::Heading("The tutorial\u{2019}s steps".to_owned()),
        Block::Text(text.to_owned()),
        Block::Plot(Figure { title: "Iterations per second".to_owned(), note: String::new(), plot }),
        Block::Table { title: "Steps of the tutorial".to_owned(), file: "customop-steps".to_owned(), table },
    ]
}
