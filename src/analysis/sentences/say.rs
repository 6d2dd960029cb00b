//! Each sentence, if the profile holds its subject.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::causes::IdleReason;
use super::tally::{Own, Tally, shared};
use super::types::{Figure, FigureUnit, Sentence, Topic};
use crate::compare::steps;
use crate::device::FileSummary;
use crate::grouping::thread_text;
use crate::idle::{IdleGap, IdleGaps};
use crate::opcode::{name_in, opcode};
use crate::work::{Work, Works};
use ns_base::convert::{i64_to_f64, u64_to_f64};
use ns_base::units::{capital, format_ns, format_number, format_percent, format_plural, format_share};
use ns_base::{FxHashMap, Interval, StrId, TraceNs};
use ns_profile::device::{DeviceEngine, DeviceTimes};
use ns_profile::levels::Family;
use ns_profile::{Profile, SliceId};

/// From this share of the window, in percent, the verdict is the idle time of devices, regardless of what computes most: users can change
/// waiting first. Chosen: below it, perfect overlap would gain less than most other changes.
const IDLE_COMES_FIRST_PERCENT: f64 = 10.0;

/// All sentences: first the kind of the profile, then the most important ones first.
pub(super) fn all(
    profile: &Profile,
    works: &Works,
    tally: &Tally,
    gaps: &IdleGaps,
    reason: &IdleReason,
) -> Vec<Sentence> {
    let mut found = vec![what_it_is(profile, works)];
    found.extend(works.device().map(|times| device(times, FileSummary::of(profile).as_ref())));
    if works.family() == Family::Other {
        found.extend(busiest_thread(profile, tally));
        found.extend(top_operator(profile, &tally.own, "of all self time"));
    } else if let Some(window) = tally.window {
        found.extend(verdict(tally, window, gaps, reason));
        found.extend(kind(tally, window, Work::Compute, Topic::Compute, "Devices compute for"));
        found.extend(kind(tally, window, Work::Transfer, Topic::Transfer, "Data moves for"));
        found.extend(overlap(tally));
        let communication = kind(tally, window, Work::Communication, Topic::Communication, "Devices exchange data for");
        found.extend(communication);
        // A row of a Neuron device shows fusions: its operators are one level below.
        found.extend(match works.family() {
            Family::Neuron if !tally.own_framework.is_empty() => {
                top_operator(profile, &tally.own_framework, "of the operators\u{2019} self time")
            }
            Family::Neuron if !tally.own_instructions.is_empty() => {
                top_operator(profile, &tally.own_instructions, "of the self time of the model\u{2019}s instructions")
            }
            _ => top_operator(profile, &tally.own_device, "of the self time on devices"),
        });
        found.extend(idle(profile, gaps.gaps.first()));
        found.extend(host(profile, tally, window));
    }
    found
}

/// How long each unit of a device was active, and the idle time before its first work, which is not work to shorten.
fn device(times: &DeviceTimes, summary: Option<&FileSummary>) -> Sentence {
    let engines = DeviceEngine::ALL.into_iter().zip(times.engine_active_ns);
    let units: Vec<String> = engines.clone().map(|(e, ns)| format!("{} {}", e.name(), text_of(ns))).collect();
    let mut text = format!(
        "The device is active for {}: {}, DMA {}.",
        text_of(times.total_active_ns),
        units.join(", "),
        text_of(times.dma_active_ns)
    );
    if times.idle_head_ns > 0 {
        text.push_str(&format!(
            " Before the first work of the model it is idle for {}: this idle head passes until the host starts the work, \
             and counts nowhere below.",
            text_of(times.idle_head_ns)
        ));
    }
    if let Some(summary) = summary {
        text.push_str(&summary_text(summary, times));
    }
    let mut figures = vec![
        figure("active", i64_to_f64(times.total_active_ns), FigureUnit::Ns),
        figure("dma", i64_to_f64(times.dma_active_ns), FigureUnit::Ns),
        figure("idle head", i64_to_f64(times.idle_head_ns), FigureUnit::Ns),
    ];
    figures.extend(engines.map(|(e, ns)| figure(e.key(), i64_to_f64(ns), FigureUnit::Ns)));
    sentence(Topic::Profile, text, figures)
}

