//! The states of [`crate::page`] as Yew keeps them: each is reduced by its own `after` and holds handles of workers.

use std::rc::Rc;

use yew::Reducible;

use super::worker::Engine;
use crate::page::bench::{BenchAction, BenchState};
use crate::page::notices::{NoticeAction, Notices};
use crate::page::numerics::{NumericsAction, NumericsState};
use crate::page::study::{StudyAction, StudyState};
use crate::page::{experiments, inspect, profile};

/// The profile page.
pub type ProfileState = profile::ProfileState<Engine>;
/// Its actions.
pub type ProfileAction = profile::ProfileAction<Engine>;
/// An open profile.
pub type OpenRun = profile::OpenRun<Engine>;
/// The page of models.
pub type InspectState = inspect::InspectState<Engine>;
/// Its actions.
pub type InspectAction = inspect::InspectAction<Engine>;
/// The page of experiments.
pub type ExperimentsState = experiments::ExperimentsState<Engine>;
/// Its actions.
pub type ExperimentsAction = experiments::ExperimentsAction<Engine>;

macro_rules! reduced_by_after {
    ($($state:ty, $action:ty;)+) => {$(
        impl Reducible for $state {
            type Action = $action;

            fn reduce(self: Rc<Self>, action: $action) -> Rc<Self> {
                self.after(action).into()
            }
        }
    )+};
}

reduced_by_after! {
    BenchState, BenchAction;
    ExperimentsState, ExperimentsAction;
    InspectState, InspectAction;
    Notices, NoticeAction;
    NumericsState, NumericsAction;
    ProfileState, ProfileAction;
    StudyState, StudyAction;
}
