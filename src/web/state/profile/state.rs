//! Which runs are open, which one is shown, and what of it.

use std::collections::BTreeMap;

use super::open_run::OpenRun;
use crate::base::{Interval, TraceNs};
use crate::session::share::{PageLink as _, ProfileLink, Tool};
use crate::session::{OperatorKind, ProfileInfo, ProfileOrigin, ProfileSpec, SearchHits};
use crate::view::timeline::{Area, SliceDetails, SliceLink, TrackId};
use crate::web::context::Shared;
use crate::web::platform::date;
use crate::web::state::RunState;
use crate::web::state::kept_view::KeptView;
use crate::web::worker::Engine;

/// More files and executions are not kept: the oldest is closed, which gives its memory back.
const MOST_FILES: usize = 6;

/// A trace that ships with the page: BERT on an MI300, written by the PyTorch profiler.
pub const SAMPLE: &str = "tracelens_bert_small_mi300.json.gz";

/// Flow arrows of a span.
#[derive(Default)]
pub struct Flows {
    /// From where to where.
    pub arrows: Vec<(SliceLink, SliceLink)>,
    /// How many there are in all of the profile.
    pub total: u64,
}

/// What a profile that comes is shown with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opens {
    /// The overview; stacks as a flame graph.
    FirstView,
    /// The timeline.
    Timeline,
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
    /// A track that the timeline is to bring into sight.
    pub track: Option<TrackId>,
    /// The link was just opened: its span and selection belong to the profile that comes next.
    pub(super) is_fresh: bool,
    /// The link that was opened last shows something else than the page did.
    pub(super) is_new_link: bool,
    /// The link asks for a simulated run, which nobody has started yet.
    pub wants_run: bool,
    /// The link asks for a file, which nobody has looked for yet: the sample that ships, or one that the browser keeps.
    pub wants_file: bool,
    /// What the profile that is being made or read is shown with; none for the tool that is shown.
    pub(super) opens: Option<Opens>,
    next_id: u32,
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
            track: None,
            is_fresh: false,
            is_new_link: false,
            wants_run: false,
            wants_file: false,
            opens: None,
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

    /// The level that is looked at, if one was chosen that the shown profile has; the default one otherwise.
    #[must_use]
    pub fn level(&self) -> Option<String> {
        self.shown_run()?.info.own_level(self.link.level.as_ref()?)
    }

    /// The hash of the link that shows this page.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut link = self.link.clone();
        if let (Tool::Compare, Some(base)) = (link.tool, self.compared_with()) {
            link.compare.base = Some(base.info.name.clone());
            link.compare.base_run = base.spec().filter(|_| !base.is_benchmark()).cloned();
        }
        link.hash()
    }

    /// The run that the one that is shown is compared with: the one of the chosen name, else the one opened last.
    #[must_use]
    pub fn compared_with(&self) -> Option<&OpenRun> {
        let others = || self.runs.iter().filter(|r| Some(r.id) != self.shown);
        let named = |name: &String| others().rfind(|r| r.info.name == *name);
        self.link.compare.base.as_ref().and_then(named).or_else(|| others().next_back())
    }

    /// The simulated run that a link compares with, when it is not open beside the one that is shown.
    #[must_use]
    pub fn missing_base_run(&self) -> Option<&ProfileSpec> {
        let spec = self.link.compare.base_run.as_ref().filter(|_| self.link.tool == Tool::Compare)?;
        let is_open = self.runs.iter().any(|r| r.spec() == Some(spec) && !r.is_benchmark());
        (self.shown.is_some() && !is_open).then_some(spec)
    }

    /// The file that a link compares with, when it is not open beside the one that is shown: this browser may keep it.
    #[must_use]
    pub fn missing_base_file(&self) -> Option<&String> {
        let compare = &self.link.compare;
        let name = compare.base.as_ref().filter(|_| self.link.tool == Tool::Compare && compare.base_run.is_none())?;
        let is_open = self.runs.iter().any(|r| r.info.name == *name);
        (self.shown.is_some() && !is_open && !self.run.is_running()).then_some(name)
    }

    /// The span that operators are counted in; none for all of the profile.
    #[must_use]
    pub fn counted_span(&self, kind: Option<OperatorKind>) -> Option<Interval<TraceNs>> {
        self.link.span.filter(|_| self.link.in_view && kind == Some(OperatorKind::Slices))
    }

    /// The tool that shows the timeline of the run that is shown.
    pub(super) fn timeline_tool(&self) -> Tool {
        if self.shown_run().is_some_and(OpenRun::is_trace) { Tool::Trace } else { Tool::OperatorTimeline }
    }

    /// The open benchmark run of what the shown run executes once.
    #[must_use]
    pub fn benchmark_of_shown(&self) -> Option<u32> {
        let spec = self.shown_run().and_then(OpenRun::spec)?;
        self.runs.iter().rfind(|r| r.spec() == Some(spec) && r.is_benchmark()).map(|r| r.id)
    }

    /// Looks at the run that comes next as it was looked at last; the one that is shown keeps its view.
    pub(super) fn change_view(&mut self, next: KeptView) {
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

    /// Shows what a link of this visit showed: its run where that is still open, and its view.
    pub(super) fn revisit(&mut self, link: ProfileLink) {
        let is_of_link = |run: &OpenRun| match (&run.info.origin, &link.file) {
            (ProfileOrigin::File { name, .. }, Some(file)) => name == file,
            (ProfileOrigin::File { .. }, None) | (_, Some(_)) => false,
            _ => run.spec() == Some(&link.spec) && run.is_benchmark() == (link.tool == Tool::Trace),
        };
        if let Some(id) = self.runs.iter().find(|r| is_of_link(r)).map(|r| r.id)
            && self.shown != Some(id)
        {
            self.change_view(KeptView::default());
            self.show(id);
        }
        if link.search != self.link.search || link.search_by != self.link.search_by {
            self.hits = None;
        }
        if link.selected != self.link.selected {
            self.details = None;
        }
        self.link = link;
    }

    pub(super) fn show(&mut self, id: u32) {
        self.shown = Some(id);
        let Some(run) = self.runs.iter().find(|r| r.id == id) else { return };
        let is_trace = run.is_trace();
        self.link.file = match (&run.info.origin, run.spec()) {
            (ProfileOrigin::File { name, .. }, _) => Some(name.clone()),
            (_, spec) => {
                self.link.spec = spec.cloned().unwrap_or_default();
                None
            }
        };
        // Operators belong to an execution, the trace to a benchmark run.
        self.link.tool = match self.link.tool {
            Tool::OperatorFramework | Tool::OperatorHlo | Tool::OperatorEngine | Tool::OperatorTimeline if is_trace => {
                Tool::Trace
            }
            Tool::Trace if !is_trace => Tool::OperatorTimeline,
            tool => tool,
        };
    }

    /// The profile that came, and those that came in the same archive. The first is shown.
    pub(super) fn add(&mut self, info: ProfileInfo, engine: &Engine) {
        if let Some(opens) = self.opens.take() {
            self.link.tool = match opens {
                Opens::Timeline => Tool::OperatorTimeline,
                Opens::FirstView if info.is_stacks => Tool::FlameGraph,
                Opens::FirstView => Tool::Overview,
            };
            self.link.sort = None;
        }
        let is_fresh = std::mem::take(&mut self.is_fresh);
        // The marks of a link are newer than those of the file.
        if !is_fresh || self.link.annotations.is_empty() {
            let fresh = if is_fresh { KeptView::of(&self.link) } else { KeptView::default() };
            self.change_view(KeptView { annotations: info.marks.clone(), ..fresh });
        }
        let first = self.insert(info, engine);
        self.show(first);
        self.run = RunState::Done;
    }

    /// The profile that came, beside the one that is shown.
    pub(super) fn add_beside(&mut self, info: ProfileInfo, engine: &Engine) {
        self.insert(info, engine);
        self.run = RunState::Done;
    }

    /// Opens profiles of one archive; gives the number of the first.
    fn insert(&mut self, mut info: ProfileInfo, engine: &Engine) -> u32 {
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
        first
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

    pub(super) fn close(&mut self, id: u32) {
        // Whoever closes the base wants it closed: it is not opened again.
        let is_base = |r: &OpenRun| r.id == id && self.link.compare.base.as_ref() == Some(&r.info.name);
        if self.runs.iter().any(is_base) {
            self.link.compare.base = None;
        }
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
