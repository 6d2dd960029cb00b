//! The document put together.

use super::evidence::Evidence;
use super::findings::findings;
use super::limits::limits_table;
use super::published::{self, TimeBeside};
use super::tiles;
use ns_analysis::sentences::{Breakdown, Overview, Part, Step};
use ns_base::convert::i64_to_f64;
use ns_base::units::format_count;
use ns_device::EstimateMark;
use ns_forms::share::Tool;
use ns_insight::{Insights, LIMITS_TITLE, Limiter, Resource, ResourceTime};
use ns_profile::{Profile, Unit};
use ns_view::colours::{Colours, Kind, part_neighbours};
use ns_view::document::{Block, Columns, Document, Ranked, Share, Shares, StackedColumn};
use ns_view::table::{Cell, Column, ColumnKind, Table};
use ns_view::timeline::SliceRef;

/// Most steps that are drawn; with more, the longest are among the findings.
const MOST_STEPS: usize = 120;

/// What stands for a number that simulations without a limit of the core find, until they have.
pub(super) const BEING_COMPUTED: &str = "being computed";

/// Number of operations that are shown as separate parts.
const MOST_PARTS: usize = 6;

/// The data that an overview is made from.
pub(crate) struct Context<'a> {
    pub profile: &'a Profile,
    pub found: &'a Overview,
    /// The analysis of a simulated execution.
    pub insights: Option<&'a Insights>,
    /// What AWS published for it.
    pub published: &'a [TimeBeside],
    /// The mark of its times, if the cost of an operator is a guess.
    pub mark: Option<EstimateMark>,
}

impl Context<'_> {
    /// A duration for display.
    pub fn text(&self, ns: i64) -> String {
        self.unit().text(ns)
    }

    pub fn unit(&self) -> &Unit {
        &self.profile.meta().unit
    }
}

/// The title of a part.
pub(super) const fn part_name(part: Part) -> &'static str {
    match part {
        Part::Compute => "Compute",
        Part::Communication => "Communication",
        Part::Transfer => "Data transfer",
        Part::Host => "Host only",
        Part::Idle => "Idle",
    }
}

/// The name of a part in styles and tests.
const fn part_kind(part: Part) -> &'static str {
    match part {
        Part::Compute => "compute",
        Part::Communication => "communication",
        Part::Transfer => "transfer",
        Part::Host => "host",
        Part::Idle => "idle",
    }
}

/// Share of a whole in percent; 0 of an empty whole.
pub(super) fn percent(part: i64, whole: i64) -> f64 {
    if whole > 0 { i64_to_f64(part) * 100.0 / i64_to_f64(whole) } else { 0.0 }
}

/// The overview of a profile.
pub(crate) fn overview_document(c: &Context<'_>, name: &str) -> Document {
    let (found, insights) = (c.found, c.insights);
    let mut blocks = vec![Block::Tiles(tiles::tiles(c))];
    match &found.breakdown {
        Some(breakdown) => blocks.push(Block::Shares(match insights {
            Some(insights) => time_by_unit(c, &insights.limiter),
            None => time_by_part(c, breakdown),
        })),
        None => blocks.extend(self_time_by_operation(c).map(Block::Shares)),
    }
    blocks.extend(published::table(c));
    if found.steps.len() > 1 {
        blocks.push(Block::Columns(steps(c)));
    }
    let ranked = findings(c);
    blocks.push(Block::Heading("What to look at first".to_owned()));
    blocks.push(match ranked.is_empty() {
        true => Block::Text(nothing_found(c)),
        false => Block::Ranked { note: caveat(&ranked), all: ranked },
    });
    let limits = |table| Block::Table { title: LIMITS_TITLE.to_owned(), file: "limits".to_owned(), table };
    blocks.extend(insights.and_then(limits_table).map(limits));
    Document { title: name.to_owned(), blocks }
}

