//! A roofline with its points, which show their values on hover and focus.

use yew::prelude::*;

use super::plot_frame::{axes, pointer_in, ticks, use_width};
use super::{on, set};
use ns_base::units::format_number;
use ns_view::palette::fill_var;
use ns_view::plot::{Frame, RoofPoint, RooflinePlot};
use ns_view::svg::number;

#[derive(Properties, PartialEq)]
pub struct RooflineChartProps {
    pub plot: RooflinePlot,
}

fn place(frame: &Frame, (x, y): (f64, f64)) -> (String, String) {
    (number(frame.x(x)), number(frame.y(y)))
}

/// Between the line at the ridge and its label.
const LABEL_GAP_PX: f64 = 5.0;

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
        _ => format_number(value),
    }
}

#[component]
pub fn RooflineChart(props: &RooflineChartProps) -> Html {
    let active = use_state_eq(|| None::<usize>);
    let node = use_node_ref();
    let width = use_width(&node);
    let frame = Frame::new(width, 16.0);
    let plot = &props.plot;
    let points = plot.points.iter().enumerate().map(|(i, p)| {
        let (x, y) = place(&frame, p.at);
        // The whole run, then its modules, which are told apart by their names.
        let (r, fill) = if i == 0 { ("7", fill_var(1)) } else { ("5", fill_var(0)) };
        html! {
            <g class={classes!("point", (*active == Some(i)).then_some("is-active"))} tabindex="0" role="img" aria-label={describe(p)}
                onfocus={set(&active, Some(i))} onblur={set(&active, None)}>
                <circle class="mark" cx={x} cy={y} {r} {fill} />
            </g>
        }
    });
    let roof: Vec<String> = plot
        .roof
        .iter()
        .map(|p| {
            let (x, y) = place(&frame, *p);
            format!("{x},{y}")
        })
        .collect();
    let (ridge_x, ridge_y) = place(&frame, plot.roof[1]);
    // Beside the ridge, where there is more room for it.
    let (label_x, anchor) = match frame.x(plot.roof[1].0) {
        x if x < frame.x(0.5) => (number(x + LABEL_GAP_PX), "start"),
        x => (number(x - LABEL_GAP_PX), "end"),
    };
    let onmousemove = on((active.clone(), plot.clone()), move |(active, plot), event: MouseEvent| {
        active.set(pointer_in(&frame, &event).and_then(|place| plot.at(&frame, place)));
    });
    let readout = active.and_then(|i| plot.points.get(i)).or(plot.points.first()).map(describe);
    html! {
        <figure class="scatter roofline" ref={node}>
            <figcaption>{ "Roofline" }</figcaption>
            <svg viewBox={frame.view_box()} role="group" {onmousemove} onmouseleave={set(&active, None)} aria-label={format!("Roofline with its ridge at {:.1} flop/B and {} points", plot.ridge, plot.points.len())}>
                if width.is_some() {
                    { axes(&frame, &ticks(&plot.x), &ticks(&plot.y), &plot.x.title, &plot.y.title) }
                    <polyline class="roof" points={roof.join(" ")} fill="none" />
                    <line class="ridge" x1={ridge_x.clone()} x2={ridge_x.clone()} y1={ridge_y} y2={number(frame.bottom_edge())} />
                    <text class="ridge-label" x={label_x} y={number(frame.bottom_edge() - 6.0)} text-anchor={anchor}>{ format!("ridge {:.1}", plot.ridge) }</text>
                    { for points }
                }
            </svg>
            <p class="readout" role="status">{ readout.unwrap_or_else(|| "Nothing here multiplied matrices and moved bytes.".to_owned()) }</p>
        </figure>
    }
}
