//! The bar above the results: what runs, and the buttons about it.

use yew::prelude::*;

use super::actions::{FORM, RunActions};
use crate::components::ProgressBar;

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
                <div class="run-slot"><ProgressBar run={plan.run.clone()} /></div>
            </div>
            <p class={if can.stop { "visually-hidden" } else { "note" }} role="log" aria-live="polite" aria-label="Progress of the experiments">{ plan.announcement() }</p>
            { for plan.notes.iter().map(|note| html! { <p class="note">{ note.to_string() }</p> }) }
        </section>
    }
}
