//! What dominates a profile, in sentences with their numbers.
//!
//! Each sentence is said only when the profile holds what it speaks of; each carries the figures in it, and the slices and
//! spans that show it.

use serde::{Deserialize, Serialize};

use super::compare::steps;
use super::idle::{IdleGap, idle_gaps};
use super::work::{Family, Work, Works};
use crate::base::units::{format_count, format_ns};
use crate::base::{FxHashMap, Interval, StrId, TraceNs};
use crate::profile::flows::FlowIndex;
use crate::profile::{Profile, SliceFlags, SliceId, TrackId};

/// What a sentence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// What the profile is.
    Profile,
    /// What dominates.
    Verdict,
    /// Computing of the devices.
    Compute,
    /// Moving data.
    Transfer,
    /// Exchange between devices.
    Communication,
    /// The host.
    Host,
    /// Time in which devices, or threads, did nothing.
    Idle,
    /// The operator with the most time.
    Operator,
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    /// Nanoseconds.
    Ns,
    /// Share of 100.
    Percent,
    /// A number of things.
    Count,
}

/// A number in a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is: `compute`, `idle`.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: FigureUnit,
}

/// A sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sentence {
    /// What it is about.
    pub topic: Topic,
    /// The sentence.
    pub text: String,
    /// The numbers in it.
    pub figures: Vec<Figure>,
    /// Slices that show it.
    pub slices: Vec<SliceId>,
    /// Spans that show it.
    pub spans: Vec<Interval<TraceNs>>,
}

/// The sentences about a profile, the most telling first after what it is.
#[must_use]
pub fn sentences(profile: &Profile, works: &Works, flows: &FlowIndex) -> Vec<Sentence> {
    let tally = Tally::of(profile, works);
    let mut found = vec![what_it_is(profile, works)];
    if works.family() == Family::Other {
        found.extend(busiest_thread(profile));
        found.extend(top_operator(profile, &tally.own, "of all self time"));
    } else if let Some(window) = tally.window {
        let gaps = idle_gaps(profile, works, flows, None, 5);
        found.extend(verdict(&tally, window));
        found.extend(kind(&tally, window, Work::Compute, Topic::Compute, "Devices compute for"));
        found.extend(kind(&tally, window, Work::Transfer, Topic::Transfer, "Data moves for"));
        found.extend(overlap(&tally));
        let communication =
            kind(&tally, window, Work::Communication, Topic::Communication, "Devices exchange data for");
        found.extend(communication);
        found.extend(top_operator(profile, &tally.own_device, "of the self time on devices"));
        found.extend(idle(profile, gaps.gaps.first()));
        found.extend(host(profile, &tally, window));
    }
    found
}

/// Times of a profile by kind of work.
struct Tally {
    /// From the first to the last slice that is work.
    window: Option<Interval<TraceNs>>,
    /// Covered stretches of each kind.
    covered: FxHashMap<Work, Vec<Interval<TraceNs>>>,
    /// Stretches in which any device works.
    device: Vec<Interval<TraceNs>>,
    /// Self time by name: all slices, those of devices, those of the host.
    own: FxHashMap<StrId, Own>,
    own_device: FxHashMap<StrId, Own>,
    own_host: FxHashMap<StrId, Own>,
}

/// Self time of a name.
#[derive(Clone, Copy, Debug)]
struct Own {
    ns: i64,
    count: u64,
    longest: SliceId,
    longest_ns: i64,
}

impl Tally {
    fn of(profile: &Profile, works: &Works) -> Self {
        let slices = profile.slices();
        let own = super::operators::self_times(profile);
        let mut spans: FxHashMap<Work, Vec<Interval<TraceNs>>> = FxHashMap::default();
        let mut tally = Self {
            window: None,
            covered: FxHashMap::default(),
            device: Vec::new(),
            own: FxHashMap::default(),
            own_device: FxHashMap::default(),
            own_host: FxHashMap::default(),
        };
        for track in profile.tracks().ids() {
            for id in slices.of_track(track).filter(|id| !slices.flags(*id).has(SliceFlags::UNCLOSED)) {
                let ns = own[id.0 as usize];
                add(&mut tally.own, profile, id, ns);
                let Some(work) = works.of_slice(profile, track, id).filter(|w| *w != Work::Marker) else { continue };
                match work {
                    Work::Host => add(&mut tally.own_host, profile, id, ns),
                    work if work.is_device() => add(&mut tally.own_device, profile, id, ns),
                    _ => {}
                }
                let time = slices.interval(id);
                let spans = spans.entry(work).or_default();
                // Slices come by start within a track: most join the stretch before.
                match spans.last_mut() {
                    Some(last) if last.start <= time.start && time.start <= last.end => {
                        last.end = last.end.max(time.end)
                    }
                    _ => spans.push(time),
                }
                let all = tally.window.get_or_insert(time);
                *all = Interval::new(all.start.min(time.start), all.end.max(time.end));
            }
        }
        let covered = |(work, spans)| (work, Interval::merge(spans));
        tally.covered = spans.into_iter().map(covered).collect();
        let device = tally.covered.iter().filter(|(work, _)| work.is_device()).flat_map(|(_, s)| s.iter().copied());
        tally.device = Interval::merge(device.collect());
        tally
    }

