//! The records at a point: the configuration, every sample, how reliable it is, and the command that runs it again.

use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::super::entry::{Entry, Outcome};
use super::super::levels::changes;
use super::super::record_filter::RecordFilter;
use super::super::reproduce;
use super::super::text::{colour_backends, moment, number, seconds, table, word};
use super::super::view_input::ViewInput;
use super::finding;
use ns_base::convert::usize_to_f64;
use ns_base::{Order, QUOTED_NAN, quoted_nan};
use ns_experiment::aggregate::WARM_UP;
use ns_experiment::record::{numbers, trimmed};
use ns_experiment::run::NoiseReport;
use ns_view::document::{Block, Document, Figure, Plot, Tile, Tone};
use ns_view::plot::{LineMark, LineStyle, Lines};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// Most records that are shown with all their samples; the others are in the list.
const MOST_WITH_SAMPLES: usize = 4;
/// Most records of the list.
const MOST_LISTED: usize = 1_000;
/// Most letters of a value in the list of a record's fields.
const MOST_LETTERS: usize = 4_000;

type RecordFields = IndexMap<String, Box<RawValue>>;

pub fn document(input: &ViewInput<'_>, record_filter: &RecordFilter) -> Document {
    let wanted = |e: &Entry| {
        let c = &e.config;
        let id = c.backend.name();
        record_filter.model.as_ref().is_none_or(|m| *m == c.model)
            && record_filter.backend.as_ref().is_none_or(|b| b == id)
            && record_filter.batch.as_ref().is_none_or(|b| *b == c.batch)
            && record_filter.at.is_none_or(|t| t == e.timestamp)
            && (record_filter.backend.is_some() || input.backends.contains(&c.backend))
    };
    // The newest first.
    let found: Vec<(usize, &Entry)> = input
        .entries
        .iter()
        .rev()
        .filter_map(|i| Some((*i, input.store.entries.get(*i)?)))
        .filter(|(_, e)| wanted(e))
        .collect();
    let title = title_of(record_filter);
    if found.is_empty() {
        let text = "The choices above may exclude them, or the link belongs to other files.";
        return Document { title, blocks: vec![finding(Tone::Warning, "There are no such records.", text)] };
    }
    let mut blocks = Vec::new();
    if record_filter.model.is_some() && record_filter.at.is_none() {
        blocks.extend(history(input, &found));
    }
    if found.len() > 1 {
        blocks.push(list(input, &found));
    }
    blocks.extend(found.iter().take(MOST_WITH_SAMPLES).flat_map(|(i, entry)| record(input, *i, entry)));
    if found.len() > MOST_WITH_SAMPLES {
        blocks.push(Block::Text(format!(
            "The newest {MOST_WITH_SAMPLES} of {} records are shown with their samples; open a row of the list for another.",
            found.len()
        )));
    }
    Document { title, blocks }
}

fn title_of(record_filter: &RecordFilter) -> String {
    let mut title = String::from("Records");
    let parts =
        [(" of ", &record_filter.model), (" with ", &record_filter.backend), (" at batch size ", &record_filter.batch)];
    for (word, value) in parts {
        if let Some(value) = value {
            title.push_str(word);
            title.push_str(value);
        }
    }
    if let Some(at) = record_filter.at {
        title.push_str(&format!(" in the run of {}", moment(at)));
    }
    title
}

/// Times of each backend over the runs, with the runs where they changed permanently.
fn history(input: &ViewInput<'_>, found: &[(usize, &Entry)]) -> Option<Block> {
    let mut lines: IndexMap<String, Vec<(&Entry, f64)>> = IndexMap::new();
    for (_, entry) in found.iter().rev() {
        if let Some(timed) = entry.timed(input.metric).filter(|t| t.measure.avg.is_finite()) {
            let name = format!("{}, batch {}", entry.config.backend.title(), entry.config.batch);
            lines.entry(name).or_default().push((entry, timed.measure.avg * 1e3));
        }
    }
    if lines.values().all(|points| points.len() < 2) {
        return None;
    }
    let series = lines.iter().map(|(name, points)| {
        (name.clone(), LineStyle::Solid, points.iter().map(|(e, ms)| (e.timestamp, *ms)).collect())
    });
    let names = input.runs.iter().map(|t| (*t, moment(*t))).collect();
    let mut plot = Lines::new("Run (UTC)", &format!("Time of {} (ms)", input.metric_text()), series, false)
        .with_names(names, |name| name.chars().take(10).collect());
    colour_backends(&mut plot);
    let mut targets = Vec::new();
    for (i, (name, points)) in lines.iter().enumerate() {
        let reach = |e: &Entry| e.timed(input.metric).and_then(|t| t.reach).map_or(f64::NAN, |r| r * 1e3);
        plot = plot.with_spread(i, points.iter().map(|(e, ms)| (ms - reach(e), ms + reach(e))).collect());
        for (then, now) in changes(&points.iter().map(|(_, ms)| Some(*ms)).collect::<Vec<_>>()) {
            let (before, after) = (then.median, now.median);
            if let Some((entry, _)) = points.get(now.start) {
                let change = super::super::text::change(after / before);
                let text = format!("{name} went from {} to {} ({change})", seconds(before / 1e3), seconds(after / 1e3));
                plot.marks.push(LineMark { x: entry.timestamp, text, is_bad: after > before });
            }
        }
        let target = |(e, _): &(&Entry, f64)| {
            RecordFilter::of(Some(&e.config.model), Some(e.config.backend.name()), Some(e.timestamp))
        };
        targets.push(points.iter().map(target).collect());
    }
    plot.marks.order_by(|a, b| a.x.total_cmp(&b.x));
    let note =
        "Bars are 95 % confidence intervals; dotted lines mark runs where the times changed permanently.".to_owned();
    let figure = Figure { title: "Time run by run".to_owned(), note, plot: Plot::Lines(plot) };
    Some(Block::Points { figure, targets })
}

