//! The document around the app: its state for tests and styles, its title, its focus.

use wasm_bindgen::JsCast;
use web_sys::{Document, HtmlElement};

/// What the page is doing, in `document.documentElement.dataset.state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageState {
    /// The app or its worker is still loading.
    Loading,
    /// Ready, nothing done yet.
    Idle,
    /// Something is being computed or read.
    Running,
    /// A result is shown.
    Done,
    /// What was asked for last failed.
    Failed,
}

impl PageState {
    const fn name(self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

fn document() -> Option<Document> {
    web_sys::window().and_then(|w| w.document())
}

/// Shows the state to styles and tests.
pub fn set_state(state: PageState) {
    set_root_attribute("data-state", state.name());
}

/// Sets an attribute of the root element.
pub fn set_root_attribute(name: &str, value: &str) {
    if let Some(root) = document().and_then(|d| d.document_element()) {
        let _ = root.set_attribute(name, value);
    }
}

/// Sets the title of the tab.
pub fn set_title(title: &str) {
    if let Some(document) = document() {
        document.set_title(title);
    }
}

/// Moves the focus to the element of an id.
pub fn focus(id: &str) {
    if let Some(element) =
        document().and_then(|d| d.get_element_by_id(id)).and_then(|e| e.dyn_into::<HtmlElement>().ok())
    {
        let _ = element.focus();
    }
}

/// Whether keys belong to a field the person types into.
#[must_use]
pub fn is_typing(target: Option<web_sys::EventTarget>) -> bool {
    target.and_then(|t| t.dyn_into::<web_sys::Element>().ok()).is_some_and(|e| {
        matches!(e.tag_name().as_str(), "INPUT" | "SELECT" | "TEXTAREA") || e.has_attribute("contenteditable")
    })
}

/// The text in the field an event is from.
#[must_use]
pub fn value_of(event: &web_sys::InputEvent) -> String {
    let target = event.target();
    if let Some(input) = target.clone().and_then(|t| t.dyn_into::<web_sys::HtmlInputElement>().ok()) {
        return input.value();
    }
    target.and_then(|t| t.dyn_into::<web_sys::HtmlTextAreaElement>().ok()).map_or_else(String::new, |t| t.value())
}

/// Whether the `details` element an event is from is open.
#[must_use]
pub fn is_open(event: &web_sys::Event) -> bool {
    let element = event.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok());
    element.is_some_and(|e| e.has_attribute("open"))
}
