//! The last words of a program that cannot go on, for the page.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::DedicatedWorkerGlobalScope;

/// Text instead of an envelope: the worker cannot go on, and this is why.
pub fn post_text(scope: &DedicatedWorkerGlobalScope, text: &str) {
    let _ = scope.post_message(&JsValue::from_str(text));
}

/// A panic aborts the worker. Its text is all that is left to send.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() {
            post_text(&scope, &info.to_string());
        }
    }));
}
