//! A button that opens a list of things to do. Escape closes it, and so does a choice; the focus goes back to the button.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent, Node};
use yew::prelude::*;

use super::on;

#[derive(Properties, PartialEq)]
pub struct MenuProps {
    /// Text of the button.
    pub label: AttrValue,
    /// Name of the list, for screen readers.
    pub title: AttrValue,
    /// More class names for the style sheet.
    #[prop_or_default]
    pub class: Classes,
    /// Called when it was opened or closed.
    #[prop_or_default]
    pub on_toggle: Callback<bool>,
    /// The entries: `li` elements, each with a button.
    pub children: Html,
}

/// The button and its list.
#[component]
pub fn Menu(props: &MenuProps) -> Html {
    let menu = use_node_ref();
    let close = on(menu.clone(), |menu, returns: bool| {
        let Some(menu) = menu.cast::<HtmlElement>() else { return };
        let _ = menu.remove_attribute("open");
        let summary = menu.query_selector("summary").ok().flatten().and_then(|s| s.dyn_into::<HtmlElement>().ok());
        if let Some(summary) = summary.filter(|_| returns) {
            let _ = summary.focus();
        }
    });
    let onkeydown = on(close.clone(), |close, event: KeyboardEvent| {
        if event.key() == "Escape" {
            event.stop_propagation();
            close.emit(true);
        }
    });
    let onclick = on(close.clone(), |close, event: MouseEvent| {
        let target = event.target().and_then(|t| t.dyn_into::<Element>().ok());
        if target.is_some_and(|t| t.closest("li button").ok().flatten().is_some()) {
            close.emit(true);
        }
    });
    let onfocusout = on((menu.clone(), close), |(menu, close), event: FocusEvent| {
        let to = event.related_target().and_then(|t| t.dyn_into::<Node>().ok());
        let is_outside = to.is_some() && !menu.cast::<Node>().is_some_and(|menu| menu.contains(to.as_ref()));
        if is_outside {
            close.emit(false);
        }
    });
    let ontoggle = on((menu.clone(), props.on_toggle.clone()), |(menu, on_toggle), _: Event| {
        on_toggle.emit(menu.cast::<Element>().is_some_and(|menu| menu.has_attribute("open")));
    });
    html! {
        <details class={classes!("menu", props.class.clone())} ref={menu} {onkeydown} {onfocusout} {ontoggle}>
            <summary class="button">{ &props.label }<span aria-hidden="true">{ "\u{25be}" }</span></summary>
            <ul aria-label={props.title.clone()} {onclick}>{ props.children.clone() }</ul>
        </details>
    }
}
