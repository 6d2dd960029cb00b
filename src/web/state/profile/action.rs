//! What happens on the page, and what it changes.

use std::rc::Rc;

use yew::prelude::*;

use super::open_run::OpenRun;
use super::state::{Flows, Opens, ProfileState};
use crate::analysis::GroupBy;
use crate::base::{Interval, TraceNs};
use crate::insight::Insights;
use crate::session::share::{ProfileLink, Tool};
use crate::session::{OperatorTable, ProfileInfo, ProfileSpec, SearchHits};
use crate::view::table::Sort;
use crate::view::timeline::{
    Annotation, Area, Arrangement, GroupKind, SliceDetails, SliceLink, SliceRef, TrackId, next_label,
};
use crate::web::context::Shared;
use crate::web::state::RunState;
use crate::web::worker::Engine;

/// What happens on the page.
pub enum ProfileAction {
    /// A link was opened.
    Load(Box<ProfileLink>),
    /// The link that was opened names a simulated run, which is to be made unless it is open.
    WantRun {
        /// Whether it is the link that the page was opened with.
        is_first: bool,
    },
    /// The browser went back or forth to another view of this page.
    Revisit(Box<ProfileLink>),
    /// What to profile was edited.
    Edit(ProfileSpec),
    /// A run or a file was started.
    Start(String),
    /// It went on.
    Progress(RunState),
    /// It ended with a profile.
    Ready(Box<ProfileInfo>, Engine),
    /// A run that another one is compared with ended with a profile; it is not shown.
    ReadyBeside(Box<ProfileInfo>, Engine),
    /// It ended without one.
    End(RunState),
    /// The file of the link is nowhere: whoever opened it has to give it.
    NoFile,
    /// A file of this name was given: its first view is shown, or it is compared where that is wanted.
    FileGiven(String),
    /// A benchmark run of what is shown was asked for: its timeline is shown when it comes.
    TraceAsked,
    /// Another run is shown.
    Show(u32),
    /// A run is closed.
    Close(u32),
    /// Another tool is shown.
    Tool(Tool),
    /// The timeline was moved.
    Span(Option<Interval<TraceNs>>),
    /// A slice was selected, or none.
    Select(Option<SliceRef>),
    /// What is known of the selected slice.
    Details(Option<Shared<SliceDetails>>),
    /// The search was edited.
    Search(String),
    /// What it found.
    Hits(SearchHits),
    /// A section was collapsed or opened.
    ToggleSection(usize),
    /// Tracks were pinned, hidden, folded or moved.
    Arrange(Arrangement),
    /// A mark or a range was put on the timeline; without a label it gets the next letter.
    Annotate(Interval<TraceNs>, Option<String>),
    /// Marks and ranges were edited.
    Annotations(Vec<Annotation>),
    /// An area was selected, or none.
    Area(Option<Area>),
    /// Flow arrows came, or are no longer wanted.
    Flows(Option<Flows>),
    /// A head of the table was pressed.
    Sort(Sort),
    /// A core was chosen for the second pie.
    Core(Option<(u32, u32)>),
    /// Operators are counted in the span on the screen, or in all of the profile.
    InView(bool),
    /// An operator table of a span came.
    Operators(u32, Option<Interval<TraceNs>>, OperatorTable),
    /// The analysis of a run came.
    Insights(u32, Option<Box<Insights>>),
    /// Another query is asked.
    Ask(String),
    /// Slices are grouped by something else.
    GroupBy(GroupBy),
    /// Tools look at another level; none for the default one.
    Level(Option<String>),
    /// A track is brought into sight on the timeline.
    ShowTrack(TrackId),
    /// It is in sight.
    TrackShown,
    /// Slices of a group are highlighted on the timeline.
    Highlight(GroupKind, String),
    /// Something else that the link remembers was chosen in a tool.
    Adjust(Box<dyn FnOnce(&mut ProfileLink)>),
    /// Shows a slice on the timeline that a table names.
    Jump(SliceLink),
    /// Shows a span on the timeline with some room around it, and selects a slice if there is one that belongs to it.
    ShowSpan(Interval<TraceNs>, Option<SliceRef>),
    /// Shows a slice on the timeline, with some room around it.
    GoTo(Shared<SliceDetails>),
}

