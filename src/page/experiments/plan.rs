//! The plan of a run of experiments: the form, the listed experiments, the progress of the run.

use std::rc::Rc;

use crate::sweep::{SweepNews, SweepView};
use crate::{Controls, RunState, Shared};
use ns_experiment::sweep::{Experiments, ExperimentsPlan, ExperimentsRequest};
use ns_session::options::{PLAN_OPTIONS, default_experiments};

#[derive(Clone, Debug, PartialEq)]
pub struct PlanState {
    texts: Vec<String>,
    /// Progress of the run.
    pub run: RunState,
    /// The experiments of the form, or the reason why they cannot be listed.
    pub listed: Option<Result<Shared<ExperimentsPlan>, Rc<str>>>,
    /// The run that ended last, or runs.
    pub sweep: Option<SweepView<Experiments>>,
    /// The records of that run so far, as lines of `results.jsonl`.
    pub lines: Rc<str>,
    /// Notes of the run: models that others stand for.
    pub notes: Vec<Rc<str>>,
    /// Whether the form is open.
    pub is_open: bool,
    /// Whether a link asks for a run that the page still has to start or restore.
    pub wants_run: bool,
    /// Whether a link to the page names the plan: it ran, was edited or came from a link.
    is_in_link: bool,
}

pub enum PlanAction {
    /// An option was edited.
    Edit(&'static str, String),
    /// A link or a run of an earlier visit brings its request.
    Load(Box<ExperimentsRequest>),
    /// The link that was opened asks for a run, unless something runs.
    WantRun,
    /// The run that the link asks for is under way, or waits for Run.
    LinkTaken,
    /// The form was opened or closed.
    Open(bool),
    /// The experiments of the form were listed, or cannot be listed.
    Listed(Result<Box<ExperimentsPlan>, String>),
    /// A run was started, with its notes.
    Start(Vec<String>),
    /// The records of the run so far.
    Lines(String),
    /// The results of the run are put away.
    PutAway,
    /// The run changed.
    Run(SweepNews<Experiments>),
}

impl From<SweepNews<Experiments>> for PlanAction {
    fn from(news: SweepNews<Experiments>) -> Self {
        Self::Run(news)
    }
}

impl Default for PlanState {
    fn default() -> Self {
        Self {
            texts: texts_of(&default_experiments()),
            run: RunState::Idle,
            listed: None,
            sweep: None,
            lines: Rc::from(""),
            notes: Vec::new(),
            is_open: false,
            wants_run: false,
            is_in_link: false,
        }
    }
}

fn texts_of(request: &ExperimentsRequest) -> Vec<String> {
    PLAN_OPTIONS.iter().map(|option| option.text(request)).collect()
}

fn position(key: &str) -> Option<usize> {
    PLAN_OPTIONS.iter().position(|option| option.key() == key)
}

impl PlanState {
    /// The text of an option.
    pub fn text(&self, key: &str) -> &str {
        position(key).and_then(|i| self.texts.get(i)).map_or("", String::as_str)
    }

