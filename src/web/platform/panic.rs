//! Message on the page for a bug in the app itself, with a way out.

use wasm_bindgen::JsCast;

/// Shows a box with the message and a button to reload when the app panics.
pub fn install_for_page() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        show(&info.to_string());
    }));
}

fn show(message: &str) -> Option<()> {
    super::page::set_state(super::page::PagePhase::Failed);
    let document = web_sys::window()?.document()?;
    let panel = document.create_element("div").ok()?;
    panel.set_attribute("role", "alert").ok()?;
    panel.set_attribute("class", "crash").ok()?;
    let text = document.create_element("p").ok()?;
    text.set_text_content(Some(&format!(
        "neuronscope has a bug and stopped: {message}. Your files are unchanged. Reload to continue; the address keeps your settings."
    )));
    let link = document.create_element("a").ok()?;
    link.set_text_content(Some("Reload the page"));
    let link: web_sys::HtmlAnchorElement = link.unchecked_into();
    link.set_href("");
    panel.append_child(&text).ok()?;
    panel.append_child(&link).ok()?;
    document.body()?.prepend_with_node_1(&panel).ok()
}
