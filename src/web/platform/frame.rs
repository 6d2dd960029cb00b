//! Runs something before the next paint.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

/// Calls `f` once before the next paint.
pub fn before_next_paint(f: impl FnOnce() + 'static) {
    let Some(window) = web_sys::window() else { return };
    let callback = Closure::once_into_js(f);
    // Fails only while the page is being closed.
    let _ = window.request_animation_frame(callback.unchecked_ref());
}
