//! The state of the page of values: the form, the progress of the run, its result.

use super::kept::{Asking, Opening, Restored, opening_of};
use super::{RunState, Shared};
use ns_session::share::{NUMERICS_FIELDS, NumericsField, PageLink as _};
use ns_session::shelf::KeptNumerics;
use ns_session::{CompileOptions, NumericsReport, NumericsSpec};

/// The page of values.
#[derive(Clone, Debug, PartialEq)]
pub struct NumericsState {
    texts: Vec<String>,
    /// Progress of the run.
    pub run: RunState,
    /// The last comparison.
    pub report: Option<Shared<NumericsReport>>,
    /// The kept comparison that is shown, if it was not run in this visit.
    pub restored: Option<Restored<NumericsSpec>>,
    /// Whether a link asks for the comparison, which has not been started yet.
    pub wants_run: bool,
}

/// Actions on the page.
pub enum NumericsAction {
    /// A field was edited.
    Edit(NumericsField, String),
    /// Other compiler options were chosen.
    Compile(CompileOptions),
    /// A link or an example was opened.
    Load(Box<NumericsSpec>),
    /// An address was opened that asks for this, and the browser kept this comparison of what it names.
    Open(Asking, Option<Box<KeptNumerics>>),
    /// The run made progress, or ended without a result.
    Run(RunState),
    /// The comparison has arrived.
    Report(Box<NumericsReport>),
}

impl Default for NumericsState {
    fn default() -> Self {
        let texts = texts_of(&NumericsSpec::default());
        Self { texts, run: RunState::Idle, report: None, restored: None, wants_run: false }
    }
}

fn texts_of(spec: &NumericsSpec) -> Vec<String> {
    NUMERICS_FIELDS.iter().map(|f| f.text(spec)).collect()
}

impl NumericsState {
    /// The text in a field.
    #[must_use]
    pub fn text(&self, field: NumericsField) -> &str {
        NUMERICS_FIELDS.iter().position(|f| *f == field).and_then(|i| self.texts.get(i)).map_or("", String::as_str)
    }

    /// The specification in the form, with unusable fields left at their defaults, and the messages for those fields.
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

    /// The hash of the link that shows this form.
    #[must_use]
    pub fn hash(&self) -> String {
        self.spec().0.hash()
    }

    fn edit(&mut self, field: NumericsField, text: String) {
        if let Some(i) = NUMERICS_FIELDS.iter().position(|f| *f == field) {
            self.texts[i] = text;
        }
    }

    /// The page after an action.
    #[must_use]
    pub fn after(&self, action: NumericsAction) -> Self {
        let mut next = self.clone();
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
            NumericsAction::Open(asking, kept) => {
                let opening = opening_of(asking, kept.is_some(), false, self.run.is_running());
                next.wants_run = opening == Opening::Run;
                if let Some(kept) = kept.filter(|_| opening == Opening::Restore) {
                    next.texts = texts_of(&kept.spec);
                    next.restored = Some(Restored { spec: kept.spec, when_ms: kept.when_ms });
                    (next.report, next.run) = (Some(Shared::new(kept.result)), RunState::Done);
                }
            }
            NumericsAction::Run(run) => (next.run, next.wants_run) = (run, false),
            NumericsAction::Report(report) => {
                (next.report, next.restored) = (Some(Shared::new(*report)), None);
                next.run = RunState::Done;
            }
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_session::{AutoCast, CastType};

    fn report() -> NumericsReport {
        NumericsReport {
            spec: NumericsSpec::default(),
            core: "NeuronCore-v2".to_owned(),
            status: "PASS".to_owned(),
            outputs: vec![],
            first_nan: None,
            first_inf: None,
            first_underflow: None,
            reference_nan: None,
            reference_inf: None,
            reference_underflow: None,
            notes: vec![],
            flops: 0,
        }
    }

    #[test]
    fn the_form_is_edited_loaded_and_compiled_otherwise() {
        let state = NumericsState::default();
        let wrong = state.after(NumericsAction::Edit(NumericsField::Seed, "-1".to_owned()));
        assert_eq!(wrong.spec().1.iter().map(|w| w.0).collect::<Vec<_>>(), [NumericsField::Seed]);
        let spec = NumericsSpec { model: "mlp".to_owned(), seed: 7, ..NumericsSpec::default() };
        let loaded = state.after(NumericsAction::Load(Box::new(spec.clone())));
        assert_eq!(loaded.spec(), (spec.clone(), vec![]));
        assert!(loaded.hash().starts_with("#/numerics?") && loaded.hash().contains("model=mlp"), "{}", loaded.hash());
        let options =
            CompileOptions { auto_cast: AutoCast::All, auto_cast_type: CastType::Fp16, ..CompileOptions::default() };
        let compiled = loaded.after(NumericsAction::Compile(options));
        assert_eq!(compiled.spec().0, NumericsSpec { options, ..spec });
    }

    #[test]
    fn a_run_of_a_link_starts_once_and_ends_with_its_report() {
        let asks = || NumericsAction::Open(Asking::Result, None);
        let wants = NumericsState::default().after(asks());
        assert!(wants.wants_run);
        let running = wants.after(NumericsAction::Run(RunState::started("x")));
        assert!(!running.wants_run && running.run.is_running());
        assert_eq!(running.after(asks()), running);
        let done = running.after(NumericsAction::Report(Box::new(report())));
        assert_eq!((done.run.clone(), done.report.as_ref().map(|r| r.status.as_str())), (RunState::Done, Some("PASS")));
        // The last report stays beside a run that fails.
        assert!(done.after(NumericsAction::Run(RunState::Failed("x".to_owned()))).report.is_some());
    }

    #[test]
    fn a_kept_comparison_is_shown_with_its_form_until_a_run_replaces_it() {
        let spec = NumericsSpec { model: "mlp".to_owned(), seed: 3, ..NumericsSpec::default() };
        let kept = KeptNumerics { spec: spec.clone(), result: report(), when_ms: 9 };
        let state = NumericsState::default();
        let open = |asking| NumericsAction::Open(asking, Some(Box::new(kept.clone())));
        let shown = state.after(open(Asking::Page));
        assert_eq!((shown.spec(), shown.run.clone(), shown.wants_run), ((spec.clone(), vec![]), RunState::Done, false));
        assert_eq!(shown.restored, Some(Restored { spec, when_ms: 9 }));
        assert!(shown.report.is_some());
        assert_eq!(shown.after(NumericsAction::Report(Box::new(report()))).restored, None);
        assert_eq!(state.after(open(Asking::Form)), state);
    }
}
