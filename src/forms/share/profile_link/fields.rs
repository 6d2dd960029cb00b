//! The fields of a link to the profile page: how each is read, and how it is written.

use super::field::{Field, choose, field, fill, raw_field, read_fields, set, text, word, write_fields};
use super::texts::{
    annotation_of, annotation_text, area_of, area_text, nanoseconds, sections_of, sections_text, tracks_of, tracks_text,
};
use super::{FlameView, ProfileLink, Tool};
use crate::ProfileSpec;
use crate::options::{Opt, Options as _};
use crate::share::results_fields::{sort_of, sort_text};
use crate::share::{Notice, Query, fields};
use ns_analysis::compare::Measure;
use ns_analysis::{GroupBy, Instances};
use ns_base::{Interval, TraceNs};
use ns_view::timeline::{GroupKind, TrackId};

const TRACKS: &str = "a list of track numbers, such as 3.5";

const FILE: [Field<ProfileLink>; 1] = [field("file", |l| l.file.clone(), |l, t| fill(&mut l.file, t))];

const VIEW: [Field<ProfileLink>; 33] = [
    field(
        "tool",
        |l| Some(l.tool.name().to_owned()),
        |l, t| set(&mut l.tool, Tool::from_name(t), one_of(Tool::ALL.map(Tool::name)), Tool::default().name()),
    ),
    field("from", |l| l.span.map(|span| span.start.0.to_string()), |_, _| Ok(())),
    field("to", |l| l.span.map(|span| span.end.0.to_string()), |_, _| Ok(())),
    field(
        "sel",
        |l| l.selected.map(|slice| slice.to_string()),
        |l, t| {
            let slice = t.parse().ok().filter(|slice| *slice != u32::MAX);
            set(&mut l.selected, slice.map(Some), "the number of a slice", "No selection")
        },
    ),
    field(
        "area",
        |l| l.area.as_ref().map(area_text),
        |l, t| set(&mut l.area, area_of(t).map(Some), "a span of some tracks, such as 100..200:3-5.8", "No area"),
    ),
    raw_field("ask", |l| text(&l.ask), |l, t| fill(&mut l.ask, t)),
    field("level", |l| l.level.clone(), |l, t| fill(&mut l.level, t)),
    field(
        "by",
        |l| (l.group_by != GroupBy::default()).then(|| l.group_by.name().to_owned()),
        |l, t| set(&mut l.group_by, GroupBy::from_name(t), one_of(GroupBy::ALL.map(GroupBy::name)), "name"),
    ),
    field(
        "engines_by",
        |l| l.engines_by.map(|by| by.name().to_owned()),
        |l, t| {
            set(&mut l.engines_by, GroupBy::from_name(t).map(Some), one_of(GroupBy::ALL.map(GroupBy::name)), "thread")
        },
    ),
    field(
        "instances",
        |l| word(l.instances == Instances::Each, "each"),
        |l, t| choose(&mut l.instances, t, [("merged", Instances::Merged), ("each", Instances::Each)]),
    ),
    field("range", |l| word(l.in_view, "view"), |l, t| choose(&mut l.in_view, t, [("all", false), ("view", true)])),
    field(
        "sort",
        |l| l.sort.as_ref().map(sort_text),
        |l, t| {
            l.sort = sort_of(t);
            Ok(())
        },
    ),
    raw_field("find", |l| text(&l.find), |l, t| fill(&mut l.find, t)),
    raw_field("q", |l| text(&l.search), |l, t| fill(&mut l.search, t)),
    field(
        "hide",
        |l| text(&sections_text(&l.arrangement.collapsed)),
        |l, t| set(&mut l.arrangement.collapsed, sections_of(t), "a list of section numbers", "No section hidden"),
    ),
    field(
        "pin",
        |l| text(&tracks_text(&l.arrangement.pinned)),
        |l, t| set(&mut l.arrangement.pinned, tracks_of(t), TRACKS, "No track"),
    ),
    field(
        "off",
        |l| text(&tracks_text(&l.arrangement.hidden)),
        |l, t| set(&mut l.arrangement.hidden, tracks_of(t), TRACKS, "No track"),
    ),
    field(
        "fold",
        |l| text(&tracks_text(&l.arrangement.folded)),
        |l, t| set(&mut l.arrangement.folded, tracks_of(t), TRACKS, "No track"),
    ),
    field(
        "order",
        |l| text(&tracks_text(&l.arrangement.order)),
        |l, t| set(&mut l.arrangement.order, tracks_of(t), TRACKS, "No track"),
    ),
    field(
        "marks",
        |l| text(&l.annotations.iter().map(annotation_text).collect::<Vec<_>>().join(";")),
        |l, t| {
            let marks = t.split(';').map(annotation_of).collect();
            set(&mut l.annotations, marks, "a list of marks, such as 100~A;200..300~B", "No mark")
        },
    ),
    field(
        "of",
        |l| l.search_by.as_ref().map(|kind| kind.by.name().to_owned()),
        |l, t| {
            let kind = GroupBy::from_name(t).map(|by| Some(GroupKind { by, level: None }));
            set(&mut l.search_by, kind, one_of(GroupBy::ALL.map(GroupBy::name)), "A search by name")
        },
    ),
    field(
        "of_level",
        |l| l.search_by.as_ref()?.level.clone(),
        |l, t| l.search_by.as_mut().map_or(Ok(()), |kind| fill(&mut kind.level, t)),
    ),
    raw_field("group", |l| l.group.clone(), |l, t| fill(&mut l.group, t)),
    field("counter", |l| l.counter.clone(), |l, t| fill(&mut l.counter, t)),
    field(
        "flame",
        |l| (l.flame.view != FlameView::default()).then(|| l.flame.view.name().to_owned()),
        |l, t| {
            let wanted = FlameView::ALL.map(FlameView::name).join(", ");
            set(&mut l.flame.view, FlameView::from_name(t), wanted, FlameView::default().name())
        },
    ),
    field(
        "stack",
        |l| (!l.flame.stack.is_empty()).then(|| l.flame.stack.join("\n")),
        |l, t| {
            l.flame.stack = t.split('\n').map(str::to_owned).collect();
            Ok(())
        },
    ),
    field("name", |l| text(&l.flame.name), |l, t| fill(&mut l.flame.name, t)),
    field(
        "thread",
        |l| l.flame.thread.map(|track| track.0.to_string()),
        |l, t| {
            let track = t.parse().ok().map(TrackId);
            set(&mut l.flame.thread, track.map(Some), "the number of a track", "The thread with the most slices")
        },
    ),
    field("base", |l| l.compare.base.clone(), |l, t| fill(&mut l.compare.base, t)),
    field(
        "base_run",
        |l| {
            let mut run = Query::default();
            fields::write(l.compare.base_run.as_ref()?, &mut run);
            Some(run.print())
        },
        |_, _| Ok(()),
    ),
    field(
        "time",
        |l| word(l.compare.measure == Measure::Total, "total"),
        |l, t| choose(&mut l.compare.measure, t, [("self", Measure::SelfTime), ("total", Measure::Total)]),
    ),
    field(
        "per",
        |l| word(l.compare.per_step, "step"),
        |l, t| choose(&mut l.compare.per_step, t, [("run", false), ("step", true)]),
    ),
    field(
        "core",
        |l| l.core.map(|(device, core)| format!("{device}.{core}")),
        |l, t| {
            let core = t.split_once('.').and_then(|(d, c)| Some((d.parse().ok()?, c.parse().ok()?)));
            set(&mut l.core, core.map(Some), "a device and a core, such as 0.1", "The first core")
        },
    ),
];

