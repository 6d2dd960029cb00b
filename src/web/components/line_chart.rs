//! Lines over two axes, with hover, keyboard and legend.

use yew::prelude::*;

use super::plot_frame::{VIEW_BOX, VIEW_WIDTH, axes, x_of as frame_x, y_of as frame_y};
use crate::view::palette::FILLS;
use crate::view::plot::{Line, LineMark, LineStyle, Lines};
use crate::view::svg::number;

/// Lines with more points than this are read as a whole: a stop of the Tab key for each would be a trap.
const MOST_STOPS: usize = 40;

/// Properties of [`LineChart`].
#[derive(Properties, PartialEq)]
pub struct LineChartProps {
    /// What it shows.
    pub title: AttrValue,
    /// Its lines.
    pub plot: Lines,
    /// What stands below it until a point is pointed at.
    #[prop_or_default]
    pub note: AttrValue,
    /// A point was chosen, by the position of its line and its own.
    #[prop_or_default]
    pub on_point: Option<Callback<(usize, usize)>>,
}

/// The chart. The arrow keys walk along all points from any of its stops.
#[component]
pub fn LineChart(props: &LineChartProps) -> Html {
    let active = use_state_eq(|| None::<(usize, usize)>);
    let plot = &props.plot;
    let readout = active.and_then(|(l, p)| {
        let line = plot.lines.get(l)?;
        Some(plot.describe(line, *line.points.get(p)?))
    });
    let onkeydown = {
        let (active, plot, on_point) = (active.clone(), plot.clone(), props.on_point.clone());
        Callback::from(move |event: KeyboardEvent| {
            if let (Some(on_point), Some(at), "Enter") = (&on_point, *active, event.key().as_str()) {
                event.prevent_default();
                on_point.emit(at);
                return;
            }
            let next = walk(&plot, *active, &event.key());
            if next != *active {
                event.prevent_default();
                active.set(next);
            }
        })
    };
    let onmousemove = {
        let (active, plot) = (active.clone(), plot.clone());
        Callback::from(move |event: MouseEvent| active.set(nearest(&plot, &event)))
    };
    let onclick = {
        let (plot, on_point) = (plot.clone(), props.on_point.clone());
        Callback::from(move |event: MouseEvent| {
            if let (Some(on_point), Some(at)) = (&on_point, nearest(&plot, &event)) {
                on_point.emit(at);
            }
        })
    };
    let onmouseleave = {
        let active = active.clone();
        Callback::from(move |_: MouseEvent| active.set(None))
    };
    let onblur = {
        let active = active.clone();
        Callback::from(move |_: FocusEvent| active.set(None))
    };
    let onfocus = {
        let active = active.clone();
        let first = plot.lines.first().map(|_| (0, 0));
        Callback::from(move |_: FocusEvent| active.set(first))
    };
    let legend = plot.lines.iter().map(|line| {
        html! {
            <li>
                <svg class="swatch is-line" viewBox="0 0 22 8" aria-hidden="true">
                    <line class={class_of(line.style)} x1="0" x2="22" y1="4" y2="4" stroke={color(line)} />
                </svg>
                <span class="name">{ &line.name }</span>
            </li>
        }
    });
    let opens = props.on_point.is_some();
    let points: usize = plot.lines.iter().map(|l| l.points.len()).sum();
    html! {
        <figure class="scatter lines">
            <figcaption>{ &props.title }</figcaption>
            <svg viewBox={VIEW_BOX} tabindex="0" role="img" {onkeydown} {onfocus} {onblur} {onmousemove} {onmouseleave} {onclick}
                class={classes!(opens.then_some("opens"))}
                aria-label={format!("{}, {} lines with {points} points in all; the arrow keys read them out{}", props.title, plot.lines.len(), if opens { ", Enter opens one" } else { "" })}>
                { axes(&plot.x, &plot.y) }
                { for plot.marks.iter().map(|m| mark(plot, m)) }
                { for plot.lines.iter().map(|line| path(plot, line)) }
                { active.and_then(|at| dot(plot, at)).unwrap_or_default() }
            </svg>
            <p class="readout" role="status">{ readout.unwrap_or_else(|| props.note.to_string()) }</p>
            if plot.lines.len() > 1 { <ul class="legend in-line">{ for legend }</ul> }
        </figure>
    }
}

fn x_of(plot: &Lines, value: f64) -> f64 {
    frame_x(&plot.x, value)
}

fn y_of(plot: &Lines, value: f64) -> f64 {
    frame_y(&plot.y, value)
}

fn color(line: &Line) -> &'static str {
    FILLS[usize::from(line.fill) % FILLS.len()]
}

