//! The address of the page.

use wasm_bindgen::JsValue;

/// The hash of the address, as it is.
#[must_use]
pub fn hash() -> String {
    web_sys::window().and_then(|w| w.location().hash().ok()).unwrap_or_default()
}

/// Shows another hash without a new entry in the history and without an event.
pub fn replace_hash(hash: &str) {
    let Some(window) = web_sys::window() else { return };
    if window.location().hash().is_ok_and(|now| now == hash) {
        return;
    }
    if let Ok(history) = window.history() {
        // Browsers refuse more than 100 to 200 changes in half a minute; the next change tries again.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(hash));
    }
}

/// The whole address with another hash.
#[must_use]
pub fn address_with(hash: &str) -> String {
    let href = web_sys::window().and_then(|w| w.location().href().ok()).unwrap_or_default();
    let page = href.split('#').next().unwrap_or_default();
    format!("{page}{hash}")
}

/// The address of a file that lies beside the page, wherever the page is hosted.
#[must_use]
pub fn beside_page(file: &str) -> String {
    let base = web_sys::window().and_then(|w| w.document()).and_then(|d| d.base_uri().ok()).flatten();
    base.and_then(|base| web_sys::Url::new_with_base(file, &base).ok())
        .map_or_else(|| file.to_owned(), |url| url.href())
}
