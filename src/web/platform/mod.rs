//! Wrappers of the browser's interfaces, one small file each.

mod boxes;
pub mod clipboard;
pub mod date;
pub mod download;
pub mod fetch;
pub mod files;
pub mod focus;
pub mod folder;
pub mod frame;
pub mod machine;
pub mod page;
pub mod panic;
pub mod picture;
pub mod pointer;
pub mod private_files;
pub mod storage;
pub mod theme;
pub mod url;

use wasm_bindgen::JsValue;

/// The message of a JavaScript error.
pub fn error_text(error: &JsValue) -> String {
    let message = js_sys::Reflect::get(error, &"message".into()).ok().and_then(|m| m.as_string());
    message.or_else(|| error.as_string()).unwrap_or_else(|| "the browser gave no reason".to_owned())
}
