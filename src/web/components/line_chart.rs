//! Lines over two axes, with hover, keyboard, and names at the ends of the lines or in a legend.

use yew::prelude::*;

use super::plot_frame::{axes, pointer_in, ring_entry, ticks, use_width};
use super::{on, set};
use ns_base::convert::usize_to_f64;
use ns_view::palette::fill_var;
use ns_view::plot::{Frame, Line, LineMark, LineStyle, Lines, apart};
use ns_view::svg::number;

/// Lines with more points than this are one stop of the Tab key: a stop for each point would be a keyboard trap.
const MOST_STOPS: usize = 40;
/// With more lines, longer names or a narrower plot there is a legend, because names do not fit at the ends of the lines.
const MOST_DIRECT: usize = 8;
const LONGEST_DIRECT: usize = 16;
const LEAST_DIRECT_PX: f64 = 340.0;
/// Smallest distance between the names of two lines.
const LABEL_STEP_PX: f64 = 13.0;

#[derive(Properties, PartialEq)]
pub struct LineChartProps {
    pub title: AttrValue,
    pub plot: Lines,
    /// Text below it until the pointer is at a point.
    #[prop_or_default]
    pub note: AttrValue,
    /// A place on the axes that is marked, and its label.
    #[prop_or_default]
    pub chosen: Option<((f64, f64), AttrValue)>,
    /// Receives a chosen point: the position of its line, and its position on the line.
    #[prop_or_default]
    pub on_point: Option<Callback<(usize, usize)>>,
}

/// The chart. The arrow keys walk along all points from any of its stops.
#[component]
pub fn LineChart(props: &LineChartProps) -> Html {
    let active = use_state_eq(|| None::<(usize, usize)>);
    let node = use_node_ref();
    let width = use_width(&node);
    let plot = &props.plot;
    let is_direct = has_room_for_names(plot, width);
    let frame = Frame::new(width, if is_direct { 8.0 + usize_to_f64(longest_name(plot)) * 6.3 } else { 16.0 });
    let readout = active.and_then(|(l, p)| {
        let line = plot.lines.get(l)?;
        Some(plot.describe(line, *line.points.get(p)?))
    });
    let onkeydown = keys(&active, plot, props.on_point.as_ref());
    let onmousemove = on((active.clone(), plot.clone()), move |(active, plot), event: MouseEvent| {
        active.set(pointed(plot, &frame, &event))
    });
    let onclick = on((plot.clone(), props.on_point.clone()), move |(plot, on_point), event: MouseEvent| {
        if let (Some(on_point), Some(at)) = (on_point, pointed(plot, &frame, &event)) {
            on_point.emit(at);
        }
    });
    let onmouseleave = set(&active, None);
    let onblur = set(&active, None);
    // A press focuses the chart too: it keeps the point under the pointer.
    let onfocus = set(&active, (*active).or(plot.lines.first().map(|_| (0, 0))));
    let opens = props.on_point.is_some();
    let points: usize = plot.lines.iter().map(|l| l.points.len()).sum();
    html! {
        <figure class="scatter lines" ref={node}>
            <figcaption>{ &props.title }</figcaption>
            <svg viewBox={frame.view_box()} tabindex="0" role="img" {onkeydown} {onfocus} {onblur} {onmousemove} {onmouseleave} {onclick}
                class={classes!(opens.then_some("opens"))}
                aria-label={format!("{}, {} lines with {points} points in all; the arrow keys read them out{}", props.title, plot.lines.len(), if opens { ", Enter opens one" } else { "" })}>
                if width.is_some() {
                    { axes(&frame, &ticks(&plot.x), &ticks(&plot.y), &plot.x.title, &plot.y.title) }
                    { for plot.marks.iter().map(|m| mark(plot, &frame, m)) }
                    { for plot.lines.iter().map(|line| path(plot, &frame, line)) }
                    if is_direct { { names(plot, &frame) } }
                    if let Some((place, _)) = &props.chosen { { ring(plot, &frame, *place, "chosen", "9") } }
                    { active.and_then(|at| dot(plot, &frame, at)).unwrap_or_default() }
                }
            </svg>
            <p class="readout" role="status">{ readout.unwrap_or_else(|| props.note.to_string()) }</p>
            if (plot.lines.len() > 1 && !is_direct) || props.chosen.is_some() { { legend(plot, is_direct, props.chosen.as_ref().map(|(_, what)| what)) } }
        </figure>
    }
}

/// The arrow keys walk along the points, Enter opens the one that is shown.
fn keys(
    active: &UseStateHandle<Option<(usize, usize)>>,
    plot: &Lines,
    on_point: Option<&Callback<(usize, usize)>>,
) -> Callback<KeyboardEvent> {
    let (active, plot, on_point) = (active.clone(), plot.clone(), on_point.cloned());
    Callback::from(move |event: KeyboardEvent| {
        if let (Some(on_point), Some(at), "Enter") = (&on_point, *active, event.key().as_str()) {
            event.prevent_default();
            on_point.emit(at);
            return;
        }
        // Also at an end, where the key would scroll the page.
        if let Some(next) = walk(&plot, *active, &event.key()) {
            event.prevent_default();
            active.set(Some(next));
        }
    })
}

/// The legend: a piece of each line with its name, unless the names are beside the lines, and the meaning of the ring.
fn legend(plot: &Lines, is_direct: bool, chosen: Option<&AttrValue>) -> Html {
    let entry = |line: &Line| {
        html! {
            <li>
                <svg class="swatch is-line" viewBox="0 0 22 8" aria-hidden="true">
                    <line class={class_of(line.style)} x1="0" x2="22" y1="4" y2="4" stroke={color(line)} />
                </svg>
                <span class="name">{ &line.name }</span>
            </li>
        }
    };
    let entries = plot.lines.iter().filter(|_| !is_direct).map(entry);
    html! { <ul class="legend in-line">{ for entries }{ for chosen.map(ring_entry) }</ul> }
}