    /// The request in the form, with unusable fields left at their defaults, and the messages for those fields.
    pub fn request(&self) -> (ExperimentsRequest, Vec<(&'static str, String)>) {
        let mut request = default_experiments();
        let mut wrong = Vec::new();
        for (option, text) in PLAN_OPTIONS.iter().zip(&self.texts) {
            if let Err(message) = option.set(&mut request, text) {
                wrong.push((option.key(), message));
            }
        }
        (request, wrong)
    }

    /// The plan that a link to the page carries.
    pub fn linked(&self) -> Option<Box<ExperimentsRequest>> {
        self.is_in_link.then(|| Box::new(self.request().0))
    }

    /// The form in one line: `torchbench · alexnet,resnet18 · trn1`.
    pub fn in_short(&self) -> String {
        let models = Some(self.text("run_models")).filter(|models| !models.is_empty()).unwrap_or("all models");
        [self.text("run_suite"), models, self.text("run_accelerator"), self.text("run_test")].join(" \u{b7} ")
    }

    /// The names in the field of models.
    pub fn models(&self) -> Vec<&str> {
        self.text("run_models").split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
    }

    /// The field of models with a name added, or without it if it is there.
    pub fn models_toggled(&self, name: &str) -> String {
        let mut models = self.models();
        match models.iter().position(|model| *model == name) {
            Some(at) => drop(models.remove(at)),
            None => models.push(name),
        }
        models.join(",")
    }

    /// Whether the run is paused.
    pub fn is_paused(&self) -> bool {
        self.sweep.as_ref().is_some_and(|view| view.is_paused_in(&self.run))
    }

    /// Progress for a screen reader, which changes only when an experiment ends: `12 of 30 done, 1 failed`.
    pub fn announcement(&self) -> String {
        let Some(view) = &self.sweep else { return String::new() };
        let progress = view.sweep().progress();
        let (done, all) = (progress.finished + progress.failed, view.sweep().rows().len());
        let failed = if progress.failed > 0 { format!(", {} failed", progress.failed) } else { String::new() };
        let paused = if self.is_paused() { ", paused" } else { "" };
        format!("{done} of {all} done{failed}{paused}")
    }

    /// The controls that can be used.
    pub fn controls(&self) -> Controls {
        Controls::of_sweep(&self.run, self.sweep.as_ref(), !self.lines.is_empty())
    }

    pub fn after(&self, action: PlanAction) -> Self {
        let mut next = self.clone();
        match action {
            PlanAction::Edit(key, text) => {
                if let Some(i) = position(key) {
                    next.texts[i] = text;
                    next.is_in_link = true;
                }
                // Names of one suite mean nothing in another.
                if key == "run_suite"
                    && let Some(models) = position("run_models")
                {
                    next.texts[models].clear();
                }
            }
            PlanAction::Load(request) => (next.texts, next.is_in_link) = (texts_of(&request), true),
            PlanAction::WantRun => next.wants_run = !self.run.is_running(),
            PlanAction::LinkTaken => next.wants_run = false,
            PlanAction::Open(is_open) => next.is_open = is_open,
            PlanAction::Listed(listed) => next.listed = Some(listed.map(|plan| Shared::new(*plan)).map_err(Rc::from)),
            PlanAction::Start(notes) => {
                next.notes = notes.into_iter().map(Rc::from).collect();
                (next.lines, next.is_in_link) = (Rc::from(""), true);
                next.run = RunState::started("Starting");
            }
            PlanAction::Lines(lines) => next.lines = lines.into(),
            PlanAction::PutAway => {
                (next.lines, next.sweep, next.run) = (Rc::from(""), None, RunState::Idle);
                (next.notes, next.is_in_link) = (Vec::new(), false);
            }
            PlanAction::Run(news) => next.take_news(news),
        }
        next
    }

    fn take_news(&mut self, news: SweepNews<Experiments>) {
        match news {
            SweepNews::GoOn => self.run = RunState::started("Starting"),
            SweepNews::Note(note) => self.notes.push(note.into()),
            SweepNews::Dismiss(note) => self.notes.retain(|n| **n != *note),
            SweepNews::Progress(run) => {
                if self.run.is_running() {
                    self.run = run;
                }
            }
            SweepNews::Ran(view) => self.sweep = Some(view),
            SweepNews::End(run) => self.run = run,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::PauseLabel;
    use ns_bench::SweepOf;
    use ns_experiment::sweep::ExperimentsRun;

    fn edited(state: &PlanState, key: &'static str, text: &str) -> PlanState {
        state.after(PlanAction::Edit(key, text.to_owned()))
    }

    fn sweep(state: &PlanState) -> SweepOf<Experiments> {
        let request = state.request().0;
        let plan = request.plan();
        let run = ExperimentsRun { request, timestamp: 1.0, processor: String::new() };
        SweepOf::of_rows(run, plan.rows, plan.messages)
    }

    fn ran(sweep: &SweepOf<Experiments>) -> PlanAction {
        PlanAction::Run(SweepNews::Ran(SweepView::new(Rc::new(sweep.clone()), BTreeMap::new(), 1, true)))
    }

    #[test]
    fn a_plan_is_run_paused_resumed_and_cancelled() {
        let idle = edited(&edited(&PlanState::default(), "run_suite", "dummy"), "run_accelerator", "trn1,inf2");
        let mut sweep = sweep(&idle);
        assert!(idle.controls().run && !idle.controls().save);
        let running = idle.after(PlanAction::Start(vec![])).after(ran(&sweep));
        assert_eq!((running.controls().stop, running.announcement().as_str()), (true, "0 of 4 done"));
        sweep.pause();
        let paused = running.after(ran(&sweep));
        assert_eq!(
            (paused.controls().pause, paused.announcement().as_str()),
            (PauseLabel::Resume, "0 of 4 done, paused")
        );
        sweep.resume();
        let resumed = paused.after(ran(&sweep)).after(PlanAction::Lines("{}\n".to_owned()));
        assert_eq!((resumed.controls().pause, resumed.controls().save), (PauseLabel::Pause, true));
        sweep.cancel();
        let ended = resumed.after(ran(&sweep)).after(PlanAction::Run(SweepNews::End(RunState::Cancelled)));
        assert!(ended.controls().run && ended.controls().retry);
        // Progress that comes late does not start it again.
        let late = ended.after(PlanAction::Run(SweepNews::Progress(RunState::started("x"))));
        assert_eq!(late.run, RunState::Cancelled);
        let away = ended.after(PlanAction::PutAway);
        assert!(away.lines.is_empty() && away.sweep.is_none() && away.linked().is_none());
    }

    #[test]
    fn a_link_names_the_plan_once_it_is_the_users() {
        let state = PlanState::default();
        assert_eq!(state.linked(), None);
        let state = edited(&state, "run_repeat", "7");
        assert_eq!(state.linked().map(|request| request.settings.repeat), Some(7));
        let wrong = edited(&state, "run_repeat", "many");
        assert_eq!(wrong.request().1.len(), 1);
        let mut request = default_experiments();
        request.settings.repeat = 4;
        let linked = PlanState::default().after(PlanAction::Load(Box::new(request.clone()))).after(PlanAction::WantRun);
        assert_eq!((linked.request().0, linked.wants_run), (request, true));
        assert!(!linked.after(PlanAction::LinkTaken).wants_run);
        assert!(!linked.after(PlanAction::Start(vec![])).after(PlanAction::WantRun).wants_run, "something runs");
    }

    #[test]
    fn models_are_chosen_by_name_and_belong_to_a_suite() {
        let state = edited(&PlanState::default(), "run_models", "alexnet, resnet18");
        assert_eq!(state.models_toggled("vgg16"), "alexnet,resnet18,vgg16");
        assert_eq!(state.models_toggled("alexnet"), "resnet18");
        assert!(state.in_short().starts_with("torchbench \u{b7} alexnet, resnet18"));
        let other = edited(&state, "run_suite", "zoo");
        assert!(other.models().is_empty() && other.in_short().contains("all models"));
    }
}
