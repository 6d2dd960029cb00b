//! The main numbers of an overview.

use super::document::{BEING_COMPUTED, Context, part_name, percent};
use super::published::{self, TimeBeside};
use ns_analysis::opcode::name_in;
use ns_analysis::sentences::{Breakdown, Part};
use ns_base::units::{format_count, format_ns, format_share};
use ns_device::EstimateMark;
use ns_view::document::{Tile, Tone};

/// A share of busy time below this, in percent, is highlighted. Chosen.
const BUSY_IS_LOW_PERCENT: f64 = 80.0;

/// Most letters of a name in a heading. Chosen: two such names fit a line.
pub(super) const MOST_LETTERS: usize = 32;

/// The tiles: duration, busy share, largest part, share of the peak.
pub(super) fn tiles(c: &Context<'_>) -> Vec<Tile> {
    let mut tiles = super::device::tiles(c);
    tiles.push(length(c));
    match &c.found.breakdown {
        Some(breakdown) => {
            tiles.push(busy(c, breakdown));
            tiles.push(limited_by(c).unwrap_or_else(|| most(c, breakdown)));
        }
        None => tiles.extend(busiest_thread(c)),
    }
    tiles.extend(top_operation(c));
    tiles.extend(of_peak(c));
    tiles.extend(of_bandwidth(c));
    tiles
}

/// A step if steps are marked, else the device window, else the span.
fn length(c: &Context<'_>) -> Tile {
    let steps = || c.found.steps.iter().map(|s| s.breakdown.whole_ns());
    let slices = format!("{} slices", format_count(c.profile.own_slice_count()));
    match (steps().min(), c.found.median_step_ns(), steps().max(), &c.found.breakdown) {
        (Some(least), Some(median), Some(most), _) => {
            let (n, least, most) = (format_count(c.found.steps.len() as u64), c.text(least), c.text(most));
            let note = if c.found.steps.len() == 1 {
                "one step".to_owned()
            } else {
                format!("median of {n} steps, {least} to {most}")
            };
            Tile::new("Step", c.text(median), note)
        }
        (.., Some(b)) => {
            let note = published::window(c.published).map(TimeBeside::text).or(c.mark.map(EstimateMark::note));
            let value = format!("{}{}", c.mark.map_or("", EstimateMark::before_time), c.text(b.whole_ns()));
            Tile::new("Device window", value, note.unwrap_or_else(|| "first to last work of devices".to_owned()))
        }
        _ => Tile::new("Span", c.text(c.profile.span_ns()), slices),
    }
}

fn busy(c: &Context<'_>, b: &Breakdown) -> Tile {
    let share = percent(b.busy_ns(), b.whole_ns());
    Tile {
        tone: if share < BUSY_IS_LOW_PERCENT { Tone::Warning } else { Tone::Neutral },
        share: Some(share / 100.0),
        ..Tile::new("Devices busy", format_share(share), format!("{} of {}", c.text(b.busy_ns()), c.text(b.whole_ns())))
    }
}

/// What limits a simulated execution, and the unit that is busy longest.
fn limited_by(c: &Context<'_>) -> Option<Tile> {
    let insights = c.insights?;
    let first = insights.limiter.first()?;
    let share = format_share(insights.limiter.share(first.busy_ns));
    let busiest = format!("{} busy {share} of the window", first.resource.name());
    let (value, note) = match (insights.limit_costs().into_iter().next(), &insights.limits) {
        (Some((title, ns, share)), _) => {
            (title, format!("{} less without it ({}); {busiest}", format_ns(ns), format_share(share)))
        }
        (None, Some(_)) => ("Nothing".to_owned(), busiest),
        (None, None) => (BEING_COMPUTED.to_owned(), busiest),
    };
    Some(Tile::new("Limited by", value, note))
}

/// The part with the most time: waiting counts as a part.
fn most(c: &Context<'_>, b: &Breakdown) -> Tile {
    let parts = [Part::Compute, Part::Communication, Part::Transfer].map(|p| (part_name(p), b.ns(p)));
    let waiting = ("Waiting", b.waiting_ns());
    let (name, ns) = parts.into_iter().chain([waiting]).max_by_key(|(_, ns)| *ns).unwrap_or(waiting);
    let of = if c.found.by_steps { "of the steps" } else { "of the window" };
    let share = format_share(percent(ns, b.whole_ns()));
    Tile::new("Most time", name.to_owned(), format!("{} \u{2013} {share} {of}", c.text(ns)))
}

fn busiest_thread(c: &Context<'_>) -> Option<Tile> {
    let (name, ns) = c.found.threads.first()?;
    let share = percent(*ns, c.profile.span_ns());
    let note = format!("of the span in {name}, the busiest of {}", format_count(c.found.threads.len() as u64));
    Some(Tile { share: Some(share / 100.0), ..Tile::new("Busiest thread", format_share(share), note) })
}

fn top_operation(c: &Context<'_>) -> Option<Tile> {
    let top = c.found.operations.first()?;
    let of = if c.found.breakdown.is_some() { "of the operators\u{2019} self time" } else { "of all self time" };
    Some(Tile::new(
        "Top operation",
        top.name.clone(),
        format!("{} \u{2013} {} {of}", c.text(top.self_ns), format_share(top.percent)),
    ))
}

/// The achieved share of the peak, for simulated executions.
fn of_peak(c: &Context<'_>) -> Option<Tile> {
    let share = c.insights?.summary.mfu_estimated_percent?;
    let most = c.insights?.summary.mfu_max_achievable_estimated_percent;
    let note = most.map_or_else(
        || "of what the core can compute in the whole run, set-up included".to_owned(),
        |most| format!("of the peak over the whole run, set-up included; memory allows {}", format_share(most)),
    );
    let value = format!("{}{}", c.mark.map_or("", EstimateMark::before_rate), format_share(share));
    Some(Tile { share: Some(share / 100.0), ..Tile::new("MFU", value, note) })
}

/// The bytes of HBM as a share of what its bandwidth could move, for simulated executions.
fn of_bandwidth(c: &Context<'_>) -> Option<Tile> {
    let share = c.insights?.summary.mbu_estimated_percent;
    let value = format!("{}{}", c.mark.map_or("", EstimateMark::before_rate), format_share(share));
    Some(Tile {
        share: Some(share / 100.0),
        ..Tile::new("MBU", value, "of the bandwidth of HBM over the whole run".to_owned())
    })
}

/// A name cut to the length of a heading.
pub(super) fn shortened(name: &str) -> String {
    name_in(name, MOST_LETTERS)
}
