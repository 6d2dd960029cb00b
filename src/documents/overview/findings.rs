//! What to change first, ranked by the largest possible gain.

use super::document::{BEING_COMPUTED, Context, percent};
use super::evidence::Evidence;
use super::tiles::{MOST_LETTERS, shortened};
use crate::timeline::locate;
use ns_analysis::opcode::{names_in, opcode};
use ns_analysis::sentences::{Breakdown, EXAMINED, Operation, Part, Sentence, Step, Topic};
use ns_base::convert::f64_to_i64;
use ns_base::units::{format_plural, format_share, format_whole_share};
use ns_base::{Interval, Order, TraceNs};
use ns_forms::share::Tool;
use ns_insight::{Effect, Finding, Resource, Rule};
use ns_machine::isa::Engine;
use ns_profile::SliceId;
use ns_view::document::{Ranked, Tone, Way};
use ns_view::timeline::SliceRef;

/// A finding that would gain less than this share of the whole, in percent, is left out. Chosen.
const LEAST_PERCENT: f64 = 1.0;
/// The greatest number of findings. Chosen: this many can be read at a glance.
const MOST_FINDINGS: usize = 8;

/// A finding whose savings have not been put into words yet.
struct FindingDraft {
    title: String,
    text: String,
    /// The most that a change can gain, in ns; `None` if it gains nothing by itself.
    saves_ns: Option<i64>,
    /// Whether it says that the model computes something else than was meant; such findings come first.
    is_warning: bool,
    /// Whether the saving is being computed.
    is_open: bool,
    /// Condition after the saving: `if it took half as long`.
    condition: String,
    ways: Vec<(String, Evidence)>,
}

/// All findings, those that could gain the most first.
pub(super) fn findings(c: &Context<'_>) -> Vec<Ranked> {
    // What each limit costs is a share of the same time.
    let total = c.insights.map(|i| f64_to_i64(i.summary.total_time * 1e9));
    let of_devices = c.found.breakdown.map_or_else(|| c.profile.span_ns(), |b| b.whole_ns());
    let whole = total.unwrap_or(of_devices);
    let mut drafts: Vec<FindingDraft> = Vec::new();
    if let Some(b) = &c.found.breakdown {
        drafts.extend(waiting(c, b));
        drafts.extend(longest_gap(c, b));
        if c.insights.is_none() {
            drafts.extend(exposed(c, b, Part::Transfer));
        }
        drafts.extend(exposed(c, b, Part::Communication));
        drafts.extend(uneven_steps(c));
    }
    drafts.extend(of_execution(c));
    drafts.extend(operations(c));
    drafts.retain(|f| f.saves_ns.is_none_or(|ns| percent(ns, whole) >= LEAST_PERCENT));
    // Stable sort: equal findings keep their order, and symptoms come last.
    drafts.order_by_key(|f| std::cmp::Reverse((f.is_warning, f.is_open, f.saves_ns)));
    drafts.truncate(MOST_FINDINGS);
    drafts.into_iter().map(|f| ranked(c, f, whole)).collect()
}

fn ranked(c: &Context<'_>, draft: FindingDraft, whole: i64) -> Ranked {
    let share = draft.saves_ns.map(|ns| percent(ns, whole));
    let saving = draft.saves_ns.zip(share).map(|(ns, share)| {
        let condition = if draft.condition.is_empty() { String::new() } else { format!(" {}", draft.condition) };
        format!("up to {} ({}){condition}", c.text(ns), format_share(share))
    });
    let tone = match share {
        Some(share) if share >= 10.0 => Tone::Bad,
        Some(_) => Tone::Warning,
        None => Tone::Neutral,
    };
    let way = |(text, evidence): (String, Evidence)| Way { text, target: evidence.print() };
    Ranked {
        tone,
        title: draft.title,
        text: draft.text,
        saving: if draft.is_open { BEING_COMPUTED.to_owned() } else { saving.unwrap_or_default() },
        share: share.unwrap_or(0.0) / 100.0,
        ways: draft.ways.into_iter().map(way).collect(),
    }
}

fn sentence<'a>(c: &'a Context<'_>, topic: Topic) -> Option<&'a Sentence> {
    c.found.sentences.iter().find(|s| s.topic == topic)
}

fn slice_evidence(c: &Context<'_>, slice: SliceId) -> Evidence {
    Evidence { slice: Some(SliceRef(slice.0)), ..Evidence::span(c.profile.slices().interval(slice)) }
}

