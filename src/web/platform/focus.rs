//! Keeps the focus from getting lost: a button that was disabled during a run gets it back, and the content of the page gets it if
//! the focused element is gone.

use std::cell::RefCell;

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, Node};

use super::{frame, page};

thread_local! {
    /// The element that had the focus last. `None` after a press on something that takes no focus: then no focus is lost.
    static LAST: RefCell<Option<HtmlElement>> = const { RefCell::new(None) };
}

/// Id of the element that takes the focus when the focused element is gone.
const CONTENT: &str = "main";

/// Remembers what has the focus, until the listeners are dropped.
pub fn watch() -> Vec<EventListener> {
    let Some(window) = web_sys::window() else { return Vec::new() };
    let on = |name: &'static str, act: fn(&web_sys::Event)| {
        let options = EventListenerOptions::run_in_capture_phase();
        EventListener::new_with_options(&window, name, options, act)
    };
    vec![
        on("pointerdown", |_| LAST.with_borrow_mut(|last| *last = None)),
        on("focusin", |event| {
            let element = event.target().and_then(|t| t.dyn_into::<HtmlElement>().ok());
            LAST.with_borrow_mut(|last| *last = element);
        }),
        // Yew may remove the element in the same turn, so this looks at it afterwards.
        on("focusout", |_| frame::before_next_paint(|| mend(false))),
    ]
}

/// Gives a lost focus back to its element. `is_ended` says that the run that disabled the element may have ended.
pub fn mend(is_ended: bool) {
    if page::focused().is_some() {
        return;
    }
    let Some(last) = LAST.with_borrow(Clone::clone) else { return };
    if !last.dyn_ref::<Node>().is_some_and(Node::is_connected) {
        page::focus(CONTENT);
    } else if is_ended && !last.has_attribute("disabled") {
        let _ = last.focus();
    }
}
