//! The picture: an SVG drawn by a worker, moved and zoomed here.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, PointerEvent, WheelEvent};
use yew::prelude::*;

use super::actions::InspectActions;
use ns_page::Shared;
use ns_page::picture::{Place, SCALES, Size, first_view, fit_all};
use ns_session::{InspectField, InspectResult};

/// A press that moves less is a click.
const CLICK_PX: f64 = 4.0;
/// Two clicks on one node within this number of milliseconds open it.
const DOUBLE_MS: f64 = 450.0;
/// Zoom factor of one key press, button press or notch of the wheel.
const STEP: f64 = 1.2;
/// How far an arrow key moves the picture.
const MOVE_PX: f64 = 60.0;

/// The window, where the picture is in it, and where a press began.
#[derive(Default)]
struct Window {
    place: Place,
    pressed: Option<(f64, f64)>,
    is_dragged: bool,
    /// The last clicked node, and when, in milliseconds. The picture is redrawn between two clicks, so the browser never reports a double click.
    clicked: Option<(String, f64)>,
}

type SharedWindow = Rc<RefCell<Window>>;

#[derive(Properties, PartialEq)]
pub struct PictureProps {
    /// Actions of a choice.
    pub actions: InspectActions,
    pub result: Shared<InspectResult>,
}

/// The picture in its window.
#[component]
pub fn Picture(props: &PictureProps) -> Html {
    let frame = use_node_ref();
    let window: SharedWindow = (*use_memo((), |()| Rc::new(RefCell::new(Window::default())))).clone();
    use_place(&frame, &window, &props.result);
    let pointer = |f: fn(&NodeRef, &SharedWindow, &PointerEvent)| {
        let (frame, window) = (frame.clone(), window.clone());
        Callback::from(move |event: PointerEvent| f(&frame, &window, &event))
    };
    let onclick = {
        let (actions, result, window) = (props.actions.clone(), props.result.clone(), window.clone());
        Callback::from(move |event: MouseEvent| {
            if std::mem::take(&mut window.borrow_mut().is_dragged) {
                return;
            }
            let Some(id) = node_of(&event, &result) else { return };
            let now = event.time_stamp();
            let before = window.borrow_mut().clicked.replace((id.clone(), now));
            if before.is_some_and(|(other, at)| other == id && now - at < DOUBLE_MS) {
                window.borrow_mut().clicked = None;
                toggle(&actions, &result, &id);
            } else {
                actions.choose(InspectField::Selected, id);
            }
        })
    };
    let onkeydown = {
        let (actions, result, frame, window) =
            (props.actions.clone(), props.result.clone(), frame.clone(), window.clone());
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Enter" {
                toggle(&actions, &result, actions.state.spec.get(InspectField::Selected));
                event.prevent_default();
            } else if key(&frame, &window, result.size, &event.key()) {
                event.prevent_default();
            }
        })
    };
    let button = |label: &'static str, sign: &'static str, name: &'static str| {
        let (frame, window, size) = (frame.clone(), window.clone(), props.result.size);
        let onclick = Callback::from(move |_: MouseEvent| {
            key(&frame, &window, size, name);
        });
        html! { <button type="button" {onclick} aria-label={label} title={label}>{ sign }</button> }
    };
    html! {
        <div class="model-picture">
            <div
                class="model-frame" ref={frame.clone()} tabindex="0" role="group"
                aria-label="Graph of the model. Arrow keys move it, plus and minus zoom, 0 shows all, Enter opens the selected module. The tree has the same content as text."
                onpointerdown={pointer(press)} onpointermove={pointer(drag)} onpointerup={pointer(release)} onpointercancel={pointer(release)}
                {onclick} {onkeydown}
            >
                <Drawing svg={props.result.clone()} />
            </div>
            <div class="zoom" role="group" aria-label="Size of the picture">
                { button("Enlarge", "+", "+") }{ button("Make smaller", "\u{2212}", "-") }{ button("Show all", "\u{2922}", "0") }
            </div>
        </div>
    }
}

/// Keeps the picture in place while it is redrawn, and listens to the wheel.
#[hook]
fn use_place(frame: &NodeRef, window: &SharedWindow, result: &Shared<InspectResult>) {
    let title = result.title.clone();
    // Another model begins at its top; the same one stays where it is.
    use_effect_with(title, {
        let (frame, window, size) = (frame.clone(), window.clone(), result.size);
        move |_| fit(&frame, &window, size, first_view)
    });
    use_effect_with(result.clone(), {
        let (frame, window) = (frame.clone(), window.clone());
        move |_| {
            apply(&frame, &window);
            bring_into_view(&frame, &window);
        }
    });
    use_effect_with(frame.clone(), {
        let window = window.clone();
        move |frame| {
            let wheel = frame.cast::<HtmlElement>().map(|element| listen_to_wheel(&element, frame.clone(), window));
            move || drop(wheel)
        }
    });
}

#[derive(Properties, PartialEq)]
struct DrawingProps {
    svg: Shared<InspectResult>,
}

/// The SVG text alone, so that it is parsed again only when it changes. The code that drew it escaped all names.
#[component]
fn Drawing(props: &DrawingProps) -> Html {
    Html::from_html_unchecked(props.svg.picture.clone().into())
}

/// The path of the node below a pointer.
fn node_of(event: &MouseEvent, result: &InspectResult) -> Option<String> {
    let element = event.target()?.dyn_into::<Element>().ok()?;
    let node: u32 = element.closest("[data-node]").ok()??.get_attribute("data-node")?.parse().ok()?;
    result.tree.iter().find(|r| r.node == node).map(|r| r.id.clone())
}