fn outcome_text(entry: &Entry) -> String {
    match &entry.outcome {
        Outcome::Timed { repeats, .. } => format!("timed, {repeats} repeats"),
        Outcome::Failed(error) => format!("failed: {error}"),
        Outcome::Skipped => "skipped".to_owned(),
        Outcome::Untimed => "not timed".to_owned(),
    }
}

fn list(input: &ViewInput<'_>, found: &[(usize, &Entry)]) -> Block {
    let mut rows = table(&[
        ("place", "Record", ColumnKind::Text),
        ("run", "Run (UTC)", ColumnKind::Text),
        ("model", "Model", ColumnKind::Text),
        ("backend", "Backend", ColumnKind::Text),
        ("batch_size", "Batch size", ColumnKind::Text),
        ("time_ms", "Time (ms)", ColumnKind::Number),
        ("reach_ms", "\u{b1} 95 % (ms)", ColumnKind::Number),
        ("outcome", "Outcome", ColumnKind::Text),
        ("code", "Verification", ColumnKind::Text),
    ]);
    let mut targets = Vec::new();
    for (_, entry) in found.iter().take(MOST_LISTED) {
        let (c, timed) = (&entry.config, entry.timed(input.metric));
        rows.rows.push(vec![
            word(input.store.place_of(entry)),
            word(moment(entry.timestamp)),
            word(&c.model),
            word(c.backend.title()),
            word(&c.batch),
            number(timed.map(|t| t.measure.avg * 1e3)),
            number(timed.and_then(|t| t.reach).map(|r| r * 1e3)),
            word(outcome_text(entry)),
            word(entry.code.as_deref().unwrap_or_default()),
        ]);
        let of = RecordFilter {
            model: Some(c.model.clone()),
            backend: Some(c.backend.name().to_owned()),
            batch: Some(c.batch.clone()),
            at: Some(entry.timestamp),
            report: None,
        };
        targets.push(of.print());
    }
    Block::Rows {
        title: format!("{} records", found.len()),
        file: "records".to_owned(),
        table: rows,
        targets,
        faint: Vec::new(),
    }
}

/// One record with all its fields.
fn record(input: &ViewInput<'_>, position: usize, entry: &Entry) -> Vec<Block> {
    let c = &entry.config;
    let place = input.store.place_of(entry);
    let heading = format!("{} with {}, {} ({place})", c.model, c.backend.title(), moment(entry.timestamp));
    let mut blocks = vec![Block::Heading(heading), Block::Tiles(tiles(entry))];
    let fields = input.store.line_of(position).and_then(|line| fields_of(&line));
    match fields {
        Ok((metrics, facts)) => {
            blocks.extend(samples(&metrics, &place));
            blocks.push(Block::Table { title: format!("What {place} says"), file: "record".to_owned(), table: facts });
        }
        Err(message) => blocks.push(finding(Tone::Bad, "The samples cannot be shown.", message)),
    }
    blocks.extend(reproduce::commands(c).into_iter().map(Block::Command));
    blocks
}

