//! The fields of a link to the profile page.

use std::collections::BTreeSet;

use super::{Notice, Query};
use crate::base::{Interval, TraceNs};
use crate::profile::analysis::GroupBy;
use crate::session::{CompileOptions, ProfileSpec, Workflow};
use crate::view::table::Sort;
use crate::view::timeline::{Annotation, Arrangement, TrackId};

/// The tools of the profile page, named as in the Neuron plugin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tool {
    /// What dominates, with metrics, bounds and findings.
    Summary,
    /// Time by framework operator.
    OperatorFramework,
    /// Time by HLO operator.
    OperatorHlo,
    /// What happened when.
    #[default]
    OperatorTimeline,
    /// What happened when in a whole benchmark run.
    Trace,
    /// Slices grouped by anything, and how their durations are spread.
    Statistics,
    /// Slices merged by stack; callers and callees of a name.
    FlameGraph,
    /// The module hierarchy.
    Modules,
    /// The chain of slices that made it take as long as it did.
    CriticalPath,
    /// When devices or threads did nothing, and what was waited on.
    IdleGaps,
    /// Two profiles against each other.
    Compare,
    /// Queries.
    Ask,
}

impl Tool {
    /// All, in the order of the selector.
    pub const ALL: [Self; 12] = [
        Self::Summary,
        Self::OperatorFramework,
        Self::OperatorHlo,
        Self::OperatorTimeline,
        Self::Trace,
        Self::Statistics,
        Self::FlameGraph,
        Self::Modules,
        Self::CriticalPath,
        Self::IdleGaps,
        Self::Compare,
        Self::Ask,
    ];

    /// Its name in links and in the selector.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::OperatorFramework => "operator-framework",
            Self::OperatorHlo => "operator-hlo",
            Self::OperatorTimeline => "operator-timeline",
            Self::Trace => "trace",
            Self::Statistics => "statistics",
            Self::FlameGraph => "flame-graph",
            Self::Modules => "modules",
            Self::CriticalPath => "critical-path",
            Self::IdleGaps => "idle-gaps",
            Self::Compare => "compare",
            Self::Ask => "ask",
        }
    }

    /// The tool of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }
}

/// Everything the profile page shows.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ProfileLink {
    /// What is profiled when no file is shown.
    pub spec: ProfileSpec,
    /// Name of the file that is shown; its content is never in a link.
    pub file: Option<String>,
    /// The tool.
    pub tool: Tool,
    /// The span on the screen; all of the profile when absent.
    pub span: Option<Interval<TraceNs>>,
    /// The selected slice.
    pub selected: Option<u32>,
    /// What the Ask tool asks.
    pub ask: String,
    /// What slices are grouped by in the statistics tool.
    pub group_by: GroupBy,
    /// Whether operators are counted in the span on the screen only, where the profile can tell.
    pub in_view: bool,
    /// How the operator table is sorted.
    pub sort: Option<Sort>,
    /// What is searched for.
    pub search: String,
    /// How the tracks of the timeline are arranged.
    pub arrangement: Arrangement,
    /// Marks and ranges on the timeline.
    pub annotations: Vec<Annotation>,
    /// Device and core of the second pie; the first one when absent.
    pub core: Option<(u32, u32)>,
}

