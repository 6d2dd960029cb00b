//! The address of the page, and its entries in the browser's history.

use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;

/// What an entry of the history remembers: the page it is of, and in which visit it was made.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    page: String,
    /// When that visit began, ms since 1970. What a page showed is known in the same visit only.
    visit: f64,
}

fn visit() -> f64 {
    web_sys::window().and_then(|w| w.performance()).map_or(0.0, |p| p.time_origin())
}

/// `#/profile` of `#/profile?model=nn`.
fn page_of(hash: &str) -> &str {
    hash.split('?').next().unwrap_or_default()
}

/// The page of the entry the browser is at, when this visit made it: `#/profile`. Its state is what it was left with.
#[must_use]
pub fn page_of_entry() -> Option<String> {
    let state = web_sys::window()?.history().ok()?.state().ok()?;
    let entry: Entry = serde_wasm_bindgen::from_value(state).ok()?;
    (entry.visit == visit() && entry.page == page_of(&hash())).then_some(entry.page)
}

/// The hash of the address, as it is.
#[must_use]
pub fn hash() -> String {
    web_sys::window().and_then(|w| w.location().hash().ok()).unwrap_or_default()
}

/// Shows another hash without an event. Another page is another entry of the history, so that Back returns from it; what
/// changes on a page is not.
pub fn show_hash(hash: &str) {
    let Some(window) = web_sys::window() else { return };
    if window.location().hash().is_ok_and(|now| now == hash) {
        return;
    }
    if let Ok(history) = window.history() {
        let entry = Entry { page: page_of(hash).to_owned(), visit: visit() };
        let state = serde_wasm_bindgen::to_value(&entry).unwrap_or(JsValue::NULL);
        let now = self::hash();
        // Browsers refuse more than 100 to 200 changes in half a minute; the next change tries again.
        let _ = if now.is_empty() || page_of(&now) == page_of(hash) {
            history.replace_state_with_url(&state, "", Some(hash))
        } else {
            history.push_state_with_url(&state, "", Some(hash))
        };
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
