//! The context that every part of the page may need.

use crate::state::StateDispatcher;
use std::cell::RefCell;
use std::rc::Rc;

use yew::prelude::*;

use super::worker::{Engine, KnownModel, Pool};
use ns_page::Shared;
use ns_page::notices::Notices;
use ns_session::{Catalog, JobId};
use ns_view::palette::Theme;

/// The context that every part of the page may need.
#[derive(Clone, PartialEq)]
pub struct AppContext {
    /// Workers.
    pub pool: Pool,
    /// Notices for the user.
    pub notices: StateDispatcher<Notices>,
    /// The catalog of models and instances; `None` until the worker has sent it.
    pub catalog: Option<Shared<Catalog>>,
    /// Facts about the open model files.
    pub models: Vec<KnownModel>,
    /// The theme on the page.
    pub theme: Theme,
}

/// A job that runs and can be cancelled.
pub type RunningJob = Rc<RefCell<Option<(Engine, JobId)>>>;

/// A running job as a property.
#[derive(Clone, Default)]
pub struct JobSlot(pub RunningJob);

impl JobSlot {
    /// Stops the running job, if there is one.
    pub fn cancel(&self) {
        // The worker may answer at once, and its answer empties the slot.
        let running = self.0.borrow().clone();
        if let Some((engine, job)) = running {
            engine.cancel(job);
        }
    }
}

impl PartialEq for JobSlot {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// The context of the page.
#[hook]
pub fn use_app() -> Option<AppContext> {
    use_context::<AppContext>()
}