fn nothing_found(c: &Context<'_>) -> String {
    if c.profile.slices().is_empty() {
        return "This profile has no slices, so there is nothing to summarise.".to_owned();
    }
    "Nothing stands out: no wait, transfer or operation takes a large part of the time.".to_owned()
}

/// Explanation of the savings, if there are any.
fn caveat(ranked: &[Ranked]) -> String {
    if ranked.iter().all(|r| r.saving.is_empty()) {
        return String::new();
    }
    "A saving is the most that fixing this finding alone can gain; savings overlap, so they do not add up.".to_owned()
}

/// The bar of where the time went.
fn time_by_part(c: &Context<'_>, breakdown: &Breakdown) -> Shares {
    let whole = breakdown.whole_ns();
    let part = |part: Part| {
        let ns = breakdown.ns(part);
        Share {
            name: part_name(part).to_owned(),
            value: c.text(ns),
            exact: c.unit().exact(ns),
            share: percent(ns, whole) / 100.0,
            kind: part_kind(part).to_owned(),
            target: evidence_of(c, part).map(|e| e.print()).unwrap_or_default(),
        }
    };
    let of = if c.found.by_steps { "the marked steps" } else { "the time from the first to the last work of devices" };
    Shares {
        title: format!("Where {} went", c.text(whole)),
        note: format!(
            "Of {of}. Every instant counts once: compute first, then communication, data transfer, and the host when no device works."
        ),
        parts: Part::ALL.map(part).into_iter().filter(|p| p.share > 0.0).collect(),
    }
}

/// The bar of where the device window of a core went: the limiting unit whole, then what each other unit adds to it.
fn time_by_unit(c: &Context<'_>, limiter: &Limiter) -> Shares {
    let ns = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    // The colour is that of the unit in every other view.
    let kind = |name: &str, part: Part| match Kind::of_unit(name) {
        Some(kind) => format!("hue-{}", kind.fill()),
        None => part_kind(part).to_owned(),
    };
    let share = |name: &str, part: Part, time: u64| Share {
        name: name.to_owned(),
        value: c.text(ns(time)),
        exact: c.unit().exact(ns(time)),
        share: percent(ns(time), ns(limiter.window_ns)) / 100.0,
        kind: kind(name, part),
        target: evidence_of(c, part).map(|e| e.print()).unwrap_or_default(),
    };
    let unit = |r: &ResourceTime| {
        let part = if r.resource == Resource::Dma { Part::Transfer } else { Part::Compute };
        share(r.resource.name(), part, r.exposed_ns)
    };
    let units = limiter.resources.iter().map(unit);
    let idle = share(part_name(Part::Idle), Part::Idle, limiter.idle_ns);
    let hidden = limiter.hidden_text().map_or_else(String::new, |text| format!(" {text}"));
    Shares {
        title: format!("Where {} went", c.text(ns(limiter.window_ns))),
        note: format!(
            "Of the device window. Every instant counts once, for the unit with the longest busy time.{hidden}"
        ),
        parts: units.chain([idle]).filter(|p| p.share > 0.0).collect(),
    }
}

fn evidence_of(c: &Context<'_>, part: Part) -> Option<Evidence> {
    match part {
        Part::Compute => Some(Evidence::tool(Tool::OperatorFramework)),
        Part::Communication => c.found.longest_communication.map(Evidence::span),
        Part::Transfer => c.found.longest_transfer.map(Evidence::span),
        Part::Host | Part::Idle => Some(Evidence::tool(Tool::IdleGaps)),
    }
}

