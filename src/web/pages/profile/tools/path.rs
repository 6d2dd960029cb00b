//! The critical path: the chain of slices that made it take as long as it did, drawn over time and as tables.

use yew::prelude::*;

use super::listed::ListedTable;
use super::{ToolProps, span_of, waiting};
use crate::base::units::{format_count, format_ns};
use crate::profile::analysis::critical::Cause;
use crate::session::{Answer, PathShown, PathStep, Question};
use crate::view::palette::{FILLS, fill_of};
use crate::view::table::{Cell, Column, ColumnKind, Table};
use crate::view::text::exact_ns;
use crate::web::components::LocalTable;
use crate::web::context::Shared;
use crate::web::pages::profile::operators::range_switch;
use crate::web::pages::profile::queries::use_analysis;
use crate::web::state::profile::ProfileAction;

/// Parts that are drawn and listed.
const MOST_PARTS: u32 = 400;
/// Parts narrower than this share of the strip are not drawn.
const LEAST_PERCENT: f64 = 0.05;

/// The tool.
#[component]
pub fn PathTool(props: &ToolProps) -> Html {
    let state = &props.state;
    let path = use_analysis(&props.run, Some(Question::Path(span_of(state, MOST_PARTS))));
    let content = match &path {
        None => waiting(None),
        Some(Err(pending)) => waiting(Some(pending)),
        Some(Ok(answer)) => match &**answer {
            Answer::Path(path) if path.steps.is_empty() => {
                html! { <p class="empty">{ "No slice ran here, so there is no path." }</p> }
            }
            Answer::Path(path) => {
                let listed = Shared::new(path.by_name.clone());
                html! { <>
                    { drawn_view(path, props) }
                    <ListedTable name="Time on the path" file="critical-path" {listed} state={state.clone()} />
                    { parts_view(path, props) }
                </> }
            }
            _ => Html::default(),
        },
    };
    html! {
        <>
            { range_switch(state) }
            <section class="panel" aria-label="Critical path">
                { content }
            </section>
        </>
    }
}

/// The path in a sentence and along the axis of time.
fn drawn_view(path: &PathShown, props: &ToolProps) -> Html {
    let idle: i64 = path.steps.iter().filter(|s| s.slice.is_none()).map(length).sum();
    let shown = path.steps.len() as u64;
    let mut text = format!("{} over {} parts", exact_ns(path.length_ns), format_count(path.total));
    if idle > 0 {
        text.push_str(&format!("; nothing ran on it for {}", format_ns(idle as f64)));
    }
    if shown < path.total {
        text.push_str(&format!("; the {} longest parts are shown", format_count(shown)));
    }
    html! { <><p role="status">{ text }{ "." }</p>{ strip(path, props) }</> }
}

fn parts_view(path: &PathShown, props: &ToolProps) -> Html {
    let table = table_of(path);
    let on_row = {
        let (steps, state) = (path.steps.clone(), props.state.clone());
        Callback::from(move |row: usize| {
            if let Some(step) = steps.get(row) {
                state.dispatch(to(step));
            }
        })
    };
    html! { <LocalTable name="Parts of the path" file="critical-path-parts" {table} {on_row} /> }
}

/// Shows a part: its slice, or the gap.
fn to(step: &PathStep) -> ProfileAction {
    let span = crate::base::Interval::new(crate::base::TraceNs(step.start_ns), crate::base::TraceNs(step.end_ns));
    ProfileAction::ShowSpan(span, step.slice.as_ref().map(|s| s.slice))
}

fn length(step: &PathStep) -> i64 {
    step.end_ns.saturating_sub(step.start_ns)
}

fn name_of(step: &PathStep) -> &str {
    step.slice.as_ref().map_or("(nothing ran)", |s| s.title.as_str())
}

/// The parts along the axis of time, coloured by name as on the timeline.
fn strip(path: &PathShown, props: &ToolProps) -> Html {
    let (Some(first), Some(last)) = (path.steps.first(), path.steps.last()) else { return Html::default() };
    let (from, whole) = (first.start_ns, last.end_ns.saturating_sub(first.start_ns).max(1) as f64);
    let part = |step: &PathStep| {
        let width = length(step) as f64 * 100.0 / whole;
        let name = name_of(step);
        let back = match step.slice {
            Some(_) => FILLS[usize::from(fill_of(name)) % FILLS.len()],
            None => "var(--line)",
        };
        let colour = if step.slice.is_some() { "#10151c" } else { "var(--text)" };
        let left = step.start_ns.saturating_sub(from) as f64 * 100.0 / whole;
        let style = format!("left:{left:.4}%;width:{width:.4}%;top:0;background:{back};color:{colour}");
        let what = format!("{name}: {}", format_ns(length(step) as f64));
        let (state, step) = (props.state.clone(), step.clone());
        let onclick = Callback::from(move |_: MouseEvent| state.dispatch(to(&step)));
        html! { <button type="button" {onclick} {style} title={what.clone()} aria-label={what}>{ name }</button> }
    };
    let wide = path.steps.iter().filter(|s| length(s) as f64 * 100.0 / whole >= LEAST_PERCENT);
    html! {
        <figure class="flame path-strip">
            <figcaption>{ "Along the axis of time" }</figcaption>
            <div style="height:24px">{ for wide.map(part) }</div>
            <p class="lanes-axis"><span>{ exact_ns(from) }</span><span>{ exact_ns(last.end_ns) }</span></p>
        </figure>
    }
}

const fn joined(cause: Cause) -> &'static str {
    match cause {
        Cause::Last => "ends last",
        Cause::Track => "next on its track",
        Cause::Arrow => "arrow to the next",
        Cause::Thread => "next on another row",
        Cause::Wait => "the next waits for it",
        Cause::Idle => "the next did not start",
    }
}

fn table_of(path: &PathShown) -> Shared<Table> {
    let row = |s: &PathStep| {
        vec![
            Cell::Text(name_of(s).to_owned()),
            Cell::Number(s.start_ns as f64),
            Cell::Count(length(s).max(0).unsigned_abs()),
            Cell::Number(if path.length_ns > 0 { length(s) as f64 * 100.0 / path.length_ns as f64 } else { 0.0 }),
            Cell::Text(joined(s.cause).to_owned()),
        ]
    };
    Shared::new(Table {
        columns: vec![
            Column::new("name", "Part", ColumnKind::Text),
            Column::new("start_ns", "Start (ns)", ColumnKind::Count),
            Column::new("duration_ns", "Time (ns)", ColumnKind::Count),
            Column::new("percent", "Time %", ColumnKind::Percent),
            Column::new("joined", "Joined by", ColumnKind::Text),
        ],
        rows: path.steps.iter().map(row).collect(),
    })
}