    fn ns(&self, work: Work) -> i64 {
        self.covered.get(&work).map_or(0, |spans| length(spans))
    }
}

fn add(own: &mut FxHashMap<StrId, Own>, profile: &Profile, id: SliceId, ns: i64) {
    let new = Own { ns: 0, count: 0, longest: id, longest_ns: i64::MIN };
    let entry = own.entry(profile.slices().name(id)).or_insert(new);
    entry.ns += ns;
    entry.count += 1;
    if ns > entry.longest_ns {
        (entry.longest_ns, entry.longest) = (ns, id);
    }
}

fn length(spans: &[Interval<TraceNs>]) -> i64 {
    spans.iter().map(|s| s.end.0.saturating_sub(s.start.0)).sum()
}

/// Length of what two sorted lists of disjoint stretches share.
fn shared(a: &[Interval<TraceNs>], b: &[Interval<TraceNs>]) -> i64 {
    let (mut i, mut j, mut ns) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        ns += (x.end.min(y.end).0 - x.start.max(y.start).0).max(0);
        if x.end <= y.end { i += 1 } else { j += 1 }
    }
    ns
}

fn percent(part: i64, whole: i64) -> f64 {
    if whole > 0 { part as f64 * 100.0 / whole as f64 } else { 0.0 }
}

fn text_of(ns: i64) -> String {
    format_ns(ns as f64)
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
        Some(n) => format!(", {}", counted(n, "marked step")),
        None => String::new(),
    };
    let text = format!("{what}: {} over {}{stepped}.", counted(slices, "slice"), text_of(span));
    let mut figures =
        vec![figure("slices", slices as f64, FigureUnit::Count), figure("span", span as f64, FigureUnit::Ns)];
    figures.extend(steps.map(|n| figure("steps", n as f64, FigureUnit::Count)));
    sentence(Topic::Profile, text, figures)
}

/// What has the most of the window: computing, moving data, exchange, or nothing of these.
fn verdict(tally: &Tally, window: Interval<TraceNs>) -> Option<Sentence> {
    let whole = window.end.0 - window.start.0;
    let busy = length(&tally.device);
    if whole <= 0 || busy == 0 {
        return None;
    }
    let idle = whole - busy;
    let shares = [
        ("compute", tally.ns(Work::Compute)),
        ("data transfer", tally.ns(Work::Transfer)),
        ("communication", tally.ns(Work::Communication)),
        ("idle", idle),
    ];
    let (most, ns) = shares.into_iter().max_by_key(|(_, ns)| *ns)?;
    let what = match most {
        "idle" => "Idle time of the devices dominates".to_owned(),
        kind => format!("{}{} dominates", kind[..1].to_uppercase(), &kind[1..]),
    };
    let text = format!(
        "{what}: {} of {} ({:.1} %) from the first to the last work; devices are busy for {} ({:.1} %).",
        text_of(ns),
        text_of(whole),
        percent(ns, whole),
        text_of(busy),
        percent(busy, whole)
    );
    let mut figures: Vec<Figure> = shares.iter().map(|(n, ns)| figure(n, *ns as f64, FigureUnit::Ns)).collect();
    figures.push(figure("window", whole as f64, FigureUnit::Ns));
    figures.push(figure("busy", busy as f64, FigureUnit::Ns));
    Some(Sentence { spans: vec![window], ..sentence(Topic::Verdict, text, figures) })
}

