//! Keeps the page usable without a network after the first visit.

use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::url;

/// Registers the service worker. If the browser does not offer one (private windows, plain http), the page works without it.
pub fn register() {
    let Some(window) = web_sys::window() else { return };
    let navigator = window.navigator();
    let has = js_sys::Reflect::has(&navigator, &"serviceWorker".into()).unwrap_or(false);
    if !has || !window.is_secure_context() {
        return;
    }
    let promise = navigator.service_worker().register(&url::beside_page("sw.js"));
    spawn_local(async move {
        // A refusal is not an error for the user: only offline use is lost.
        let _ = JsFuture::from(promise).await;
    });
}
