//! What every part of the page may need.

use std::cell::RefCell;
use std::rc::Rc;

use yew::prelude::*;

use super::worker::{Engine, KnownModel, Pool};
use crate::page::Shared;
use crate::page::notices::Notices;
use crate::session::{Catalog, JobId};
use crate::view::palette::Theme;

/// What every part of the page may need.
#[derive(Clone, PartialEq)]
pub struct AppContext {
    /// Workers.
    pub pool: Pool,
    /// Where to say something to the person.
    pub notices: UseReducerDispatcher<Notices>,
    /// What can be run; absent until the worker has said it.
    pub catalog: Option<Shared<Catalog>>,
    /// What is known of the model files that are open.
    pub models: Vec<KnownModel>,
    /// The theme on the page.
    pub theme: Theme,
}

/// A job that runs and can be cancelled.
pub type RunningJob = Rc<RefCell<Option<(Engine, JobId)>>>;

/// A running job as a property.
#[derive(Clone, Default)]
pub struct Job(pub RunningJob);

impl Job {
    /// Stops what runs, if anything does.
    pub fn cancel(&self) {
        // The worker may answer at once, and its answer empties the slot.
        let running = self.0.borrow().clone();
        if let Some((engine, job)) = running {
            engine.cancel(job);
        }
    }
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// The context of the page.
#[hook]
pub fn use_app() -> Option<AppContext> {
    use_context::<AppContext>()
}
