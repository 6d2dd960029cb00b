//! What plots over two axes share: their place on the drawing, their ticks and titles.

use yew::prelude::*;

use crate::view::plot::Axis;
use crate::view::svg::number;

/// The drawing of a plot.
pub const VIEW_BOX: &str = "0 0 672 330";
/// Its width.
pub const VIEW_WIDTH: f64 = 672.0;

const LEFT: f64 = 86.0;
const TOP: f64 = 14.0;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 260.0;

/// The middle of the horizontal axis.
pub const MIDDLE: f64 = LEFT + WIDTH / 2.0;

/// Where a value of the horizontal axis stands.
pub fn x_of(axis: &Axis, value: f64) -> f64 {
    LEFT + axis.share(value) * WIDTH
}

/// Where a value of the vertical axis stands.
pub fn y_of(axis: &Axis, value: f64) -> f64 {
    TOP + HEIGHT - axis.share(value) * HEIGHT
}

/// Grid, ticks and titles of both axes.
pub fn axes(x_axis: &Axis, y_axis: &Axis) -> Html {
    let bottom = TOP + HEIGHT;
    let xs = x_axis.ticks.iter().map(|t| {
        let x = number(x_of(x_axis, t.value));
        html! { <>
            <line x1={x.clone()} x2={x.clone()} y1={number(TOP)} y2={number(bottom)} class="grid" />
            <text x={x} y={number(bottom + 18.0)} text-anchor="middle">{ &t.label }</text>
        </> }
    });
    let ys = y_axis.ticks.iter().map(|t| {
        let y = number(y_of(y_axis, t.value));
        html! { <>
            <line x1={number(LEFT)} x2={number(LEFT + WIDTH)} y1={y.clone()} y2={y.clone()} class="grid" />
            <text x={number(LEFT - 8.0)} y={y} text-anchor="end" dominant-baseline="central">{ &t.label }</text>
        </> }
    });
    let middle = number(TOP + HEIGHT / 2.0);
    html! {
        <g class="axes" aria-hidden="true">
            { for xs }
            { for ys }
            <text class="axis-title" x={number(LEFT + WIDTH / 2.0)} y="322" text-anchor="middle">{ &x_axis.title }</text>
            <text class="axis-title" x="16" y={middle.clone()} text-anchor="middle" transform={format!("rotate(-90 16 {middle})")}>{ &y_axis.title }</text>
        </g>
    }
}
