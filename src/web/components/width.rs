//! The width of an element on the screen. A plot is drawn at the size at which it stands there, so its text has the size of the page's text.

use wasm_bindgen::JsCast;
use web_sys::Element;
use yew::prelude::*;

use super::later::{parts_wait, use_turn_until};

/// The width of an element in pixels, kept while the window changes; none until it is its turn to be drawn, so that a plot is drawn
/// once, and at its size.
#[hook]
pub fn use_width(node: &NodeRef) -> Option<f64> {
    let width = use_state_eq(|| None);
    let is_due = use_turn_until(width.is_some());
    use_effect_with((node.clone(), is_due), {
        let width = width.setter();
        move |(node, is_due)| {
            let observed = node.cast::<Element>().filter(|_| *is_due).and_then(|element| observe(&element, width));
            move || {
                if let Some((observer, callback)) = observed {
                    observer.disconnect();
                    drop(callback);
                }
            }
        }
    });
    width.filter(|px| *px > 0.0)
}

type SizeCallback = wasm_bindgen::closure::Closure<dyn FnMut()>;

fn observe(element: &Element, width: UseStateSetter<Option<f64>>) -> Option<(web_sys::ResizeObserver, SizeCallback)> {
    // The observer's first answer comes with the next frame, and for an element without a size never: the parts in line behind it would
    // wait.
    if parts_wait() {
        width.set(Some(f64::from(element.client_width())));
    }
    let tell = {
        let element = element.clone();
        move || {
            let now = f64::from(element.client_width());
            if now > 0.0 {
                width.set(Some(now));
            }
        }
    };
    let callback = SizeCallback::new(tell);
    let observer = web_sys::ResizeObserver::new(callback.as_ref().unchecked_ref()).ok()?;
    observer.observe(element);
    Some((observer, callback))
}