/// Idle devices, and what the host does meanwhile.
fn waiting(c: &Context<'_>, b: &Breakdown) -> Option<FindingDraft> {
    let ns = b.waiting_ns();
    if ns <= 0 {
        return None;
    }
    let share = format_whole_share(percent(ns, b.whole_ns()));
    let reason = &c.found.idle;
    let mut ways = vec![("Idle gaps".to_owned(), Evidence::tool(Tool::IdleGaps))];
    let why = match &reason.cause {
        Some(cause) => {
            let name = shortened(&cause.name);
            ways.push((format!("The longest {name}"), slice_evidence(c, cause.longest)));
            format!("; first cause: {name}")
        }
        None if reason.is_late() => "; first cause: the host starts work late".to_owned(),
        None => String::new(),
    };
    Some(FindingDraft {
        title: format!("Devices are idle {share} of the time{why}"),
        text: format!("No device works for {} of {}.{}", c.text(ns), c.text(b.whole_ns()), reason.text()),
        saves_ns: Some(ns),
        is_warning: false,
        is_open: false,
        condition: String::new(),
        ways,
    })
}

/// The longest wait of a device.
fn longest_gap(c: &Context<'_>, b: &Breakdown) -> Option<FindingDraft> {
    let (span, said) = (c.found.longest_gap?, sentence(c, Topic::Idle)?);
    let ns = inside(span, b.span);
    let title = format!("One wait of {}", c.text(ns));
    let ways = vec![("This wait".to_owned(), Evidence::span(span))];
    Some(FindingDraft {
        title,
        text: said.text.clone(),
        saves_ns: Some(ns),
        is_warning: false,
        is_open: false,
        condition: String::new(),
        ways,
    })
}

/// Length of the overlap of two spans, in ns.
fn inside(a: Interval<TraceNs>, b: Interval<TraceNs>) -> i64 {
    (a.end.min(b.end).0 - a.start.max(b.start).0).max(0)
}

/// Data transfer while no device computes.
fn exposed(c: &Context<'_>, b: &Breakdown, part: Part) -> Option<FindingDraft> {
    let ns = b.ns(part);
    let (topic, what, longest) = match part {
        Part::Communication => (Topic::Communication, "Communication", c.found.longest_communication?),
        _ => (Topic::Transfer, "Data transfer", c.found.longest_transfer?),
    };
    if ns <= 0 {
        return None;
    }
    let said: Vec<&str> = c.found.sentences.iter().filter(|s| s.topic == topic).map(|s| s.text.as_str()).collect();
    Some(FindingDraft {
        title: format!("{what} not hidden by compute"),
        text: format!("For {} the devices do nothing else. {}", c.text(ns), said.join(" ")),
        saves_ns: Some(ns),
        is_warning: false,
        is_open: false,
        condition: String::new(),
        ways: vec![("The longest".to_owned(), Evidence::span(longest))],
    })
}

/// Steps that take longer than the median.
fn uneven_steps(c: &Context<'_>) -> Option<FindingDraft> {
    let steps = &c.found.steps;
    let median = c.found.median_step_ns().filter(|_| steps.len() >= 3)?;
    let over: i64 = steps.iter().map(|s| (s.breakdown.whole_ns() - median).max(0)).sum();
    let slowest: &Step = steps.iter().max_by_key(|s| s.breakdown.whole_ns())?;
    let ns = slowest.breakdown.whole_ns();
    if percent(ns - median, median) < 10.0 {
        return None;
    }
    Some(FindingDraft {
        title: format!("Steps differ: {} takes {}", slowest.name, c.text(ns)),
        text: format!(
            "The median of {} steps is {}; together they take {} more than that.",
            steps.len(),
            c.text(median),
            c.text(over)
        ),
        saves_ns: Some(over),
        is_warning: false,
        is_open: false,
        condition: "if none took longer than the median".to_owned(),
        ways: vec![(
            slowest.name.clone(),
            Evidence { slice: Some(SliceRef(slowest.slice.0)), ..Evidence::span(slowest.breakdown.span) },
        )],
    })
}

/// The findings of a simulated execution: costs, and symptoms that gain nothing by themselves.
fn of_execution(c: &Context<'_>) -> Vec<FindingDraft> {
    let all = c.insights.map(|i| i.findings.as_slice()).unwrap_or_default();
    let wanted = all.iter().filter(|f| matches!(f.effect, Effect::Cost | Effect::Symptom));
    wanted.map(|f| of_rule(c, f)).collect()
}

