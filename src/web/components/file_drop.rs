//! Files and folders: dropped anywhere on the page, or picked.

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{DragEvent, File, HtmlInputElement};
use yew::prelude::*;

use crate::bridge;
use crate::platform::folder::{bundle_entries, dropped_entries};

#[derive(Properties, PartialEq)]
pub struct FileDropProps {
    /// Receives dropped files. A folder comes as one file, an archive of its content.
    pub on_files: Callback<Vec<File>>,
    /// Receives the reason why a folder gave no file.
    pub on_refusal: Callback<String>,
}

/// Takes files that are dropped anywhere, and shows a hint while files hover over the page.
#[component]
pub fn FileDrop(props: &FileDropProps) -> Html {
    let is_over = use_state_eq(|| false);
    use_effect_with((props.on_files.clone(), props.on_refusal.clone()), {
        let is_over = is_over.clone();
        move |(on_files, on_refusal)| {
            let listeners = listen(on_files.clone(), on_refusal.clone(), is_over);
            move || drop(listeners)
        }
    });
    use_effect_with((), |()| bridge::take_files());
    if !*is_over {
        return Html::default();
    }
    html! { <div class="drop-veil" role="status"><p>{ "Drop the file or folder to open it" }</p><p class="help">{ "It is read in this browser and is not uploaded." }</p></div> }
}

fn listen(
    on_files: Callback<Vec<File>>,
    on_refusal: Callback<String>,
    is_over: UseStateHandle<bool>,
) -> Vec<EventListener> {
    let Some(window) = web_sys::window() else { return Vec::new() };
    let on = |name: &'static str, mut f: Box<dyn FnMut(&DragEvent)>| {
        EventListener::new_with_options(&window, name, EventListenerOptions::enable_prevent_default(), move |event| {
            if let Some(event) = event.dyn_ref::<DragEvent>()
                && carries_files(event)
            {
                event.prevent_default();
                f(event);
            }
        })
    };
    let (over, left, dropped) = (is_over.clone(), is_over.clone(), is_over);
    vec![
        on("dragenter", Box::new(|_| {})),
        on("dragover", Box::new(move |_| over.set(true))),
        on("dragleave", {
            Box::new(move |event| {
                // When the pointer leaves the window, the event has no target element.
                if event.related_target().is_none() {
                    left.set(false);
                }
            })
        }),
        on(
            "drop",
            Box::new(move |event| {
                dropped.set(false);
                if let Some(entries) = event.data_transfer().as_ref().and_then(dropped_entries) {
                    let (on_files, on_refusal) = (on_files.clone(), on_refusal.clone());
                    spawn_local(async move {
                        match bundle_entries(entries).await {
                            Ok(file) => on_files.emit(vec![file]),
                            Err(message) => on_refusal.emit(message),
                        }
                    });
                } else if let Some(files) = event.data_transfer().and_then(|d| d.files()) {
                    on_files.emit((0..files.length()).filter_map(|i| files.item(i)).collect());
                }
            }),
        ),
    ]
}

fn carries_files(event: &DragEvent) -> bool {
    event.data_transfer().is_some_and(|d| d.types().iter().any(|t| t.as_string().as_deref() == Some("Files")))
}

/// A button that picks files, one or several. `id` is that of its input.
pub fn file_picker(id: &str, label: &str, on_files: Callback<Vec<File>>) -> Html {
    let onchange = Callback::from(move |event: web_sys::Event| {
        let Some(input) = event.target().and_then(|t| t.dyn_into::<HtmlInputElement>().ok()) else { return };
        let files: Vec<File> =
            input.files().map(|l| (0..l.length()).filter_map(|i| l.item(i)).collect()).unwrap_or_default();
        // So that the same file can be picked again.
        input.set_value("");
        if !files.is_empty() {
            on_files.emit(files);
        }
    });
    html! {
        <span class="file-picker">
            <input id={id.to_owned()} type="file" multiple={true} class="visually-hidden" {onchange} />
            <label class="button" for={id.to_owned()}>{ label.to_owned() }</label>
        </span>
    }
}
