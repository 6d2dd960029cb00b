//! Copies text.

use wasm_bindgen_futures::{JsFuture, spawn_local};
use yew::Callback;

use super::error_text;

/// Copies `text` and reports the outcome.
pub fn copy(text: &str, done: Callback<Result<(), String>>) {
    let Some(window) = web_sys::window() else { return };
    // Outside secure contexts there is no clipboard at all, and using it throws.
    if !window.is_secure_context() {
        done.emit(Err("this address is not secure (https or localhost)".to_owned()));
        return;
    }
    let promise = window.navigator().clipboard().write_text(text);
    spawn_local(async move {
        done.emit(JsFuture::from(promise).await.map(|_| ()).map_err(|e| error_text(&e)));
    });
}
