//! The line above a result of an earlier visit.

use yew::prelude::*;

use crate::platform::date;

#[derive(Properties, PartialEq)]
pub struct KeptNoteProps {
    /// When the result's run ended, milliseconds since 1970.
    pub when_ms: u64,
    /// Whether a run is going on.
    pub is_running: bool,
    /// Runs it again.
    pub on_run: Callback<()>,
}

#[component]
pub fn KeptNote(props: &KeptNoteProps) -> Html {
    let onclick = props.on_run.reform(|_: MouseEvent| ());
    html! {
        <div class="panel kept-note">
            <p>{ format!("Kept in this browser since {}; it was not run again.", date::moment(props.when_ms)) }</p>
            <button type="button" disabled={props.is_running} {onclick}>{ "Run again" }</button>
        </div>
    }
}
