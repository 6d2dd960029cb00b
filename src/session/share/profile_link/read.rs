//! From a query to the state of the profile page.

use std::collections::BTreeSet;

use super::{CompareLink, FlameLink, FlameView, ProfileLink, Tool};
use crate::share::results_fields::sort_of;
use crate::share::{Notice, Query};
use crate::{CompileOptions, ProfileSpec, Workflow};
use ns_analysis::compare::Measure;
use ns_analysis::{GroupBy, Instances};
use ns_base::{Interval, TraceNs};
use ns_view::timeline::{Annotation, Area, Arrangement, GroupKind, TrackId};

/// Most tracks of an area.
const MOST_TRACKS: usize = 10_000;

/// The names of the fields.
pub(in super::super) const NAMES: &[&str] = &[
    "file",
    "model",
    "instance",
    "batch_size",
    "workflow",
    "seed",
    "auto_cast",
    "auto_cast_type",
    "optlevel",
    "lnc",
    "tool",
    "from",
    "to",
    "sel",
    "area",
    "ask",
    "level",
    "by",
    "instances",
    "range",
    "sort",
    "find",
    "q",
    "of",
    "of_level",
    "group",
    "counter",
    "flame",
    "stack",
    "name",
    "thread",
    "base",
    "base_run",
    "time",
    "per",
    "hide",
    "pin",
    "off",
    "fold",
    "order",
    "marks",
    "core",
];

/// The link in a query. Invalid values are reported in `notices`, and the defaults are used.
pub(in super::super) fn read(query: &Query, notices: &mut Vec<Notice>) -> ProfileLink {
    let mut link = ProfileLink::default();
    let mut wrong = |field: &str, text: &str, wanted: &str, used: &str| {
        let message = format!("{field}: '{text}' is not {wanted}. {used} is used.");
        notices.push(Notice { field: field.to_owned(), message });
    };
    let text = |name: &str| query.get(name).map(str::trim).filter(|t| !t.is_empty());
    read_spec(&text, &mut link.spec, &mut wrong);
    read_tool(&text, &mut link, &mut wrong);
    link.file = text("file").map(str::to_owned);
    read_selected(query, &mut link, &mut wrong);
    if let Some(t) = text("area") {
        link.area = read_area(t);
        if link.area.is_none() {
            wrong("area", t, "a span of some tracks, such as 100..200:3-5.8", "No area");
        }
    }
    query.get("ask").unwrap_or_default().clone_into(&mut link.ask);
    link.level = text("level").map(str::to_owned);
    read_table(&text, &mut link, &mut wrong);
    query.get("find").unwrap_or_default().clone_into(&mut link.find);
    query.get("q").unwrap_or_default().clone_into(&mut link.search);
    link.search_by = read_search_by(&text, &mut wrong);
    link.group = query.get("group").map(str::to_owned);
    link.counter = text("counter").map(str::to_owned);
    read_flame(&text, &mut link.flame, &mut wrong);
    read_compare(&text, &mut link.compare, &mut wrong);
    read_arrangement(&text, &mut link.arrangement, &mut wrong);
    if let Some(t) = text("marks") {
        let marks: Option<Vec<Annotation>> = t.split(';').map(read_annotation).collect();
        match marks {
            Some(marks) => link.annotations = marks,
            None => wrong("marks", t, "a list of marks, such as 100~A;200..300~B", "No mark"),
        }
    }
    if let Some(t) = text("core") {
        link.core = t.split_once('.').and_then(|(d, c)| Some((d.parse().ok()?, c.parse().ok()?)));
        if link.core.is_none() {
            wrong("core", t, "a device and a core, such as 0.1", "The first core");
        }
    }
    link
}

/// Reads which tool is open.
fn read_tool<'q>(
    text: &impl Fn(&str) -> Option<&'q str>,
    link: &mut ProfileLink,
    wrong: &mut impl FnMut(&str, &str, &str, &str),
) {
    if let Some(t) = text("tool") {
        match Tool::from_name(t) {
            Some(tool) => link.tool = tool,
            None => wrong("tool", t, &format!("one of {}", Tool::ALL.map(Tool::name).join(", ")), link.tool.name()),
        }
    }
}

