//! `neuronscope open FILE...`

use anyhow::{Context, Result, bail};

use super::analysis::{analyse, list, print_json};
use super::profile::{export, operators, write_page, write_trace};
use crate::analysis_args::ListingOutput;
use crate::args::OpenArgs;
use crate::driver::Driver;
use crate::remarks::{Remark, remarks_on, with_remarks};
use crate::shell::Shell;
use crate::source;
use ns_analysis::GroupBy;
use ns_analysis::device::DeviceFigures;
use ns_analysis::memory::DeviceMemory;
use ns_analysis::opcode::name_in;
use ns_analysis::summary::OpenSummary;
use ns_base::convert::{f64_to_i64, f64_to_u64, i64_to_f64, u64_to_f64};
use ns_base::printable;
use ns_base::units::{format_bytes, format_count, format_ns, format_plural};
use ns_session::{Answer, ExportKind, GroupsOf, LOCAL_PAGE, Listing, OperatorKind, ProfileInfo, ProfileKey, Question};
use ns_view::table::Cell;
use ns_view::terminal;

/// Operators and steps in the line about the memory of a device.
const MOST_ALLOCATORS: usize = 3;
const MOST_STEPS: usize = 8;

pub(super) fn run(shell: &Shell, args: OpenArgs) -> Result<()> {
    let mut driver = Driver::new(shell);
    let info = source::open_files(&mut driver, &args.files)?;
    // The text of each profile has its own.
    if args.json || args.summary {
        std::iter::once(&info).chain(&info.also).for_each(|one| driver.remark(&one.name, one));
    }
    if let Some(path) = &args.output {
        write_trace(&mut driver, info.profile, args.export, path)?;
    }
    if let Some(path) = &args.html {
        write_page(&mut driver, info.profile, LOCAL_PAGE, path)?;
    }
    if args.level.level.is_some() && (args.json || args.summary) {
        bail!("--level chooses the operators of the list; leave it out, or leave out --json and --summary");
    }
    if args.summary {
        return sentences(&mut driver, info.profile, args.json);
    }
    for one in std::iter::once(&info).chain(&info.also) {
        let json = export(&mut driver, one.profile, ExportKind::OpenJson)?;
        if args.json {
            let written =
                args.output.as_ref().filter(|_| one.profile == info.profile).map(|path| path.display().to_string());
            let left_out = driver.remarks().iter().filter(|r| written.as_ref().is_some_and(|file| r.is_of(file)));
            let remarks: Vec<Remark> = remarks_on(&one.name, one).into_iter().chain(left_out.cloned()).collect();
            shell.print(&with_remarks(json, &remarks)?)?;
            continue;
        }
        if !info.also.is_empty() {
            shell.print_lines(&format!("{}\n", one.name))?;
        }
        let summary: OpenSummary = serde_json::from_slice(&json).context("the summary cannot be parsed")?;
        shell.print_lines(&describe(&summary, one))?;
        shell.print(operators_of(&mut driver, one, &args)?.as_bytes())?;
        shell.print(neuron_tables(&mut driver, one)?.as_bytes())?;
    }
    Ok(())
}

/// The operator tables of a run recorded for the Neuron plugin, as the plugin shows them.
fn neuron_tables(driver: &mut Driver<'_>, info: &ProfileInfo) -> Result<String> {
    let mut out = String::new();
    for (kind, title) in [(OperatorKind::Framework, "operator-framework"), (OperatorKind::Hlo, "operator-hlo")] {
        if info.operators.contains(&kind) {
            out.push_str(&format!("\n{title}\n{}", operators(driver, info.profile, kind)?));
        }
    }
    Ok(out)
}

fn sentences(driver: &mut Driver<'_>, profile: ProfileKey, json: bool) -> Result<()> {
    let Answer::Sentences(said) = analyse(driver, profile, Question::Sentences)? else {
        bail!("the session returned an unexpected answer");
    };
    if json {
        return print_json(driver, &said);
    }
    let mut out = String::new();
    for sentence in &said {
        out.push_str(&format!("{}\n", printable(&sentence.text, false)));
        for link in &sentence.links {
            out.push_str(&format!(
                "    > {} ns, {}: {}\n",
                link.start_ns,
                format_ns(u64_to_f64(link.duration_ns)),
                printable(&name_in(&link.title, 72), false)
            ));
        }
    }
    driver.shell.print_lines(&out)
}

