//! The profile page: which runs are open, which one is shown, and what of it.

use std::collections::BTreeMap;
use std::rc::Rc;

use yew::prelude::*;

use super::RunState;
use super::kept_view::KeptView;
use crate::base::{Interval, TraceNs};
use crate::insight::Insights;
use crate::profile::analysis::GroupBy;
use crate::profile::neuron::ENGINES_PROCESS;
use crate::session::share::{Link, ProfileLink, Tool};
use crate::session::{OperatorKind, OperatorTable, ProfileInfo, ProfileOrigin, ProfileSpec, SearchHits};
use crate::view::table::Sort;
use crate::view::timeline::{Annotation, Area, Arrangement, SliceDetails, SliceLink, SliceRef, TrackId, next_label};
use crate::web::context::Shared;
use crate::web::platform::date;
use crate::web::worker::Engine;

/// More files and executions are not kept: the oldest is closed, which gives its memory back.
const MOST_FILES: usize = 6;

/// An open profile and the worker that holds it.
#[derive(Clone, PartialEq)]
pub struct OpenRun {
    /// Its number on this page.
    pub id: u32,
    /// What it is.
    pub info: Shared<ProfileInfo>,
    /// Its worker.
    pub engine: Engine,
    /// The operator tables that were asked for.
    pub operators: BTreeMap<OperatorKind, CountedOperators>,
    /// How it was last looked at, while another one is shown.
    kept: KeptView,
    /// What the Neuron plugin would call it; none for files.
    pub run_name: Option<String>,
    /// Its analysis, once it was asked for; the inner one is absent when the profile has none.
    pub insights: Option<Option<Shared<Insights>>>,
}

/// Flow arrows of a span.
#[derive(Default)]
pub struct Flows {
    /// From where to where.
    pub arrows: Vec<(SliceLink, SliceLink)>,
    /// How many there are in all of the profile.
    pub total: u64,
}

/// An operator table and the span that was counted, none for all of the profile.
pub type CountedOperators = (Option<Interval<TraceNs>>, Shared<OperatorTable>);

impl OpenRun {
    /// Which table a tool shows of this run.
    #[must_use]
    pub fn operator_kind(&self, tool: Tool) -> Option<OperatorKind> {
        let has = |kind| self.info.operators.contains(&kind);
        match tool {
            Tool::OperatorFramework if has(OperatorKind::Framework) => Some(OperatorKind::Framework),
            Tool::OperatorHlo if has(OperatorKind::Hlo) => Some(OperatorKind::Hlo),
            Tool::OperatorFramework | Tool::OperatorHlo => self.info.operators.first().copied(),
            _ => None,
        }
    }

    /// Whether it is a whole benchmark run.
    #[must_use]
    pub fn is_benchmark(&self) -> bool {
        matches!(self.info.origin, ProfileOrigin::Benchmark(_))
    }

    /// What was simulated; none for files.
    #[must_use]
    pub fn spec(&self) -> Option<&ProfileSpec> {
        match &self.info.origin {
            ProfileOrigin::Simulated(spec) => Some(spec),
            ProfileOrigin::Benchmark(trace) => Some(&trace.spec),
            ProfileOrigin::File { .. } => None,
        }
    }

    /// Its name in the Run selector.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.run_name {
            Some(name) => format!("{name} ({})", self.info.name),
            None => self.info.name.clone(),
        }
    }

    /// Tracks of engines, where it has them.
    #[must_use]
    pub fn engine_tracks(&self) -> Vec<TrackId> {
        let sections = self.info.outline.sections.iter().filter(|s| s.name.starts_with(ENGINES_PROCESS));
        sections.flat_map(|s| s.tracks.iter().map(|t| t.id)).collect()
    }

    /// Whether it knows of NeuronCores.
    #[must_use]
    pub fn is_neuron(&self) -> bool {
        self.info.operators.contains(&OperatorKind::Framework)
    }
}

