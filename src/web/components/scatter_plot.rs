//! Points over two axes, with hover, keyboard and legend. Marks stand exactly at their values, even if they overlap.

use yew::prelude::*;

use super::plot_frame::{axes, pointer_in, ring_entry, ticks, use_width};
use super::{on, set};
use ns_base::Order;
use ns_view::plot::{Form, Frame, Scatter, ScatterPoint, Shape, corners};
use ns_view::svg::number;

/// The meaning of a band along a line.
const INTERVAL: &str = "the interval of a device";

#[derive(Properties, PartialEq)]
pub struct ScatterPlotProps {
    pub title: AttrValue,
    pub plot: Scatter,
    /// The position of the highlighted point, and its label.
    #[prop_or_default]
    pub chosen: Option<(usize, AttrValue)>,
    /// Called with the position of a point that is clicked or chosen with Enter; without it points do not open anything.
    #[prop_or_default]
    pub on_point: Option<Callback<usize>>,
}

/// The plot. The arrow keys walk along its points from left to right.
#[component]
pub fn ScatterPlot(props: &ScatterPlotProps) -> Html {
    let active = use_state_eq(|| None::<usize>);
    let node = use_node_ref();
    let width = use_width(&node);
    let frame = Frame::new(width, 16.0);
    let plot = &props.plot;
    let readout = active.and_then(|i| plot.points.get(i).map(|p| readout_of(plot, i, p)));
    let onkeydown = {
        let (active, plot, open) = (active.clone(), plot.clone(), props.on_point.clone());
        Callback::from(move |event: KeyboardEvent| {
            if let (Some(open), Some(i), "Enter") = (&open, *active, event.key().as_str()) {
                event.prevent_default();
                open.emit(i);
            } else if let Some(next) = walk(&plot, *active, &event.key()) {
                event.prevent_default();
                active.set(Some(next));
            }
        })
    };
    let onmousemove = on((active.clone(), plot.clone()), move |(active, plot), event: MouseEvent| {
        active.set(pointed(plot, &frame, &event))
    });
    let onclick = props.on_point.clone().map(|open| {
        let plot = plot.clone();
        Callback::from(move |event: MouseEvent| pointed(&plot, &frame, &event).into_iter().for_each(|i| open.emit(i)))
    });
    let opens = onclick.is_some();
    let (onmouseleave, onblur) = (set(&active, None), set(&active, None));
    // A press focuses the plot too: it keeps the point under the pointer.
    let onfocus = set(&active, (*active).or_else(|| walk(plot, None, "Home")));
    let ring = |i: usize, class: &'static str, r: &'static str| {
        let (x, y) = plot.place(&frame, plot.points.get(i)?);
        Some(html! { <circle {class} cx={number(x)} cy={number(y)} {r} /> })
    };
    let chosen = props.chosen.as_ref();
    html! {
        <figure class="scatter" ref={node}>
            <figcaption>{ &props.title }</figcaption>
            <svg class={classes!(opens.then_some("opens"))} viewBox={frame.view_box()} tabindex="0" role="img"
                {onkeydown} {onmousemove} {onmouseleave} {onblur} {onfocus} {onclick}
                aria-label={format!("{}, {} points; the arrow keys read them out{}, and the same values are in the table", props.title, plot.points.len(), if opens { ", Enter opens one" } else { "" })}>
                if width.is_some() {
                    { axes(&frame, &ticks(&plot.x), &ticks(&plot.y), &plot.x.title, &plot.y.title) }
                    { for plot.shapes(|x, y| (frame.x(x), frame.y(y))).iter().map(shape) }
                    { for chosen.and_then(|(i, _)| ring(*i, "chosen", "11")) }
                    { for active.and_then(|i| ring(i, "reader", "10")) }
                }
            </svg>
            <p class="readout" role="status">{ readout.unwrap_or_else(|| "Point at a mark, or press an arrow key, for its values.".to_owned()) }</p>
            { legend(plot, chosen.map(|(_, what)| what)) }
        </figure>
    }
}

fn legend(plot: &Scatter, chosen: Option<&AttrValue>) -> Html {
    let series = plot.series.iter().map(|(name, fill, m)| {
        html! {
            <li>
                <svg class="swatch" viewBox="-8 -8 16 16" aria-hidden="true">{ shape(&Shape::mark(*m, (0.0, 0.0), "mark", *fill)) }</svg>
                <span class="name">{ name }</span>
            </li>
        }
    });
    html! {
        <ul class="legend in-line">
            { for series }
            if plot.has_bands() {
                <li><svg class="swatch" viewBox="0 0 16 16" aria-hidden="true"><rect class="band" width="16" height="16" /></svg>
                    <span class="name">{ INTERVAL }</span></li>
            }
            if plot.front.len() > 1 && plot.lines.is_empty() {
                <li><svg class="swatch is-line" viewBox="0 0 22 8" aria-hidden="true"><line class="front" x1="0" x2="22" y1="4" y2="4" /></svg>
                    <span class="name">{ format!("Pareto front of {}: no other is better in both", plot.front_of) }</span></li>
            }
            { for chosen.map(ring_entry) }
        </ul>
    }
}

fn readout_of(plot: &Scatter, i: usize, p: &ScatterPoint) -> String {
    let front = plot.is_on_front(i).then(|| format!(" \u{2013} on the Pareto front of {}", plot.front_of));
    format!("{}{}", plot.describe(p), front.unwrap_or_default())
}

/// The point that a key leads to: the next one to the right or left, the first or the last one.
fn walk(plot: &Scatter, at: Option<usize>, key: &str) -> Option<usize> {
    let mut order: Vec<usize> = (0..plot.points.len()).collect();
    order.order_by(|&a, &b| plot.points[a].x.total_cmp(&plot.points[b].x).then(a.cmp(&b)));
    let last = order.len().checked_sub(1)?;
    let now = at.and_then(|i| order.iter().position(|o| *o == i));
    let next = match (key, now) {
        ("ArrowRight" | "ArrowDown", Some(now)) => (now + 1).min(last),
        ("ArrowLeft" | "ArrowUp", Some(now)) => now.saturating_sub(1),
        ("ArrowRight" | "ArrowDown" | "ArrowLeft" | "ArrowUp" | "Home", _) => 0,
        ("End", _) => last,
        _ => return None,
    };
    order.get(next).copied()
}

/// The point under the pointer.
fn pointed(plot: &Scatter, frame: &Frame, event: &MouseEvent) -> Option<usize> {
    plot.at(frame, pointer_in(frame, event)?)
}

/// A shape as an element; the texts of marks are in the line below the plot.
fn shape(shape: &Shape) -> Html {
    let (class, style) = (shape.class, shape.paint());
    match &shape.form {
        Form::Line(points) => html! { <polyline {class} {style} points={corners(points)} /> },
        Form::Area(points) => html! { <polygon {class} {style} points={corners(points)} /> },
        Form::Disc { at: (x, y), radius } => {
            html! { <circle {class} {style} cx={number(*x)} cy={number(*y)} r={number(*radius)} /> }
        }
        Form::Text { at: (x, y), text } => {
            html! { <text {class} {style} x={number(*x)} y={number(*y)} text-anchor="middle">{ text }</text> }
        }
    }
}