fn describe(summary: &OpenSummary, info: &ProfileInfo) -> String {
    let phases: Vec<String> =
        summary.by_phase.sorted().iter().map(|(ph, n)| format!("{ph} {}", format_count(*n))).collect();
    let mut out = format!(
        "{}: {} events ({}), {} on {} tracks of {} processes\n",
        summary.format,
        format_count(summary.events),
        phases.join(", "),
        info.outline.unit.text(info.outline.span.end.0.saturating_sub(info.outline.span.start.0)),
        format_count(summary.tracks),
        format_count(summary.processes),
    );
    if let Some(device) = &summary.device {
        out.push_str(&of_device(device));
    }
    for memory in &summary.memory {
        out.push_str(&of_memory(memory));
    }
    for d in &summary.diagnostics {
        out.push_str(&format!("note: {d}\n"));
    }
    out
}

/// The memory of a device: at the peak and at the end, what allocates most, and the growth of each step.
fn of_memory(memory: &DeviceMemory) -> String {
    let text = |bytes: i64| format_bytes(i64_to_f64(bytes));
    let mut parts = Vec::new();
    if let Some(level) = &memory.allocated {
        let since = if memory.is_since_start { " since the start" } else { "" };
        let at = format_ns(i64_to_f64(level.peak_at_ns));
        parts.push(format!("at most {} allocated{since} (at {at}), {} at the end", text(level.peak), text(level.last)));
    }
    if let Some(level) = &memory.reserved {
        parts.push(format!("at most {} reserved", text(level.peak)));
    }
    let counts = [(memory.allocations, "allocation"), (memory.releases, "release")];
    let counts = counts.map(|(n, what)| format_plural(n, what));
    parts.push(counts.join(" and "));
    let named = memory.operators.iter().filter(|o| !o.name.is_empty()).take(MOST_ALLOCATORS);
    let named: Vec<String> =
        named.map(|o| format!("{} {}", name_in(&o.name, 40), format_bytes(u64_to_f64(o.bytes)))).collect();
    if !named.is_empty() {
        parts.push(format!("most by {}", named.join(", ")));
    }
    let grown: Vec<String> = memory
        .steps
        .iter()
        .take(MOST_STEPS)
        .map(|s| format!("{} {}{}", s.name, if s.growth > 0 { "+" } else { "" }, text(s.growth)))
        .collect();
    if !grown.is_empty() {
        let more = memory.steps.len() - grown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        parts.push(format!("growth {}{more}", grown.join(", ")));
    }
    format!("memory of {} ({}): {}\n", memory.device, memory.process, parts.join("; "))
}

/// Times of a Neuron device, worked out from its rows.
fn of_device(device: &DeviceFigures) -> String {
    let e = &device.engines;
    let engines =
        [("Tensor", &e.tensor), ("Vector", &e.vector), ("Scalar", &e.scalar), ("GpSimd", &e.gpsimd), ("Sync", &e.sync)];
    let text = |ns: i64| format_ns(i64_to_f64(ns));
    let engines: Vec<String> = engines.iter().map(|(name, e)| format!("{name} {}", text(e.active_time_ns))).collect();
    format!(
        "active {}: {}, DMA {}; idle head {}\n",
        text(device.total_active_time_ns),
        engines.join(", "),
        text(device.dma_active_time_ns),
        text(device.idle_head_ns)
    )
}

/// The operators with the most time on the default level.
fn operators_of(driver: &mut Driver<'_>, info: &ProfileInfo, args: &OpenArgs) -> Result<String> {
    let (top, level) = (args.top, args.level.level.clone());
    let output = ListingOutput { json: false, csv: false, top };
    let listed = list(
        driver,
        info.profile,
        Listing::Groups(GroupsOf { by: GroupBy::Operation, level, ..GroupsOf::default() }),
        &output,
    )?;
    let number = |row: &[Cell], at: usize| row.get(at).and_then(Cell::number).unwrap_or(0.0);
    let rows: Vec<Vec<String>> = listed
        .table
        .rows
        .iter()
        .take(top)
        .map(|row| {
            let name = match row.first() {
                Some(Cell::Text(name)) => name.as_str(),
                _ => "",
            };
            let length = |at| info.outline.unit.text(f64_to_i64(number(row, at)));
            vec![name_in(name, 72), format_count(f64_to_u64(number(row, 1))), length(2), length(3)]
        })
        .collect();
    if rows.is_empty() {
        return Ok(String::new());
    }
    let mut out = format!("\n{}", args.level.line(info));
    out.push_str(&terminal::table(&["Operator", ">Count", ">Total", ">Self"], &rows));
    if listed.total > top as u64 {
        out.push_str(&format!("... and {} more (--top N shows more)\n", listed.total - top as u64));
    }
    Ok(out)
}
