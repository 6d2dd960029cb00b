//! A dock for the details of a view, below it, with tabs. Its size is kept between visits.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent, PointerEvent};
use yew::prelude::*;

use crate::components::on;
use crate::platform::storage;

const KEY: &str = "neuronscope.dock";
/// Sizes in px: the first one, the smallest one, and one step of the keyboard.
const USUAL: f64 = 208.0;
const LEAST: f64 = 120.0;
const MOST: f64 = 900.0;
const STEP: f64 = 24.0;

#[derive(Clone, PartialEq)]
pub struct DockTab {
    pub title: AttrValue,
    pub content: Html,
}

#[derive(Properties, PartialEq)]
pub struct DockProps {
    /// Name of its content, for screen readers.
    pub label: AttrValue,
    pub tabs: Vec<DockTab>,
    /// The position of the tab that is open.
    pub open: usize,
    /// Receives the position of a chosen tab.
    pub on_open: Callback<usize>,
    /// Height of its content, in px: the same whether it is empty or full.
    pub size: UseStateHandle<f64>,
}

/// The size of the dock that this browser keeps.
#[hook]
pub fn use_dock_size() -> UseStateHandle<f64> {
    use_state_eq(|| storage::read(KEY).and_then(|t| t.parse::<f64>().ok()).map_or(USUAL, limited))
}

/// The dock, with an edge to drag that changes its size.
#[component]
pub fn Dock(props: &DockProps) -> Html {
    let size = &props.size;
    let dock = use_node_ref();
    let is_moving = use_mut_ref(|| false);
    let resize = {
        let size = size.clone();
        move |to: f64| {
            let to = limited(to);
            storage::write(KEY, &format!("{to:.0}"));
            size.set(to);
        }
    };
    let onpointerdown = on(is_moving.clone(), |is_moving, event: PointerEvent| {
        if let Some(edge) = event.target().and_then(|t| t.dyn_into::<Element>().ok()) {
            let _ = edge.set_pointer_capture(event.pointer_id());
            *is_moving.borrow_mut() = true;
        }
    });
    let onpointermove = {
        let (dock, is_moving, resize) = (dock.clone(), is_moving.clone(), resize.clone());
        Callback::from(move |event: PointerEvent| {
            let Some(dock) = dock.cast::<HtmlElement>().filter(|_| *is_moving.borrow()) else { return };
            let bounds = dock.get_bounding_client_rect();
            let to = bounds.bottom() - f64::from(event.client_y());
            resize(to);
        })
    };
    let onpointerup = Callback::from(move |_: PointerEvent| *is_moving.borrow_mut() = false);
    let onkeydown = on(**size, move |now, event: KeyboardEvent| {
        let to = match event.key().as_str() {
            "ArrowLeft" | "ArrowUp" => now + STEP,
            "ArrowRight" | "ArrowDown" => now - STEP,
            "Home" => LEAST,
            "End" => MOST,
            _ => return,
        };
        event.prevent_default();
        resize(to);
    });
    let tab = |(i, tab): (usize, &DockTab)| {
        let onclick = props.on_open.reform(move |_: MouseEvent| i);
        html! { <button type="button" aria-pressed={(i == props.open).to_string()} {onclick}>{ &tab.title }</button> }
    };
    html! {
        <div class="dock" role="group" aria-label={props.label.clone()} ref={dock}>
            <div
                class="dock-edge" role="separator" tabindex="0" aria-label="Size of the details" title="Drag, or press the arrow keys, to change the size"
                aria-valuenow={format!("{:.0}", **size)} aria-valuemin={LEAST.to_string()} aria-valuemax={MOST.to_string()}
                {onpointerdown} {onpointermove} onpointercancel={onpointerup.clone()} {onpointerup} {onkeydown}
            ></div>
            <div class="dock-tabs" role="group" aria-label="What the dock shows">{ for props.tabs.iter().enumerate().map(tab) }</div>
            <div class="dock-body">{ for props.tabs.get(props.open).map(|tab| tab.content.clone()) }</div>
        </div>
    }
}

fn limited(size: f64) -> f64 {
    if size.is_finite() { size.clamp(LEAST, MOST) } else { USUAL }
}
