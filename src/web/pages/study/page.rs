//! The page: a form, examples, the result of the run.

use gloo_timers::callback::Timeout;

use crate::state::StateHandle;
use yew::prelude::*;

use super::actions::StudyActions;
use super::form::StudyFields;
use crate::components::{DocumentView, DrawBlock, drawings, kept_note, on, progress_bar};
use crate::context::JobSlot;
use crate::context::use_app;
use crate::pages::benchmark::{drop_zone, missing_file};
use ns_page::study::StudyState;
use ns_page::{RunState, Shared};
use ns_session::share::Page;
use ns_session::studies::{StudyExample, StudySpec};

/// Delay from the last edit to the run.
const PAUSE_MS: u32 = 600;

#[derive(Properties, PartialEq)]
pub struct StudyPageProps {
    pub state: StateHandle<StudyState>,
    /// The run that can be cancelled.
    pub job: JobSlot,
    /// Receives a trace of the result that is to be shown as a timeline.
    pub on_trace: Callback<web_sys::File>,
}

/// The tabs of the page, if it is one of several.
fn tabs_of(current: Page) -> Html {
    let tab = |(page, name): &(Page, &'static str)| {
        html! { <a href={page.hash()} aria-current={(*page == current).then_some("page")}>{ *name }</a> }
    };
    let tabs = Page::TABS.into_iter().find(|(_, tabs)| tabs.iter().any(|(page, _)| *page == current));
    tabs.map_or_else(
        Html::default,
        |(label, tabs)| html! { <nav class="tabs" aria-label={label}>{ for tabs.iter().map(tab) }</nav> },
    )
}

#[component]
pub fn StudyPage(props: &StudyPageProps) -> Html {
    let Some(app) = use_app() else { return Html::default() };
    let state = &props.state;
    let form = state.kind.form();
    let actions = StudyActions { app, state: state.clone(), job: props.job.clone(), on_trace: props.on_trace.clone() };
    // A run needs the workers, and the model's file.
    let model = state.model();
    let missing = missing_file(&actions.app, &model);
    use_effect_with((state.wants_run && actions.app.catalog.is_some() && missing.is_none(), state.asked().cloned()), {
        let actions = actions.clone();
        move |(wants, _)| {
            if *wants {
                actions.run_asked();
            }
        }
    });
    use_effect_with((actions.app.catalog.is_some() && state.runs_by_itself(), state.spec().0), {
        let actions = actions.clone();
        move |(runs, _)| {
            let timer = runs.then(|| Timeout::new(PAUSE_MS, move || actions.run_after_pause()));
            move || drop(timer)
        }
    });
    let document = use_memo(state.result.clone(), |result| Some(Shared::new(result.as_ref()?.document.clone())));
    let example = |example: &'static StudyExample| {
        let (actions, kind) = (actions.clone(), state.kind);
        let onclick = Callback::from(move |_: MouseEvent| actions.run_spec(StudySpec::of_example(kind, example)));
        html! { <button type="button" {onclick} >{ example.name }</button> }
    };
    let again = |spec: StudySpec| on(actions.clone(), move |actions, ()| actions.run_spec(spec.clone()));
    // A row that can be chosen names the fields that it changes.
    let on_open = Some(on((actions.clone(), state.spec().0), |(actions, spec), target: String| {
        let mut spec = spec.clone();
        let fields = target.split('&').filter_map(|field| field.split_once('='));
        if fields.into_iter().all(|(key, text)| spec.set(key, text).is_ok()) {
            actions.run_spec(spec);
        }
    }));
    html! {
        <div class={classes!("page", "study", state.kind.is_kernel().then_some("is-studio"))}>
            <h1>{ form.title }</h1>
            { tabs_of(Page::of_study(state.kind)) }
            <p class="lead">{ form.lead }</p>
            <StudyFields actions={actions.clone()} state={state.clone()} />
            <div class="panel examples" role="group" aria-label="Examples"><span>{ "Examples:" }</span>{ for form.examples.iter().map(example) }</div>
            <div class="part">if !state.run.is_running() { { progress_bar(&state.run) } }</div>
            // The kept note and the result come and go in one step: each has its own element, before which Yew can insert.
            <div class="part">
                if let Some(kept) = &state.restored {
                    { kept_note(kept.when_ms, state.run.is_running(), &again(kept.spec.clone())) }
                }
            </div>
            <div class="part" data-request={state.request()}>
                if let Some(document) = &*document {
                    <DocumentView document={document.clone()} {on_open} draw={DrawBlock(drawings)} />
                } else if let Some(missing) = missing.filter(|_| state.wants_run) {
                    { drop_zone(&model, "comparison", missing, actions.on_file()) }
                } else if state.run == RunState::Idle && !state.wants_run && state.spec().1.is_empty() {
                    <section class="panel empty-state" aria-label="How to begin">
                        <h2>{ "Nothing run yet" }</h2>
                        <p>{ form.begin }</p>
                    </section>
                }
            </div>
        </div>
    }
}
