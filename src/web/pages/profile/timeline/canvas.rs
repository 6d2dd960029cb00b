//! A canvas that shows a timeline: its size, pointer, wheel and scrolling.

use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{HtmlCanvasElement, HtmlElement, WheelEvent};
use yew::prelude::*;

use crate::platform::page;
use crate::timeline::Controller;

/// Size, pointer, wheel and scrolling of the canvas.
#[hook]
pub(in crate::pages::profile) fn use_canvas(controller: &Rc<Controller>, canvas: &NodeRef, scroller: &NodeRef) {
    use_effect_with((controller.clone(), canvas.clone(), scroller.clone()), |(controller, canvas, scroller)| {
        let parts = canvas.cast::<HtmlCanvasElement>().zip(scroller.cast::<HtmlElement>());
        let kept = parts.map(|(canvas, scroller)| {
            let observer = observe_size(controller, &canvas, &scroller);
            (listen(controller, &canvas, &scroller), observer)
        });
        move || {
            if let Some((listeners, observer)) = kept {
                drop(listeners);
                drop(observer);
            }
        }
    });
}

struct SizeObserver {
    observer: web_sys::ResizeObserver,
    _callback: wasm_bindgen::closure::Closure<dyn FnMut()>,
}

impl Drop for SizeObserver {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

fn observe_size(controller: &Controller, canvas: &HtmlCanvasElement, scroller: &HtmlElement) -> Option<SizeObserver> {
    let (controller, canvas, element) = (controller.clone(), canvas.clone(), scroller.clone());
    let callback = wasm_bindgen::closure::Closure::<dyn FnMut()>::new(move || {
        // A lower frame must not scroll the selection out of sight.
        let kept = controller.selected_row();
        controller.resize(&canvas, f64::from(element.client_width()), f64::from(element.client_height()));
        if let Some(to) = kept.and_then(|(track, row)| controller.scroll_to(track, row)) {
            page::scroll_to(&element, libm::round(to));
        }
    });
    let observer = web_sys::ResizeObserver::new(callback.as_ref().unchecked_ref()).ok()?;
    observer.observe(scroller);
    Some(SizeObserver { observer, _callback: callback })
}

fn listen(controller: &Controller, canvas: &HtmlCanvasElement, scroller: &HtmlElement) -> Vec<EventListener> {
    let on = |name: &'static str, f: fn(&Controller, &web_sys::PointerEvent)| {
        let controller = controller.clone();
        EventListener::new(canvas, name, move |event| {
            if let Some(event) = event.dyn_ref() {
                f(&controller, event);
            }
        })
    };
    let wheel = {
        let controller = controller.clone();
        let options = EventListenerOptions::enable_prevent_default();
        EventListener::new_with_options(canvas, "wheel", options, move |event| {
            if event.dyn_ref::<WheelEvent>().is_some_and(|e| controller.wheel(e)) {
                event.prevent_default();
            }
        })
    };
    let scroll = {
        let (controller, element) = (controller.clone(), scroller.clone());
        EventListener::new(scroller, "scroll", move |_| controller.set_scroll(f64::from(element.scroll_top())))
    };
    vec![
        on("pointerdown", |c, e| c.pointer_down(e)),
        on("pointermove", |c, e| c.pointer_move(e)),
        on("pointerup", |c, e| c.pointer_up(e)),
        on("pointercancel", |c, e| c.pointer_cancel(e)),
        on("pointerleave", |c, _| c.pointer_leave()),
        on("dblclick", |c, _| c.double_click()),
        wheel,
        scroll,
    ]
}