fn one_of<const N: usize>(names: [&str; N]) -> String {
    format!("one of {}", names.join(", "))
}

pub(in super::super) fn names() -> impl Iterator<Item = &'static str> {
    FILE.iter().map(Field::name).chain(ProfileSpec::options().map(Opt::key)).chain(VIEW.iter().map(Field::name))
}

/// The link in a query. Invalid values are reported in `notices`, and the defaults are used.
pub(in super::super) fn read(query: &Query, notices: &mut Vec<Notice>) -> ProfileLink {
    let mut link = ProfileLink::default();
    read_fields(&FILE, &mut link, query, notices);
    link.spec = fields::read(link.spec, query, notices);
    read_fields(&VIEW, &mut link, query, notices);
    read_span(&mut link, query, notices);
    if let Some(run) = query.get("base_run").map(str::trim).filter(|t| !t.is_empty()) {
        let base = link.compare.base_run.take().unwrap_or_default();
        link.compare.base_run = Some(fields::read(base, &Query::parse(run), notices));
    }
    link
}

/// Reads the visible span, which is two fields.
fn read_span(link: &mut ProfileLink, query: &Query, notices: &mut Vec<Notice>) {
    let (from, to) = (query.get("from"), query.get("to"));
    match (from.and_then(nanoseconds), to.and_then(nanoseconds)) {
        _ if from.or(to).is_none() => {}
        (Some(a), Some(b)) if a < b => link.span = Some(Interval::new(TraceNs(a), TraceNs(b))),
        _ => {
            let text = format!("{}..{}", from.unwrap_or_default(), to.unwrap_or_default());
            notices.push(Notice::wrong("from", &text, "a span of whole nanoseconds", "The whole profile"));
        }
    }
}

/// Writes the state of the profile page into a query; defaults are left out, and a file has no model.
pub(in super::super) fn write(link: &ProfileLink, query: &mut Query) {
    write_fields(&FILE, link, query);
    if link.file.is_none() {
        fields::write(&link.spec, query);
    }
    write_fields(&VIEW, link, query);
}