fn tiles(entry: &Entry) -> Vec<Tile> {
    let tile =
        |name: &str, value: String, note: String, tone| Tile { name: name.to_owned(), value, note, tone, share: None };
    let mut tiles = Vec::new();
    match &entry.outcome {
        Outcome::Timed { execution, compilation, repeats } => {
            if let Some(t) = execution {
                let reach = t.reach.map_or_else(String::new, |r| format!(" \u{b1} {}", seconds(r)));
                let note = format!(
                    "mean of {} repeats with its 95 % confidence interval; the first {WARM_UP} warm up; standard deviation {}",
                    repeats - WARM_UP,
                    seconds(t.measure.std)
                );
                tiles.push(tile("Execution", format!("{}{reach}", seconds(t.measure.avg)), note, Tone::Neutral));
            }
            if let Some(s) = compilation {
                let note = "extra time of the first repeat".to_owned();
                tiles.push(tile("Compilation", seconds(*s), note, Tone::Neutral));
            }
        }
        Outcome::Failed(error) => tiles.push(tile("Failed", "error".to_owned(), error.to_string(), Tone::Bad)),
        Outcome::Skipped => {
            tiles.push(tile("Skipped", "\u{2013}".to_owned(), "not meant to run there".to_owned(), Tone::Neutral));
        }
        Outcome::Untimed => {
            tiles.push(tile(
                "Not timed",
                "\u{2013}".to_owned(),
                "run only to verify values, or cut short".to_owned(),
                Tone::Neutral,
            ));
        }
    }
    if let Some(code) = entry.code.as_deref() {
        let tone = match super::verification::says(code) {
            Some(true) => Tone::Good,
            Some(false) => Tone::Bad,
            None => Tone::Neutral,
        };
        tiles.push(tile("Verification", code.to_owned(), String::new(), tone));
    }
    let batch = &entry.config.batch;
    tiles.push(tile(
        "Batch size",
        batch.clone(),
        super::super::view_input::accelerator_of(entry).to_owned(),
        Tone::Neutral,
    ));
    tiles
}

/// The metrics of a line, and its other fields as rows.
fn fields_of(line: &[u8]) -> Result<(RecordFields, Table), String> {
    let wrong = |e: &dyn std::fmt::Display| format!("the line cannot be read: {e}");
    let text = quoted_nan(trimmed(line).map_err(|e| wrong(&e))?);
    let mut all: RecordFields = serde_json::from_str(&text).map_err(|e| wrong(&e))?;
    let metrics = all.shift_remove("metrics").ok_or_else(|| "the line has no metrics".to_owned())?;
    let mut metrics: RecordFields = serde_json::from_str(metrics.get()).map_err(|e| wrong(&e))?;
    let mut facts = table(&[("key", "Key", ColumnKind::Text), ("value", "Value", ColumnKind::Text)]);
    for (key, value) in &all {
        match serde_json::from_str::<RecordFields>(value.get()) {
            Ok(inner) => facts.rows.extend(inner.iter().map(|(k, v)| vec![word(format!("{key}.{k}")), word(plain(v))])),
            Err(_) => facts.rows.push(vec![word(key), word(plain(value))]),
        }
    }
    metrics.retain(|key, value| {
        let is_list = numbers("metric", value.get()).is_ok();
        if !is_list {
            facts.rows.push(vec![word(format!("metrics.{key}")), word(plain(value))]);
        }
        is_list
    });
    Ok((metrics, facts))
}

/// A value for display: texts without quotes, long ones cut.
fn plain(value: &RawValue) -> String {
    let written = value.get();
    let text = serde_json::from_str::<String>(written).unwrap_or_else(|_| written.to_owned());
    let text = text.replace(QUOTED_NAN.trim_matches('"'), "").replace('\u{0}', "");
    if text.chars().count() > MOST_LETTERS {
        text.chars().take(MOST_LETTERS).collect::<String>() + " ..."
    } else {
        text
    }
}

/// Every repeat of every metric: a plot of the times, and a table.
fn samples(metrics: &RecordFields, place: &str) -> Vec<Block> {
    let lists: Vec<(&str, Vec<f64>)> =
        metrics.iter().filter_map(|(key, v)| Some((key.as_str(), numbers("metric", v.get()).ok()?))).collect();
    let length = lists.iter().map(|(_, list)| list.len()).max().unwrap_or(0);
    if length == 0 {
        return Vec::new();
    }
    let mut blocks = Vec::new();
    if let Some((_, times)) = lists.iter().find(|(key, _)| *key == "total_time") {
        let steady = times.get(WARM_UP..).unwrap_or_default();
        if steady.len() > 1 {
            let points = steady.iter().enumerate().map(|(i, s)| (usize_to_f64(i + WARM_UP + 1), s * 1e3)).collect();
            let plot =
                Lines::new("Repeat", "Total time (ms)", [("total_time".to_owned(), LineStyle::Solid, points)], false);
            let note = format!("The first {WARM_UP} repeats warm up and do not count.");
            blocks.push(Block::Plot(Figure { title: "Repeats that count".to_owned(), note, plot: Plot::Lines(plot) }));
        }
        let advice = NoiseReport::of(times, 0, &[]).map(|noise| noise.advice(None)).unwrap_or_default();
        if !advice.is_empty() {
            blocks.push(finding(Tone::Warning, "The times are noisy.", advice.join("; ") + "."));
        }
    }
    let mut rows = table(&[("repeat", "Repeat", ColumnKind::Count)]);
    rows.columns.extend(lists.iter().map(|(key, _)| Column::new(key, key, ColumnKind::Exact)));
    for i in 0..length {
        let values = lists.iter().map(|(_, list)| number(list.get(i).copied()));
        rows.rows.push(std::iter::once(Cell::Count(i as u64 + 1)).chain(values).collect());
    }
    blocks.push(Block::Table { title: format!("All samples of {place}"), file: "samples".to_owned(), table: rows });
    blocks
}
