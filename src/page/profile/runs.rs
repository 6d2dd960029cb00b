//! The open runs: which arrive, which is shown, which are closed.

use std::collections::BTreeMap;

use super::action::ProfileArrival;
use super::kept_view::KeptView;
use super::open_run::OpenRun;
use super::state::{Opens, ProfileState};
use crate::{RunState, Shared};
use ns_session::share::{ProfileLink, Tool};
use ns_session::{ProfileInfo, ProfileOrigin};

/// The most open files and executions: beyond this the oldest is closed, which frees its memory.
pub(super) const MOST_FILES: usize = 6;

impl<Worker: Clone + PartialEq> ProfileState<Worker> {
    /// Shows what a link says; the run or the file that it names arrives later.
    pub(super) fn load(&mut self, link: ProfileLink) {
        self.is_new_link = link != self.link;
        let is_shown = |name: &String| self.shown_run().is_some_and(|r| r.info.name == *name);
        self.wants_file = self.is_new_link && link.file.as_ref().is_some_and(|name| !is_shown(name));
        self.link = link;
        self.is_fresh = true;
    }

    /// Asks for the simulated run of the opened link, unless it is open.
    pub(super) fn want_run(&mut self, is_first: bool) {
        // A link in the page's head refers to the view that is already shown.
        let is_opened = is_first || self.is_new_link;
        let is_of_link = |r: &&OpenRun<Worker>| r.spec() == Some(&self.link.spec) && !r.is_benchmark();
        let open = self.runs.iter().find(is_of_link).map(|r| r.id);
        let asks = is_opened && self.link.file.is_none();
        self.wants_run = asks && open.is_none() && !self.run.is_running();
        // A run that is open but not shown is shown with the view of the link.
        if let Some(id) = open.filter(|id| asks && self.current != Some(*id)) {
            self.show(id);
            self.is_fresh = false;
        }
    }

    /// Called when the reading of a file with this name begins.
    pub(super) fn expect_file(&mut self, name: String) {
        // A link that was just opened decides how its file is shown.
        let wanted = [&self.link.file, &self.link.compare.base];
        let is_wanted = self.is_fresh && wanted.contains(&&Some(name));
        let is_compared = self.link.tool == Tool::Compare && !self.runs.is_empty();
        self.opens = (!is_wanted && !is_compared).then_some(Opens::FirstView);
    }

    /// Shows another open run with its last view.
    pub(super) fn change_run(&mut self, id: u32) {
        self.forget_failure();
        if let Some(kept) = self.runs.iter().find(|r| r.id == id).map(|r| r.kept.clone())
            && self.current != Some(id)
        {
            self.change_view(kept);
            self.show(id);
        }
    }

    /// Takes over the last view of the run that is shown next; the run shown now keeps its own view.
    pub(super) fn change_view(&mut self, next: KeptView) {
        let current = self.current;
        if let Some(run) = self.runs.iter_mut().find(|r| Some(r.id) == current) {
            run.kept = KeptView::of(&self.link);
        }
        next.put_into(&mut self.link);
        self.details = None;
        self.hits = None;
        self.flows = None;
    }

    /// Shows the view of a link of this visit again: its run if that is still open, and its state.
    pub(super) fn revisit(&mut self, link: ProfileLink) {
        let is_of_link = |run: &OpenRun<Worker>| match (&run.info.origin, &link.file) {
            (ProfileOrigin::File { name, .. }, Some(file)) => name == file,
            (ProfileOrigin::File { .. }, None) | (_, Some(_)) => false,
            _ => run.spec() == Some(&link.spec) && run.is_benchmark() == (link.tool == Tool::Trace),
        };
        if let Some(id) = self.runs.iter().find(|r| is_of_link(r)).map(|r| r.id)
            && self.current != Some(id)
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
        self.current = Some(id);
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

    /// Adds the profile that arrived, and those in the same archive. The first is shown.
    pub(super) fn add(&mut self, arrived: ProfileArrival<Worker>) {
        if let Some(opens) = self.opens.take() {
            self.link.tool = match opens {
                Opens::Timeline => Tool::OperatorTimeline,
                Opens::FirstView if arrived.info.is_stacks => Tool::FlameGraph,
                Opens::FirstView => Tool::Overview,
            };
            self.link.sort = None;
        }
        let is_fresh = std::mem::take(&mut self.is_fresh);
        // The marks of a link are newer than those of the file.
        if !is_fresh || self.link.annotations.is_empty() {
            let fresh = if is_fresh { KeptView::of(&self.link) } else { KeptView::default() };
            self.change_view(KeptView { annotations: arrived.info.marks.clone(), ..fresh });
        }
        let first = self.insert(arrived, None);
        self.show(first);
        self.run = RunState::Done;
    }

    /// Adds the profile that arrived, without showing it.
    pub(super) fn add_beside(&mut self, arrived: ProfileArrival<Worker>) {
        let looked_at = self.shown_run().map(|r| r.engine.clone());
        let first = self.insert(arrived, looked_at.as_ref());
        // A profile of the same origin as the shown one replaces it.
        if self.current.is_some() && self.shown_run().is_none() {
            self.show(first);
        }
        self.run = RunState::Done;
    }

    /// Opens the profiles of one archive; returns the number of the first. The worker of the shown profile stays.
    fn insert(&mut self, arrived: ProfileArrival<Worker>, looked_at: Option<&Worker>) -> u32 {
        let ProfileArrival { mut info, engine, run_name: now } = arrived;
        let also = std::mem::take(&mut info.also);
        let all: Vec<ProfileInfo> = std::iter::once(*info).chain(also).collect();
        // A run of the same origin replaces the old one.
        self.runs.retain(|r| all.iter().all(|info| r.info.origin != info.origin));
        self.close_oldest(looked_at);
        let first = self.next_id;
        for info in all {
            let (id, engine) = (self.next_id, engine.clone());
            self.next_id += 1;
            let kept = KeptView { annotations: info.marks.clone(), ..KeptView::default() };
            let run_name = match info.origin {
                ProfileOrigin::Simulated(_) => Some(format!("{now}_{id}")),
                ProfileOrigin::Benchmark(_) => Some(now.clone()),
                ProfileOrigin::File { .. } => None,
            };
            let info = Shared::new(info);
            self.runs.push(OpenRun { id, info, engine, operators: BTreeMap::new(), kept, run_name, insights: None });
        }
        first
    }

    /// Makes room for another worker: profiles of one archive share theirs.
    fn close_oldest(&mut self, looked_at: Option<&Worker>) {
        let mut engines: Vec<&Worker> = Vec::new();
        for run in &self.runs {
            if !engines.contains(&&run.engine) {
                engines.push(&run.engine);
            }
        }
        if engines.len() >= MOST_FILES
            && let Some(oldest) = engines.into_iter().find(|e| Some(*e) != looked_at).cloned()
        {
            self.runs.retain(|r| r.engine != oldest);
        }
    }

    pub(super) fn close(&mut self, id: u32) {
        // A base that the user closes is not opened again.
        let is_base = |r: &OpenRun<Worker>| r.id == id && self.link.compare.base.as_ref() == Some(&r.info.name);
        if self.runs.iter().any(is_base) {
            self.link.compare.base = None;
        }
        self.runs.retain(|r| r.id != id);
        if self.current == Some(id) {
            self.current = None;
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