/// The profile page.
#[derive(Clone, PartialEq)]
pub struct ProfileState {
    /// Everything that a link to this page holds.
    pub link: ProfileLink,
    /// How far the run or the file is.
    pub run: RunState,
    /// Open profiles, the oldest first.
    pub runs: Vec<OpenRun>,
    /// The one that is shown.
    pub shown: Option<u32>,
    /// The selected slice, once it is known.
    pub details: Option<Shared<SliceDetails>>,
    /// What the search found.
    pub hits: Option<Shared<SearchHits>>,
    /// The selected area of the timeline.
    pub area: Option<Area>,
    /// All flow arrows around the screen, when they are wanted.
    pub flows: Option<Shared<Flows>>,
    /// The link was just opened: its span and selection belong to the profile that comes next.
    is_fresh: bool,
    /// The file that is being read is shown on the timeline.
    opens_timeline: bool,
    next_id: u32,
}

/// What happens on the page.
pub enum ProfileAction {
    /// A link was opened.
    Load(Box<ProfileLink>),
    /// What to profile was edited.
    Edit(ProfileSpec),
    /// A run or a file was started.
    Start(String),
    /// It went on.
    Progress(RunState),
    /// It ended with a profile.
    Ready(Box<ProfileInfo>, Engine),
    /// It ended without one.
    End(RunState),
    /// A file of this name was given: it is shown on the timeline, or compared where that is wanted.
    FileGiven(String),
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
    /// Slices of a group are highlighted on the timeline.
    Highlight(GroupBy, String),
    /// Something else that the link remembers was chosen in a tool.
    Adjust(Box<dyn FnOnce(&mut ProfileLink)>),
    /// Shows a slice on the timeline that a table names.
    Jump(SliceLink),
    /// Shows a span on the timeline with some room around it, and selects a slice if there is one that belongs to it.
    ShowSpan(Interval<TraceNs>, Option<SliceRef>),
    /// Shows a slice on the timeline, with some room around it.
    GoTo(Shared<SliceDetails>),
}

impl Default for ProfileState {
    fn default() -> Self {
        Self {
            link: ProfileLink::default(),
            run: RunState::Idle,
            runs: Vec::new(),
            shown: None,
            details: None,
            hits: None,
            area: None,
            flows: None,
            is_fresh: false,
            opens_timeline: false,
            next_id: 0,
        }
    }
}

impl ProfileState {
    /// The run that is shown.
    #[must_use]
    pub fn shown_run(&self) -> Option<&OpenRun> {
        self.shown.and_then(|id| self.runs.iter().find(|r| r.id == id))
    }

    /// The link that shows this page.
    #[must_use]
    pub fn as_link(&self) -> Link {
        Link::Profile(Box::new(self.link.clone()))
    }

    /// The span that operators are counted in; none for all of the profile.
    #[must_use]
    pub fn counted_span(&self, kind: Option<OperatorKind>) -> Option<Interval<TraceNs>> {
        self.link.span.filter(|_| self.link.in_view && kind == Some(OperatorKind::Slices))
    }

    /// The tool that shows the timeline of the run that is shown.
    fn timeline_tool(&self) -> Tool {
        if self.shown_run().is_some_and(OpenRun::is_benchmark) { Tool::Trace } else { Tool::OperatorTimeline }
    }

    /// The run that has a tool for what is in the form: the trace is of a benchmark run, operators are of an execution.
    #[must_use]
    pub fn run_with(&self, tool: Tool) -> Option<u32> {
        let spec = self.shown_run().and_then(OpenRun::spec)?;
        let fits = |r: &&OpenRun| r.spec() == Some(spec) && r.is_benchmark() == (tool == Tool::Trace);
        self.runs.iter().rfind(fits).map(|r| r.id)
    }

    /// Looks at the run that comes next as it was looked at last; the one that is shown keeps its view.
    fn change_view(&mut self, next: KeptView) {
        let shown = self.shown;
        if let Some(run) = self.runs.iter_mut().find(|r| Some(r.id) == shown) {
            run.kept = KeptView::of(&self.link);
        }
        next.put_into(&mut self.link);
        self.details = None;
        self.hits = None;
        self.area = None;
        self.flows = None;
    }

    fn show(&mut self, id: u32) {
        self.shown = Some(id);
        let Some(run) = self.runs.iter().find(|r| r.id == id) else { return };
        let is_benchmark = run.is_benchmark();
        self.link.file = match (&run.info.origin, run.spec()) {
            (ProfileOrigin::File { name, .. }, _) => Some(name.clone()),
            (_, spec) => {
                self.link.spec = spec.cloned().unwrap_or_default();
                None
            }
        };
        // Operators belong to an execution, the trace to a benchmark run.
        self.link.tool = match self.link.tool {
            Tool::OperatorFramework | Tool::OperatorHlo | Tool::OperatorEngine | Tool::OperatorTimeline
                if is_benchmark =>
            {
                Tool::Trace
            }
            Tool::Trace if !is_benchmark => Tool::OperatorTimeline,
            tool => tool,
        };
    }

