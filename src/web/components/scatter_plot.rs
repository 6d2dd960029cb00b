//! Points over two axes, with hover, keyboard and legend.

use yew::prelude::*;

use super::plot_frame::{MIDDLE, VIEW_BOX, axes, x_of as frame_x, y_of as frame_y};
use crate::view::palette::FILLS;
use crate::view::plot::{Mark, Scatter, ScatterPoint};
use crate::view::svg::number;

/// Properties of [`ScatterPlot`].
#[derive(Properties, PartialEq)]
pub struct ScatterPlotProps {
    /// What it shows.
    pub title: AttrValue,
    /// Its points.
    pub plot: Scatter,
}

/// The plot.
#[component]
pub fn ScatterPlot(props: &ScatterPlotProps) -> Html {
    let active = use_state_eq(|| None::<usize>);
    let plot = &props.plot;
    let words = |i: usize, p: &ScatterPoint| {
        let front = if plot.is_on_front(i) { " \u{2013} on the Pareto front" } else { "" };
        format!("{}{front}", plot.describe(p))
    };
    let readout = active.and_then(|i| plot.points.get(i).map(|p| words(i, p)));
    let points = plot.points.iter().enumerate().map(|(i, p)| {
        let set = |to: Option<usize>| {
            let active = active.clone();
            move || active.set(to)
        };
        let (on, on2, off, off2) = (set(Some(i)), set(Some(i)), set(None), set(None));
        html! {
            <g class={classes!("point", (*active == Some(i)).then_some("is-active"))} tabindex="0" role="img" aria-label={words(i, p)}
                onmouseenter={Callback::from(move |_: MouseEvent| on())} onmouseleave={Callback::from(move |_: MouseEvent| off())}
                onfocus={Callback::from(move |_: FocusEvent| on2())} onblur={Callback::from(move |_: FocusEvent| off2())}>
                { mark(plot, p, beside(plot, i)) }
            </g>
        }
    });
    let legend = plot.series.iter().map(|(name, fill, m)| {
        html! {
            <li>
                <svg class="swatch" viewBox="-8 -8 16 16" aria-hidden="true">{ shape(*m, 0.0, 0.0, fill_of(*fill)) }</svg>
                <span class="name">{ name }</span>
            </li>
        }
    });
    html! {
        <figure class="scatter">
            <figcaption>{ &props.title }</figcaption>
            <svg viewBox={VIEW_BOX} role="group" aria-label={format!("{}, {} points; the same values are in the table", props.title, plot.points.len())}>
                { axes(&plot.x, &plot.y) }
                { front(plot) }
                { for points }
            </svg>
            <p class="readout">{ readout.unwrap_or_else(|| "Point at a mark, or move to it with Tab, for its values.".to_owned()) }</p>
            <ul class="legend in-line">
                { for legend }
                if plot.front.len() > 1 {
                    <li><svg class="swatch is-line" viewBox="0 0 22 8" aria-hidden="true"><line class="front" x1="0" x2="22" y1="4" y2="4" /></svg>
                        <span class="name">{ "Pareto front: nothing else is faster at as much throughput" }</span></li>
                }
            </ul>
        </figure>
    }
}

fn x_of(plot: &Scatter, value: f64) -> f64 {
    frame_x(&plot.x, value)
}

fn y_of(plot: &Scatter, value: f64) -> f64 {
    frame_y(&plot.y, value)
}

/// The front as a line through its points.
fn front(plot: &Scatter) -> Html {
    if plot.front.len() < 2 {
        return Html::default();
    }
    let place = |p: &ScatterPoint| format!("{},{}", number(x_of(plot, p.x)), number(y_of(plot, p.y)));
    let points: Vec<String> = plot.front.iter().filter_map(|&i| plot.points.get(i)).map(place).collect();
    html! { <polyline class="front" points={points.join(" ")} aria-hidden="true" /> }
}

fn fill_of(fill: u8) -> &'static str {
    FILLS[usize::from(fill) % FILLS.len()]
}

/// How far beside its place a mark stands because earlier ones are there: away from the nearer edge, so that it stays in
/// the frame.
fn beside(plot: &Scatter, i: usize) -> f64 {
    let place = |p: &ScatterPoint| (x_of(plot, p.x), y_of(plot, p.y));
    let (x, y) = place(&plot.points[i]);
    let before = plot.points[..i].iter().map(place).filter(|(a, b)| (a - x).abs() < 7.0 && (b - y).abs() < 7.0);
    let step = if x > MIDDLE { -9.0 } else { 9.0 };
    before.count() as f64 * step
}

fn mark(plot: &Scatter, point: &ScatterPoint, dx: f64) -> Html {
    let (fill, m) = plot.series.get(point.series).map_or((0, Mark::Disc), |(_, f, m)| (*f, *m));
    let (x, y) = (x_of(plot, point.x) + dx, y_of(plot, point.y));
    html! { <>
        <circle cx={number(x)} cy={number(y)} r="14" fill="transparent" />
        { shape(m, x, y, fill_of(fill)) }
    </> }
}

fn shape(mark: Mark, x: f64, y: f64, fill: &'static str) -> Html {
    match mark {
        Mark::Disc => html! { <circle class="mark" cx={number(x)} cy={number(y)} r="6" {fill} /> },
        Mark::Square => {
            html! { <rect class="mark" x={number(x - 5.5)} y={number(y - 5.5)} width="11" height="11" {fill} /> }
        }
        Mark::Triangle => {
            html! { <polygon class="mark" points={corners(x, y, &[(0.0, -7.0), (6.5, 5.0), (-6.5, 5.0)])} {fill} /> }
        }
        Mark::Diamond => {
            html! { <polygon class="mark" points={corners(x, y, &[(0.0, -7.5), (7.0, 0.0), (0.0, 7.5), (-7.0, 0.0)])} {fill} /> }
        }
    }
}

fn corners(x: f64, y: f64, offsets: &[(f64, f64)]) -> String {
    let corner = |(dx, dy): &(f64, f64)| format!("{},{}", number(x + dx), number(y + dy));
    offsets.iter().map(corner).collect::<Vec<_>>().join(" ")
}
