//! The overview: how many experiments passed, how fast they are, what changed, what needs attention.

use std::collections::BTreeSet;

use super::super::compare::{CellComparison, Status, compare, runs_of};
use super::super::coverage::{left_out, models, passed, unlike_batches};
use super::super::record_filter::RecordFilter;
use super::super::text::{moment, speedup, table, word};
use super::super::view_input::{ViewInput, accelerator_of};
use super::{changes, finding, nothing, over_time, verification};
use ns_base::Order;
use ns_base::units::{format_count, format_plural, format_share};
use ns_experiment::aggregate::{BackendSpeedups, ReportKind, TimeSpeedups};
use ns_view::document::{Block, Document, Figure, Plot, Tile, Tone};
use ns_view::plot::{LineStyle, Lines};
use ns_view::table::ColumnKind;

/// Rows of the list of changes.
const MOST_CHANGES: usize = 12;

pub fn document(input: &ViewInput<'_>) -> Document {
    let name = input.accelerator.as_deref().unwrap_or("all accelerators");
    let title = format!("{name}, {}", input.test_text());
    let mut tiles = vec![pass_tile(input)];
    tiles.extend((0..input.backends.len()).filter_map(|b| speed_tile(input, b)));
    tiles.extend(verified_tile(input));
    tiles.push(records_tile(input));
    let mut blocks = vec![Block::Tiles(tiles)];
    blocks.extend(remarks(input));
    if input.times.iter().all(|t| t.backends.iter().all(Option::is_none)) {
        blocks.push(nothing(input));
    }
    blocks.extend(newest_changes(input));
    blocks.extend(run_by_run(input));
    blocks.extend(uncovered(input));
    Document { title, blocks }
}

fn pass_tile(input: &ViewInput<'_>) -> Tile {
    let by_run = passed(input);
    let mut newest = by_run.iter().rev().map(|(_, passed)| *passed);
    let (now, before) = (newest.next().unwrap_or_default(), newest.next().unwrap_or_default());
    let value = now.percent().map_or_else(|| "\u{2013}".to_owned(), format_share);
    let before = before.percent().map_or_else(String::new, |p| format!("; the run before {}", format_share(p)));
    let gone = if now.gone > 0 { format!("; gone from it: {}", now.gone) } else { String::new() };
    let note = format!("{} of {} experiments of the newest run{gone}{before}", now.passed, now.all);
    let tone = if now.passed == now.all { Tone::Good } else { Tone::Warning };
    Tile { name: "Passed".to_owned(), value, note, tone, share: now.percent().map(|p| p / 100.0) }
}

/// The newest geometric mean of a backend, with its interval and coverage.
fn speed_tile(input: &ViewInput<'_>, b: usize) -> Option<Tile> {
    let is_base = b == 0;
    let newest = |times: &[TimeSpeedups]| -> Option<BackendSpeedups> {
        times.iter().rev().find_map(|t| t.backends.get(b)?.clone())
    };
    let (now, reach) = (newest(&input.times)?, newest(&input.reaches)?);
    let all = models(input).len();
    let interval = if reach.gmean.std.is_finite() { format!(" \u{b1} {:.3}", reach.gmean.std) } else { String::new() };
    let (low, high) = (now.gmean.avg - reach.gmean.std, now.gmean.avg + reach.gmean.std);
    let tone = match (low > 1.0, high < 1.0) {
        (true, _) => Tone::Good,
        (_, true) => Tone::Bad,
        _ => Tone::Neutral,
    };
    let title = input.backends.get(b)?.title();
    let against = if is_base {
        format!("against {} of its own", input.baseline.title().to_lowercase())
    } else {
        format!("over {}", input.base_text())
    };
    let note = format!("geometric mean {against}; covers {} of {all} models", now.models.len());
    let value = format!("{}{interval}", speedup(now.gmean.avg));
    Some(Tile { name: title.to_owned(), value, note, tone, share: None })
}

fn verified_tile(input: &ViewInput<'_>) -> Option<Tile> {
    let said: Vec<bool> = input.records().filter_map(|e| verification::says(e.code.as_deref()?)).collect();
    let accepted = said.iter().filter(|s| **s).count();
    let tone = if accepted == said.len() { Tone::Good } else { Tone::Bad };
    let (value, note) =
        (format!("{accepted} of {}", said.len()), "records whose values the verifier accepted".to_owned());
    (!said.is_empty()).then(|| Tile { name: "Verified".to_owned(), value, note, tone, share: None })
}

fn records_tile(input: &ViewInput<'_>) -> Tile {
    let records = input.entries.len() as u64;
    let all = input.store.entries.len() as u64;
    let (runs, files) = (input.runs.len(), input.store.files.len());
    let note =
        format!("of {} read; {}; {}", format_count(all), format_plural(runs, "run"), format_plural(files, "file"));
    Tile { name: "Records".to_owned(), value: format_count(records), note, tone: Tone::Neutral, share: None }
}