impl Reducible for ProfileState {
    type Action = ProfileAction;

    fn reduce(self: Rc<Self>, action: ProfileAction) -> Rc<Self> {
        let mut next = (*self).clone();
        match action {
            ProfileAction::Load(link) => {
                next.is_new_link = *link != next.link;
                let is_shown = |name: &String| next.shown_run().is_some_and(|r| r.info.name == *name);
                next.wants_file = next.is_new_link && link.file.as_ref().is_some_and(|name| !is_shown(name));
                next.link = *link;
                next.is_fresh = true;
            }
            ProfileAction::WantRun { is_first } => {
                // A link of the page's head is of what the page shows already.
                let is_opened = is_first || next.is_new_link;
                let is_of_link = |r: &&OpenRun| r.spec() == Some(&next.link.spec) && !r.is_benchmark();
                let open = next.runs.iter().find(is_of_link).map(|r| r.id);
                let asks = is_opened && next.link.file.is_none();
                next.wants_run = asks && open.is_none() && !next.run.is_running();
                // A run that is open beside the one that is shown is shown as the link has it.
                if let Some(id) = open.filter(|id| asks && next.shown != Some(*id)) {
                    next.show(id);
                    next.is_fresh = false;
                }
            }
            ProfileAction::Revisit(link) => next.revisit(*link),
            ProfileAction::Edit(spec) => next.link.spec = spec,
            ProfileAction::Start(label) => {
                next.run = RunState::started(&label);
                (next.wants_run, next.wants_file) = (false, false);
            }
            ProfileAction::Progress(run) => {
                if next.run.is_running() {
                    next.run = run;
                }
            }
            ProfileAction::Ready(info, engine) => next.add(*info, &engine),
            ProfileAction::ReadyBeside(info, engine) => next.add_beside(*info, &engine),
            ProfileAction::End(run) => {
                next.run = run;
                next.opens = None;
                (next.wants_run, next.wants_file) = (false, false);
            }
            ProfileAction::NoFile => next.wants_file = false,
            ProfileAction::FileGiven(name) => {
                // A link that was just opened says how its file is looked at.
                let wanted = [&next.link.file, &next.link.compare.base];
                let is_wanted = next.is_fresh && wanted.contains(&&Some(name));
                let is_compared = next.link.tool == Tool::Compare && !next.runs.is_empty();
                next.opens = (!is_wanted && !is_compared).then_some(Opens::FirstView);
            }
            ProfileAction::TraceAsked => next.opens = Some(Opens::Timeline),
            ProfileAction::Show(id) => {
                if let Some(kept) = next.runs.iter().find(|r| r.id == id).map(|r| r.kept.clone())
                    && next.shown != Some(id)
                {
                    next.change_view(kept);
                    next.show(id);
                }
            }
            ProfileAction::Close(id) => next.close(id),
            ProfileAction::Tool(tool) => {
                next.link.tool = tool;
                if tool == Tool::OperatorEngine {
                    (next.link.group_by, next.link.group) = (GroupBy::Thread, None);
                }
                next.link.sort = None;
                next.link.find.clear();
            }
            ProfileAction::Span(span) => next.link.span = span,
            ProfileAction::Select(slice) => {
                next.link.selected = slice.map(|s| s.0);
                if slice.is_none() {
                    next.details = None;
                }
            }
            ProfileAction::Details(details) => {
                next.link.selected = details.as_ref().map(|d| d.link.slice.0);
                next.details = details;
            }
            ProfileAction::Search(search) => {
                if search.is_empty() {
                    next.hits = None;
                }
                next.link.search = search;
                next.link.search_by = None;
            }
            ProfileAction::Hits(hits) => {
                if hits.text == next.link.search && hits.by == next.link.search_by {
                    next.hits = Some(Shared::new(hits));
                }
            }
            ProfileAction::ToggleSection(section) => {
                next.link.arrangement.toggle_section(section);
            }
            ProfileAction::Arrange(arrangement) => next.link.arrangement = arrangement,
            ProfileAction::Annotate(span, label) => {
                let label = label.unwrap_or_else(|| next_label(&next.link.annotations));
                let new = Annotation { start_ns: span.start.0, end_ns: span.end.0, label };
                next.link.annotations.push(new);
                next.link.annotations.sort_by_key(|a| (a.start_ns, a.end_ns));
            }
            ProfileAction::Annotations(all) => next.link.annotations = all,
            ProfileAction::Area(area) => next.area = area,
            ProfileAction::Flows(flows) => next.flows = flows.map(Shared::new),
            ProfileAction::Sort(sort) => next.link.sort = Some(sort),
            ProfileAction::Core(core) => next.link.core = core,
            ProfileAction::InView(in_view) => next.link.in_view = in_view,
            ProfileAction::Operators(id, range, table) => {
                if let Some(run) = next.runs.iter_mut().find(|r| r.id == id) {
                    run.operators.insert(table.kind, (range, Shared::new(table)));
                }
            }
            ProfileAction::Insights(id, insights) => {
                if let Some(run) = next.runs.iter_mut().find(|r| r.id == id) {
                    run.insights = Some(insights.map(|i| Shared::new(*i)));
                }
            }
            ProfileAction::Ask(query) => next.link.ask = query,
            ProfileAction::GroupBy(by) => {
                next.link.group_by = by;
                next.link.group = None;
            }
            ProfileAction::Level(level) => {
                (next.link.level, next.link.group) = (level, None);
                next.link.flame.stack.clear();
            }
            ProfileAction::ShowTrack(id) => {
                next.link.tool = next.timeline_tool();
                let section = next.shown_run().and_then(|run| run.info.outline.section_of(id));
                next.link.arrangement.uncover(section, id);
                next.track = Some(id);
            }
            ProfileAction::TrackShown => next.track = None,
            ProfileAction::Highlight(kind, name) => {
                next.link.tool = next.timeline_tool();
                // The same again has its hits already, and nobody asks for them anew.
                if next.link.search != name || next.link.search_by.as_ref() != Some(&kind) {
                    next.hits = None;
                }
                next.link.search = name;
                next.link.search_by = Some(kind);
            }
            ProfileAction::Adjust(change) => change(&mut next.link),
            ProfileAction::Jump(link) => {
                next.link.tool = next.timeline_tool();
                next.link.span = Some(around(&link));
                next.link.selected = Some(link.slice.0);
            }
            ProfileAction::ShowSpan(span, slice) => {
                next.link.tool = next.timeline_tool();
                let room = (span.end.0.saturating_sub(span.start.0) / 2).max(5);
                let (from, to) = (span.start.0.saturating_sub(room), span.end.0.saturating_add(room));
                next.link.span = Some(Interval::new(TraceNs(from), TraceNs(to)));
                next.link.selected = slice.map(|s| s.0);
                if slice.is_none() {
                    next.details = None;
                }
            }
            ProfileAction::GoTo(details) => {
                next.link.tool = next.timeline_tool();
                next.link.span = Some(around(&details.link));
                next.link.selected = Some(details.link.slice.0);
                next.details = Some(details);
            }
        }
        next.into()
    }
}

/// A span in which a slice can be seen with what is around it: nine times its length.
fn around(link: &SliceLink) -> Interval<TraceNs> {
    let room = i64::try_from(link.duration_ns).unwrap_or(i64::MAX).max(5).saturating_mul(4);
    let end = link.start_ns.saturating_add_unsigned(link.duration_ns);
    Interval::new(TraceNs(link.start_ns.saturating_sub(room)), TraceNs(end.saturating_add(room)))
}