/// Reads the visible span and the selected slice.
fn read_selected(query: &Query, link: &mut ProfileLink, wrong: &mut impl FnMut(&str, &str, &str, &str)) {
    match (query.get("from"), query.get("to")) {
        (None, None) => {}
        (from, to) => match (from.and_then(parse_ns), to.and_then(parse_ns)) {
            (Some(a), Some(b)) if a < b => link.span = Some(Interval::new(TraceNs(a), TraceNs(b))),
            _ => wrong(
                "from",
                &format!("{}..{}", from.unwrap_or_default(), to.unwrap_or_default()),
                "a span of whole nanoseconds",
                "The whole profile",
            ),
        },
    }
    if let Some(t) = query.get("sel").map(str::trim).filter(|t| !t.is_empty()) {
        match t.parse::<u32>() {
            Ok(slice) if slice != u32::MAX => link.selected = Some(slice),
            _ => wrong("sel", t, "the number of a slice", "No selection"),
        }
    }
}

/// A span and its tracks, neighbours joined: `100..200:3-5.8`.
fn read_area(text: &str) -> Option<Area> {
    let (span, list) = text.split_once(':')?;
    let (start, end) = span.split_once("..")?;
    let (start, end) = (parse_ns(start)?, parse_ns(end)?);
    let mut tracks = Vec::new();
    for part in list.split('.').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let ids = first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?;
        if ids.is_empty() || tracks.len() + ids.clone().take(MOST_TRACKS + 1).count() > MOST_TRACKS {
            return None;
        }
        tracks.extend(ids.map(TrackId));
    }
    (start <= end).then(|| Area { span: Interval::new(TraceNs(start), TraceNs(end)), tracks })
}

/// Reads a table's key, range and order.
fn read_table<'q>(
    text: &impl Fn(&str) -> Option<&'q str>,
    link: &mut ProfileLink,
    wrong: &mut impl FnMut(&str, &str, &str, &str),
) {
    if let Some(t) = text("by") {
        match GroupBy::from_name(t) {
            Some(by) => link.group_by = by,
            None => wrong("by", t, &format!("one of {}", GroupBy::ALL.map(|(_, name)| name).join(", ")), "name"),
        }
    }
    match text("instances") {
        None | Some("merged") => {}
        Some("each") => link.instances = Instances::Each,
        Some(t) => wrong("instances", t, "merged or each", "merged"),
    }
    match text("range") {
        None | Some("all") => {}
        Some("view") => link.in_view = true,
        Some(t) => wrong("range", t, "all or view", "all"),
    }
    link.sort = text("sort").and_then(sort_of);
}

/// The key of the group that is searched; `None` for a search by name.
fn read_search_by<'q>(
    text: &impl Fn(&str) -> Option<&'q str>,
    wrong: &mut impl FnMut(&str, &str, &str, &str),
) -> Option<GroupKind> {
    let t = text("of")?;
    let level = text("of_level").map(str::to_owned);
    let kind = GroupBy::from_name(t).map(|by| GroupKind { by, level });
    if kind.is_none() {
        wrong("of", t, &format!("one of {}", GroupBy::ALL.map(|(_, name)| name).join(", ")), "A search by name");
    }
    kind
}

/// Reads the base of a comparison, and what is compared.
fn read_compare<'q>(
    text: &impl Fn(&str) -> Option<&'q str>,
    compare: &mut CompareLink,
    wrong: &mut impl FnMut(&str, &str, &str, &str),
) {
    compare.base = text("base").map(str::to_owned);
    if let Some(t) = text("base_run") {
        let run = Query::parse(t);
        let of_run = |name: &str| run.get(name).map(str::trim).filter(|t| !t.is_empty());
        read_spec(&of_run, compare.base_run.insert(ProfileSpec::default()), wrong);
    }
    match text("time") {
        None | Some("self") => {}
        Some("total") => compare.measure = Measure::Total,
        Some(t) => wrong("time", t, "self or total", "self"),
    }
    match text("per") {
        None | Some("run") => {}
        Some("step") => compare.per_step = true,
        Some(t) => wrong("per", t, "run or step", "run"),
    }
}