fn remarks(input: &ViewInput<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let accelerators: BTreeSet<&str> = input.records().map(accelerator_of).collect();
    if input.accelerator.is_none() && accelerators.len() > 1 {
        let names = accelerators.into_iter().collect::<Vec<_>>().join(", ");
        blocks.push(finding(
            Tone::Warning,
            "Accelerators are mixed.",
            format!("{names}: choose one; otherwise a speed-up may come from a different device."),
        ));
    }
    let unlike = unlike_batches(input);
    if !unlike.is_empty() {
        let text = format!("Only times of the same batch size are compared. {}.", unlike.join(". "));
        blocks.push(finding(Tone::Warning, "Batch sizes differ.", text));
    }
    let unusable = input.store.notes.count("lines cannot be used") + input.store.notes.count("lines are blank");
    if unusable > 0 {
        let text = "All other lines are used. The view Lines names each unusable line by file and number.".to_owned();
        let lines = if unusable == 1 { "line is" } else { "lines are" };
        blocks.push(finding(Tone::Warning, format!("{unusable} {lines} not used."), text));
    }
    blocks
}

fn newest_changes(input: &ViewInput<'_>) -> Option<Block> {
    let (base, now) = runs_of(input)?;
    let mut cells = compare(input);
    let tiles = changes::tiles(&cells);
    cells.retain(|c| !matches!(c.status, Status::WithinNoise | Status::StillFailing | Status::NotEnough));
    let cells = changed_most(cells);
    let mut blocks = vec![Block::Tiles(tiles)];
    if !cells.is_empty() {
        blocks.push(changes::rows(&cells, "What changed most"));
    }
    let title = format!("Changes from the run of {} to that of {}", moment(base), moment(now));
    Some(Block::Beside(vec![Document { title, blocks }]))
}

/// The largest changes of time, faster or slower, and then what fails, passes, is new or gone; the latter have half of the
/// rows, and what the former leave.
fn changed_most(cells: Vec<CellComparison>) -> Vec<CellComparison> {
    let is_timed = |c: &CellComparison| matches!(c.status, Status::Regressed | Status::Improved);
    let (mut timed, mut others): (Vec<_>, Vec<_>) = cells.into_iter().partition(is_timed);
    timed.order_by(|a, b| b.seconds().abs().total_cmp(&a.seconds().abs()));
    others.truncate((MOST_CHANGES / 2).max(MOST_CHANGES.saturating_sub(timed.len())));
    timed.truncate(MOST_CHANGES - others.len());
    timed.append(&mut others);
    timed
}

/// How fast the backends are beside how many experiments passed, if there are several runs.
fn run_by_run(input: &ViewInput<'_>) -> Option<Block> {
    let side = |plot| Document { title: String::new(), blocks: vec![plot] };
    let has_means = input.times.iter().any(|t| t.backends.iter().any(Option::is_some));
    let plots = has_means.then(|| over_time::means(input)).into_iter().chain([pass_rate(input)]);
    (input.runs.len() > 1).then(|| Block::Beside(plots.map(side).collect()))
}

fn pass_rate(input: &ViewInput<'_>) -> Block {
    let points: Vec<(f64, f64)> = passed(input).into_iter().filter_map(|(t, p)| Some((t, p.percent()?))).collect();
    let targets = vec![points.iter().map(|(t, _)| RecordFilter::of(None, None, Some(*t))).collect()];
    let names = input.runs.iter().map(|t| (*t, moment(*t))).collect();
    let plot = Lines::new("Run (UTC)", "Passed (%)", [("Passed".to_owned(), LineStyle::Solid, points)], false)
        .with_names(names, |name| name.chars().take(10).collect())
        .with_close_y();
    let figure = Figure {
        title: "Experiments that passed, run by run".to_owned(),
        note: String::new(),
        plot: Plot::Lines(plot),
    };
    Block::Points { figure, targets }
}

/// Models that a geometric mean leaves out.
fn uncovered(input: &ViewInput<'_>) -> Option<Block> {
    let report = input.report(ReportKind::Latest);
    if (0..input.backends.len()).all(|b| report.newest(b).is_none()) {
        return None;
    }
    let mut rows = table(&[
        ("backend", "Backend", ColumnKind::Text),
        ("model", "Model", ColumnKind::Text),
        ("reason", "Why", ColumnKind::Text),
    ]);
    let mut targets = Vec::new();
    for one in left_out(input) {
        targets.push(RecordFilter::of(Some(&one.model), Some(one.backend.name()), None));
        rows.rows.push(vec![word(one.backend.title()), word(one.model), word(one.reason)]);
    }
    let title = "Not in the newest geometric mean".to_owned();
    (!rows.rows.is_empty()).then(|| Block::Rows {
        title,
        file: "not-covered".to_owned(),
        table: rows,
        targets,
        faint: Vec::new(),
    })
}
