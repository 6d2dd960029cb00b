//! Downloads: files that the user saves.

use gloo_timers::callback::Timeout;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, File, HtmlAnchorElement, HtmlCanvasElement, Url};

use super::error_text;

/// Saves `bytes` under a name.
pub fn save(file_name: &str, mime: &str, bytes: &[u8]) -> Result<(), String> {
    save_blob(file_name, &blob(mime, bytes)?)
}

/// Saves a file that the browser holds in memory.
pub fn save_blob(file_name: &str, file: &Blob) -> Result<(), String> {
    hand_over(file_name, file).map_err(|e| format!("{file_name} could not be saved: {}", error_text(&e)))
}

/// A file of these bytes, held by the browser.
pub fn blob(mime: &str, bytes: &[u8]) -> Result<Blob, String> {
    let parts = js_sys::Array::of1(&js_sys::Uint8Array::from(bytes));
    let options = BlobPropertyBag::new();
    options.set_type(mime);
    Blob::new_with_u8_array_sequence_and_options(&parts, &options)
        .map_err(|e| format!("a file of {} bytes could not be made: {}", bytes.len(), error_text(&e)))
}

/// A text as a file with a name, as if the user had chosen it.
pub fn file_of(file_name: &str, text: &str) -> Result<File, String> {
    let parts = js_sys::Array::of1(&JsValue::from_str(text));
    File::new_with_str_sequence(&parts, file_name)
        .map_err(|e| format!("{file_name} could not be made: {}", error_text(&e)))
}

/// Saves the content of a canvas as PNG, once the browser has made the file; tells `done` the outcome.
pub fn save_canvas(file_name: String, canvas: &HtmlCanvasElement, done: impl FnOnce(Result<(), String>) + 'static) {
    let on_blob = Closure::once_into_js(move |blob: Option<Blob>| {
        let saved =
            blob.ok_or_else(|| JsValue::from("the browser made no picture")).and_then(|b| hand_over(&file_name, &b));
        done(saved.map_err(|e| format!("{file_name} could not be saved: {}", error_text(&e))));
    });
    // It fails on canvases with pictures of other sites only; this one has none.
    let _ = canvas.to_blob(on_blob.unchecked_ref());
}

fn hand_over(file_name: &str, blob: &Blob) -> Result<(), JsValue> {
    let url = Url::create_object_url_with_blob(blob)?;
    let document = web_sys::window().and_then(|w| w.document()).ok_or("there is no document")?;
    let anchor: HtmlAnchorElement = document.create_element("a")?.unchecked_into();
    anchor.set_href(&url);
    anchor.set_download(file_name);
    anchor.click();
    // The browser reads the address only after this function returns.
    Timeout::new(60_000, move || drop(Url::revoke_object_url(&url))).forget();
    Ok(())
}
