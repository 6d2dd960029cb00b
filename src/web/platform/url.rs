//! The address of the page, and its entries in the browser's history.

use std::cell::Cell;

use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;

use ns_page::history::{Entry, Now, entry_of, page_of};
use ns_session::share::Query;

thread_local! {
    /// Whether a timeline that was just opened is about to choose its first span.
    static OPENS_AT_SPAN: Cell<bool> = const { Cell::new(false) };
}

/// Announces that the next span in the address is the one that a view opens with. The user did not go there, so Back does not return from it.
pub fn expect_first_span() {
    OPENS_AT_SPAN.set(true);
}

/// Withdraws the announcement: the view is gone before it chose a span.
pub fn expect_no_span() {
    OPENS_AT_SPAN.set(false);
}

/// The attribute of the document that holds the address of the current view.
const NOTED: &str = "data-address";

/// The attribute of the document that counts the views that have yet to show their address.
const PENDING: &str = "data-address-pending";

/// A view whose address is not shown yet: tests wait until there is none.
#[derive(Debug)]
pub struct PendingAddress(());

impl PendingAddress {
    /// Counts one more view, until it is dropped.
    pub fn new() -> Self {
        add_pending(1);
        Self(())
    }
}

impl Default for PendingAddress {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for PendingAddress {
    fn drop(&mut self) {
        add_pending(-1);
    }
}

/// Changes the count, which both programs of the page share.
fn add_pending(change: i32) {
    let Some(root) = root() else { return };
    let count = root.get_attribute(PENDING).and_then(|text| text.parse::<i32>().ok()).unwrap_or(0) + change;
    let _ = if count > 0 { root.set_attribute(PENDING, &count.to_string()) } else { root.remove_attribute(PENDING) };
}

/// State of an entry of the history: its page, and the visit in which it was made.
#[derive(Debug, Serialize, Deserialize)]
struct MadeEntry {
    page: String,
    /// Start of that visit, ms since 1970. The state of a page is known only in the same visit.
    visit: f64,
}

fn visit() -> f64 {
    web_sys::window().and_then(|w| w.performance()).map_or(0.0, |p| p.time_origin())
}

/// Whether the address names a model, so that it shows a simulated run.
pub fn names_model() -> bool {
    hash().split_once('?').is_some_and(|(_, query)| Query::parse(query).get("model").is_some())
}

/// The page of the current history entry, if this visit made the entry: `#/profile`. The page still has the state it was left with.
pub fn page_of_entry() -> Option<String> {
    let state = web_sys::window()?.history().ok()?.state().ok()?;
    let entry: MadeEntry = serde_wasm_bindgen::from_value(state).ok()?;
    (entry.visit == visit() && entry.page == page_of(&hash())).then_some(entry.page)
}

/// The hash of the address, as it is.
pub fn hash() -> String {
    web_sys::window().and_then(|w| w.location().hash().ok()).unwrap_or_default()
}

/// Reads the hash of the address, which the page follows from now on.
pub fn read_hash() -> String {
    let hash = hash();
    note(&hash);
    hash
}

/// Notes which address the page shows, in a place that both of its programs see.
fn note(hash: &str) {
    if let Some(root) = root() {
        let _ = root.set_attribute(NOTED, hash);
    }
}

/// The address that the page shows; empty before it shows one.
pub fn current_address() -> String {
    root().and_then(|root| root.get_attribute(NOTED)).unwrap_or_default()
}

/// Whether the address was changed from outside and its event has not arrived yet.
fn is_edited() -> bool {
    root().is_some_and(|root| root.get_attribute(NOTED).is_some_and(|noted| noted != hash()))
}

fn root() -> Option<web_sys::Element> {
    web_sys::window()?.document()?.document_element()
}

/// Goes to another hash: a new entry of the history, and an event.
pub fn go(hash: &str) {
    if let Some(window) = web_sys::window() {
        let _ = window.location().set_hash(hash);
    }
}

/// The effect on the history of showing another hash, and whether that is the first span of a timeline that was just opened.
fn entry_for(hash: &str) -> (Entry, bool) {
    let now = self::hash();
    entry_of(Now { hash: &now, is_edited: is_edited(), opens_at_span: OPENS_AT_SPAN.get() }, hash)
}

/// Whether showing a hash makes a new entry in the history.
pub fn is_new_entry(hash: &str) -> bool {
    entry_for(hash).0 == Entry::Push
}

/// Shows another hash without an event, with the effect on the history that [`entry_of`] decides.
pub fn show_hash(hash: &str) {
    let Some(window) = web_sys::window() else { return };
    let (entry, is_first_span) = entry_for(hash);
    if entry == Entry::Stay {
        return;
    }
    if let Ok(history) = window.history() {
        OPENS_AT_SPAN.set(OPENS_AT_SPAN.get() && !is_first_span);
        let made = MadeEntry { page: page_of(hash).to_owned(), visit: visit() };
        let state = serde_wasm_bindgen::to_value(&made).unwrap_or(JsValue::NULL);
        // Browsers refuse more than 100 to 200 changes in half a minute; the next change tries again.
        let _ = if entry == Entry::Replace {
            history.replace_state_with_url(&state, "", Some(hash))
        } else {
            history.push_state_with_url(&state, "", Some(hash))
        };
        note(&self::hash());
    }
}

/// The whole address with another hash.
pub fn address_with(hash: &str) -> String {
    let href = web_sys::window().and_then(|w| w.location().href().ok()).unwrap_or_default();
    let page = href.split('#').next().unwrap_or_default();
    format!("{page}{hash}")
}

/// The address of a file that lies beside the page, wherever the page is hosted.
pub fn beside_page(file: &str) -> String {
    let base = web_sys::window().and_then(|w| w.document()).and_then(|d| d.base_uri().ok()).flatten();
    base.and_then(|base| web_sys::Url::new_with_base(file, &base).ok())
        .map_or_else(|| file.to_owned(), |url| url.href())
}
