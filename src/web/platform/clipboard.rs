//! Copies text. A browser may refuse, or never answer: then the older command of the browser is tried before the copy counts as failed.

use gloo_timers::callback::Timeout;
use js_sys::{Array, Promise};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{HtmlDocument, HtmlElement, HtmlTextAreaElement};

use super::error_text;

/// How long a text may take. Browsers allow the older command for a few seconds after a click.
const TEXT_MS: u32 = 1_000;

/// Copies `text`; `done` receives the outcome once, with the reason if nothing was copied. Call it within a click.
pub fn copy(text: &str, done: impl FnOnce(Result<(), String>) + 'static) {
    let Some(window) = web_sys::window() else { return };
    // Outside secure contexts there is no clipboard at all, and using it throws.
    if !window.is_secure_context() {
        let reason = "this address is not secure (https or localhost)";
        return done(copy_selected(text).map_err(|_| reason.to_owned()));
    }
    let promise = window.navigator().clipboard().write_text(text);
    let text = text.to_owned();
    spawn_local(async move {
        let outcome = match answer(promise, TEXT_MS).await {
            Ok(_) => Ok(()),
            Err(refusal) => copy_selected(&text).map_err(|_| error_text(&refusal)),
        };
        done(outcome);
    });
}

/// What the clipboard answers within a time.
/// An error says what it refuses with, or that it did not answer.
pub(super) async fn answer(promise: Promise, wait_ms: u32) -> Result<JsValue, JsValue> {
    let too_late = Promise::new(&mut |_, reject| {
        let late = move || drop(reject.call1(&JsValue::UNDEFINED, &"the clipboard does not answer".into()));
        Timeout::new(wait_ms, late).forget();
    });
    JsFuture::from(Promise::race(&Array::of2(&promise, &too_late))).await
}

/// Copies a text by selecting it in a field that nobody sees; the focus goes back to where it was.
fn copy_selected(text: &str) -> Result<(), JsValue> {
    let document = web_sys::window().and_then(|w| w.document()).ok_or("there is no document")?;
    let focused = document.active_element().and_then(|e| e.dyn_into::<HtmlElement>().ok());
    let field: HtmlTextAreaElement = document.create_element("textarea")?.unchecked_into();
    field.set_value(text);
    field.set_read_only(true);
    // At the edge of the window, so that the focus does not scroll the page.
    field.set_class_name("copy-field");
    document.body().ok_or("the page is empty")?.append_child(&field)?;
    field.focus()?;
    field.select();
    let copied = document.unchecked_ref::<HtmlDocument>().exec_command("copy");
    field.remove();
    if let Some(focused) = focused {
        focused.focus()?;
    }
    if copied? { Ok(()) } else { Err("the browser copies nothing".into()) }
}