fn toggle(actions: &InspectActions, result: &InspectResult, id: &str) {
    if result.tree.iter().any(|r| r.id == id && r.is_open.is_some()) {
        actions.toggle(id);
    }
}

fn size_of(frame: &NodeRef) -> (f64, f64) {
    let element = frame.cast::<HtmlElement>();
    element.map_or((1.0, 1.0), |e| (f64::from(e.client_width()), f64::from(e.client_height())))
}

/// Puts the picture at the place that suits the window.
fn fit(frame: &NodeRef, window: &SharedWindow, size: Size, place: fn(Size, Size) -> Place) {
    window.borrow_mut().place = place(size_of(frame), size);
    apply(frame, window);
}

/// Moves the drawing to its place.
fn apply(frame: &NodeRef, window: &SharedWindow) {
    let Place { x, y, scale } = window.borrow().place;
    let group = frame.cast::<Element>().and_then(|e| e.query_selector("svg > g").ok().flatten());
    if let Some(group) = group {
        let _ = group.set_attribute("transform", &format!("translate({x:.1} {y:.1}) scale({scale:.4})"));
    }
}

/// Moves the selected node into the window when it is outside.
fn bring_into_view(frame: &NodeRef, window: &SharedWindow) {
    let Some(element) = frame.cast::<Element>() else { return };
    let Some(node) = element.query_selector(".selected > .box").ok().flatten() else { return };
    let (outer, inner) = (element.get_bounding_client_rect(), node.get_bounding_client_rect());
    let is_outside = inner.right() < outer.left()
        || inner.left() > outer.right()
        || inner.bottom() < outer.top()
        || inner.top() > outer.bottom();
    if is_outside {
        let mut at = window.borrow_mut();
        at.place.x += outer.left() + outer.width() / 2.0 - inner.left() - inner.width() / 2.0;
        at.place.y += outer.top() + outer.height() / 3.0 - inner.top();
        drop(at);
        apply(frame, window);
    }
}

/// Enlarges around a point of the window.
fn zoom(frame: &NodeRef, window: &SharedWindow, (x, y): (f64, f64), by: f64) {
    let mut at = window.borrow_mut();
    let scale = (at.place.scale * by).clamp(SCALES.0, SCALES.1);
    let real = scale / at.place.scale.max(SCALES.0);
    at.place = Place { x: x - (x - at.place.x) * real, y: y - (y - at.place.y) * real, scale };
    drop(at);
    apply(frame, window);
}

fn listen_to_wheel(element: &HtmlElement, frame: NodeRef, window: SharedWindow) -> EventListener {
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(element, "wheel", options, move |event| {
        let (Some(event), Some(element)) = (event.dyn_ref::<WheelEvent>(), frame.cast::<Element>()) else { return };
        event.prevent_default();
        let bounds = element.get_bounding_client_rect();
        let at = (f64::from(event.client_x()) - bounds.left(), f64::from(event.client_y()) - bounds.top());
        zoom(&frame, &window, at, if event.delta_y() > 0.0 { 1.0 / STEP } else { STEP });
    })
}

fn press(_: &NodeRef, window: &SharedWindow, event: &PointerEvent) {
    if event.button() != 0 {
        return;
    }
    let mut at = window.borrow_mut();
    (at.pressed, at.is_dragged) = (Some((f64::from(event.client_x()), f64::from(event.client_y()))), false);
}

fn drag(frame: &NodeRef, window: &SharedWindow, event: &PointerEvent) {
    let now = (f64::from(event.client_x()), f64::from(event.client_y()));
    let mut at = window.borrow_mut();
    let Some(before) = at.pressed else { return };
    let moved = (now.0 - before.0, now.1 - before.1);
    if !at.is_dragged && moved.0.abs().max(moved.1.abs()) < CLICK_PX {
        return;
    }
    if !std::mem::replace(&mut at.is_dragged, true)
        && let Some(element) = frame.cast::<Element>()
    {
        // Fails when the pointer is already gone.
        let _ = element.set_pointer_capture(event.pointer_id());
    }
    at.pressed = Some(now);
    at.place.x += moved.0;
    at.place.y += moved.1;
    drop(at);
    apply(frame, window);
}

fn release(_: &NodeRef, window: &SharedWindow, _: &PointerEvent) {
    window.borrow_mut().pressed = None;
}

/// Applies a key to the picture; returns whether the key has an effect.
fn key(frame: &NodeRef, window: &SharedWindow, size: (f64, f64), key: &str) -> bool {
    let (width, height) = size_of(frame);
    let by = |x: f64, y: f64| {
        let mut at = window.borrow_mut();
        at.place.x += x;
        at.place.y += y;
        drop(at);
        apply(frame, window);
    };
    match key {
        "ArrowLeft" => by(MOVE_PX, 0.0),
        "ArrowRight" => by(-MOVE_PX, 0.0),
        "ArrowUp" => by(0.0, MOVE_PX),
        "ArrowDown" => by(0.0, -MOVE_PX),
        "+" | "=" => zoom(frame, window, (width / 2.0, height / 2.0), STEP),
        "-" => zoom(frame, window, (width / 2.0, height / 2.0), 1.0 / STEP),
        "0" => fit(frame, window, size, fit_all),
        _ => return false,
    }
    true
}