/// A column for each step.
fn steps(c: &Context<'_>) -> Columns {
    let all = &c.found.steps;
    let longest = all.iter().map(|s| s.breakdown.whole_ns()).max().unwrap_or(0);
    let column = |step: &Step| {
        let (whole, span) = (step.breakdown.whole_ns(), step.breakdown.span);
        let share = |part: Part| (part_kind(part).to_owned(), percent(step.breakdown.ns(part), longest) / 100.0);
        let named = |part: Part| format!("{} {}", part_name(part).to_lowercase(), c.text(step.breakdown.ns(part)));
        let parts = Part::ALL.into_iter().filter(|p| step.breakdown.ns(*p) > 0);
        StackedColumn {
            name: step.name.clone(),
            value: c.text(whole),
            parts: parts.clone().map(share).collect(),
            described: parts.map(named).collect::<Vec<_>>().join(", "),
            target: Evidence { slice: Some(SliceRef(step.slice.0)), ..Evidence::span(span) }.print(),
        }
    };
    let note = if all.len() > MOST_STEPS {
        format!(
            "The first {MOST_STEPS} of {} steps; click a step to open it on the timeline.",
            format_count(all.len() as u64)
        )
    } else {
        "Click a step to open it on the timeline.".to_owned()
    };
    Columns {
        title: format!("{} steps", format_count(all.len() as u64)),
        note,
        most: c.text(longest),
        columns: all.iter().take(MOST_STEPS).map(column).collect(),
        table: step_table(all, c.unit()),
    }
}

/// All steps in numbers: how long each took, and how the time was spent.
fn step_table(all: &[Step], unit: &Unit) -> Table {
    let parts: Vec<Part> = Part::ALL.into_iter().filter(|p| all.iter().any(|s| s.breakdown.ns(*p) > 0)).collect();
    let number = |id, title| Column::in_unit(unit.name(), id, title, ColumnKind::Count);
    let text = Column::new("step", "Step", ColumnKind::Text);
    let of_parts = parts.iter().map(|p| number(part_kind(*p), part_name(*p)));
    let columns = [text, number("start", "Start"), number("length", "Length")].into_iter().chain(of_parts).collect();
    let cell = |ns: i64| u64::try_from(ns).map_or(Cell::Missing, Cell::Count);
    let row = |step: &Step| {
        let known = [step.breakdown.span.start.0, step.breakdown.whole_ns()].map(cell);
        let of_parts = parts.iter().map(|p| cell(step.breakdown.ns(*p)));
        std::iter::once(Cell::Text(step.name.clone())).chain(known).chain(of_parts).collect()
    };
    Table { columns, rows: all.iter().map(row).collect() }
}

/// The bar of self time by operation, for profiles that do not state which slices are work of a device; `None` if no slice has
/// self time.
fn self_time_by_operation(c: &Context<'_>) -> Option<Shares> {
    let all = &c.found.operations;
    let whole: i64 = all.iter().map(|o| o.self_ns).sum();
    if whole <= 0 {
        return None;
    }
    let target = Evidence::tool(Tool::Statistics).print();
    let share = |name: String, ns: i64, kind: String| Share {
        name,
        value: c.text(ns),
        exact: c.unit().exact(ns),
        share: i64_to_f64(ns) / i64_to_f64(whole),
        kind,
        target: target.clone(),
    };
    let (first, rest) = all.split_at(all.len().min(MOST_PARTS));
    let colours = Colours::new(all.iter().map(|o| (o.name.as_str(), i64_to_f64(o.self_ns))));
    let mut fills: Vec<u8> = first.iter().map(|o| colours.fill_of(&o.name)).collect();
    part_neighbours(&mut fills, |a, b| a + 1 == b);
    let parts = first.iter().zip(fills).map(|(o, fill)| share(o.name.clone(), o.self_ns, format!("hue-{fill}")));
    let rest_ns: i64 = rest.iter().map(|o| o.self_ns).sum();
    let rest = (rest_ns > 0).then(|| share(format!("{} others", rest.len()), rest_ns, "others".to_owned()));
    Some(Shares {
        title: format!("Self time by operation, {} in all", c.text(whole)),
        note: "Names that differ only in a number or in template arguments count as one operation.".to_owned(),
        parts: parts.chain(rest).collect(),
    })
}
