//! The open runs: which arrive, which is shown, which are closed.

use super::action::ProfileArrival;
use super::kept_view::KeptView;
use super::open_run::OpenRun;
use super::state::{Opens, ProfileState};
use crate::{RunState, Shared};
use ns_base::Few;
use ns_session::share::{ProfileLink, Tool};
use ns_session::{ProfileInfo, ProfileOrigin, ProfileSpec};

/// The most open files and executions: beyond this the oldest is closed, which frees its memory.
pub(super) const MOST_FILES: usize = 6;

impl<Worker: Clone + PartialEq> ProfileState<Worker> {
    /// Shows what a link says; the run or the file that it names arrives later.
    pub(super) fn load(&mut self, link: ProfileLink) {
        self.is_new_link = self.wish == 0 || link != self.link;
        if self.is_new_link {
            self.wish += 1;
            self.forget_failure();
        }
        self.go_to(link);
        self.is_fresh = self.is_awaited;
    }

    /// Shows what is shown as a link says that names nothing else.
    pub(super) fn load_view(&mut self, link: ProfileLink) {
        let ProfileLink { spec, file, .. } = self.link.clone();
        let is_there = self.current_run().is_some();
        self.load(if is_there { ProfileLink { spec, file, ..link } } else { link });
    }

    /// Shows what a link names if it is open; else it is awaited.
    fn go_to(&mut self, link: ProfileLink) {
        let is_there = self.current_run().is_some_and(|run| run.is_of(&link));
        let open = self.runs.iter().rfind(|run| run.is_of(&link)).map(|run| run.id);
        if !is_there && open.is_some() {
            self.change_view(KeptView::default());
        }
        if link.file.is_none() {
            self.draft = link.spec.clone();
        }
        // A link that is read twice before its file is looked up wants it still.
        self.wants_file = link.file.is_some() && open.is_none() && (self.is_new_link || self.wants_file);
        (self.link, self.is_awaited) = (link, open.is_none());
        if let (false, Some(id)) = (is_there, open) {
            self.show(id);
        }
    }

    /// Asks for a run, also of a model that is shown already.
    pub(super) fn ask(&mut self, spec: ProfileSpec) {
        self.forget_failure();
        self.wish += 1;
        (self.link.file, self.link.spec, self.draft) = (None, spec.clone(), spec);
        (self.is_awaited, self.wants_run, self.wants_file, self.is_fresh) = (true, true, false, false);
    }

    /// Asks for the simulated run of the opened link, unless it is open.
    pub(super) fn want_run(&mut self, is_first: bool) {
        // A link in the page's head refers to the view that is already shown.
        let is_opened = is_first || self.is_new_link || self.wants_run;
        self.wants_run = is_opened && self.is_awaited && self.link.file.is_none();
    }

    /// Called when the reading of a file with this name begins.
    pub(super) fn expect_file(&mut self, name: String) {
        let given = name.clone();
        // A link that was just opened decides how its file is shown.
        let wanted = [&self.link.file, &self.link.compare.base];
        let is_wanted = self.is_fresh && wanted.contains(&&Some(name));
        let is_compared = self.link.tool == Tool::Compare && !self.runs.is_empty();
        self.opens = (!is_wanted && !is_compared).then_some(Opens::FirstView);
        self.forget_failure();
        self.wish += 1;
        (self.link.file, self.link.spec, self.is_awaited) = (Some(given), ProfileSpec::default(), true);
        (self.wants_run, self.wants_file) = (false, false);
    }

    /// Asks for a profile of the model file that was given, unless something else was asked for since.
    pub(super) fn take_model(&mut self, name: &str, opened: Result<String, String>) {
        if !self.is_awaited || self.link.file.as_deref() != Some(name) {
            return;
        }
        match opened {
            Ok(model) => self.ask(ProfileSpec { model, batch_size: None, ..self.draft.clone() }),
            Err(message) => self.run = RunState::Failed(message),
        }
    }

    /// Shows another open run with its last view.
    pub(super) fn change_run(&mut self, id: u32) {
        self.forget_failure();
        if let Some(kept) = self.runs.iter().find(|r| r.id == id).map(|r| r.kept.clone())
            && (self.current != Some(id) || self.is_awaited)
        {
            self.wish += 1;
            (self.wants_run, self.wants_file) = (false, false);
            if self.current != Some(id) {
                self.change_view(kept);
            }
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

    /// Shows the view of a link of this visit again: its run if that is still open, and its state. A run that was closed is made again.
    pub(super) fn revisit(&mut self, link: ProfileLink) {
        self.is_new_link = link != self.link;
        let (search, search_by, selected) = (self.link.search.clone(), self.link.search_by.clone(), self.link.selected);
        self.wish += u32::from(self.is_new_link);
        self.forget_failure();
        self.go_to(link);
        self.want_run(false);
        if search != self.link.search || search_by != self.link.search_by {
            self.hits = None;
        }
        if selected != self.link.selected {
            self.details = None;
        }
    }

    pub(super) fn show(&mut self, id: u32) {
        (self.current, self.is_awaited) = (Some(id), false);
        let Some(run) = self.runs.iter().find(|r| r.id == id) else { return };
        let is_trace = run.is_trace();
        self.link.file = match (&run.info.origin, run.spec()) {
            (ProfileOrigin::File { name, .. }, _) => {
                self.link.spec = ProfileSpec::default();
                Some(name.clone())
            }
            (_, spec) => {
                self.link.spec = spec.cloned().unwrap_or_default();
                self.draft = self.link.spec.clone();
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

    /// Adds the profile that arrived, and those in the same archive. The first is shown, unless something else was asked for since.
    pub(super) fn add(&mut self, arrived: ProfileArrival<Worker>) {
        if self.run_wish != self.wish {
            self.opens = None;
            return self.add_beside(arrived);
        }
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
        let looked_at = self.last_run().map(|r| r.engine.clone());
        let origin = self.last_run().map(|run| run.info.origin.clone());
        self.insert(arrived, looked_at.as_ref());
        // A profile of the same origin as the one that was shown replaces it.
        if self.last_run().is_none() {
            self.current = self.runs.iter().find(|run| Some(&run.info.origin) == origin.as_ref()).map(|run| run.id);
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
            self.runs.push(OpenRun { id, info, engine, operators: Few::default(), kept, run_name });
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
                    self.is_awaited = false;
                    self.run = RunState::Idle;
                }
            }
        }
    }
}
