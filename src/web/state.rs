//! The states of [`ns_page`] as Yew keeps them: each is reduced by its own `after` and holds handles of workers.

use std::ops::Deref;
use std::rc::Rc;

use yew::{Reducible, UseReducerDispatcher, UseReducerHandle, hook, use_reducer};

use super::worker::Engine;
use ns_page::bench::{BenchAction, BenchState};
use ns_page::experiments::{PlanAction, PlanState};
use ns_page::file_queue::{FileQueue, FileQueueAction};
use ns_page::notices::{NoticeAction, Notices};
use ns_page::study::{StudyAction, StudyState};
use ns_page::{experiments, inspect, profile};

pub type ProfileState = profile::ProfileState<Engine>;
pub type ProfileAction = profile::ProfileAction<Engine>;
pub type OpenRun = profile::OpenRun<Engine>;
/// The page of models.
pub type InspectState = inspect::InspectState<Engine>;
pub type InspectAction = inspect::InspectAction<Engine>;
/// The page of experiments.
pub type ExperimentsState = experiments::ExperimentsState<Engine>;
pub type ExperimentsAction = experiments::ExperimentsAction<Engine>;

/// A state of the page, which an action turns into the next one.
pub trait PageState: Clone + 'static {
    /// The changes that it knows.
    type Action: 'static;

    /// The state after an action.
    fn next(&self, action: Self::Action) -> Self;
}

macro_rules! page_states {
    ($($state:ty, $action:ty;)+) => {$(
        impl PageState for $state {
            type Action = $action;

            fn next(&self, action: $action) -> Self {
                self.after(action)
            }
        }
    )+};
}

page_states! {
    BenchState, BenchAction;
    ExperimentsState, ExperimentsAction;
    FileQueue, FileQueueAction;
    InspectState, InspectAction;
    Notices, NoticeAction;
    PlanState, PlanAction;
    ProfileState, ProfileAction;
    StudyState, StudyAction;
}

/// A state in a reducer of Yew, whose trait belongs to another crate as the state does.
#[derive(Clone, PartialEq)]
pub struct Reducer<S>(S);

impl<S: PageState> Reducible for Reducer<S> {
    type Action = S::Action;

    fn reduce(self: Rc<Self>, action: S::Action) -> Rc<Self> {
        Self(self.0.next(action)).into()
    }
}

impl<S> Deref for Reducer<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

/// A state that a component shows and changes.
pub type StateHandle<S> = UseReducerHandle<Reducer<S>>;

/// What changes a state.
pub type StateDispatcher<S> = UseReducerDispatcher<Reducer<S>>;

/// Keeps a state for a component.
#[hook]
pub fn use_reduced<S: PageState>(first: impl FnOnce() -> S) -> StateHandle<S> {
    use_reducer(|| Reducer(first()))
}
