//! Points over two axes, with hover, keyboard and legend.

use yew::prelude::*;

use crate::view::palette::FILLS;
use crate::view::plot::{Mark, Scatter, ScatterPoint};
use crate::view::svg::number;

const LEFT: f64 = 86.0;
const TOP: f64 = 14.0;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 260.0;

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
    let readout = active.and_then(|i| plot.points.get(i)).map(|p| plot.describe(p));
    let points = plot.points.iter().enumerate().map(|(i, p)| {
        let set = |to: Option<usize>| {
            let active = active.clone();
            move || active.set(to)
        };
        let (on, on2, off, off2) = (set(Some(i)), set(Some(i)), set(None), set(None));
        html! {
            <g class={classes!("point", (*active == Some(i)).then_some("is-active"))} tabindex="0" role="img" aria-label={plot.describe(p)}
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
            <svg viewBox="0 0 672 330" role="group" aria-label={format!("{}, {} points; the same values are in the table", props.title, plot.points.len())}>
                { axes(plot) }
                { for points }
            </svg>
            <p class="readout">{ readout.unwrap_or_else(|| "Point at a mark, or move to it with Tab, for its values.".to_owned()) }</p>
            <ul class="legend in-line">{ for legend }</ul>
        </figure>
    }
}

fn x_of(plot: &Scatter, value: f64) -> f64 {
    LEFT + plot.x.share(value) * WIDTH
}

fn y_of(plot: &Scatter, value: f64) -> f64 {
    TOP + HEIGHT - plot.y.share(value) * HEIGHT
}

fn axes(plot: &Scatter) -> Html {
    let bottom = TOP + HEIGHT;
    let xs = plot.x.ticks.iter().map(|t| {
        let x = number(x_of(plot, t.value));
        html! { <>
            <line x1={x.clone()} x2={x.clone()} y1={number(TOP)} y2={number(bottom)} class="grid" />
            <text x={x} y={number(bottom + 18.0)} text-anchor="middle">{ &t.label }</text>
        </> }
    });
    let ys = plot.y.ticks.iter().map(|t| {
        let y = number(y_of(plot, t.value));
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
            <text class="axis-title" x={number(LEFT + WIDTH / 2.0)} y="322" text-anchor="middle">{ &plot.x.title }</text>
            <text class="axis-title" x="16" y={middle.clone()} text-anchor="middle" transform={format!("rotate(-90 16 {middle})")}>{ &plot.y.title }</text>
        </g>
    }
}

fn fill_of(fill: u8) -> &'static str {
    FILLS[usize::from(fill) % FILLS.len()]
}

/// How far to the right a mark stands because earlier ones are at its place.
fn beside(plot: &Scatter, i: usize) -> f64 {
    let place = |p: &ScatterPoint| (x_of(plot, p.x), y_of(plot, p.y));
    let (x, y) = place(&plot.points[i]);
    let before = plot.points[..i].iter().map(place).filter(|(a, b)| (a - x).abs() < 7.0 && (b - y).abs() < 7.0);
    before.count() as f64 * 9.0
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
