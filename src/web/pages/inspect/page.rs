//! The page: the form, the main numbers, then tree and picture, a table, or the passes of the compiler.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use super::actions::InspectActions;
use super::form::InspectForm;
use super::picture::Picture;
use super::tree::Tree;
use crate::components::{DocumentView, DrawBlock, drawings, on, progress_bar};
use crate::context::JobSlot;
use crate::context::use_app;
use crate::platform::page::value_of;
use crate::state::{InspectAction, InspectState, StateHandle};
use crate::worker::Engine;
use ns_page::Shared;
use ns_session::{InspectField, InspectResult, InspectView, JobId, model_label};
use ns_view::document::Document;

/// Delay from the last typed letter until the question is asked.
const ASK_AFTER_MS: u32 = 150;

#[derive(Properties, PartialEq)]
pub struct InspectPageProps {
    pub state: StateHandle<InspectState>,
    /// The answer that can be cancelled.
    pub job: JobSlot,
}

#[component]
pub fn InspectPage(props: &InspectPageProps) -> Html {
    let app = use_app();
    let state = &props.state;
    let actions = app.map(|app| InspectActions { app, state: state.clone(), job: props.job.clone() });
    use_answers(state, actions.as_ref());
    let part = |f: fn(&InspectResult) -> Option<Document>| {
        move |result: &Option<Shared<InspectResult>>| result.as_ref().and_then(|s| f(s)).map(Shared::new)
    };
    let head = use_memo(state.result.clone(), part(|s| Some(s.head.clone())));
    let panel = use_memo(state.result.clone(), part(|s| s.panel.clone()));
    let details = use_memo(state.result.clone(), part(|s| s.details.clone()));
    let Some(actions) = actions else { return Html::default() };
    let on_open = on(actions.clone(), |actions, target: String| actions.follow(&target));
    let document = |document: &Option<Shared<Document>>| match document {
        Some(document) => {
            html! { <DocumentView document={document.clone()} on_open={on_open.clone()} draw={DrawBlock(drawings)} /> }
        }
        None => Html::default(),
    };
    html! {
        <div class={classes!("page", "inspect", (state.spec.view() == InspectView::Graph).then_some("has-graph"))}>
            <h1>{ "Inspect" }</h1>
            <p class="lead">{ "Any model as a picture: its modules and operators, what each costs on a simulated NeuronCore, and what would not run there. Drop a .pt2, .pt of torch.jit.save, .onnx, HLO or StableHLO file anywhere; it is read in this browser." }</p>
            <InspectForm actions={actions.clone()} result={state.drawn().cloned()} />
            <div class="part">if !state.run.is_running() { { progress_bar(&state.run) } }</div>
            if let (Some(result), true) = (&state.result, state.is_refused()) { { show_again(state, result) } }
            if let Some(result) = state.room() {
                // The figures of another run keep their room while this one is computed, and are not seen.
                <div class={classes!("part", "run-figures", state.drawn().is_none().then_some("is-of-before"))} data-request={state.request()}>
                { document(&head) }
                { views(&actions, result) }
                if state.spec.view() == InspectView::Graph && !result.picture.is_empty() {
                    <section class="model-view" aria-label="Graph">
                        <Tree actions={actions.clone()} result={result.clone()} />
                        <Picture actions={actions.clone()} result={result.clone()} />
                        <div class="model-details" tabindex="0" role="region" aria-label="Selected">
                            { document(&details) }
                        </div>
                    </section>
                } else {
                    { document(&panel) }
                }
                </div>
            }
        </div>
    }
}

/// Asks for a new view if a choice differs from the shown one. An answer to an older question is dropped.
#[hook]
fn use_answers(state: &StateHandle<InspectState>, actions: Option<&InspectActions>) {
    let actions = actions.cloned();
    let catalog = actions.as_ref().is_some_and(|a| a.app.catalog.is_some());
    // The state as it was drawn last: a file may be dropped before the effect or its timer runs.
    let latest = use_mut_ref(|| state.clone());
    *latest.borrow_mut() = state.clone();
    use_effect_with((state.spec.clone(), catalog), move |(spec, is_ready)| {
        let is_shown = latest.borrow().result.as_ref().is_some_and(|result| result.spec == *spec);
        let actions = actions.filter(|_| *is_ready && !is_shown);
        let asked = Rc::new(RefCell::new(None::<(Engine, JobId)>));
        let dispatch = latest.borrow().dispatcher();
        let timer = actions.and_then(|actions| {
            let asked = asked.clone();
            if spec.get(InspectField::Model).is_empty() {
                // Without a choice, the first model of the list is shown; a file that is being opened decides the view itself.
                if !latest.borrow().is_opening() {
                    let first = actions.app.catalog.as_ref().and_then(|c| c.models.first()).map(|m| m.name.clone());
                    actions.choose(InspectField::Model, first.unwrap_or_default());
                }
                return None;
            }
            Some(Timeout::new(ASK_AFTER_MS, move || {
                let state = latest.borrow().clone();
                if !state.is_opening() {
                    *asked.borrow_mut() = InspectActions { state, ..actions }.show();
                }
            }))
        });
        move || {
            drop(timer);
            if let Some((engine, job)) = asked.take() {
                engine.forget(job);
                dispatch.dispatch(InspectAction::Drop(job));
            }
        }
    });
}

/// The way back to the model before a file that was refused.
fn show_again(state: &StateHandle<InspectState>, result: &InspectResult) -> Html {
    let label = format!("Show {} again", model_label(result.spec.get(InspectField::Model)));
    let onclick = on(state.dispatcher(), |dispatch, _: MouseEvent| dispatch.dispatch(InspectAction::ShowAgain));
    html! { <p><button type="button" {onclick}>{ label }</button></p> }
}

/// The choice of a view, and the search.
fn views(actions: &InspectActions, result: &Shared<InspectResult>) -> Html {
    let current = actions.state.spec.view();
    let view = |view: InspectView| {
        let onclick = on(actions.clone(), move |actions, _: MouseEvent| actions.choose(InspectField::View, view.key()));
        html! { <button type="button" {onclick} aria-pressed={(view == current).to_string()}>{ view.title() }</button> }
    };
    let search = actions.state.spec.get(InspectField::Search).to_owned();
    let oninput =
        on(actions.clone(), |actions, event: InputEvent| actions.choose(InspectField::Search, value_of(&event)));
    let onkeydown = on((actions.clone(), result.clone()), |(actions, result), event: KeyboardEvent| {
        if event.key() == "Enter" && !result.hits.is_empty() {
            let selected = actions.state.spec.get(InspectField::Selected);
            let at = result.hits.iter().position(|id| id == selected).map_or(0, |at| at + 1);
            actions.choose(InspectField::Selected, result.hits[at % result.hits.len()].clone());
        }
    });
    let said =
        if search.is_empty() { String::new() } else { format!("{} found; Enter goes to the next", result.found) };
    html! {
        <div class="view-bar">
            <div class="view-switch" role="group" aria-label="View">{ for InspectView::ALL.map(view) }</div>
            if current == InspectView::Graph {
                <label class="search">
                    <span class="visually-hidden">{ "Search modules and operators" }</span>
                    <input type="search" id="inspect-search" placeholder="Search modules and operators" value={search} {oninput} {onkeydown} />
                </label>
                <p class="count" role="status">{ said }</p>
            }
        </div>
    }
}
