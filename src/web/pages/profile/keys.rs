//! Keys of every view of the page.

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};
use yew::prelude::*;

use crate::platform::page;

/// What takes letters itself.
const FIELDS: &str = "input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable], [role=dialog]";
/// The search of a view: that of the timeline, or that of the first table.
const SEARCHES: &str = ".workspace-view input[type=search]";

/// Slash moves the focus to the search of the view.
#[hook]
pub fn use_search_key() {
    use_effect_with((), |()| {
        let options = EventListenerOptions::enable_prevent_default();
        let listener = web_sys::window().map(|window| {
            EventListener::new_with_options(&window, "keydown", options, |event| {
                let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
                let is_plain = !event.ctrl_key() && !event.meta_key() && !event.alt_key();
                if event.key() == "/"
                    && is_plain
                    && !is_typed(event)
                    && let Some(search) = page::first_in_sight(SEARCHES)
                {
                    event.prevent_default();
                    let _ = search.focus();
                }
            })
        });
        move || drop(listener)
    });
}

/// Whether the key is typed into a field or a dialog.
fn is_typed(event: &KeyboardEvent) -> bool {
    let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    target.is_some_and(|target| target.closest(FIELDS).ok().flatten().is_some())
}
