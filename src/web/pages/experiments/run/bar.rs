//! The bar above the results: what runs, and the buttons about it.

use yew::prelude::*;

use super::actions::{FORM, RunActions};
use crate::components::{on, progress_bar};
use ns_page::RunState;

#[derive(Properties, PartialEq)]
pub struct RunBarProps {
    pub actions: RunActions,
    /// Whether another bar has the button that opens the form, so that this one is seen only when it says more.
    pub is_second: bool,
}

#[derive(Properties, PartialEq)]
pub struct FormToggleProps {
    pub actions: RunActions,
}

/// The button that opens the form of a run, and closes it.
#[component]
pub fn FormToggle(props: &FormToggleProps) -> Html {
    let plan = &props.actions.plan;
    let onclick = on(props.actions.clone(), |actions, _: MouseEvent| actions.toggle_form());
    html! {
        <button type="button" class={(!plan.controls().stop).then_some("primary")} aria-expanded={plan.is_open.to_string()} aria-controls={FORM} {onclick}>
            { if plan.is_open { "Close the form" } else { "Run experiments" } }
        </button>
    }
}

#[component]
pub fn RunBar(props: &RunBarProps) -> Html {
    let plan = &props.actions.plan;
    let can = plan.controls();
    let press = |f: fn(&RunActions)| on(props.actions.clone(), move |actions, _: MouseEvent| f(actions));
    // The bar says it in more words while it runs.
    let said = plan.announcement();
    let said_class = if can.stop || said.is_empty() { "visually-hidden" } else { "note" };
    let is_run_over = matches!(plan.run, RunState::Idle | RunState::Done);
    let is_quiet = is_run_over && plan.notes.is_empty() && !(can.stop || can.retry || can.save);
    html! { <>
        if !(props.is_second && is_quiet) {
            <section class="panel run-bar" aria-label="Run">
                <div class="buttons">
                    if !props.is_second { <FormToggle actions={props.actions.clone()} /> }
                    if can.stop {
                        <button type="button" onclick={press(RunActions::pause_or_resume)}>{ can.pause.text() }</button>
                        <button type="button" onclick={press(RunActions::cancel)}>{ "Cancel" }</button>
                    }
                    if can.retry {
                        <button type="button" onclick={press(RunActions::retry)}>{ "Retry failed" }</button>
                    }
                    if can.save {
                        <button type="button" onclick={press(RunActions::download)}>{ "Download JSONL" }</button>
                    }
                    if !is_run_over {
                        <div class="run-slot">{ progress_bar(&plan.run) }</div>
                    }
                </div>
                { for plan.notes.iter().map(|note| html! { <p class="note">{ note.to_string() }</p> }) }
            </section>
        }
        <p class={said_class} role="log" aria-live="polite" aria-label="Progress of the experiments">{ said }</p>
    </> }
}
