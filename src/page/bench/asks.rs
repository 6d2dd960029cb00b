//! What the page is asked for, and what it draws of it.

use std::rc::Rc;

use super::example::example;
use super::state::{BenchState, texts_of, with_rows};
use super::wish::{OwnSweep, Wish};
use super::{OpenedPlan, RowId};
use crate::file_queue::reading_label;
use crate::link_intent::LinkIntent;
use crate::{RunState, Shared};
use ns_bench::{BenchConfig, ModelIndex, Report, RowResult};
use ns_session::results::{Goal, WantedTexts};
use ns_session::share::ResultsView;

impl BenchState {
    /// Draws the sweep that was asked for, and none that was not.
    pub(super) fn draw_after(&mut self, before: &Self) {
        let (is_own, was_own) = (self.wish.is_of(&self.own), before.wish.is_of(&before.own));
        let none = OwnSweep::default();
        let own = if is_own { &self.own } else { &none };
        let is_reading = matches!(self.wish, Wish::File(_));
        let rows_changed = self.own.rows != before.own.rows || self.imports != before.imports;
        let imports_moved = is_reading != matches!(before.wish, Wish::File(_));
        if rows_changed || is_own != was_own || imports_moved {
            let imports = if is_reading { &[][..] } else { &self.imports[..] };
            self.rows = Shared::new(own.rows.iter().chain(imports).cloned().collect());
        }
        if self.own.scenario != before.own.scenario || is_own != was_own {
            self.scenario = own.scenario.clone();
        }
        (self.sweep, self.notes, self.ran) = (own.sweep.clone(), own.notes.clone(), own.config.clone());
        self.run = match (&self.wish, &self.refusal) {
            (Wish::File(_), Some(message)) => RunState::Failed(message.to_string()),
            (Wish::File(name), None) => RunState::started(&reading_label(name)),
            (Wish::Run(_) | Wish::Form, _) => own.run.clone(),
        };
    }

    /// An index that was given is run, unless an entry names no model: it would run that of the form, which may be another.
    pub(super) fn take_index(&mut self, index: Option<Shared<ModelIndex>>) {
        let has_models = |index: &ModelIndex| index.finished().all(|entry| entry.model.is_some());
        let can_run = index.as_deref().is_some_and(|i| i.finished().next().is_some() && has_models(i));
        self.index = index;
        self.go_back();
        if can_run {
            self.ask(self.config().0, true);
        }
    }

    /// Asks for a benchmark. What is drawn already is not run again, unless `is_anew`.
    pub(super) fn ask(&mut self, config: BenchConfig, is_anew: bool) {
        self.wish = Wish::Run(Shared::new(config));
        (self.before, self.refusal, self.is_pressed) = (Wish::Form, None, false);
        self.wants_run = is_anew;
    }

    /// Only for somebody who asked for nothing yet.
    pub(super) fn open(&mut self, latest: Option<Box<BenchConfig>>) {
        if self.wish == Wish::Form && self.own.config.is_none() && self.imports.is_empty() {
            let config = latest.map_or_else(example, |latest| *latest);
            self.texts = texts_of(&config);
            self.ask(config, true);
        }
    }

    pub(super) fn load(&mut self, config: BenchConfig, intent: LinkIntent) {
        // Whoever comes back finds the form as it was left.
        let is_asked = self.asked().is_some_and(|asked| **asked == config);
        if intent == LinkIntent::Result && is_asked && (self.wants_run || self.own.has_come()) {
            return;
        }
        self.texts = texts_of(&config);
        // A link carries no index: one that is on the page stays.
        if let Some(index) = &config.index {
            self.index = Some(Shared::new(index.clone()));
        }
        if intent == LinkIntent::Result {
            let config = self.config().0;
            let is_there = self.own.config.as_deref() == Some(&config) && self.own.has_come();
            self.ask(config, !is_there);
        } else {
            (self.wish, self.before, self.refusal, self.wants_run) = (Wish::Form, Wish::Form, None, false);
        }
    }

    pub(super) fn expect_file(&mut self, name: String) {
        if !matches!(self.wish, Wish::File(_)) {
            self.before = std::mem::replace(&mut self.wish, Wish::Form);
        }
        (self.wish, self.refusal, self.wants_run) = (Wish::File(name.into()), None, false);
    }

    /// Leaves the file that was given: what was asked for before it is asked for again. Nobody asked for the example.
    pub(super) fn go_back(&mut self) {
        if !matches!(self.wish, Wish::File(_)) {
            return;
        }
        self.refusal = None;
        match std::mem::replace(&mut self.before, Wish::Form) {
            Wish::Run(config) if *config != example() => {
                let is_there = self.own.config.as_deref() == Some(&*config) && self.own.has_come();
                (self.wish, self.wants_run) = (Wish::Run(config), !is_there);
            }
            Wish::Run(_) => (self.wish, self.texts) = (Wish::Form, texts_of(&BenchConfig::default())),
            before => self.wish = before,
        }
    }

    /// A file that was asked for already is what its results waited for, if all of them failed without it. Another one is run with the
    /// batch sizes that it allows, on each instance that has a price: that answers what it costs. If something else was asked for since the
    /// file was given, it is only open.
    pub(super) fn take_model(&mut self, name: &str, id: String, plan: OpenedPlan) {
        if !matches!(&self.wish, Wish::File(wanted) if **wanted == *name) {
            return;
        }
        if let Wish::Run(config) = &self.before
            && config.model == id
        {
            let is_there = self.own.config.as_deref() == Some(&**config)
                && self.own.has_come()
                && (self.own.run.is_running() || self.own.rows.iter().any(|r| r.report().is_finished()));
            (self.wish, self.wants_run) = (std::mem::replace(&mut self.before, Wish::Form), !is_there);
            return;
        }
        self.texts = texts_of(&plan.config(id));
        self.ask(self.config().0, true);
        // A filter and limits were meant for what was there before.
        (self.filter, self.sort) = (Rc::default(), None);
        self.wanted = WantedTexts { goal: Goal::Cost, ..WantedTexts::default() };
    }

    /// Columns are a habit of the reader: only a link that names some changes them.
    pub(super) fn look(&mut self, view: ResultsView) {
        (self.filter, self.sort, self.wanted) = (view.filter.into(), view.sort, view.wanted);
        if let Some(columns) = view.columns {
            self.columns = columns.into();
        }
    }

    pub(super) fn import(&mut self, reports: Vec<Report>) {
        self.go_back();
        let first = u32::try_from(self.imports.len()).unwrap_or(u32::MAX);
        let row =
            |(i, report): (u32, Report)| (RowId::Imported(i), Rc::new(RowResult { report, ..RowResult::default() }));
        self.imports = Shared::new(with_rows(&self.imports, (first..).zip(reports).map(row).collect()));
    }
}
