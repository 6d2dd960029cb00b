//! Flame graphs: stacks of all threads or thread by thread, and callers and callees of a name.

use yew::prelude::*;

use super::{ToolProps, chosen, waiting};
use crate::base::units::{format_count, format_ns};
use crate::profile::analysis::flame::FlameGraph;
use crate::session::{Answer, Question};
use crate::view::flame::{FlameLayout, Growth};
use crate::view::palette::{FILLS, fill_of};
use crate::web::components::{SelectField, TextField};
use crate::web::pages::profile::operators::range_switch;
use crate::web::pages::profile::queries::use_analysis;

/// Nodes that are asked for, and the least share of the width that is drawn.
const MOST_NODES: u32 = 900;
const LEAST_PERCENT: f64 = 0.15;

/// The tool.
#[component]
pub fn FlameTool(props: &ToolProps) -> Html {
    let shape = use_state_eq(|| "left-heavy".to_owned());
    let from = use_state_eq(Vec::<String>::new);
    let name = use_state_eq(String::new);
    let of = chosen(&props.state);
    let question = match shape.as_str() {
        "sandwich" if name.trim().is_empty() => None,
        "sandwich" => Some(Question::Sandwich { of, name: (*name).clone(), limit: MOST_NODES / 2 }),
        shape => {
            Some(Question::Flame { of, by_thread: shape == "by thread", from: (*from).clone(), limit: MOST_NODES })
        }
    };
    let has_question = question.is_some();
    let answer = use_analysis(&props.run, question);
    let choose = {
        let (shape, from) = (shape.clone(), from.clone());
        Callback::from(move |text: String| {
            from.set(Vec::new());
            shape.set(text);
        })
    };
    let options = ["left-heavy", "by thread", "sandwich"].map(|s| (AttrValue::from(s), AttrValue::from(s))).to_vec();
    let on_zoom = {
        let (shape, from, name) = (shape.clone(), from.clone(), name.clone());
        Callback::from(move |path: Vec<String>| {
            if *shape == "sandwich" {
                name.set(path.last().cloned().unwrap_or_default());
            } else {
                from.set(path);
            }
        })
    };
    let content = match &answer {
        None if !has_question => {
            html! { <p class="empty">{ "Type the name of a slice, or press one in another view." }</p> }
        }
        None => waiting(None),
        Some(Err(message)) => waiting(Some(message)),
        Some(Ok(answer)) => match &**answer {
            Answer::Flame(graph) => graph_view("Stacks", graph, Growth::Down, &on_zoom),
            Answer::Sandwich(s) => html! { <>
                <p class="note" role="status">{ format!("{}: {} slices, total {}, self {}", s.name, format_count(s.count), format_ns(s.total_ns as f64), format_ns(s.self_ns as f64)) }</p>
                { graph_view("Callers", &s.callers, Growth::Up, &on_zoom) }
                { graph_view("Callees", &s.callees, Growth::Down, &on_zoom) }
            </> },
            _ => Html::default(),
        },
    };
    let reset = on_zoom.reform(|_: MouseEvent| Vec::new());
    let on_edit = {
        let name = name.clone();
        Callback::from(move |text: String| name.set(text))
    };
    html! {
        <>
            <div class="panel view-bar">
                <SelectField id="flame-shape" label="View" value={(*shape).clone()} {options} on_choose={choose} />
                if *shape == "sandwich" {
                    <TextField id="flame-name" label="Name" value={(*name).clone()} {on_edit} />
                } else {
                    <div class="buttons"><button type="button" onclick={reset} disabled={from.is_empty()}>{ "Show everything" }</button></div>
                }
            </div>
            { range_switch(&props.state) }
            <section class="panel" aria-label="Flame graph">{ content }</section>
        </>
    }
}

/// Names from the outermost to a node.
fn path_to(graph: &FlameGraph, node: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = node;
    while at != 0 {
        names.push(graph.nodes[at].name.clone());
        at = graph.nodes[at].parent as usize;
    }
    names.extend(graph.nodes.first().map(|n| n.name.clone()).filter(|n| !n.is_empty()));
    names.extend(graph.around.iter().rev().cloned());
    names.reverse();
    names
}

/// Each node a button: as wide as its time, in the row of its depth.
fn graph_view(title: &'static str, graph: &FlameGraph, growth: Growth, on_zoom: &Callback<Vec<String>>) -> Html {
    let layout = FlameLayout::new(graph, 100.0, LEAST_PERCENT, growth);
    let node = |r: &crate::view::flame::FlameRect| {
        let n = &graph.nodes[r.node as usize];
        let name = if n.name.is_empty() { "everything" } else { n.name.as_str() };
        let path = path_to(graph, r.node as usize);
        let onclick = on_zoom.reform(move |_: MouseEvent| path.clone());
        let what = format!(
            "{name}: {} slices, total {}, self {}",
            format_count(n.count),
            format_ns(n.total_ns as f64),
            format_ns(n.self_ns as f64)
        );
        let style = format!(
            "left:{:.4}%;width:{:.4}%;top:{}px;background:{}",
            r.x,
            r.width,
            u32::from(r.row) * 20,
            FILLS[usize::from(fill_of(name)) % FILLS.len()]
        );
        html! { <button type="button" {onclick} {style} title={what.clone()} aria-label={what}>{ name }</button> }
    };
    html! {
        <figure class="flame">
            <figcaption>{ title }</figcaption>
            <div style={format!("height:{}px", u32::from(layout.rows) * 20)}>{ for layout.rects.iter().map(node) }</div>
            if graph.omitted > 0 { <p class="note">{ format!("{} nodes with less time are left out.", format_count(graph.omitted)) }</p> }
        </figure>
    }
}
