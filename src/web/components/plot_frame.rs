//! Common parts of plots with two axes: their width on the screen, their ticks and titles, and the pointer on them. A plot is drawn at the
//! size at which it is shown, so its text has the size of the page's text at any width.

use wasm_bindgen::JsCast;
use web_sys::Element;
use yew::prelude::*;

use super::later::{parts_wait, use_turn_until};
use crate::platform::pointer;
use ns_base::convert::{f64_to_usize, usize_to_f64};
use ns_view::plot::{Axis, Frame, LEFT};
use ns_view::svg::number;

/// Smallest space for a label of the horizontal axis, in pixels.
const LABEL_PX: f64 = 52.0;
/// Room that each letter of a label needs, in pixels.
const LETTER_PX: f64 = 6.2;

/// Place of the pointer in a plot, in the plot's pixels.
pub fn pointer_in(frame: &Frame, event: &MouseEvent) -> Option<(f64, f64)> {
    let (x, y) = pointer::share_of(event, "svg")?;
    Some((x * frame.width, y * frame.height))
}

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

/// The meaning of the ring around a mark, for a legend.
pub fn ring_entry(what: &AttrValue) -> Html {
    html! {
        <li><svg class="swatch" viewBox="-8 -8 16 16" aria-hidden="true"><circle class="chosen" r="6" /></svg><span class="name">{ what }</span></li>
    }
}

/// A tick of an axis: its place as a share, and its text.
pub type Tick<'a> = (f64, &'a str);

/// Ticks of a linear axis.
pub fn ticks(axis: &Axis) -> Vec<Tick<'_>> {
    axis.ticks.iter().map(|t| (axis.share(t.value), t.label.as_str())).collect()
}

/// Grid, ticks and titles of both axes.
pub fn axes(frame: &Frame, xs: &[Tick<'_>], ys: &[Tick<'_>], x_title: &str, y_title: &str) -> Html {
    let (left, right) = (number(LEFT), number(frame.right_edge()));
    let (top, bottom) = (number(frame.y(1.0)), number(frame.bottom_edge()));
    // If there is no room for all labels, every second or third one is written.
    let longest = xs.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
    let room = (frame.right_edge() - LEFT) / LABEL_PX.max(usize_to_f64(longest + 2) * LETTER_PX);
    let each = f64_to_usize(libm::ceil(usize_to_f64(xs.len()) / room.max(1.0)).max(1.0));
    let upright = xs.iter().enumerate().map(|(i, (share, label))| {
        let x = number(frame.x(*share));
        html! { <>
            <line x1={x.clone()} x2={x.clone()} y1={top.clone()} y2={bottom.clone()} class="grid" />
            if i % each == 0 {
                <text x={x} y={number(frame.bottom_edge() + 16.0)} text-anchor="middle">{ *label }</text>
            }
        </> }
    });
    let level = ys.iter().map(|(share, label)| {
        let y = number(frame.y(*share));
        html! { <>
            <line x1={left.clone()} x2={right.clone()} y1={y.clone()} y2={y.clone()} class="grid" />
            <text x={number(LEFT - 6.0)} y={y} text-anchor="end" dominant-baseline="central">{ *label }</text>
        </> }
    });
    let (across, up) = (number(frame.x(0.5)), number(frame.y(0.5)));
    html! {
        <g class="axes" aria-hidden="true">
            { for upright }
            { for level }
            <text class="axis-title" x={across} y={number(frame.height - 8.0)} text-anchor="middle">{ x_title }</text>
            <text class="axis-title" x="12" y={up.clone()} text-anchor="middle" transform={format!("rotate(-90 12 {up})")}>{ y_title }</text>
        </g>
    }
}