fn of_rule(c: &Context<'_>, f: &Finding) -> FindingDraft {
    let way = f.slices.first().and_then(|range| {
        let slice = locate(c.profile, range)?;
        let span = Interval::new(TraceNs(range.start_ns), TraceNs(range.end_ns));
        Some((format!("A slice on {}", range.row), Evidence { slice: Some(slice), ..Evidence::span(span) }))
    });
    let is_limiting = f.rule == Rule::LimitingUnit;
    let bound = c.insights.filter(|_| is_limiting).and_then(|i| i.limit_costs().into_iter().next());
    let hidden = c.insights.filter(|_| is_limiting).and_then(|i| i.limiter.hidden_text()).unwrap_or_default();
    let texts = [f.title.as_str(), &hidden, &f.detail];
    FindingDraft {
        title: bound
            .map_or_else(|| short_title(f.rule).to_owned(), |(limit, ..)| format!("{limit} limits the execution")),
        text: texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" "),
        saves_ns: f.saves_ns.map(|ns| i64::try_from(ns).unwrap_or(i64::MAX)),
        is_warning: f.is_warning(),
        is_open: f.is_of_limit() && f.saves_ns.is_none(),
        condition: String::new(),
        ways: way.into_iter().chain([("Metrics and findings".to_owned(), Evidence::tool(Tool::Summary))]).collect(),
    }
}

const fn short_title(rule: Rule) -> &'static str {
    match rule {
        Rule::LimitingUnit => "The busiest unit",
        Rule::ClockLimit => "The tensor engine's clock is limited",
        Rule::Spills => "Values spill to device memory",
        Rule::EngineWaits => "An engine is idle",
        Rule::SmallTransfers => "Transfers are too small for the full rate",
        Rule::InputsInStep => "Inputs are transferred within the step",
        Rule::Transposes => "The tensor engine transposes",
        Rule::UnfusedElementwise => "Elementwise operations are not fused",
        Rule::TableLoadedLate => "An activation table is loaded late",
        Rule::TablePreloaded => "Activation tables are loaded ahead",
        Rule::OverlapSavesTime => "Units work at the same time",
        Rule::ConstantsSetEarly => "Constants are set early",
        Rule::TrainingParts => "The parts of the training step",
        Rule::ProductsRemoved => "The compiler removed products",
    }
}

/// The operations with the most self time, and the gain from halving it.
fn operations(c: &Context<'_>) -> Vec<FindingDraft> {
    let has_devices = c.found.breakdown.is_some();
    let (table, tool) =
        if has_devices { ("Operators", Tool::OperatorFramework) } else { ("Statistics", Tool::Statistics) };
    let operations: Vec<&Operation> = c.found.operations.iter().filter(|o| o.percent >= 10.0).take(EXAMINED).collect();
    let names = names_in(&operations.iter().map(|o| o.name.as_str()).collect::<Vec<_>>(), MOST_LETTERS);
    operations
        .into_iter()
        .zip(names)
        .map(|(o, name)| FindingDraft {
            title: format!("{name} takes {} of the self time", format_whole_share(o.percent)),
            text: format!("{} in {}.", c.text(o.self_ns), format_plural(o.count, "occurrence")),
            saves_ns: Some(gain_of_half(c, o)),
            is_warning: false,
            is_open: false,
            condition: "if it took half as long".to_owned(),
            ways: vec![
                (table.to_owned(), Evidence::tool(tool)),
                ("The longest slice".to_owned(), slice_evidence(c, o.longest)),
            ],
        })
        .collect()
}

/// The most that is gained if an operation takes half as long. Slices of several devices or threads run at once, so the gain is at
/// most half of the time that they cover; on a core, the units that the operation does not use are a bound as well.
fn gain_of_half(c: &Context<'_>, operation: &Operation) -> i64 {
    let half = operation.self_ns.min(operation.covered_ns) / 2;
    let Some(insights) = c.insights else { return half };
    let mut engine_ns = [0_u64; Engine::ALL.len()];
    for time in insights.operators.iter().filter(|o| *opcode(&o.name) == *operation.name) {
        for (sum, more) in engine_ns.iter_mut().zip(time.engine_ns) {
            *sum += more;
        }
    }
    let less = |resource: Resource| {
        Engine::ALL.into_iter().filter(|e| Resource::of(Some(*e)) == resource).map(|e| engine_ns[e.index()] / 2).sum()
    };
    let claim = u64::try_from(half).unwrap_or(0);
    i64::try_from(insights.limiter.saving_of_ns(claim, less)).unwrap_or(i64::MAX)
}
