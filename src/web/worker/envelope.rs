//! Conversion of messages to and from the arrays that `postMessage` sends.

use js_sys::{Array, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Blob;

/// A message and the buffers that move with it instead of being copied.
pub struct Envelope {
    /// `[header, payload...]`.
    pub message: Array,
    /// Buffers to transfer.
    pub transfer: Array,
}

/// Packs a message and the file that goes with it, which is not copied.
///
/// # Errors
/// If the message cannot be written (it is too large for memory).
pub fn pack<T: Serialize>(header: &T, beside: Option<&Blob>) -> Result<Envelope, String> {
    let bytes = postcard::to_allocvec(header).map_err(|e| format!("the message could not be written: {e}"))?;
    let header = Uint8Array::from(bytes.as_slice());
    let transfer = Array::of1(&header.buffer());
    let message = Array::of1(&header);
    if let Some(beside) = beside {
        message.push(beside);
    }
    Ok(Envelope { message, transfer })
}

/// Unpacks a message and the file that came with it.
///
/// # Errors
/// If it is not a message of this build: page and worker are from different builds.
pub fn unpack<T: DeserializeOwned>(data: &JsValue) -> Result<(T, Option<Blob>), String> {
    let message: &Array = data.dyn_ref().ok_or("a message is not an array")?;
    let header: Uint8Array = message.get(0).dyn_into().map_err(|_| "a message has no header")?;
    let header = postcard::from_bytes(&header.to_vec()).map_err(|e| format!("a message could not be read: {e}"))?;
    Ok((header, message.get(1).dyn_into().ok()))
}