/// What the file's own summary says beyond the times of its rows.
fn summary_text(summary: &FileSummary, times: &DeviceTimes) -> String {
    let mut said: Vec<String> = Vec::new();
    for (name, key) in [("MFU", "mfu_estimated_percent"), ("MBU", "mbu_estimated_percent")] {
        let Some((rate, of_active)) = summary.rate(key, times) else { continue };
        let of_active =
            of_active.map_or_else(String::new, |r| format!(" ({} of the active time)", format_percent(r * 100.0)));
        said.push(format!("{name} {} % of the total time{of_active}", format_number(rate * 100.0)));
    }
    if let Some((ns, limit)) = summary.throttle() {
        let limit = limit.map_or_else(String::new, |l| format!(" with a limit of {}", format_percent(l * 100.0)));
        said.push(format!("throttled for {}{limit}", text_of(ns)));
    }
    if said.is_empty() { String::new() } else { format!(" The file's summary says: {}.", said.join(", ")) }
}

pub(super) fn percent(part: i64, whole: i64) -> f64 {
    if whole > 0 { i64_to_f64(part) * 100.0 / i64_to_f64(whole) } else { 0.0 }
}

pub(super) fn text_of(ns: i64) -> String {
    format_ns(i64_to_f64(ns))
}

fn figure(name: &str, value: f64, unit: FigureUnit) -> Figure {
    Figure { name: name.to_owned(), value, unit }
}

fn sentence(topic: Topic, text: String, figures: Vec<Figure>) -> Sentence {
    Sentence { topic, text, figures, slices: Vec::new(), spans: Vec::new() }
}

fn what_it_is(profile: &Profile, works: &Works) -> Sentence {
    let what = match works.family() {
        Family::Neuron => "A profile of a Neuron device",
        Family::Kineto => "A profile of PyTorch (Kineto)",
        Family::Xla => "A profile of XLA",
        Family::Other => "A profile",
    };
    let (slices, span, steps) = (profile.slices().len() as u64, profile.span_ns(), steps(profile));
    let stepped = match steps {
        Some(n) => format!(", {}", format_plural(n, "marked step")),
        None => String::new(),
    };
    let text = format!("{what}: {} over {}{stepped}.", format_plural(slices, "slice"), text_of(span));
    let mut figures =
        vec![figure("slices", u64_to_f64(slices), FigureUnit::Count), figure("span", i64_to_f64(span), FigureUnit::Ns)];
    figures.extend(steps.map(|n| figure("steps", u64_to_f64(n), FigureUnit::Count)));
    sentence(Topic::Profile, text, figures)
}

/// What the user can change first: idle time with its cause if it is large, else the kind with the most time in the window.
fn verdict(tally: &Tally, window: Interval<TraceNs>, gaps: &IdleGaps, reason: &IdleReason) -> Option<Sentence> {
    let whole = window.end.0 - window.start.0;
    let busy = Interval::total_ns(&tally.device);
    if whole <= 0 || busy == 0 {
        return None;
    }
    let idle = reason.idle_ns;
    let shares = [
        ("compute", tally.ns(Work::Compute)),
        ("data transfer", tally.ns(Work::Transfer)),
        ("communication", tally.ns(Work::Communication)),
        ("idle", idle),
    ];
    let mut figures: Vec<Figure> = shares.iter().map(|(n, ns)| figure(n, i64_to_f64(*ns), FigureUnit::Ns)).collect();
    figures.push(figure("window", i64_to_f64(whole), FigureUnit::Ns));
    figures.push(figure("busy", i64_to_f64(busy), FigureUnit::Ns));
    let (most, ns) = shares.into_iter().max_by_key(|(_, ns)| *ns)?;
    let mut slices = Vec::new();
    let text = if percent(idle, whole) >= IDLE_COMES_FIRST_PERCENT || most == "idle" {
        let (text, cause, slice) = idle_verdict(tally, whole, gaps, reason);
        figures.extend(cause);
        slices.extend(slice);
        text
    } else {
        format!(
            "{} dominates: {} of {} ({}) {}; devices are busy for {} ({}).",
            capital(most),
            text_of(ns),
            text_of(whole),
            format_share(percent(ns, whole)),
            window_text(tally),
            text_of(busy),
            format_share(percent(busy, whole))
        )
    };
    Some(Sentence { slices, spans: vec![window], ..sentence(Topic::Verdict, text, figures) })
}

