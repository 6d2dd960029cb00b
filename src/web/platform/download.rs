//! Hands a file to the person.

use gloo_timers::callback::Timeout;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

use super::error_text;

/// Saves `bytes` under a name.
///
/// # Errors
/// What the browser said.
pub fn save(file_name: &str, mime: &str, bytes: &[u8]) -> Result<(), String> {
    try_save(file_name, mime, bytes).map_err(|e| format!("{file_name} could not be saved: {}", error_text(&e)))
}

fn try_save(file_name: &str, mime: &str, bytes: &[u8]) -> Result<(), JsValue> {
    let parts = js_sys::Array::of1(&js_sys::Uint8Array::from(bytes));
    let options = BlobPropertyBag::new();
    options.set_type(mime);
    let blob = Blob::new_with_u8_array_sequence_and_options(&parts, &options)?;
    let url = Url::create_object_url_with_blob(&blob)?;
    let document = web_sys::window().and_then(|w| w.document()).ok_or("there is no document")?;
    let anchor: HtmlAnchorElement = document.create_element("a")?.unchecked_into();
    anchor.set_href(&url);
    anchor.set_download(file_name);
    anchor.click();
    // The browser reads the address after this returns.
    Timeout::new(60_000, move || drop(Url::revoke_object_url(&url))).forget();
    Ok(())
}