    /// The profile that came, and those that came in the same archive. The first is shown.
    fn add(&mut self, mut info: ProfileInfo, engine: &Engine) {
        if std::mem::take(&mut self.opens_timeline) {
            self.link.tool = Tool::OperatorTimeline;
            self.link.sort = None;
        }
        let is_fresh = std::mem::take(&mut self.is_fresh);
        // The marks of a link are newer than those of the file.
        if !is_fresh || self.link.annotations.is_empty() {
            let fresh = if is_fresh { KeptView::of(&self.link) } else { KeptView::default() };
            self.change_view(KeptView { annotations: info.marks.clone(), ..fresh });
        }
        let also = std::mem::take(&mut info.also);
        let all: Vec<ProfileInfo> = std::iter::once(info).chain(also).collect();
        // A run of the same thing takes the place of the old one.
        self.runs.retain(|r| all.iter().all(|info| r.info.origin != info.origin));
        self.close_oldest();
        let first = self.next_id;
        for info in all {
            let (id, engine) = (self.next_id, engine.clone());
            self.next_id += 1;
            let kept = KeptView { annotations: info.marks.clone(), ..KeptView::default() };
            let run_name = match info.origin {
                ProfileOrigin::Simulated(_) => Some(format!("{}_{id}", date::run_name())),
                ProfileOrigin::Benchmark(_) => Some(date::run_name()),
                ProfileOrigin::File { .. } => None,
            };
            let info = Shared::new(info);
            self.runs.push(OpenRun { id, info, engine, operators: BTreeMap::new(), kept, run_name, insights: None });
        }
        self.show(first);
        self.run = RunState::Done;
    }

    /// Makes room for another worker: profiles of one archive share theirs.
    fn close_oldest(&mut self) {
        let mut engines: Vec<&Engine> = Vec::new();
        for run in &self.runs {
            if !engines.contains(&&run.engine) {
                engines.push(&run.engine);
            }
        }
        if engines.len() >= MOST_FILES
            && let Some(oldest) = engines.first().map(|e| (*e).clone())
        {
            self.runs.retain(|r| r.engine != oldest);
        }
    }

    fn close(&mut self, id: u32) {
        self.runs.retain(|r| r.id != id);
        if self.shown == Some(id) {
            self.shown = None;
            match self.runs.last().map(|r| (r.id, r.kept.clone())) {
                Some((last, kept)) => {
                    self.change_view(kept);
                    self.show(last);
                }
                None => {
                    self.change_view(KeptView::default());
                    self.run = RunState::Idle;
                }
            }
        }
    }
}

impl Reducible for ProfileState {
    type Action = ProfileAction;

    fn reduce(self: Rc<Self>, action: ProfileAction) -> Rc<Self> {
        let mut next = (*self).clone();
        match action {
            ProfileAction::Load(link) => {
                next.link = *link;
                next.is_fresh = true;
            }
            ProfileAction::Edit(spec) => next.link.spec = spec,
            ProfileAction::Start(label) => next.run = RunState::started(&label),
            ProfileAction::Progress(run) => {
                if next.run.is_running() {
                    next.run = run;
                }
            }
            ProfileAction::Ready(info, engine) => next.add(*info, &engine),
            ProfileAction::End(run) => {
                next.run = run;
                next.opens_timeline = false;
            }
            ProfileAction::FileGiven(name) => {
                // A link that was just opened says how its file is looked at.
                let wanted = [&next.link.file, &next.link.compare.base];
                let is_wanted = next.is_fresh && wanted.contains(&&Some(name));
                next.opens_timeline = !is_wanted && (next.link.tool != Tool::Compare || next.runs.is_empty());
            }
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
            ProfileAction::Highlight(by, name) => {
                next.link.tool = next.timeline_tool();
                // The same again has its hits already, and nobody asks for them anew.
                if next.link.search != name || next.link.search_by != Some(by) {
                    next.hits = None;
                }
                next.link.search = name;
                next.link.search_by = Some(by);
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