pub(super) fn read(query: &Query, notices: &mut Vec<Notice>) -> ProfileLink {
    let mut link = ProfileLink::default();
    let mut wrong = |field: &str, text: &str, wanted: &str, used: &str| {
        let message = format!("{field}: '{text}' is not {wanted}. {used} is used.");
        notices.push(Notice { field: field.to_owned(), message });
    };
    let text = |name: &str| query.get(name).map(str::trim).filter(|t| !t.is_empty());
    if let Some(model) = text("model") {
        link.spec.model = model.to_owned();
    }
    if let Some(instance) = text("instance") {
        link.spec.instance = instance.to_owned();
    }
    if let Some(t) = text("batch_size") {
        match t.parse() {
            Ok(n) if n > 0 => link.spec.batch_size = Some(n),
            _ => wrong("batch_size", t, "a number of samples, at least 1", "the model's own"),
        }
    }
    if let Some(t) = text("workflow") {
        match Workflow::from_name(t) {
            Some(workflow) => link.spec.workflow = workflow,
            None => wrong("workflow", t, "mark_step or trace", link.spec.workflow.name()),
        }
    }
    if let Some(t) = text("seed") {
        match t.parse() {
            Ok(seed) => link.spec.seed = seed,
            Err(_) => wrong("seed", t, "a whole number from 0 to 18446744073709551615", "0"),
        }
    }
    read_options(&text, &mut link.spec.options, &mut wrong);
    if let Some(t) = text("tool") {
        match Tool::from_name(t) {
            Some(tool) => link.tool = tool,
            None => wrong("tool", t, &format!("one of {}", Tool::ALL.map(Tool::name).join(", ")), link.tool.name()),
        }
    }
    link.file = text("file").map(str::to_owned);
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
    if let Some(t) = text("sel") {
        match t.parse::<u32>() {
            Ok(slice) if slice != u32::MAX => link.selected = Some(slice),
            _ => wrong("sel", t, "the number of a slice", "No selection"),
        }
    }
    query.get("ask").unwrap_or_default().clone_into(&mut link.ask);
    if let Some(t) = text("by") {
        match GroupBy::from_name(t) {
            Some(by) => link.group_by = by,
            None => wrong("by", t, &format!("one of {}", GroupBy::ALL.map(|(_, name)| name).join(", ")), "name"),
        }
    }
    match text("range") {
        None | Some("all") => {}
        Some("view") => link.in_view = true,
        Some(t) => wrong("range", t, "all or view", "all"),
    }
    link.sort = text("sort").and_then(|t| {
        let (descending, column) = t.strip_prefix('-').map_or((false, t), |c| (true, c));
        let column = column.trim();
        (!column.is_empty() && !column.starts_with('-')).then(|| Sort { column: column.to_owned(), descending })
    });
    query.get("q").unwrap_or_default().clone_into(&mut link.search);
    if let Some(t) = text("hide") {
        let sections: Result<BTreeSet<usize>, _> =
            t.split(',').map(|n| n.trim().parse::<u32>()).map(|n| n.map(|n| n as usize)).collect();
        match sections {
            Ok(sections) => link.arrangement.collapsed = sections,
            Err(_) => wrong("hide", t, "a list of section numbers", "No section hidden"),
        }
    }
    let mut tracks = |field: &str| {
        let Some(t) = text(field) else { return Vec::new() };
        let ids: Result<Vec<TrackId>, _> = t.split('.').map(|n| n.trim().parse().map(TrackId)).collect();
        ids.unwrap_or_else(|_| {
            wrong(field, t, "a list of track numbers, as in 3.5", "No track");
            Vec::new()
        })
    };
    link.arrangement.pinned = tracks("pin");
    link.arrangement.hidden = tracks("off").into_iter().collect();
    link.arrangement.folded = tracks("fold").into_iter().collect();
    link.arrangement.order = tracks("order");
    if let Some(t) = text("marks") {
        let marks: Option<Vec<Annotation>> = t.split(';').map(read_annotation).collect();
        match marks {
            Some(marks) => link.annotations = marks,
            None => wrong("marks", t, "a list of marks, as in 100~A;200..300~B", "No mark"),
        }
    }
    if let Some(t) = text("core") {
        link.core = t.split_once('.').and_then(|(d, c)| Some((d.parse().ok()?, c.parse().ok()?)));
        if link.core.is_none() {
            wrong("core", t, "a device and a core, as in 0.1", "The first core");
        }
    }
    link
}

/// The compiler's options, where they are given.
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

fn write_options(options: &CompileOptions, query: &mut Query) {
    query.set("auto_cast", options.auto_cast.name());
    query.set("auto_cast_type", options.auto_cast_type.name());
    query.set("optlevel", options.opt_level.name());
    if let Some(lnc) = options.lnc {
        query.set("lnc", &lnc.to_string());
    }
}

/// `100~A` is a mark, `200..300~B` a range.
fn read_annotation(text: &str) -> Option<Annotation> {
    let (at, label) = text.split_once('~')?;
    let (start, end) = at.split_once("..").unwrap_or((at, at));
    let (start_ns, end_ns) = (parse_ns(start)?, parse_ns(end)?);
    (start_ns <= end_ns).then(|| Annotation { start_ns, end_ns, label: label.to_owned() })
}

fn write_annotation(a: &Annotation) -> String {
    let label = a.label.replace([';', '~'], " ");
    if a.is_range() { format!("{}..{}~{label}", a.start_ns, a.end_ns) } else { format!("{}~{label}", a.start_ns) }
}

