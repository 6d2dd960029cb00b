//! The page of experiments: what was chosen, what was read, what is shown.

use std::rc::Rc;

use super::{RunState, Shared};
use crate::session::share::{ExperimentLink, PageLink as _};
use crate::session::{ExperimentField, ExperimentSpec, RecordsRead, RecordsShown};

/// The page of experiments; `Worker` is what a shell calls the worker that holds records.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentsState<Worker> {
    /// The choices that were made; the others are left open.
    pub spec: ExperimentSpec,
    /// How far the reading is.
    pub run: RunState,
    /// The worker that holds the records.
    pub engine: Option<Worker>,
    /// What was read.
    pub read: Option<RecordsRead>,
    /// What is shown.
    pub shown: Option<Shared<RecordsShown>>,
    /// Files of a link that were not read yet.
    pub data: Option<Rc<str>>,
    /// Names of files that a link does not hold.
    pub wanted: Vec<String>,
}

/// What happens on the page.
pub enum ExperimentsAction<Worker> {
    /// A choice was made.
    Choose(ExperimentField, String),
    /// A link was opened.
    Load(Box<ExperimentLink>),
    /// Reading began, in this worker.
    Start(Worker, String),
    /// Reading went on, or ended without a result.
    Run(RunState),
    /// Files were read.
    Read(RecordsRead),
    /// A view is there.
    Shown(Box<RecordsShown>),
    /// All records are put away.
    Clear,
}

impl<Worker> Default for ExperimentsState<Worker> {
    fn default() -> Self {
        Self {
            spec: ExperimentSpec::default(),
            run: RunState::Idle,
            engine: None,
            read: None,
            shown: None,
            data: None,
            wanted: Vec::new(),
        }
    }
}

impl<Worker: Clone> ExperimentsState<Worker> {
    /// The hash of the link that shows this view.
    #[must_use]
    pub fn hash(&self) -> String {
        let read = self.read.as_ref();
        let data = read.map_or_else(|| self.data.as_ref().map(ToString::to_string), |read| read.packed.clone());
        let names =
            || read.map_or_else(|| self.wanted.clone(), |read| read.files.iter().map(|f| f.0.clone()).collect());
        let files = if data.is_some() { Vec::new() } else { names() };
        ExperimentLink { spec: self.spec.clone(), data, files }.hash()
    }

    fn load(&mut self, link: ExperimentLink) {
        self.spec = link.spec;
        let has = self.read.as_ref().and_then(|read| read.packed.as_deref());
        if link.data.is_some() && link.data.as_deref() != has {
            (self.engine, self.read, self.shown) = (None, None, None);
            self.data = link.data.map(Rc::from);
        }
        self.wanted = link.files;
    }

    /// The page after an action.
    #[must_use]
    pub fn after(&self, action: ExperimentsAction<Worker>) -> Self {
        let mut next = self.clone();
        match action {
            ExperimentsAction::Choose(field, text) => {
                // Other records may not hold what is open.
                if field != ExperimentField::Open {
                    next.spec.set(ExperimentField::Open, "");
                }
                next.spec.set(field, &text);
            }
            ExperimentsAction::Load(link) => next.load(*link),
            ExperimentsAction::Start(engine, label) => {
                (next.engine, next.data) = (Some(engine), None);
                next.run = RunState::started(&label);
            }
            ExperimentsAction::Run(run) => next.run = run,
            ExperimentsAction::Read(read) => {
                (next.read, next.run) = (Some(read), RunState::Done);
                next.wanted.clear();
            }
            ExperimentsAction::Shown(shown) => next.shown = Some(Shared::new(*shown)),
            ExperimentsAction::Clear => next = Self::default(),
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::RecordsChoices;
    use crate::view::document::Document;

    type State = ExperimentsState<u32>;

    fn link(data: Option<&str>, files: &[&str]) -> ExperimentsAction<u32> {
        ExperimentsAction::Load(Box::new(ExperimentLink {
            data: data.map(str::to_owned),
            files: files.iter().map(|f| (*f).to_owned()).collect(),
            ..ExperimentLink::default()
        }))
    }

    fn read(packed: Option<&str>) -> RecordsRead {
        RecordsRead {
            files: vec![("a.jsonl".to_owned(), 1)],
            packed: packed.map(str::to_owned),
            ..RecordsRead::default()
        }
    }

    #[test]
    fn another_choice_closes_what_is_open() {
        let open = State::default().after(ExperimentsAction::Choose(ExperimentField::Open, "resnet18".to_owned()));
        assert_eq!(open.spec.get(ExperimentField::Open), "resnet18");
        let other = open.after(ExperimentsAction::Choose(ExperimentField::View, "changes".to_owned()));
        assert_eq!((other.spec.get(ExperimentField::View), other.spec.get(ExperimentField::Open)), ("changes", ""));
    }

    #[test]
    fn records_are_read_shown_and_put_away() {
        let reading = State::default().after(ExperimentsAction::Start(2, "Reading".to_owned()));
        assert_eq!((reading.engine, &reading.run), (Some(2), &RunState::started("Reading")));
        assert_eq!(reading.after(ExperimentsAction::Run(RunState::Cancelled)).run, RunState::Cancelled);
        let held = reading.after(ExperimentsAction::Read(read(None)));
        assert_eq!((&held.run, held.wanted.len()), (&RunState::Done, 0));
        let shown = RecordsShown {
            document: Document::default(),
            spec: ExperimentSpec::default(),
            choices: RecordsChoices::default(),
            files: vec![],
        };
        let seen = held.after(ExperimentsAction::Shown(Box::new(shown)));
        assert!(seen.shown.is_some());
        assert_eq!(seen.after(ExperimentsAction::Clear), State::default());
    }

    #[test]
    fn a_link_with_other_records_puts_these_away() {
        let held = State::default()
            .after(ExperimentsAction::Start(2, "Reading".to_owned()))
            .after(ExperimentsAction::Read(read(Some("abc"))));
        let same = held.after(link(Some("abc"), &[]));
        assert!(same.read.is_some() && same.data.is_none());
        let other = held.after(link(Some("xyz"), &[]));
        assert_eq!((other.engine, &other.read, other.data.as_deref()), (None, &None, Some("xyz")));
        // A link that names its files alone keeps what is held, and says what it wants.
        let named = held.after(link(None, &["b.jsonl"]));
        assert_eq!((named.read.is_some(), named.wanted), (true, vec!["b.jsonl".to_owned()]));
    }

    #[test]
    fn the_hash_holds_small_records_and_names_others() {
        let hash = |packed| State::default().after(ExperimentsAction::Read(read(packed))).hash();
        assert!(hash(Some("abc")).contains("data=abc") && !hash(Some("abc")).contains("a.jsonl"));
        assert!(hash(None).contains("a.jsonl") && !hash(None).contains("data="));
        assert!(State::default().after(link(None, &["b.jsonl"])).hash().contains("b.jsonl"));
        assert!(State::default().after(link(Some("abc"), &["b.jsonl"])).hash().contains("data=abc"));
    }
}
