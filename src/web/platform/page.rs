//! The document around the app: its state for tests and styles, its title, its focus.

use wasm_bindgen::JsCast;
use web_sys::{Document, HtmlElement};

use ns_base::convert::{f64_to_i64, i64_to_i32};
use ns_base::names;

names! {
    /// State of the page, in `document.documentElement.dataset.state`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PagePhase {
        /// The app or its worker is still loading.
        Loading = "loading",
        /// Ready; no job has run yet.
        Idle = "idle",
        /// Something is being computed or read.
        Running = "running",
        /// A result is shown.
        Done = "done",
        /// The last request failed.
        Failed = "failed",
    }

    const fn name(self) -> &'static str;
}

impl PagePhase {
    /// Announcement for screen readers when a run reaches this state; a failure has its own message.
    pub const fn announcement(self) -> Option<&'static str> {
        match self {
            Self::Done => Some("Done: the result is shown."),
            Self::Running => Some("Running."),
            Self::Loading | Self::Idle | Self::Failed => None,
        }
    }
}

fn document() -> Option<Document> {
    web_sys::window().and_then(|w| w.document())
}

/// Exposes the state to styles and tests.
pub fn set_state(state: PagePhase) {
    set_root_attribute("data-state", state.name());
}

/// Sets an attribute of the root element.
pub fn set_root_attribute(name: &str, value: &str) {
    if let Some(root) = document().and_then(|d| d.document_element()) {
        let _ = root.set_attribute(name, value);
    }
}

/// Whether the stored example of the page (`www/early.js`) stands in front of it.
pub fn is_behind_example() -> bool {
    document().and_then(|d| d.document_element()).is_some_and(|root| root.has_attribute("data-example"))
}

/// Says whether parts of a page are yet to be drawn: its stored example waits for them (`www/early.js`).
pub fn set_drawing(is_drawing: bool) {
    if let Some(root) = document().and_then(|d| d.document_element()) {
        let _ = root.toggle_attribute_with_force("data-drawing", is_drawing);
    }
}

/// The reader gave a file: the stored example of a page makes way for it (`www/early.js`).
pub fn leave_example() {
    set_root_attribute("data-given", "");
}

/// Scrolls an element to a distance from its top, in pixels.
pub fn scroll_to(element: &HtmlElement, top: f64) {
    element.set_scroll_top(i64_to_i32(f64_to_i64(top)));
}

/// Scrolls an element down by a number of pixels.
pub fn scroll_by(element: &HtmlElement, px: f64) {
    scroll_to(element, f64::from(element.scroll_top()) + px);
}

/// Scrolls the document down by a number of pixels.
pub fn scroll_window_by(px: f64) {
    if let Some(window) = web_sys::window() {
        window.scroll_by_with_x_and_y(0.0, px);
    }
}

/// Says something to screen readers, in the element that the document has for it.
pub fn say(text: &str) {
    if let Some(element) = element("said") {
        element.set_text_content(Some(text));
    }
}

/// Sets the title of the tab.
pub fn set_title(title: &str) {
    if let Some(document) = document() {
        document.set_title(title);
    }
}

pub fn element(id: &str) -> Option<web_sys::Element> {
    document()?.get_element_by_id(id)
}

/// The first element of a selector that is drawn.
pub fn first_in_sight(selector: &str) -> Option<HtmlElement> {
    let all = document()?.query_selector_all(selector).ok()?;
    let mut elements = (0..all.length()).filter_map(|i| all.item(i)?.dyn_into::<HtmlElement>().ok());
    elements.find(|element| element.offset_parent().is_some())
}

/// Whether the window is as narrow as a phone's; the style sheet has the same limit.
pub fn is_narrow() -> bool {
    width_px().is_some_and(|width| width <= 640.0)
}

/// Whether a source has room beside its results; the style sheet has the same limit.
pub fn has_two_columns() -> bool {
    width_px().is_some_and(|width| width >= 1100.0)
}

fn width_px() -> Option<f64> {
    web_sys::window().and_then(|w| w.inner_width().ok()).and_then(|w| w.as_f64())
}

/// Moves the focus to the element with an id.
pub fn focus(id: &str) {
    if let Some(element) = element(id).and_then(|e| e.dyn_into::<HtmlElement>().ok()) {
        let _ = element.focus();
    }
}

/// The element that has the focus; `None` if that is the document.
pub fn focused() -> Option<HtmlElement> {
    let element = document()?.active_element()?.dyn_into::<HtmlElement>().ok()?;
    (element.tag_name() != "BODY").then_some(element)
}

/// The text in the field an event is from.
pub fn value_of(event: &web_sys::InputEvent) -> String {
    let target = event.target();
    if let Some(input) = target.clone().and_then(|t| t.dyn_into::<web_sys::HtmlInputElement>().ok()) {
        return input.value();
    }
    target.and_then(|t| t.dyn_into::<web_sys::HtmlTextAreaElement>().ok()).map_or_else(String::new, |t| t.value())
}
