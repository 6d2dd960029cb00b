//! Files that ship beside the page.

use js_sys::{Array, Function, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::File;

use super::{error_text, url};

/// A file that lies beside the page, as if the user had chosen it. Fails with the reason if it cannot be fetched, such as no
/// network or a missing file.
pub async fn file_beside_page(path: &str, name: &str) -> Result<File, String> {
    let failed = |e: JsValue| format!("{name}: {}. Check the network and try again.", error_text(&e));
    let window = web_sys::window().ok_or_else(|| format!("{name}: there is no window to read it with"))?;
    let response = JsFuture::from(window.fetch_with_str(&url::beside_page(path))).await.map_err(failed)?;
    // Only two members of the response are needed: its type would make the page's program larger.
    if Reflect::get(&response, &"ok".into()).ok().and_then(|ok| ok.as_bool()) != Some(true) {
        return Err(format!(
            "{name}: this file is not beside the page. Reload the page to get the version that has it."
        ));
    }
    let blob: Function = Reflect::get(&response, &"blob".into()).map_err(failed)?.unchecked_into();
    let blob: Promise = blob.call0(&response).map_err(failed)?.unchecked_into();
    let blob = JsFuture::from(blob).await.map_err(failed)?;
    File::new_with_blob_sequence(&Array::of1(&blob), name).map_err(failed)
}
