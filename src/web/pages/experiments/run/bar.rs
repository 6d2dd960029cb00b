//! The bar above the results: what runs, and the buttons about it.

use yew::prelude::*;

use super::actions::{FORM, RunActions};
use crate::components::ProgressBar;
use ns_page::RunState;

/// Properties of [`RunBar`].
#[derive(Properties, PartialEq)]
pub struct RunBarProps {
    pub actions: RunActions,
}

#[component]
pub fn RunBar(props: &RunBarProps) -> Html {
    let plan = &props.actions.plan;
    let can = plan.controls();
    let on = |f: fn(&RunActions)| {
        let actions = props.actions.clone();
        Callback::from(move |_: MouseEvent| f(&actions))
    };
    let label = if plan.is_open { "Close the form" } else { "Run experiments" };
    // The bar says it in more words while it runs.
    let said = plan.announcement();
    let said_class = if can.stop || said.is_empty() { "visually-hidden" } else { "note" };
    html! {
        <section class="panel run-bar" aria-label="Run">
            <div class="buttons">
                <button type="button" class={(!can.stop).then_some("primary")} aria-expanded={plan.is_open.to_string()} aria-controls={FORM}
                    onclick={on(RunActions::toggle_form)}>{ label }</button>
                if can.stop {
                    <button type="button" onclick={on(RunActions::pause_or_resume)}>{ can.pause.text() }</button>
                    <button type="button" onclick={on(RunActions::cancel)}>{ "Cancel" }</button>
                }
                if can.retry {
                    <button type="button" onclick={on(RunActions::retry)}>{ "Retry failed" }</button>
                }
                if can.save {
                    <button type="button" onclick={on(RunActions::download)}>{ "Download JSONL" }</button>
                }
                if !matches!(plan.run, RunState::Idle | RunState::Done) {
                    <div class="run-slot"><ProgressBar run={plan.run.clone()} /></div>
                }
                <p class={said_class} role="log" aria-live="polite" aria-label="Progress of the experiments">{ said }</p>
            </div>
            { for plan.notes.iter().map(|note| html! { <p class="note">{ note.to_string() }</p> }) }
        </section>
    }
}