/// Says that devices are idle, and what the host does meanwhile: the text, the figure and the slice of the cause.
fn idle_verdict(
    tally: &Tally,
    whole: i64,
    gaps: &IdleGaps,
    reason: &IdleReason,
) -> (String, Option<Figure>, Option<SliceId>) {
    let text = format!(
        "Devices are idle for {} of {} ({}) {}.{}",
        text_of(reason.idle_ns),
        text_of(whole),
        format_share(percent(reason.idle_ns, whole)),
        window_text(tally),
        reason.text()
    );
    if let Some(cause) = &reason.cause {
        return (text, Some(figure("cause", i64_to_f64(cause.ns), FigureUnit::Ns)), Some(cause.longest));
    }
    if !reason.is_late() {
        return (text, None, None);
    }
    let starter = gaps.gaps.iter().find(|gap| gap.was_late).and_then(|gap| gap.started_by);
    (text, Some(figure("started late", i64_to_f64(reason.started_late_ns), FigureUnit::Ns)), starter)
}

fn window_text(tally: &Tally) -> &'static str {
    if tally.by_steps { "from the first to the last step" } else { "from their first to their last work" }
}

fn kind(tally: &Tally, window: Interval<TraceNs>, work: Work, topic: Topic, says: &str) -> Option<Sentence> {
    let (ns, whole) = (tally.ns(work), window.end.0 - window.start.0);
    if ns == 0 {
        return None;
    }
    let share = percent(ns, whole);
    let text = format!("{says} {}, {} of the time {}.", text_of(ns), format_share(share), window_text(tally));
    let figures = vec![figure("time", i64_to_f64(ns), FigureUnit::Ns), figure("share", share, FigureUnit::Percent)];
    let longest = tally.covered.get(&work)?.iter().copied().max_by_key(|s| (s.end.0 - s.start.0, s.start));
    Some(Sentence { spans: longest.into_iter().collect(), ..sentence(topic, text, figures) })
}

fn overlap(tally: &Tally) -> Option<Sentence> {
    let (compute, transfer) = (tally.covered.get(&Work::Compute)?, tally.covered.get(&Work::Transfer)?);
    let (both, moved) = (shared(compute, transfer), Interval::total_ns(transfer));
    if moved == 0 {
        return None;
    }
    let share = percent(both, moved);
    let text = match both {
        0 => "None of that overlaps with computing.".to_owned(),
        _ => format!("{} of that, {}, overlaps with computing.", text_of(both), format_share(share)),
    };
    let figures =
        vec![figure("overlap", i64_to_f64(both), FigureUnit::Ns), figure("share", share, FigureUnit::Percent)];
    Some(sentence(Topic::Transfer, text, figures))
}

/// Self time by operation, and its number of names: names that differ in a number or in template arguments are one operation.
pub(super) fn by_operation<'p>(
    profile: &'p Profile,
    own: &FxHashMap<StrId, Own>,
) -> BTreeMap<Cow<'p, str>, (Own, u64)> {
    let mut operations: BTreeMap<Cow<'p, str>, (Own, u64)> = BTreeMap::new();
    for (name, own) in own {
        match operations.entry(opcode(profile.str(*name))) {
            Entry::Vacant(vacant) => drop(vacant.insert((*own, 1))),
            Entry::Occupied(mut occupied) => {
                let (sum, names) = occupied.get_mut();
                sum.add(own);
                *names += 1;
            }
        }
    }
    operations
}

/// The operation with the most self time.
fn top_operator(profile: &Profile, own: &FxHashMap<StrId, Own>, of_what: &str) -> Option<Sentence> {
    let whole: i64 = own.values().map(|o| o.ns).sum();
    let (name, (top, names)) = by_operation(profile, own).into_iter().rev().max_by_key(|(_, (own, _))| own.ns)?;
    if top.ns <= 0 {
        return None;
    }
    let share = percent(top.ns, whole);
    let of_names = if names > 1 { format!(" of {}", format_plural(names, "name")) } else { String::new() };
    let text = format!(
        "{} takes the most: {} in {}{of_names}, {} {of_what}.",
        quoted(&name),
        text_of(top.ns),
        format_plural(top.count, "occurrence"),
        format_share(share)
    );
    let figures = vec![
        figure("self", i64_to_f64(top.ns), FigureUnit::Ns),
        figure("count", u64_to_f64(top.count), FigureUnit::Count),
        figure("share", share, FigureUnit::Percent),
    ];
    Some(Sentence { slices: vec![top.longest], ..sentence(Topic::Operator, text, figures) })
}