fn kind(tally: &Tally, window: Interval<TraceNs>, work: Work, topic: Topic, says: &str) -> Option<Sentence> {
    let (ns, whole) = (tally.ns(work), window.end.0 - window.start.0);
    if ns == 0 {
        return None;
    }
    let share = percent(ns, whole);
    let text = format!("{says} {}, {share:.1} % of the time from the first to the last work.", text_of(ns));
    let figures = vec![figure("time", ns as f64, FigureUnit::Ns), figure("share", share, FigureUnit::Percent)];
    let longest = tally.covered.get(&work)?.iter().copied().max_by_key(|s| (s.end.0 - s.start.0, s.start));
    Some(Sentence { spans: longest.into_iter().collect(), ..sentence(topic, text, figures) })
}

fn overlap(tally: &Tally) -> Option<Sentence> {
    let (compute, transfer) = (tally.covered.get(&Work::Compute)?, tally.covered.get(&Work::Transfer)?);
    let (both, moved) = (shared(compute, transfer), length(transfer));
    if moved == 0 {
        return None;
    }
    let share = percent(both, moved);
    let text = format!("{} of that, {share:.1} %, is while devices compute.", text_of(both));
    let figures = vec![figure("overlap", both as f64, FigureUnit::Ns), figure("share", share, FigureUnit::Percent)];
    Some(sentence(Topic::Transfer, text, figures))
}

fn top_operator(profile: &Profile, own: &FxHashMap<StrId, Own>, of_what: &str) -> Option<Sentence> {
    let whole: i64 = own.values().map(|o| o.ns).sum();
    let (name, top) = own.iter().max_by_key(|(name, o)| (o.ns, std::cmp::Reverse(**name)))?;
    if top.ns <= 0 {
        return None;
    }
    let share = percent(top.ns, whole);
    let text = format!(
        "{} takes the most: {} in {}, {share:.1} % {of_what}.",
        quoted(profile.str(*name)),
        text_of(top.ns),
        counted(top.count, "slice")
    );
    let figures = vec![
        figure("self", top.ns as f64, FigureUnit::Ns),
        figure("count", top.count as f64, FigureUnit::Count),
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
    let mut figures = vec![figure("gap", ns as f64, FigureUnit::Ns)];
    let mut slices = vec![gap.before, gap.after];
    if let Some(meanwhile) = &gap.meanwhile {
        text.push_str(&format!(
            " Meanwhile {} spent {} of it in {}.",
            meanwhile.thread,
            text_of(meanwhile.self_ns),
            quoted(&meanwhile.name)
        ));
        figures.push(figure("meanwhile", meanwhile.self_ns as f64, FigureUnit::Ns));
        slices.push(meanwhile.longest);
    }
    Some(Sentence { slices, spans: vec![gap.span], ..sentence(Topic::Idle, text, figures) })
}

fn host(profile: &Profile, tally: &Tally, window: Interval<TraceNs>) -> Option<Sentence> {
    let empty = Vec::new();
    let spans = |work| tally.covered.get(&work).unwrap_or(&empty).iter().copied();
    let busy = length(&Interval::merge(spans(Work::Host).chain(spans(Work::Wait)).collect()));
    let (name, top) = tally.own_host.iter().max_by_key(|(name, o)| (o.ns, std::cmp::Reverse(**name)))?;
    if busy == 0 || top.ns <= 0 {
        return None;
    }
    let (whole, waits) = (window.end.0 - window.start.0, tally.ns(Work::Wait));
    let mut text = format!("The host has slices for {} ({:.1} %)", text_of(busy), percent(busy, whole));
    if waits > 0 {
        text.push_str(&format!(", for {} a thread is in a call that waits", text_of(waits)));
    }
    text.push_str(&format!("; most self time has {}: {}.", quoted(profile.str(*name)), text_of(top.ns)));
    let figures = vec![
        figure("host", busy as f64, FigureUnit::Ns),
        figure("waits", waits as f64, FigureUnit::Ns),
        figure("self", top.ns as f64, FigureUnit::Ns),
    ];
    Some(Sentence { slices: vec![top.longest], ..sentence(Topic::Host, text, figures) })
}

/// For a profile whose slices are of no known kind.
fn busiest_thread(profile: &Profile) -> Option<Sentence> {
    let slices = profile.slices();
    let covered = |t: TrackId| {
        let closed = slices.of_track(t).filter(|id| !slices.flags(*id).has(SliceFlags::UNCLOSED));
        length(&Interval::merge(closed.map(|id| slices.interval(id)).collect()))
    };
    let busy = profile.tracks().ids().map(|t| (covered(t), std::cmp::Reverse(t)));
    let (ns, std::cmp::Reverse(track)) = busy.max()?;
    let whole = profile.span_ns();
    if ns == 0 || whole == 0 {
        return None;
    }
    let share = percent(ns, whole);
    let thread = super::grouping::thread_text(profile, track);
    let text = format!("{thread} is the busiest thread: slices cover {} of it, {share:.1} % of the span.", text_of(ns));
    let figures = vec![figure("covered", ns as f64, FigureUnit::Ns), figure("share", share, FigureUnit::Percent)];
    let first = slices.of_track(track).max_by_key(|id| slices.dur_ns(*id));
    Some(Sentence { slices: first.into_iter().collect(), ..sentence(Topic::Verdict, text, figures) })
}

fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", format_count(n), if n == 1 { "" } else { "s" })
}

