//! The line above a result of an earlier visit.

use yew::prelude::*;

use crate::platform::date;

/// `when_ms`: when the run of the result ended, milliseconds since 1970.
pub fn kept_note(when_ms: u64, is_running: bool, on_run: &Callback<()>) -> Html {
    let onclick = on_run.reform(|_: MouseEvent| ());
    html! {
        <div class="panel kept-note">
            <p>{ format!("Kept in this browser since {}; it was not run again.", date::moment(when_ms)) }</p>
            <button type="button" disabled={is_running} {onclick}>{ "Run again" }</button>
        </div>
    }
}