fn parse_ns(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

pub(super) fn write(link: &ProfileLink, query: &mut Query) {
    if let Some(file) = &link.file {
        query.set("file", file);
    }
    query.set("model", &link.spec.model);
    if let Some(batch_size) = link.spec.batch_size {
        query.set("batch_size", &batch_size.to_string());
    }
    query.set("workflow", link.spec.workflow.name());
    query.set("instance", &link.spec.instance);
    query.set("seed", &link.spec.seed.to_string());
    write_options(&link.spec.options, query);
    query.set("tool", link.tool.name());
    if let Some(span) = link.span {
        query.set("from", &span.start.0.to_string());
        query.set("to", &span.end.0.to_string());
    }
    if let Some(slice) = link.selected {
        query.set("sel", &slice.to_string());
    }
    if !link.ask.is_empty() {
        query.set("ask", &link.ask);
    }
    if link.group_by != GroupBy::default() {
        query.set("by", link.group_by.name());
    }
    if link.in_view {
        query.set("range", "view");
    }
    if let Some(sort) = &link.sort {
        let sign = if sort.descending { "-" } else { "" };
        query.set("sort", &format!("{sign}{}", sort.column));
    }
    if !link.search.is_empty() {
        query.set("q", &link.search);
    }
    if !link.arrangement.collapsed.is_empty() {
        let sections: Vec<String> = link.arrangement.collapsed.iter().map(usize::to_string).collect();
        query.set("hide", &sections.join(","));
    }
    let arranged = &link.arrangement;
    let mut tracks = |field: &str, ids: &mut dyn Iterator<Item = TrackId>| {
        let ids: Vec<String> = ids.map(|id| id.0.to_string()).collect();
        if !ids.is_empty() {
            query.set(field, &ids.join("."));
        }
    };
    tracks("pin", &mut arranged.pinned.iter().copied());
    tracks("off", &mut arranged.hidden.iter().copied());
    tracks("fold", &mut arranged.folded.iter().copied());
    tracks("order", &mut arranged.order.iter().copied());
    if !link.annotations.is_empty() {
        let marks: Vec<String> = link.annotations.iter().map(write_annotation).collect();
        query.set("marks", &marks.join(";"));
    }
    if let Some((device, core)) = link.core {
        query.set("core", &format!("{device}.{core}"));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Link;
    use super::*;
    use crate::session::{AutoCast, CastType, OptLevel};

    #[test]
    fn all_state_survives_a_link() {
        let options = CompileOptions {
            auto_cast: AutoCast::All,
            auto_cast_type: CastType::Fp8E4m3,
            opt_level: OptLevel::O1,
            lnc: Some(2),
        };
        let link = ProfileLink {
            spec: ProfileSpec { options, batch_size: Some(8), ..ProfileSpec::default() },
            file: Some("a trace & more.json.gz".into()),
            tool: Tool::OperatorHlo,
            span: Some(Interval::new(TraceNs(-5), TraceNs(1_712_195_495_406_752_797))),
            selected: Some(16),
            ask: "where dur > 1ms & more".into(),
            group_by: GroupBy::Module,
            in_view: true,
            sort: Some(Sort { column: "time_ns".into(), descending: true }),
            search: " fused_1 ".into(),
            arrangement: Arrangement {
                collapsed: BTreeSet::from([0, 3]),
                pinned: vec![TrackId(7), TrackId(2)],
                hidden: BTreeSet::from([TrackId(1)]),
                folded: BTreeSet::from([TrackId(4), TrackId(5)]),
                order: vec![TrackId(9), TrackId(8)],
            },
            annotations: vec![
                Annotation { start_ns: -7, end_ns: -7, label: "A & b".into() },
                Annotation { start_ns: 0, end_ns: 1_712_195_495_406_752_797, label: String::new() },
            ],
            core: Some((0, 1)),
        };
        let link = Link::Profile(Box::new(link));
        assert_eq!(Link::parse(&link.print()), (link, vec![]));
    }

    #[test]
    fn wrong_values_are_named() {
        let (link, notices) = Link::parse(
            "/profile?workflow=eager&tool=x&from=9&to=3&sel=-1&by=x&range=some&hide=a&pin=x&marks=9..3~A&core=7",
        );
        assert_eq!(link, Link::Profile(Box::default()));
        let fields: Vec<_> = notices.iter().map(|n| n.field.as_str()).collect();
        assert_eq!(fields, ["workflow", "tool", "from", "sel", "by", "range", "hide", "pin", "marks", "core"]);
        assert_eq!(notices[0].message, "workflow: 'eager' is not mark_step or trace. mark_step is used.");
    }
}
