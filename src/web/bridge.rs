//! The messages between the two programs of the page.
//!
//! The app (`app.rs`) has the head, files and the pages that are opened first; the lab (`lab.rs`) has the others, and is fetched when
//! one of them is shown. Each is a wasm program with its own memory, so they communicate by events of the window.

use std::cell::RefCell;

use gloo_events::EventListener;
use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CustomEvent, CustomEventInit, File};
use yew::Callback;

use ns_base::convert::{f64_to_u64, u64_to_u32};
use ns_session::share::Page;
use ns_view::palette::Theme;

/// Ids of the elements in `index.html` that the programs fill. None lies within another: Yew numbers the elements of each program from
/// one, so a listener at an outer element would mistake events of the inner program for its own.
pub const APP_ELEMENT: &str = "app";
/// Id of the lab's element.
pub const LAB_ELEMENT: &str = "lab";
/// Id of the app's element below the lab.
pub const FOOT_ELEMENT: &str = "app-foot";

/// Event that asks `www/boot.js` to fetch the lab, which it does once.
const FETCH: &str = "neuronscope:fetch-lab";
/// Event: the app takes files; `www/early.js` has those that were dropped before.
const TAKES_FILES: &str = "neuronscope:takes-files";
/// Event: the lab listens.
const READY: &str = "neuronscope:lab-ready";
/// Event with the app's state: the path of the shown page, how many addresses were opened before, and the theme.
const APP_STATE: &str = "neuronscope:shown";
/// Event with files for a page of the lab.
const FOR_LAB: &str = "neuronscope:files-for-lab";
/// Event with files that the app opens as profiles.
const FOR_APP: &str = "neuronscope:files-for-app";

/// Files with the page that they are for, and whether they are models.
pub type PageFiles = (Page, bool, Vec<File>);

thread_local! {
    /// Files for the lab from before it listened; `None` once it listens.
    static WAITING: RefCell<Option<Vec<PageFiles>>> = const { RefCell::new(Some(Vec::new())) };
}

/// Whether a page belongs to the lab.
pub const fn is_in_lab(page: Page) -> bool {
    !matches!(page, Page::Home | Page::Profile)
}

/// Asks `www/boot.js` to fetch the lab. Asking again costs nothing.
pub fn fetch_lab() {
    tell(FETCH, &JsValue::NULL);
}

/// Sent by the app: it takes files.
pub fn take_files() {
    tell(TAKES_FILES, &JsValue::NULL);
}

/// Sent by the lab: it listens.
pub fn lab_is_ready() {
    tell(READY, &JsValue::NULL);
}

/// Sent by the app: the shown page, the number of its address, and the theme.
pub fn show(page: Page, number: u32, theme: Theme) {
    let is_dark = JsValue::from_bool(theme == Theme::Dark);
    tell(APP_STATE, &Array::of3(&page.path().into(), &number.into(), &is_dark));
}

/// Sent by the app: files for a page of the lab, which gets them when it listens.
pub fn give_lab(page: Page, are_models: bool, files: Vec<File>) {
    let waits = WAITING.with_borrow_mut(|waiting| match waiting {
        Some(list) => {
            list.push((page, are_models, files.clone()));
            true
        }
        None => false,
    });
    if !waits {
        send_to_lab(page, are_models, &files);
    }
}

/// Sent to a lab that listens: files for one of its pages.
pub fn send_to_lab(page: Page, are_models: bool, files: &[File]) {
    tell(FOR_LAB, &Array::of3(&page.path().into(), &are_models.into(), &files.iter().collect::<Array>()));
}

/// Sent by the lab: files for the app.
pub fn give_app(files: &[File]) {
    tell(FOR_APP, &files.iter().collect::<Array>());
}

/// Calls back when the lab listens, and hands it the files that waited for it.
pub fn on_lab_ready(then: Callback<()>) -> Option<EventListener> {
    listen(READY, move |_| {
        then.emit(());
        let waiting = WAITING.with_borrow_mut(Option::take).unwrap_or_default();
        waiting.iter().for_each(|(page, are_models, files)| send_to_lab(*page, *are_models, files));
    })
}

/// Calls back with the page that the app shows, the number of its address, and the theme.
pub fn on_app_state(then: Callback<(Page, u32, Theme)>) -> Option<EventListener> {
    listen(APP_STATE, move |detail| {
        let Some(parts) = detail.dyn_ref::<Array>() else { return };
        let theme = if parts.get(2).is_truthy() { Theme::Dark } else { Theme::Light };
        let number = u64_to_u32(f64_to_u64(parts.get(1).as_f64().unwrap_or_default()));
        if let Some(page) = parts.get(0).as_string().as_deref().and_then(Page::of_path) {
            then.emit((page, number, theme));
        }
    })
}

/// Calls back with files for a page of the lab.
pub fn on_files_for_lab(then: Callback<PageFiles>) -> Option<EventListener> {
    listen(FOR_LAB, move |detail| {
        let Some(parts) = detail.dyn_ref::<Array>() else { return };
        if let Some(page) = parts.get(0).as_string().as_deref().and_then(Page::of_path) {
            then.emit((page, parts.get(1).is_truthy(), files_of(&parts.get(2))));
        }
    })
}

/// Calls back with files for the app.
pub fn on_files_for_app(then: Callback<Vec<File>>) -> Option<EventListener> {
    listen(FOR_APP, move |detail| then.emit(files_of(detail)))
}

fn files_of(detail: &JsValue) -> Vec<File> {
    detail
        .dyn_ref::<Array>()
        .map(|list| list.iter().filter_map(|file| file.dyn_into().ok()).collect())
        .unwrap_or_default()
}

fn tell(name: &str, detail: &JsValue) {
    let init = CustomEventInit::new();
    init.set_detail(detail);
    if let (Some(window), Ok(event)) = (web_sys::window(), CustomEvent::new_with_event_init_dict(name, &init)) {
        let _ = window.dispatch_event(&event);
    }
}

fn listen(name: &'static str, then: impl Fn(&JsValue) + 'static) -> Option<EventListener> {
    let window = web_sys::window()?;
    Some(EventListener::new(&window, name, move |event| {
        if let Some(event) = event.dyn_ref::<CustomEvent>() {
            then(&event.detail());
        }
    }))
}