const fn class_of(style: LineStyle) -> &'static str {
    match style {
        LineStyle::Solid => "line",
        LineStyle::Dashed => "line is-dashed",
        LineStyle::Steps => "line is-steps",
    }
}

fn path(plot: &Lines, line: &Line) -> Html {
    let place = |x: f64, y: f64| format!("{},{}", number(x_of(plot, x)), number(y_of(plot, y)));
    if line.style == LineStyle::Steps {
        let mut corners = Vec::new();
        if let Some(first) = line.points.first() {
            corners.push(place(first.0, 0.0));
        }
        for pair in line.points.windows(2) {
            corners.extend([place(pair[0].0, pair[0].1), place(pair[1].0, pair[0].1)]);
        }
        if let Some(last) = line.points.last() {
            corners.push(place(last.0, 0.0));
        }
        return html! { <polygon class="steps" points={corners.join(" ")} fill={color(line)} /> };
    }
    let corners: Vec<String> = line.points.iter().map(|(x, y)| place(*x, *y)).collect();
    let marks = (line.points.len() <= MOST_STOPS && line.style == LineStyle::Solid).then(|| {
        line.points.iter().map(|(x, y)| {
            html! { <circle class="mark" cx={number(x_of(plot, *x))} cy={number(y_of(plot, *y))} r="4" fill={color(line)} /> }
        })
    });
    let spread = line.points.iter().zip(&line.spread).filter(|(_, (low, high))| low.is_finite() && high.is_finite());
    let spread = spread.map(|((x, _), (low, high))| {
        let x = number(x_of(plot, *x));
        html! { <line class="spread" x1={x.clone()} x2={x} y1={number(y_of(plot, *low))} y2={number(y_of(plot, *high))} stroke={color(line)} /> }
    });
    html! { <>
        { for spread }
        <polyline class={class_of(line.style)} points={corners.join(" ")} stroke={color(line)} />
        { for marks.into_iter().flatten() }
    </> }
}

/// What happened at a place, as a line from top to bottom.
fn mark(plot: &Lines, mark: &LineMark) -> Html {
    let x = number(x_of(plot, mark.x));
    let (top, bottom) = (number(y_of(plot, plot.y.max)), number(y_of(plot, plot.y.min)));
    html! {
        <line class={classes!("happened", mark.is_bad.then_some("is-bad"))} x1={x.clone()} x2={x} y1={top} y2={bottom}>
            <title>{ &mark.text }</title>
        </line>
    }
}

fn dot(plot: &Lines, (line, point): (usize, usize)) -> Option<Html> {
    let line = plot.lines.get(line)?;
    let (x, y) = line.points.get(point)?;
    Some(html! { <circle class="reader" cx={number(x_of(plot, *x))} cy={number(y_of(plot, *y))} r="7" /> })
}

/// Left and right along a line, up and down between lines, Home and End to its ends.
fn walk(plot: &Lines, at: Option<(usize, usize)>, key: &str) -> Option<(usize, usize)> {
    let (line, point) = at.unwrap_or((0, 0));
    let last = |l: usize| plot.lines.get(l).map_or(0, |l| l.points.len().saturating_sub(1));
    let lines = plot.lines.len().checked_sub(1)?;
    let next = match key {
        "ArrowRight" => (line, (point + 1).min(last(line))),
        "ArrowLeft" => (line, point.saturating_sub(1)),
        "ArrowDown" => ((line + 1).min(lines), point),
        "ArrowUp" => (line.saturating_sub(1), point),
        "Home" => (line, 0),
        "End" => (line, last(line)),
        _ => return at,
    };
    Some((next.0, next.1.min(last(next.0))))
}

/// The point closest to the pointer.
fn nearest(plot: &Lines, event: &MouseEvent) -> Option<(usize, usize)> {
    let target = event.current_target().and_then(|t| wasm_bindgen::JsCast::dyn_into::<web_sys::Element>(t).ok())?;
    let rect = target.get_bounding_client_rect();
    let scale = VIEW_WIDTH / rect.width().max(1.0);
    let x = (f64::from(event.client_x()) - rect.left()) * scale;
    let y = (f64::from(event.client_y()) - rect.top()) * scale;
    let mut best: Option<((usize, usize), f64)> = None;
    for (l, line) in plot.lines.iter().enumerate() {
        for (p, (px, py)) in line.points.iter().enumerate() {
            let (dx, dy) = (x_of(plot, *px) - x, y_of(plot, *py) - y);
            let distance = dx * dx + dy * dy;
            if best.is_none_or(|(_, d)| distance < d) {
                best = Some(((l, p), distance));
            }
        }
    }
    best.map(|(at, _)| at)
}