/// Reads which sections and tracks are shown, and in which order.
fn read_arrangement<'q>(
    text: &impl Fn(&str) -> Option<&'q str>,
    arrangement: &mut Arrangement,
    wrong: &mut impl FnMut(&str, &str, &str, &str),
) {
    if let Some(t) = text("hide") {
        let sections: Result<BTreeSet<usize>, _> =
            t.split(',').map(|n| n.trim().parse::<u32>()).map(|n| n.map(|n| n as usize)).collect();
        match sections {
            Ok(sections) => arrangement.collapsed = sections,
            Err(_) => wrong("hide", t, "a list of section numbers", "No section hidden"),
        }
    }
    let mut tracks = |field: &str| {
        let Some(t) = text(field) else { return Vec::new() };
        let ids: Result<Vec<TrackId>, _> = t.split('.').map(|n| n.trim().parse().map(TrackId)).collect();
        ids.unwrap_or_else(|_| {
            wrong(field, t, "a list of track numbers, such as 3.5", "No track");
            Vec::new()
        })
    };
    arrangement.pinned = tracks("pin");
    arrangement.hidden = tracks("off").into_iter().collect();
    arrangement.folded = tracks("fold").into_iter().collect();
    arrangement.order = tracks("order");
}

/// Reads the simulated run.
fn read_spec<'q>(
    text: &impl Fn(&str) -> Option<&'q str>,
    spec: &mut ProfileSpec,
    wrong: &mut impl FnMut(&str, &str, &str, &str),
) {
    if let Some(model) = text("model") {
        spec.model = model.to_owned();
    }
    if let Some(instance) = text("instance") {
        spec.instance = instance.to_owned();
    }
    if let Some(t) = text("batch_size") {
        match t.parse() {
            Ok(n) if n > 0 => spec.batch_size = Some(n),
            _ => wrong("batch_size", t, "a number of samples, at least 1", "the model's own"),
        }
    }
    if let Some(t) = text("workflow") {
        match Workflow::from_name(t) {
            Some(workflow) => spec.workflow = workflow,
            None => wrong("workflow", t, "mark_step or trace", spec.workflow.name()),
        }
    }
    if let Some(t) = text("seed") {
        match t.parse() {
            Ok(seed) => spec.seed = seed,
            Err(_) => wrong("seed", t, "a whole number from 0 to 18446744073709551615", "0"),
        }
    }
    read_options(text, &mut spec.options, wrong);
}

/// Reads the view of the flame graph.
fn read_flame<'q>(
    text: &impl Fn(&str) -> Option<&'q str>,
    flame: &mut FlameLink,
    wrong: &mut impl FnMut(&str, &str, &str, &str),
) {
    if let Some(t) = text("flame") {
        match FlameView::from_name(t) {
            Some(view) => flame.view = view,
            None => wrong("flame", t, &FlameView::ALL.map(|(_, name)| name).join(", "), flame.view.name()),
        }
    }
    flame.stack = text("stack").map(|t| t.split('\n').map(str::to_owned).collect()).unwrap_or_default();
    text("name").unwrap_or_default().clone_into(&mut flame.name);
    if let Some(t) = text("thread") {
        match t.parse() {
            Ok(track) => flame.thread = Some(TrackId(track)),
            Err(_) => wrong("thread", t, "the number of a track", "The thread with the most slices"),
        }
    }
}

/// Reads the compiler options, if they are given.
fn read_options<'q>(
    text: &impl Fn(&str) -> Option<&'q str>,
    options: &mut CompileOptions,
    wrong: &mut impl FnMut(&str, &str, &str, &str),
) {
    if let Some(t) = text("auto_cast") {
        match t.parse() {
            Ok(cast) => options.auto_cast = cast,
            Err(_) => wrong("auto_cast", t, "none, matmult or all", options.auto_cast.name()),
        }
    }
    if let Some(t) = text("auto_cast_type") {
        match t.parse() {
            Ok(to) => options.auto_cast_type = to,
            Err(_) => wrong("auto_cast_type", t, "bf16, fp16, tf32 or fp8_e4m3", options.auto_cast_type.name()),
        }
    }
    if let Some(t) = text("optlevel") {
        match t.parse() {
            Ok(level) => options.opt_level = level,
            Err(_) => wrong("optlevel", t, "1, 2 or 3", options.opt_level.name()),
        }
    }
    if let Some(t) = text("lnc") {
        match t.parse() {
            Ok(lnc) => options.lnc = Some(lnc),
            Err(_) => wrong("lnc", t, "a number of cores", "The device's default"),
        }
    }
}

/// `100~A` is a mark, `200..300~B` a range.
fn read_annotation(text: &str) -> Option<Annotation> {
    let (at, label) = text.split_once('~')?;
    let (start, end) = at.split_once("..").unwrap_or((at, at));
    let (start_ns, end_ns) = (parse_ns(start)?, parse_ns(end)?);
    (start_ns <= end_ns).then(|| Annotation { start_ns, end_ns, label: label.to_owned() })
}

fn parse_ns(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}