/// Whether the names of the lines fit beside their ends.
fn has_room_for_names(plot: &Lines, width: Option<f64>) -> bool {
    let is_plain = plot.lines.iter().all(|l| l.style != LineStyle::Steps);
    let count = plot.lines.len();
    (2..=MOST_DIRECT).contains(&count)
        && is_plain
        && longest_name(plot) <= LONGEST_DIRECT
        && width.is_none_or(|px| px >= LEAST_DIRECT_PX)
}

fn longest_name(plot: &Lines) -> usize {
    plot.lines.iter().map(|l| l.name.chars().count()).max().unwrap_or(0)
}

/// The name of each line beside its end, in its colour; names that would overlap are moved apart.
fn names(plot: &Lines, frame: &Frame) -> Html {
    let end = |line: &Line| line.points.last().map_or(0.0, |p| frame.y(plot.y.share(p.1)));
    let ends: Vec<f64> = plot.lines.iter().map(end).collect();
    let places = apart(&ends, LABEL_STEP_PX, frame.bottom_edge());
    let texts = plot.lines.iter().zip(places).map(|(line, y)| {
        let class = classes!("line-name", (line.style == LineStyle::Dashed).then_some("is-dashed"));
        html! {
            <text {class} x={number(frame.right_edge() + 6.0)} y={number(y)} fill={color(line)} dominant-baseline="central">{ &line.name }</text>
        }
    });
    html! { <g aria-hidden="true">{ for texts }</g> }
}

fn x_of(plot: &Lines, frame: &Frame, value: f64) -> f64 {
    frame.x(plot.x.share(value))
}

fn y_of(plot: &Lines, frame: &Frame, value: f64) -> f64 {
    frame.y(plot.y.share(value))
}

fn color(line: &Line) -> &'static str {
    fill_var(line.fill)
}

const fn class_of(style: LineStyle) -> &'static str {
    match style {
        LineStyle::Solid => "line",
        LineStyle::Dashed => "line is-dashed",
        LineStyle::Steps => "line is-steps",
    }
}

fn path(plot: &Lines, frame: &Frame, line: &Line) -> Html {
    let place = |x: f64, y: f64| format!("{},{}", number(x_of(plot, frame, x)), number(y_of(plot, frame, y)));
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
            html! { <circle class="mark" cx={number(x_of(plot, frame, *x))} cy={number(y_of(plot, frame, *y))} r="3.5" fill={color(line)} /> }
        })
    });
    let spread = line.points.iter().zip(&line.spread).filter_map(|((x, _), spread)| Some((x, (*spread)?)));
    let spread = spread.map(|(x, (low, high))| {
        let x = number(x_of(plot, frame, *x));
        html! { <line class="spread" x1={x.clone()} x2={x} y1={number(y_of(plot, frame, low))} y2={number(y_of(plot, frame, high))} stroke={color(line)} /> }
    });
    html! { <>
        { for spread }
        <polyline class={class_of(line.style)} points={corners.join(" ")} stroke={color(line)} />
        { for marks.into_iter().flatten() }
    </> }
}

/// An event on the horizontal axis, as a line from top to bottom.
fn mark(plot: &Lines, frame: &Frame, mark: &LineMark) -> Html {
    let x = number(x_of(plot, frame, mark.x));
    let (top, bottom) = (number(y_of(plot, frame, plot.y.max)), number(y_of(plot, frame, plot.y.min)));
    html! {
        <line class={classes!("happened", mark.is_bad.then_some("is-bad"))} x1={x.clone()} x2={x} y1={top} y2={bottom}>
            <title>{ &mark.text }</title>
        </line>
    }
}

fn dot(plot: &Lines, frame: &Frame, (line, point): (usize, usize)) -> Option<Html> {
    let line = plot.lines.get(line)?;
    let (from, y) = *line.points.get(point)?;
    let to = line.points.get(point + 1).filter(|_| line.style == LineStyle::Steps).map_or(from, |next| next.0);
    Some(ring(plot, frame, (f64::midpoint(from, to), y), "reader", "7"))
}

fn ring(plot: &Lines, frame: &Frame, place: (f64, f64), class: &'static str, r: &'static str) -> Html {
    let (x, y) = plot.place(frame, place);
    html! { <circle {class} cx={number(x)} cy={number(y)} {r} /> }
}

/// The point that a key leads to: left and right along a line, up and down between lines, Home and End to its ends.
fn walk(plot: &Lines, at: Option<(usize, usize)>, key: &str) -> Option<(usize, usize)> {
    let (line, point) = at.unwrap_or((0, 0));
    let last = |l: usize| plot.lines.get(l).map_or(0, Line::last);
    let lines = plot.lines.len().checked_sub(1)?;
    let next = match key {
        "ArrowRight" => (line, (point + 1).min(last(line))),
        "ArrowLeft" => (line, point.saturating_sub(1)),
        "ArrowDown" => ((line + 1).min(lines), point),
        "ArrowUp" => (line.saturating_sub(1), point),
        "Home" => (line, 0),
        "End" => (line, last(line)),
        _ => return None,
    };
    Some((next.0, next.1.min(last(next.0))))
}

/// The point under the pointer.
fn pointed(plot: &Lines, frame: &Frame, event: &MouseEvent) -> Option<(usize, usize)> {
    plot.at(frame, pointer_in(frame, event)?)
}
