//! The last message to the page from a program that cannot go on.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::DedicatedWorkerGlobalScope;

/// Sends the reason why the worker cannot go on, as text instead of an envelope.
pub fn post_text(scope: &DedicatedWorkerGlobalScope, text: &str) {
    let _ = scope.post_message(&JsValue::from_str(text));
}

/// Sends the text of a panic, which aborts the worker: this is the last message that it can send.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() {
            post_text(&scope, &info.to_string());
        }
    }));
}