/// A name in quotes, cut where it is long.
fn quoted(name: &str) -> String {
    const MOST: usize = 80;
    if name.is_empty() {
        return "a slice without a name".to_owned();
    }
    let mut short: String = name.chars().take(MOST).collect();
    if short.len() < name.len() {
        short.push('\u{2026}');
    }
    format!("\"{short}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::ProfileBuilder;

    fn say(profile: &Profile) -> Vec<(Topic, String)> {
        let found = sentences(profile, &Works::of(profile), &FlowIndex::new(profile));
        found.into_iter().map(|s| (s.topic, s.text)).collect()
    }

    #[test]
    fn nothing_is_said_that_the_profile_does_not_hold() {
        assert_eq!(say(&Profile::default()), [(Topic::Profile, "A profile: 0 slices over 0 ns.".to_owned())]);
        // A host alone has no devices that could be idle.
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "main");
        b.slice(t, 0, 100, "aten::mm", "cpu_op", None);
        let topics: Vec<_> = say(&b.finish(Diagnostics::new())).into_iter().map(|s| s.0).collect();
        assert_eq!(topics, [Topic::Profile, Topic::Host]);
        // Compute without transfer says nothing of transfer.
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "gpu");
        let t = b.thread(p, "1", "stream");
        b.slice(t, 0, 100, "gemm", "kernel", None);
        let topics: Vec<_> = say(&b.finish(Diagnostics::new())).into_iter().map(|s| s.0).collect();
        assert_eq!(topics, [Topic::Profile, Topic::Verdict, Topic::Compute, Topic::Operator]);
    }

    #[test]
    fn what_dominates_is_what_has_the_most_time() {
        let mut b = ProfileBuilder::new("test");
        let (host, gpu) = (b.process("1", "python"), b.process("2", "gpu"));
        b.set_process_labels(gpu, "GPU 0");
        let (t, k, m) = (b.thread(host, "1", "main"), b.thread(gpu, "7", "stream 7"), b.thread(gpu, "8", "stream 8"));
        b.slice(t, 0, 1000, "load", "cpu_op", None);
        b.slice(k, 100, 100, "gemm", "kernel", None);
        b.slice(k, 500, 100, "gemm", "kernel", None);
        b.slice(m, 150, 100, "Memcpy HtoD", "gpu_memcpy", None);
        let said = say(&b.finish(Diagnostics::new()));
        assert!(said[1].1.starts_with("Idle time of the devices dominates: 750 ns of 1.00 µs (75.0 %)"), "{said:?}");
        assert!(
            said.contains(&(Topic::Transfer, "50 ns of that, 50.0 %, is while devices compute.".to_owned())),
            "{said:?}"
        );
        let idle = said.iter().find(|s| s.0 == Topic::Idle).unwrap();
        assert!(
            idle.1.contains("The longest wait of GPU 0 is 250 ns, before \"gemm\"") && idle.1.contains("\"load\""),
            "{idle:?}"
        );
    }

    #[test]
    fn stretches_share_what_both_hold() {
        let spans =
            |s: &[(i64, i64)]| s.iter().map(|&(a, b)| Interval::new(TraceNs(a), TraceNs(b))).collect::<Vec<_>>();
        assert_eq!(shared(&spans(&[(0, 10), (20, 30)]), &spans(&[(5, 25), (28, 40)])), 5 + 5 + 2);
    }
}
