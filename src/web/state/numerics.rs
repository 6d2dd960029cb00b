//! The page of values: what is in the form, how far the run is, what it gave.

use std::rc::Rc;

use yew::prelude::*;

use crate::session::share::{Link, NUMERICS_FIELDS, NumericsField};
use crate::session::{CompileOptions, NumericsReport, NumericsSpec};
use crate::web::context::Shared;
use crate::web::state::RunState;

/// The page of values.
#[derive(Clone, PartialEq)]
pub struct NumericsState {
    texts: Vec<String>,
    /// How far the run is.
    pub run: RunState,
    /// The last comparison.
    pub report: Option<Shared<NumericsReport>>,
}

/// What happens on the page.
pub enum NumericsAction {
    /// A field was edited.
    Edit(NumericsField, String),
    /// Other compiler options were chosen.
    Compile(CompileOptions),
    /// A link or an example was opened.
    Load(Box<NumericsSpec>),
    /// The run went on, or ended without a result.
    Run(RunState),
    /// The comparison is there.
    Report(Box<NumericsReport>),
}

impl Default for NumericsState {
    fn default() -> Self {
        Self { texts: texts_of(&NumericsSpec::default()), run: RunState::Idle, report: None }
    }
}

fn texts_of(spec: &NumericsSpec) -> Vec<String> {
    NUMERICS_FIELDS.iter().map(|f| f.text(spec)).collect()
}

impl NumericsState {
    /// What is in a field.
    #[must_use]
    pub fn text(&self, field: NumericsField) -> &str {
        NUMERICS_FIELDS.iter().position(|f| *f == field).and_then(|i| self.texts.get(i)).map_or("", String::as_str)
    }

    /// The specification in the form, fields that can not be used left at their defaults, and what is wrong with those.
    #[must_use]
    pub fn spec(&self) -> (NumericsSpec, Vec<(NumericsField, String)>) {
        let mut spec = NumericsSpec::default();
        let mut wrong = Vec::new();
        for (field, text) in NUMERICS_FIELDS.iter().zip(&self.texts) {
            if let Err(message) = field.set(&mut spec, text) {
                wrong.push((*field, message));
            }
        }
        (spec, wrong)
    }

    /// The link that shows this form.
    #[must_use]
    pub fn link(&self) -> Link {
        Link::Numerics(Box::new(self.spec().0))
    }

    fn edit(&mut self, field: NumericsField, text: String) {
        if let Some(i) = NUMERICS_FIELDS.iter().position(|f| *f == field) {
            self.texts[i] = text;
        }
    }
}

impl Reducible for NumericsState {
    type Action = NumericsAction;

    fn reduce(self: Rc<Self>, action: NumericsAction) -> Rc<Self> {
        let mut next = (*self).clone();
        match action {
            NumericsAction::Edit(field, text) => next.edit(field, text),
            NumericsAction::Compile(options) => {
                let spec = NumericsSpec { options, ..NumericsSpec::default() };
                for field in
                    [NumericsField::AutoCast, NumericsField::AutoCastType, NumericsField::OptLevel, NumericsField::Lnc]
                {
                    next.edit(field, field.text(&spec));
                }
            }
            NumericsAction::Load(spec) => next.texts = texts_of(&spec),
            NumericsAction::Run(run) => next.run = run,
            NumericsAction::Report(report) => {
                next.report = Some(Shared::new(*report));
                next.run = RunState::Done;
            }
        }
        next.into()
    }
}
