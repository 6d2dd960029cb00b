//! Files that the browser keeps for this site (its origin private file system), and how much room there is.
//!
//! Everything is called by its name: a browser that lacks a part gives an error, not a stop, and the types of these interfaces would be
//! another part of the page's program.

use js_sys::{Array, Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, File};

use super::error_text;

use crate::base::convert::whole;

/// Calls a method that gives a promise, and waits for it.
async fn call(of: &JsValue, method: &str, args: &[&JsValue]) -> Result<JsValue, JsValue> {
    let function: Function = Reflect::get(of, &method.into())?.dyn_into()?;
    let args: Array = args.iter().copied().collect();
    JsFuture::from(Promise::resolve(&Reflect::apply(&function, of, &args)?)).await
}

fn storage() -> Result<JsValue, JsValue> {
    let window = web_sys::window().ok_or("there is no window")?;
    let storage = Reflect::get(&window.navigator(), &"storage".into())?;
    if storage.is_object() { Ok(storage) } else { Err("this browser keeps no files for pages here".into()) }
}

async fn folder() -> Result<JsValue, JsValue> {
    call(&storage()?, "getDirectory", &[]).await
}

/// Writes a file; one of the same name is replaced once all of it is written.
///
/// # Errors
/// What the browser said: it has no such store, or the store is full.
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

/// A file that was kept, under the name that it is to have. Its bytes stay where they are until they are read.
///
/// # Errors
/// What the browser said: it is not there any more.
pub async fn read(name: &str, shown_name: &str) -> Result<File, String> {
    let found = async {
        let handle = call(&folder().await?, "getFileHandle", &[&name.into()]).await?;
        let file = call(&handle, "getFile", &[]).await?;
        File::new_with_blob_sequence(&Array::of1(&file), shown_name)
    };
    found.await.map_err(|e: JsValue| error_text(&e))
}

/// Removes a file; a file that does not exist is not an error.
pub async fn remove(name: &str) {
    if let Ok(folder) = folder().await {
        let _ = call(&folder, "removeEntry", &[&name.into()]).await;
    }
}

/// Bytes that this site uses, and how many it may use; none where the browser does not say.
pub async fn usage() -> Option<(u64, u64)> {
    let estimate = call(&storage().ok()?, "estimate", &[]).await.ok()?;
    let number = |name: &str| Reflect::get(&estimate, &name.into()).ok()?.as_f64();
    Some((whole(number("usage")?), whole(number("quota")?)))
}

/// Asks the browser not to clear what this site keeps when it runs out of room; whether it agreed.
pub async fn persist() -> bool {
    let Ok(storage) = storage() else { return false };
    call(&storage, "persist", &[]).await.is_ok_and(|agreed| agreed.is_truthy())
}
