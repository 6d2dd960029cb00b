//! A plot over two axes, with hover, keyboard and legend.

use std::rc::Rc;

use yew::prelude::*;

use super::width::use_width;
use super::{drawn, on, set};
use crate::platform::pointer;
use ns_view::plot::{Chart, Form, Frame, LegendEntry, Shape, Spot, legend};
use ns_view::svg::number;

/// A plot over two axes, equal only to itself. A program has the code of the kinds that it draws: the app, which is opened first, draws no points.
#[derive(Clone)]
pub struct AnyChart(Rc<dyn Chart>);

impl<C: Chart + 'static> From<C> for AnyChart {
    fn from(chart: C) -> Self {
        Self(Rc::new(chart))
    }
}

impl PartialEq for AnyChart {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

#[derive(Properties, PartialEq)]
pub struct PlotChartProps {
    pub title: AttrValue,
    pub plot: AnyChart,
    /// Text below it until the pointer is at a point; without one, the plot's own.
    #[prop_or_default]
    pub note: Option<AttrValue>,
    /// A value of both axes that has a ring, and its meaning.
    #[prop_or_default]
    pub chosen: Option<((f64, f64), AttrValue)>,
    /// Receives a point that is clicked or chosen with Enter; without it points open nothing.
    #[prop_or_default]
    pub on_point: Option<Callback<Spot>>,
}

/// The plot. The arrow keys walk along its points.
#[component]
pub fn PlotChart(props: &PlotChartProps) -> Html {
    let active = use_state_eq(|| None::<Spot>);
    let node = use_node_ref();
    let width = use_width(&node);
    let shapes = use_memo((props.plot.clone(), width), |(plot, width)| {
        width.map(|px| {
            let mut shapes = plot.0.shapes(&plot.0.frame(Some(px)));
            // The words of points stand below the plot.
            let is_line = |shape: &Shape| matches!(shape.form, Form::Line(_));
            shapes.iter_mut().filter(|shape| !is_line(shape)).for_each(|shape| shape.title.clear());
            drawn(&shapes)
        })
    });
    let chart = &props.plot.0;
    let frame = chart.frame(width);
    let onkeydown = {
        let (active, plot, open) = (active.clone(), props.plot.clone(), props.on_point.clone());
        Callback::from(move |event: KeyboardEvent| {
            if let (Some(open), Some(at), "Enter") = (&open, *active, event.key().as_str()) {
                event.prevent_default();
                open.emit(at);
            // Also at an end, where the key would scroll the page.
            } else if let Some(next) = plot.0.next(*active, &event.key()) {
                event.prevent_default();
                active.set(Some(next));
            }
        })
    };
    let onmousemove = on((active.clone(), props.plot.clone()), move |(active, plot), event: MouseEvent| {
        active.set(pointed(plot, &frame, &event));
    });
    let onclick = props.on_point.clone().map(|open| {
        on((open, props.plot.clone()), move |(open, plot), event: MouseEvent| {
            pointed(plot, &frame, &event).into_iter().for_each(|at| open.emit(at));
        })
    });
    let (onmouseleave, onblur) = (set(&active, None), set(&active, None));
    // A press focuses the plot too: it keeps the point under the pointer.
    let onfocus = set(&active, (*active).or_else(|| chart.next(None, "Home")));
    let readout = active.and_then(|at| chart.words(at)).or_else(|| props.note.as_ref().map(ToString::to_string));
    let ring = |(x, y): (f64, f64), class: &'static str, r: &'static str| html! { <circle {class} cx={number(x)} cy={number(y)} {r} /> };
    let chosen = props.chosen.as_ref();
    let mut entries = chart.legend(&frame);
    entries.extend(chosen.map(|(_, what)| LegendEntry::ring(what)));
    let opens = if onclick.is_some() { ", Enter opens one" } else { "" };
    html! {
        <figure class={classes!("scatter", chart.class())} ref={node}>
            <figcaption>{ &props.title }</figcaption>
            <svg class={classes!((!opens.is_empty()).then_some("opens"))} viewBox={frame.view_box()} tabindex="0" role="img"
                {onkeydown} {onmousemove} {onmouseleave} {onblur} {onfocus} {onclick}
                aria-label={format!("{}, {}; the arrow keys read them out{opens}", props.title, chart.summary())}>
                if let Some(shapes) = (*shapes).clone() {
                    { shapes }
                    { for chosen.map(|(values, _)| ring(chart.place_of(&frame, *values), "chosen", "11")) }
                    { for active.and_then(|at| chart.place(&frame, at)).map(|place| ring(place, "reader", "9")) }
                }
            </svg>
            <p class="readout" role="status">{ readout.unwrap_or_else(|| chart.hint()) }</p>
            if !entries.is_empty() { <ul class="legend in-line">{ Html::from_html_unchecked(legend(&entries).into()) }</ul> }
        </figure>
    }
}

/// The point under the pointer.
fn pointed(plot: &AnyChart, frame: &Frame, event: &MouseEvent) -> Option<Spot> {
    let (x, y) = pointer::share_of(event, "svg")?;
    plot.0.at(frame, (x * frame.width, y * frame.height))
}
