//! What happens by itself: the sample on an empty page, the list of a form, the records of a run in the views.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use super::actions::{RunActions, SentRecords};
use ns_page::experiments::PlanState;

/// Time from the last change of the form until its experiments are listed.
const LIST_DELAY_MS: u32 = 350;
/// Records of a run are given to the views at most this often: each time makes the view anew.
const GIVE_DELAY_MS: u32 = 300;

/// Shows the sample on a page that has nothing else to show.
#[hook]
pub fn use_example(actions: Option<&RunActions>) {
    let actions = actions.filter(|a| a.page.app.catalog.is_some()).cloned();
    let is_wanted = actions.as_ref().is_some_and(|a| a.page.state.wants_sample(&a.plan));
    use_effect_with(is_wanted, move |is_wanted| {
        if let Some(actions) = actions.filter(|_| *is_wanted) {
            actions.page.load_sample();
        }
    });
}

/// Keeps the list of experiments up to date with the form while it is open.
#[hook]
pub fn use_listing(plan: &PlanState, actions: Option<&RunActions>) {
    let (request, wrong) = plan.request();
    let actions = actions.filter(|a| a.page.app.catalog.is_some()).cloned();
    let is_listed = actions.is_some() && wrong.is_empty() && plan.is_open;
    use_effect_with((request, is_listed), move |(request, is_listed)| {
        let request = request.clone();
        let runner = actions.filter(|_| *is_listed).map(|a| a.runner);
        let timer = runner.map(|runner| Timeout::new(LIST_DELAY_MS, move || runner.list(&request)));
        move || drop(timer)
    });
}

/// Brings the records of a run to the views, as its experiments end.
#[hook]
pub fn use_run_records(actions: Option<&RunActions>) {
    let sent: Rc<RefCell<SentRecords>> = use_mut_ref(SentRecords::default);
    let actions = actions.cloned();
    let what = actions.as_ref().map(|a| {
        let state = &a.page.state;
        (a.plan.lines.clone(), state.engine.clone(), state.read.clone(), a.plan.run.is_running())
    });
    use_effect_with(what, move |what| {
        // The first records and the last ones do not wait.
        let waits = what.as_ref().is_some_and(|(_, _, read, is_running)| *is_running && read.is_some());
        let delay = if waits { GIVE_DELAY_MS } else { 0 };
        let timer = actions.map(|actions| Timeout::new(delay, move || actions.give_records(&sent)));
        move || drop(timer)
    });
}
