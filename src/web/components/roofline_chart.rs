//! A roofline with its points, which show their values on hover and focus.

use yew::prelude::*;

use crate::view::palette::{FILLS, fill_of};
use crate::view::plot::{RoofPoint, RooflinePlot};
use crate::view::svg::number;

const LEFT: f64 = 74.0;
const TOP: f64 = 14.0;
const WIDTH: f64 = 570.0;
const HEIGHT: f64 = 260.0;

/// Properties of [`RooflineChart`].
#[derive(Properties, PartialEq)]
pub struct RooflineChartProps {
    /// The plot.
    pub plot: RooflinePlot,
}

fn place((x, y): (f64, f64)) -> (String, String) {
    (number(LEFT + x * WIDTH), number(TOP + HEIGHT - y * HEIGHT))
}

/// A point in words.
fn describe(p: &RoofPoint) -> String {
    let side = if p.is_memory_bound { "below" } else { "above" };
    format!(
        "{}: {} flop/B, {} the ridge; {} flop/s, {} % of the roof there",
        p.name,
        rounded(p.intensity),
        side,
        rounded(p.rate),
        rounded(p.of_roof_percent)
    )
}

/// Three significant digits.
fn rounded(value: f64) -> String {
    match value.abs() {
        a if a >= 1e12 => format!("{:.2}T", value / 1e12),
        a if a >= 1e9 => format!("{:.2}G", value / 1e9),
        a if a >= 1e6 => format!("{:.2}M", value / 1e6),
        a if a >= 0.01 => format!("{value:.2}"),
        _ => format!("{value:.1e}"),
    }
}

/// The plot.
#[component]
pub fn RooflineChart(props: &RooflineChartProps) -> Html {
    let active = use_state_eq(|| None::<usize>);
    let plot = &props.plot;
    let points = plot.points.iter().enumerate().map(|(i, p)| {
        let set = |to: Option<usize>| {
            let active = active.clone();
            move || active.set(to)
        };
        let (on, on2, off, off2) = (set(Some(i)), set(Some(i)), set(None), set(None));
        let (x, y) = place(p.at);
        let (r, fill) = if i == 0 { ("7", FILLS[1]) } else { ("5", FILLS[usize::from(fill_of(&p.name)) % FILLS.len()]) };
        html! {
            <g class={classes!("point", (*active == Some(i)).then_some("is-active"))} tabindex="0" role="img" aria-label={describe(p)}
                onmouseenter={Callback::from(move |_: MouseEvent| on())} onmouseleave={Callback::from(move |_: MouseEvent| off())}
                onfocus={Callback::from(move |_: FocusEvent| on2())} onblur={Callback::from(move |_: FocusEvent| off2())}>
                <circle cx={x.clone()} cy={y.clone()} r="13" fill="transparent" />
                <circle class="mark" cx={x} cy={y} {r} {fill} />
            </g>
        }
    });
    let roof: Vec<String> = plot
        .roof
        .iter()
        .map(|p| {
            let (x, y) = place(*p);
            format!("{x},{y}")
        })
        .collect();
    let (ridge_x, ridge_y) = place(plot.roof[1]);
    let readout = active.and_then(|i| plot.points.get(i)).or(plot.points.first()).map(describe);
    html! {
        <figure class="scatter roofline">
            <figcaption>{ "Roofline" }</figcaption>
            <svg viewBox="0 0 672 330" role="group" aria-label={format!("Roofline with its ridge at {:.1} flop/B and {} points", plot.ridge, plot.points.len())}>
                { axes(plot) }
                <polyline class="roof" points={roof.join(" ")} fill="none" />
                <line class="ridge" x1={ridge_x.clone()} x2={ridge_x.clone()} y1={ridge_y} y2={number(TOP + HEIGHT)} />
                <text class="ridge-label" x={ridge_x} y={number(TOP + HEIGHT - 6.0)} text-anchor="end">{ format!("ridge {:.1} ", plot.ridge) }</text>
                { for points }
            </svg>
            <p class="readout" role="status">{ readout.unwrap_or_else(|| "Nothing here multiplied matrices and moved bytes.".to_owned()) }</p>
        </figure>
    }
}

fn axes(plot: &RooflinePlot) -> Html {
    let xs = plot.x.ticks.iter().map(|t| {
        let (x, bottom) = place((plot.x.share(t.value), 0.0));
        html! { <>
            <line x1={x.clone()} x2={x.clone()} y1={number(TOP)} y2={bottom} class="grid" />
            <text x={x} y={number(TOP + HEIGHT + 18.0)} text-anchor="middle">{ &t.label }</text>
        </> }
    });
    let ys = plot.y.ticks.iter().map(|t| {
        let (_, y) = place((0.0, plot.y.share(t.value)));
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