fn idle(profile: &Profile, gap: Option<&IdleGap>) -> Option<Sentence> {
    let gap = gap?;
    let ns = gap.span.end.0 - gap.span.start.0;
    let name = |id: SliceId| quoted(profile.str(profile.slices().name(id)));
    let mut text = format!("The longest wait of {} is {}, before {}", gap.of, text_of(ns), name(gap.after));
    if let Some(by) = gap.started_by.filter(|_| gap.was_late) {
        text.push_str(&format!(", which {} started only then", name(by)));
    }
    text.push('.');
    let mut figures = vec![figure("gap", i64_to_f64(ns), FigureUnit::Ns)];
    let mut slices = vec![gap.before, gap.after];
    if let Some(meanwhile) = &gap.meanwhile {
        text.push_str(&format!(
            " Meanwhile {} spent {} of it in {}.",
            meanwhile.thread,
            text_of(meanwhile.ns),
            quoted(&meanwhile.name)
        ));
        figures.push(figure("meanwhile", i64_to_f64(meanwhile.ns), FigureUnit::Ns));
        slices.push(meanwhile.longest);
    }
    Some(Sentence { slices, spans: vec![gap.span], ..sentence(Topic::Idle, text, figures) })
}

fn host(profile: &Profile, tally: &Tally, window: Interval<TraceNs>) -> Option<Sentence> {
    let empty = Vec::new();
    let spans = |work| tally.covered.get(&work).unwrap_or(&empty).iter().copied();
    let busy = Interval::total_ns(&Interval::merge(spans(Work::Host).chain(spans(Work::Wait)).collect()));
    let (name, top) = tally.own_host.iter().max_by_key(|(name, o)| (o.ns, std::cmp::Reverse(**name)))?;
    if busy == 0 || top.ns <= 0 {
        return None;
    }
    let (whole, waits) = (window.end.0 - window.start.0, tally.ns(Work::Wait));
    let mut text = format!("The host has slices for {} ({})", text_of(busy), format_share(percent(busy, whole)));
    if waits > 0 {
        text.push_str(&format!(", for {} a thread is in a call that waits", text_of(waits)));
    }
    text.push_str(&format!("; {} has the most self time: {}.", quoted(profile.str(*name)), text_of(top.ns)));
    let figures = vec![
        figure("host", i64_to_f64(busy), FigureUnit::Ns),
        figure("waits", i64_to_f64(waits), FigureUnit::Ns),
        figure("self", i64_to_f64(top.ns), FigureUnit::Ns),
    ];
    Some(Sentence { slices: vec![top.longest], ..sentence(Topic::Host, text, figures) })
}

/// The verdict for a profile whose slices have no known kind.
fn busiest_thread(profile: &Profile, tally: &Tally) -> Option<Sentence> {
    let slices = profile.slices();
    let busy = tally.covered_ns.iter_enumerated().map(|(t, ns)| (*ns, std::cmp::Reverse(t)));
    let (ns, std::cmp::Reverse(track)) = busy.max()?;
    let whole = profile.span_ns();
    if ns == 0 || whole == 0 {
        return None;
    }
    let share = percent(ns, whole);
    let thread = thread_text(profile, track);
    let text = format!(
        "{thread} is the busiest thread: slices cover {} of it, {} of the span.",
        text_of(ns),
        format_share(share)
    );
    let figures = vec![figure("covered", i64_to_f64(ns), FigureUnit::Ns), figure("share", share, FigureUnit::Percent)];
    let first = slices.of_track(track).max_by_key(|id| slices.dur_ns(*id));
    Some(Sentence { slices: first.into_iter().collect(), ..sentence(Topic::Verdict, text, figures) })
}

/// A name in quotes, cut where it is long.
pub(super) fn quoted(name: &str) -> String {
    const MOST: usize = 80;
    if name.is_empty() {
        return "a slice without a name".to_owned();
    }
    format!("\"{}\"", name_in(name, MOST))
}
