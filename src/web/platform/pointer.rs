//! Position of a pointer on the element that it points at.

use wasm_bindgen::JsCast;
use web_sys::{Element, PointerEvent};

/// Horizontal position of the pointer on the listening element, 0 to 1.
#[must_use]
pub fn share_of_width(event: &PointerEvent) -> Option<f64> {
    // Yew listens at the root: the element is the one below the pointer, whose children let the pointer through.
    let element = event.target().and_then(|t| t.dyn_into::<Element>().ok())?;
    let bounds = element.get_bounding_client_rect();
    (bounds.width() > 0.0).then(|| ((f64::from(event.client_x()) - bounds.left()) / bounds.width()).clamp(0.0, 1.0))
}
