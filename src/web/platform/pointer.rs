//! Position of a pointer on the element that it points at. Yew listens at its root for every element, so `current_target` of an event is
//! that root and never the element whose listener runs: the lints refuse it.

use wasm_bindgen::JsCast;
use web_sys::{Element, Event, MouseEvent};

/// The element around the place of an event that matches a selector, itself included.
pub fn around(event: &Event, selector: &str) -> Option<Element> {
    event.target()?.dyn_into::<Element>().ok()?.closest(selector).ok()?
}

/// Position of the pointer on the element around it that matches a selector: shares of its width and its height, 0 to 1.
pub fn share_of(event: &MouseEvent, selector: &str) -> Option<(f64, f64)> {
    let bounds = around(event, selector)?.get_bounding_client_rect();
    let share = |at: i32, from: f64, length: f64| ((f64::from(at) - from) / length).clamp(0.0, 1.0);
    (bounds.width() > 0.0 && bounds.height() > 0.0).then(|| {
        (share(event.client_x(), bounds.left(), bounds.width()), share(event.client_y(), bounds.top(), bounds.height()))
    })
}
