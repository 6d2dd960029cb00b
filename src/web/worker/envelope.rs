//! Conversion of messages to and from the arrays that `postMessage` sends.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Blob;

/// A message and the buffers that move with it instead of being copied.
pub struct Envelope {
    /// `[header, payload...]`.
    pub message: Array,
    /// Buffers to transfer.
    pub transfer: Array,
}

/// Packs the bytes of a message and the file that goes with it, which is not copied.
pub fn pack(header: &[u8], beside: Option<&Blob>) -> Envelope {
    let header = Uint8Array::from(header);
    let transfer = Array::of1(&header.buffer());
    let message = Array::of1(&header);
    if let Some(beside) = beside {
        message.push(beside);
    }
    Envelope { message, transfer }
}

/// Unpacks the bytes of a message and the file that came with it. Fails if it is not a message of this build: page and worker are
/// from different builds.
pub fn unpack(data: &JsValue) -> Result<(Vec<u8>, Option<Blob>), String> {
    let message: &Array = data.dyn_ref().ok_or("a message is not an array")?;
    let header: Uint8Array = message.get(0).dyn_into().map_err(|_| "a message has no header")?;
    Ok((header.to_vec(), message.get(1).dyn_into().ok()))
}
