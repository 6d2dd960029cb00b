//! The worker's binary: says that it is ready.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::DedicatedWorkerGlobalScope;

fn main() -> Result<(), JsValue> {
    js_sys::global().unchecked_into::<DedicatedWorkerGlobalScope>().post_message(&JsValue::from_str("ready"))
}
