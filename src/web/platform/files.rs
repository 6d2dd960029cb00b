//! The first bytes of a file, on the page.

use js_sys::Uint8Array;
use wasm_bindgen_futures::JsFuture;
use web_sys::File;

use ns_base::convert::usize_to_f64;

/// The first bytes of a file; `None` when it cannot be read.
pub async fn read_head(file: &File, bytes: usize) -> Option<Vec<u8>> {
    let head = file.slice_with_f64_and_f64(0.0, usize_to_f64(bytes)).ok()?;
    let buffer = JsFuture::from(head.array_buffer()).await.ok()?;
    Some(Uint8Array::new(&buffer).to_vec())
}
