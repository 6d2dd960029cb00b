//! The state of the profile page: the open runs, the shown one, and its view.

use super::open_run::OpenRun;
use crate::{RunState, Shared};
use ns_base::{Interval, TraceNs};
use ns_profile::levels::ALL_LEVELS;
use ns_session::share::{PageLink as _, ProfileLink, Tool};
use ns_session::{OperatorKind, ProfileOrigin, ProfileSpec, SearchHits};
use ns_view::timeline::{SliceDetails, SliceLink, TrackId};

/// A trace that ships with the page: BERT on an MI300, written by the PyTorch profiler.
pub const SAMPLE: &str = "tracelens_bert_small_mi300.json.gz";

/// Flow arrows of a span.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flows {
    pub arrows: Vec<(SliceLink, SliceLink)>,
    /// How many there are in all of the profile.
    pub total: u64,
}

/// The view that an arriving profile opens with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opens {
    /// The overview; stacks as a flame graph.
    FirstView,
    Timeline,
}

/// The profile page; `Worker` is the shell's handle of the worker that holds a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileState<Worker> {
    /// Everything that a link to this page holds: what was asked for last, and how it is looked at.
    pub link: ProfileLink,
    /// The model in the form.
    pub draft: ProfileSpec,
    /// Progress of the run or of the reading of a file.
    pub run: RunState,
    /// Open profiles, the oldest first.
    pub runs: Vec<OpenRun<Worker>>,
    /// The number of the one that was shown last.
    pub current: Option<u32>,
    /// Whether what the link names is not there yet, or will never be: nothing else is shown in its place.
    pub is_awaited: bool,
    /// Counts what was asked for.
    pub wish: u32,
    /// The wish that the run, or the reading of a file, answers.
    pub(super) run_wish: u32,
    /// Details of the selected slice, once they are known.
    pub details: Option<Shared<SliceDetails>>,
    pub hits: Option<Shared<SearchHits>>,
    /// The run whose next or previous hit is selected as soon as its hits are known.
    pub(super) wanted_hit: Option<(Option<u32>, bool)>,
    /// All flow arrows around the screen, if they are wanted.
    pub flows: Option<Shared<Flows>>,
    /// A track that the timeline is to bring into sight.
    pub track: Option<TrackId>,
    /// Whether the link was just opened: its span and selection belong to the profile that arrives next.
    pub(super) is_fresh: bool,
    /// Whether the link that was opened last differs from the view before it.
    pub(super) is_new_link: bool,
    /// Whether the link asks for a simulated run, which has not been started yet.
    pub wants_run: bool,
    /// Whether the link asks for a file that has not been looked up yet: the sample that ships, or one that the browser keeps.
    pub wants_file: bool,
    /// The view that the profile being made or read opens with; `None` for the tool that is shown.
    pub(super) opens: Option<Opens>,
    pub(super) next_id: u32,
}

impl<Worker> Default for ProfileState<Worker> {
    fn default() -> Self {
        Self {
            link: ProfileLink::default(),
            draft: ProfileLink::default().spec,
            run: RunState::Idle,
            runs: Vec::new(),
            current: None,
            is_awaited: false,
            wish: 0,
            run_wish: 0,
            details: None,
            hits: None,
            wanted_hit: None,
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

impl<Worker> ProfileState<Worker> {
    /// The run that the link names, if it is open.
    pub fn current_run(&self) -> Option<&OpenRun<Worker>> {
        self.last_run().filter(|_| !self.is_awaited)
    }

    /// The run that was shown last.
    pub fn last_run(&self) -> Option<&OpenRun<Worker>> {
        self.current.and_then(|id| self.runs.iter().find(|r| r.id == id))
    }

    /// The chosen level, if the shown profile has it; otherwise the default one.
    pub fn level(&self) -> Option<String> {
        let info = &self.current_run()?.info;
        match &self.link.level {
            Some(level) => info.own_level(level).map(str::to_owned),
            None => Some(self.default_level()?).filter(|level| *level != info.default_level),
        }
    }

    /// The level of the tool if the user chooses none. A flame graph of a file has all of them: stacks go from steps through operators to
    /// the calls of the runtime. The levels of a simulated execution show the same time several times.
    pub fn default_level(&self) -> Option<String> {
        let info = &self.current_run()?.info;
        let is_file = matches!(info.origin, ProfileOrigin::File { .. });
        let has_stacks = self.link.tool == Tool::FlameGraph && is_file && info.levels.len() > 1;
        Some(if has_stacks { ALL_LEVELS.to_owned() } else { info.default_level.clone() })
    }

    /// The hash of the link that shows this page.
    pub fn hash(&self) -> String {
        let mut link = self.link.clone();
        if let (Tool::Compare, Some(base)) = (link.tool, self.compared_with()) {
            link.compare.base = Some(base.info.name.clone());
            link.compare.base_run = base.spec().filter(|_| !base.is_benchmark()).cloned();
        }
        link.hash()
    }

    /// Whether the page was asked for a profile: one is shown, is made or is read, or was refused.
    pub fn is_asked(&self) -> bool {
        self.current_run().is_some() || self.wants_run || self.link.file.is_some() || self.run != RunState::Idle
    }

    /// The hash of what is shown, without how it is looked at.
    pub fn request(&self) -> Option<String> {
        self.current_run()?;
        let ProfileLink { spec, file, .. } = self.link.clone();
        Some(ProfileLink { spec, file, ..ProfileLink::default() }.hash())
    }

    /// The run that the shown run is compared with: the one with the chosen name, else the one opened last.
    pub fn compared_with(&self) -> Option<&OpenRun<Worker>> {
        let others = || self.runs.iter().filter(|r| Some(r.id) != self.current);
        let named = |name: &String| others().rfind(|r| r.info.name == *name);
        self.link.compare.base.as_ref().and_then(named).or_else(|| others().next_back())
    }

    /// The simulated run that a link compares with, if it is not open beside the shown one.
    pub fn missing_base_run(&self) -> Option<&ProfileSpec> {
        let spec = self.link.compare.base_run.as_ref().filter(|_| self.link.tool == Tool::Compare)?;
        let is_open = self.runs.iter().any(|r| r.spec() == Some(spec) && !r.is_benchmark());
        (self.current_run().is_some() && !is_open && !self.run.is_running()).then_some(spec)
    }

    /// The file that a link compares with, if it is not open beside the shown run: this browser may keep it.
    pub fn missing_base_file(&self) -> Option<&String> {
        let compare = &self.link.compare;
        let name = compare.base.as_ref().filter(|_| self.link.tool == Tool::Compare && compare.base_run.is_none())?;
        let is_open = self.runs.iter().any(|r| r.info.name == *name);
        (self.current_run().is_some() && !is_open && !self.run.is_running()).then_some(name)
    }

    /// The span in which operators are counted; `None` for all of the profile.
    pub fn counted_span(&self, kind: Option<OperatorKind>) -> Option<Interval<TraceNs>> {
        self.link.span.filter(|_| self.link.in_view && kind == Some(OperatorKind::Slices))
    }

    /// The open benchmark run of the model that the shown run executes once.
    pub fn benchmark_of_visible_run(&self) -> Option<u32> {
        let spec = self.current_run().and_then(OpenRun::spec)?;
        self.runs.iter().rfind(|r| r.spec() == Some(spec) && r.is_benchmark()).map(|r| r.id)
    }
}
