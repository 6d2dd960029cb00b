//! How the page learns that a worker has ended without a word: a browser that is short of memory closes one, and no event says so. The worker
//! holds a lock as long as it lives, and says so; the page waits for that lock.

use js_sys::Promise;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::DedicatedWorkerGlobalScope;

use super::panic_message::post_text;

/// What a worker says when it holds its lock.
pub(super) const ALIVE: &str = "";

#[wasm_bindgen]
extern "C" {
    /// A page without a secure context has no locks.
    #[wasm_bindgen(catch, js_namespace = ["navigator", "locks"], js_name = request)]
    fn request_lock(name: &str, on_grant: &JsValue) -> Result<JsValue, JsValue>;
}

/// A name that no worker of another tab has: locks are of the whole site.
pub(super) fn new_name() -> String {
    js_sys::Math::random().to_string()
}

/// Holds the lock of this worker from now on, and then calls `ready`: whatever a worker is asked, the page learns of its end.
pub(super) fn hold(scope: &DedicatedWorkerGlobalScope, ready: fn(&DedicatedWorkerGlobalScope)) {
    let (name, granted) = (scope.name(), scope.clone());
    let on_grant = Closure::once_into_js(move || {
        post_text(&granted, ALIVE);
        ready(&granted);
        Promise::new(&mut |_, _| {})
    });
    match request_lock(&name, &on_grant).ok().and_then(|asked| asked.dyn_into::<Promise>().ok()) {
        Some(asked) if !name.is_empty() => {
            let refused = scope.clone();
            let on_refusal = Closure::once(move |_: JsValue| ready(&refused));
            let _ = asked.catch(&on_refusal);
            on_refusal.forget(); // lives as long as the worker
        }
        _ => ready(scope),
    }
}

/// Calls once the worker of this name has ended.
pub(super) fn when_ended(name: &str, then: impl FnOnce() + 'static) {
    let on_grant: JsValue = Closure::once_into_js(then).unchecked_into();
    let _ = request_lock(name, &on_grant);
}
