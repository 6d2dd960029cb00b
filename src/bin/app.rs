//! The page's binary: starts the application.

use wasm_bindgen::JsValue;

fn main() -> Result<(), JsValue> {
    let Some(document) = web_sys::window().and_then(|window| window.document()) else { return Ok(()) };
    if let (Some(body), Some(root)) = (document.body(), document.document_element()) {
        body.set_inner_html("<main><h1>neuronscope</h1></main>");
        root.set_attribute("data-state", "idle")?;
    }
    Ok(())
}
