//! Files that the browser keeps for this site (its origin private file system), and the room that they have.
//!
//! All methods are called by name: so a browser that lacks one gives an error instead of a panic, and the types of these interfaces
//! do not make the page's program larger.

use js_sys::{Array, Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, File};

use super::error_text;

use ns_base::convert::f64_to_u64;

/// Calls a method that returns a promise, and waits for it.
async fn call(of: &JsValue, method: &str, args: &[&JsValue]) -> Result<JsValue, JsValue> {
    let function: Function = Reflect::get(of, &method.into())?.dyn_into()?;
    let args: Array = args.iter().copied().collect();
    JsFuture::from(Promise::resolve(&Reflect::apply(&function, of, &args)?)).await
}

fn storage() -> Result<JsValue, JsValue> {
    let window = web_sys::window().ok_or("there is no window")?;
    let storage = Reflect::get(&window.navigator(), &"storage".into())?;
    if storage.is_object() { Ok(storage) } else { Err("this browser cannot keep files for this page".into()) }
}

async fn folder() -> Result<JsValue, JsValue> {
    call(&storage()?, "getDirectory", &[]).await
}

/// Writes a file; a file of the same name is replaced once the new one is complete. Fails with the browser's message: it has no
/// file store, or the store is full.
pub async fn write(name: &str, content: &Blob) -> Result<(), String> {
    let written = async {
        let options = Object::new();
        Reflect::set(&options, &"create".into(), &JsValue::TRUE)?;
        let handle = call(&folder().await?, "getFileHandle", &[&name.into(), &options]).await?;
        let writer = call(&handle, "createWritable", &[]).await?;
        if let Err(error) = call(&writer, "write", &[content]).await {
            let _ = call(&writer, "abort", &[]).await;
            return Err(error);
        }
        call(&writer, "close", &[]).await
    };
    written.await.map(|_| ()).map_err(|e: JsValue| error_text(&e))
}

/// A kept file under a new name. Its bytes are not copied; they are read when needed. Fails with the browser's message: the file is
/// no longer there.
pub async fn read(name: &str, visible_name: &str) -> Result<File, String> {
    let found = async {
        let handle = call(&folder().await?, "getFileHandle", &[&name.into()]).await?;
        let file = call(&handle, "getFile", &[]).await?;
        File::new_with_blob_sequence(&Array::of1(&file), visible_name)
    };
    found.await.map_err(|e: JsValue| error_text(&e))
}

/// Removes a file; a file that does not exist is not an error.
pub async fn remove(name: &str) {
    if let Ok(folder) = folder().await {
        let _ = call(&folder, "removeEntry", &[&name.into()]).await;
    }
}

/// Bytes that this site uses, and how many it may use; `None` if the browser does not say.
pub async fn usage() -> Option<(u64, u64)> {
    let estimate = call(&storage().ok()?, "estimate", &[]).await.ok()?;
    let number = |name: &str| Reflect::get(&estimate, &name.into()).ok()?.as_f64();
    Some((f64_to_u64(number("usage")?), f64_to_u64(number("quota")?)))
}

/// Asks the browser not to clear this site's data when space runs out; returns whether it agreed.
pub async fn persist() -> bool {
    let Ok(storage) = storage() else { return false };
    call(&storage, "persist", &[]).await.is_ok_and(|agreed| agreed.is_truthy())
}
