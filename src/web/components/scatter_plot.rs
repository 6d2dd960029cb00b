//! Points over two axes, with hover, keyboard and legend. Marks stand exactly at their values, even if they overlap.

use yew::prelude::*;

use super::plot_frame::{axes, pointer_in, ring_entry, ticks, use_width};
use super::{on, set};
use ns_base::Order;
use ns_base::units::format_number;
use ns_view::palette::fill_var;
use ns_view::plot::{Frame, Mark, Scatter, ScatterPoint};
use ns_view::svg::number;

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
                    { front(plot, &frame) }
                    { limit(plot, &frame) }
                    { for plot.points.iter().map(|p| mark(plot, &frame, p)) }
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
                <svg class="swatch" viewBox="-8 -8 16 16" aria-hidden="true">{ shape(*m, 0.0, 0.0, fill_var(*fill)) }</svg>
                <span class="name">{ name }</span>
            </li>
        }
    });
    html! {
        <ul class="legend in-line">
            { for series }
            if plot.front.len() > 1 {
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

/// The front as a line through its points.
fn front(plot: &Scatter, frame: &Frame) -> Html {
    if plot.front.len() < 2 {
        return Html::default();
    }
    let corner = |p: &ScatterPoint| {
        let (x, y) = plot.place(frame, p);
        format!("{},{}", number(x), number(y))
    };
    let points: Vec<String> = plot.front.iter().filter_map(|&i| plot.points.get(i)).map(corner).collect();
    html! { <polyline class="front" points={points.join(" ")} aria-hidden="true" /> }
}

/// The limit as a line from top to bottom, with its value.
fn limit(plot: &Scatter, frame: &Frame) -> Html {
    let Some(limit) = plot.limit.filter(|x| *x <= plot.x.max) else { return Html::default() };
    let x = number(frame.x(plot.x.share(limit)));
    html! { <>
        <line class="limit" x1={x.clone()} x2={x.clone()} y1={number(frame.y(1.0))} y2={number(frame.y(0.0))} />
        <text class="line-name" x={x} y={number(frame.y(1.0) - 2.0)} text-anchor="middle">{ format!("at most {}", format_number(limit)) }</text>
    </> }
}

fn mark(plot: &Scatter, frame: &Frame, point: &ScatterPoint) -> Html {
    let (fill, m) = plot.series.get(point.series).map_or((0, Mark::Disc), |(_, f, m)| (*f, *m));
    let (x, y) = plot.place(frame, point);
    shape(m, x, y, fill_var(fill))
}

fn shape(mark: Mark, x: f64, y: f64, fill: &'static str) -> Html {
    match mark {
        Mark::Ring => {
            html! { <circle class="ring" cx={number(x)} cy={number(y)} r="5.5" fill="none" stroke={fill} stroke-width="2" /> }
        }
        Mark::Disc => html! { <circle class="mark" cx={number(x)} cy={number(y)} r="5" {fill} /> },
        Mark::Square => {
            html! { <rect class="mark" x={number(x - 4.5)} y={number(y - 4.5)} width="9" height="9" {fill} /> }
        }
        Mark::Triangle => {
            html! { <polygon class="mark" points={corners(x, y, &[(0.0, -6.0), (5.5, 4.5), (-5.5, 4.5)])} {fill} /> }
        }
        Mark::Diamond => {
            html! { <polygon class="mark" points={corners(x, y, &[(0.0, -6.5), (6.0, 0.0), (0.0, 6.5), (-6.0, 0.0)])} {fill} /> }
        }
    }
}

fn corners(x: f64, y: f64, offsets: &[(f64, f64)]) -> String {
    let corner = |(dx, dy): &(f64, f64)| format!("{},{}", number(x + dx), number(y + dy));
    offsets.iter().map(corner).collect::<Vec<_>>().join(" ")
}
