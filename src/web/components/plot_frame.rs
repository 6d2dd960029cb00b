//! Common parts of plots with two axes: their size on the screen, and the places of their ticks, titles and values. A plot is
//! drawn at the size at which it is shown, so its text has the size of the page's text at any width.

use wasm_bindgen::JsCast;
use web_sys::Element;
use yew::prelude::*;

use super::later::{parts_wait, use_turn_until};
use ns_base::convert::{f64_to_usize, usize_to_f64};
use ns_view::plot::Axis;
use ns_view::svg::number;

const LEFT: f64 = 64.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 44.0;
/// Assumed width until a plot knows its own, in pixels: room is reserved for it, and nothing is drawn.
const FIRST_WIDTH: f64 = 560.0;
/// Smallest space for a label of the horizontal axis, in pixels.
const LABEL_PX: f64 = 52.0;
/// Room that each letter of a label needs, in pixels.
const LETTER_PX: f64 = 6.2;

/// Place of a plot in its figure, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Total width.
    pub width: f64,
    /// Total height.
    pub height: f64,
    /// Room at the right of the axes: for labels of lines.
    pub right: f64,
}

impl Frame {
    /// A plot of this width (of none: one not yet known), with a suitable height and room at the right of the axes.
    #[must_use]
    pub fn new(width: Option<f64>, right: f64) -> Self {
        let width = width.unwrap_or(FIRST_WIDTH);
        let height = libm::round((width * 0.5).clamp(200.0, 320.0));
        Self { width, height, right }
    }

    /// The value of `viewBox`.
    #[must_use]
    pub fn view_box(&self) -> String {
        format!("0 0 {} {}", number(self.width), number(self.height))
    }

    /// Right edge of the axes.
    #[must_use]
    pub fn right_edge(&self) -> f64 {
        self.width - self.right
    }

    /// Bottom edge of the axes.
    #[must_use]
    pub fn bottom_edge(&self) -> f64 {
        self.height - BOTTOM
    }

    /// Position of a share of the horizontal axis, in pixels.
    #[must_use]
    pub fn x(&self, share: f64) -> f64 {
        LEFT + share * (self.right_edge() - LEFT)
    }

    /// Position of a share of the vertical axis, in pixels.
    #[must_use]
    pub fn y(&self, share: f64) -> f64 {
        self.bottom_edge() - share * (self.bottom_edge() - TOP)
    }
}

/// Position of the pointer in a plot.
#[must_use]
pub fn pointer_in_plot(event: &MouseEvent) -> Option<(f64, f64)> {
    let target = event.current_target().and_then(|t| t.dyn_into::<Element>().ok())?;
    let rect = target.get_bounding_client_rect();
    Some((f64::from(event.client_x()) - rect.left(), f64::from(event.client_y()) - rect.top()))
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

/// A tick of an axis: its place as a share, and its text.
pub type Tick<'a> = (f64, &'a str);

/// Ticks of a linear axis.
#[must_use]
pub fn ticks(axis: &Axis) -> Vec<Tick<'_>> {
    axis.ticks.iter().map(|t| (axis.share(t.value), t.label.as_str())).collect()
}

/// Grid, ticks and titles of both axes.
pub fn axes(frame: &Frame, xs: &[Tick<'_>], ys: &[Tick<'_>], x_title: &str, y_title: &str) -> Html {
    let (left, right) = (number(LEFT), number(frame.right_edge()));
    let (top, bottom) = (number(TOP), number(frame.bottom_edge()));
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
