//! What a profile shows, in sentences with numbers: only what its slices say.

use super::Listed;
use super::listing::Sources;
use crate::base::units::{format_count, format_ns};
use crate::profile::SliceId;
use crate::profile::activity::{DeviceActivity, devices, length_ns, overlap_ns};
use crate::profile::critical_path::critical_path;
use crate::profile::groups::{GroupQuery, groups};
use crate::profile::idle::idle_gaps;
use crate::session::timeline::link;
use crate::view::table::{Cell, Column, ColumnKind, Table};

/// More devices than this are told by the first ones.
const MOST_DEVICES: usize = 8;

/// Sentences, each with the slice that shows it best.
pub(super) fn sentences(sources: &Sources<'_>) -> Listed {
    let profile = sources.profile;
    let mut said: Vec<(String, Option<SliceId>)> = Vec::new();
    let slices = profile.slices().len() as u64;
    let with_slices = profile.tracks().ids().filter(|t| !profile.slices().range_of(*t).is_empty()).count() as u64;
    let of = format!("{} on {}", plural(slices, "slice"), plural(with_slices, "track"));
    said.push((format!("The profile spans {} and holds {of}.", format_ns(profile.span_ns() as f64)), None));
    if slices > 0 {
        dominant(sources, &mut said);
        let found = devices(profile);
        for device in found.iter().take(MOST_DEVICES) {
            said.push((device_sentence(device), device.longest));
        }
        if found.len() > MOST_DEVICES {
            said.push((format!("{} further devices are in the profile.", found.len() - MOST_DEVICES), None));
        }
        path_sentence(sources, &mut said);
        gap_sentence(sources, &mut said);
    }
    Listed {
        table: Table {
            columns: vec![Column::new("sentence", "What it shows", ColumnKind::Text)],
            rows: said.iter().map(|(text, _)| vec![Cell::Text(text.clone())]).collect(),
        },
        slices: said.iter().map(|(_, id)| id.map(|id| link(profile, sources.tracks, id))).collect(),
        notes: Vec::new(),
    }
}

fn plural(n: u64, what: &str) -> String {
    format!("{} {what}{}", format_count(n), if n == 1 { "" } else { "s" })
}

fn share(part: i64, whole: i64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// The names with the most self time.
fn dominant(sources: &Sources<'_>, said: &mut Vec<(String, Option<SliceId>)>) {
    let mut by_name = groups(sources.profile, &GroupQuery::default());
    let all: i64 = by_name.iter().map(|g| g.self_ns).sum();
    by_name.sort_by(|a, b| b.self_ns.cmp(&a.self_ns).then_with(|| a.key.cmp(&b.key)));
    if let Some(first) = by_name.first().filter(|g| g.self_ns > 0) {
        let text = format!(
            "{} has the most self time: {}, {:.1} % of all, in {} of {} on average; the longest took {}.",
            quoted(&first.key),
            format_ns(first.self_ns as f64),
            share(first.self_ns, all),
            plural(first.count, "slice"),
            format_ns(first.mean_ns()),
            format_ns(first.max_ns as f64)
        );
        said.push((text, Some(first.longest)));
    }
    let of_five: i64 = by_name.iter().take(5).map(|g| g.self_ns).sum();
    if by_name.len() > 10 {
        let text = format!(
            "Of {} names, five have {:.1} % of all self time.",
            format_count(by_name.len() as u64),
            share(of_five, all)
        );
        said.push((text, None));
    }
}

fn quoted(name: &str) -> String {
    if name.is_empty() { "What has no name".to_owned() } else { format!("\u{201c}{name}\u{201d}") }
}

/// What a device did with its time, the largest part first.
fn device_sentence(device: &DeviceActivity) -> String {
    let span = device.span().end - device.span().start;
    let (compute, transfer) = (length_ns(&device.compute), length_ns(&device.transfer));
    let both = overlap_ns(&device.compute, &device.transfer);
    let idle = span - (compute + transfer - both);
    let part = |ns: i64| format!("{} ({:.1} %)", format_ns(ns as f64), share(ns, span));
    let mut text = format!(
        "{}: of {} from its first to its last activity, it computes for {}",
        device.name,
        format_ns(span as f64),
        part(compute)
    );
    if transfer > 0 {
        text.push_str(&format!(", moves data for {}", part(transfer)));
        if both > 0 {
            text.push_str(&format!(" ({} of it beside computing)", format_ns(both as f64)));
        }
    }
    text.push_str(&format!(", and stands still for {}.", part(idle)));
    let largest = [(compute, "Computing"), (transfer - both, "Data transfer"), (idle, "Idle time")]
        .into_iter()
        .max_by_key(|(ns, _)| *ns);
    if let Some((_, what)) = largest.filter(|(ns, _)| *ns > 0) {
        text.push_str(&format!(" {what} dominates."));
    }
    text
}

fn path_sentence(sources: &Sources<'_>, said: &mut Vec<(String, Option<SliceId>)>) {
    let profile = sources.profile;
    let steps = critical_path(profile, sources.flows);
    let total: i64 = steps.iter().map(|s| s.time.end.0 - s.time.start.0).sum();
    let waiting: i64 = steps.iter().filter(|s| s.slice.is_none()).map(|s| s.time.end.0 - s.time.start.0).sum();
    let longest = steps.iter().filter(|s| s.slice.is_some()).max_by_key(|s| s.time.end.0 - s.time.start.0);
    let Some((step, slice)) = longest.and_then(|s| Some((s, s.slice?))) else { return };
    let length = step.time.end.0 - step.time.start.0;
    let text = format!(
        "The critical path is {} long; for {:.1} % of it nothing on it runs. Its longest step is {} in {}.",
        format_ns(total as f64),
        share(waiting, total),
        format_ns(length as f64),
        quoted(profile.str(profile.slices().name(slice)))
    );
    said.push((text, Some(slice)));
}

fn gap_sentence(sources: &Sources<'_>, said: &mut Vec<(String, Option<SliceId>)>) {
    let profile = sources.profile;
    let gaps = idle_gaps(profile, sources.flows, 1);
    let Some(gap) = gaps.first() else { return };
    let name = |id: SliceId| quoted(profile.str(profile.slices().name(id)));
    let mut text = format!(
        "The longest pause of a track is {} on {}, before {}",
        format_ns((gap.time.end.0 - gap.time.start.0) as f64),
        profile.track_label(gap.track),
        name(gap.next)
    );
    match gap.waited_for {
        Some(id) if gap.is_certain => text.push_str(&format!("; an arrow leads there from {}.", name(id))),
        Some(id) => text.push_str(&format!("; of other tracks, {} ended last before it.", name(id))),
        None => text.push('.'),
    }
    said.push((text, Some(gap.next)));
}
