//! The critical path: the chain of slices that determined how long the run took, drawn over time and as tables.

use yew::prelude::*;

use super::paged_table::PagedTable;
use super::{ToolProps, instances_switch, range_of, waiting};
use crate::pages::profile::operators::range_switch;
use crate::pages::profile::queries::use_analysis;
use crate::state::ProfileAction;
use ns_analysis::opcode::short_name;
use ns_base::convert::i64_to_f64;
use ns_base::units::format_count;
use ns_session::{Answer, Listing, PathStep, PathSteps, Question};
use ns_view::palette::{fill_var, on_fill_var};

/// The most stretches that are drawn.
const MOST_STEPS: u32 = 400;

#[component]
pub fn PathTool(props: &ToolProps) -> Html {
    let state = &props.state;
    let range = range_of(state);
    let path = use_analysis(&props.run, Some(Question::Path { range, limit: MOST_STEPS }));
    let table = |name: &'static str, file: &'static str, noun: &'static str, what: Listing, longest_first: bool| {
        let (run, state) = (props.run.clone(), state.clone());
        html! { <PagedTable {name} {file} {noun} {what} {run} {state} {longest_first} /> }
    };
    let content = match &path {
        None => waiting(None),
        Some(Err(pending)) => waiting(Some(pending)),
        Some(Ok(answer)) => match &**answer {
            Answer::Path(path) if path.steps.is_empty() => {
                html! { <p class="empty">{ "No slice ran here, so there is no path." }</p> }
            }
            Answer::Path(path) => html! { <>
                { drawn_view(path, props) }
                { table("Time on the path", "critical-path", "names", Listing::CriticalPath(range, state.link.instances), false) }
                { table("Parts of the path", "critical-path-parts", "parts", Listing::PathParts(range), true) }
            </> },
            _ => Html::default(),
        },
    };
    html! {
        <>
            { range_switch(state, html! { { instances_switch(&props.run, state) } }) }
            <section class="panel" aria-label="Critical path">
                { content }
            </section>
        </>
    }
}

/// The path in a sentence and along the axis of time.
fn drawn_view(path: &PathSteps, props: &ToolProps) -> Html {
    let unit = &props.run.info.outline.unit;
    let mut text = format!("{} over {} parts", unit.text(path.length_ns), format_count(path.total));
    if path.idle_ns > 0 {
        text.push_str(&format!("; nothing ran on it for {}", unit.text(path.idle_ns)));
    }
    html! { <><p role="status" title={unit.exact(path.length_ns)}>{ text }{ "." }</p>{ strip(path, props) }</> }
}

/// Shows a part: its slice, or the gap.
fn to(step: &PathStep) -> ProfileAction {
    let span = ns_base::Interval::new(ns_base::TraceNs(step.start_ns), ns_base::TraceNs(step.end_ns));
    ProfileAction::ShowSpan(span, step.slice.as_ref().map(|s| s.slice))
}

fn length(step: &PathStep) -> i64 {
    step.end_ns.saturating_sub(step.start_ns)
}

fn name_of(step: &PathStep) -> &str {
    step.slice.as_ref().map_or("(nothing ran)", |s| s.title.as_str())
}

/// The parts along the axis of time, coloured by name as on the timeline.
fn strip(path: &PathSteps, props: &ToolProps) -> Html {
    let (Some(first), Some(last)) = (path.steps.first(), path.steps.last()) else { return Html::default() };
    let (from, whole) = (first.start_ns, i64_to_f64(last.end_ns.saturating_sub(first.start_ns).max(1)));
    let unit = &props.run.info.outline.unit;
    let part = |step: &PathStep| {
        let width = i64_to_f64(length(step)) * 100.0 / whole;
        let name = name_of(step);
        let fill = props.run.info.colours.fill_of(name);
        let (back, colour) = match step.slice {
            Some(_) => (fill_var(fill), on_fill_var(fill)),
            None => ("var(--line)", "var(--text)"),
        };
        let left = i64_to_f64(step.start_ns.saturating_sub(from)) * 100.0 / whole;
        let style = format!("left:{left:.4}%;width:{width:.4}%;--at:0;background:{back};color:{colour}");
        let mostly = if path.is_thinned { "mostly " } else { "" };
        let what = format!("{mostly}{name}: {}", unit.text(length(step)));
        let (state, step) = (props.state.clone(), step.clone());
        let onclick = Callback::from(move |_: MouseEvent| state.dispatch(to(&step)));
        html! { <button type="button" {onclick} {style} title={what.clone()} aria-label={what}><span>{ short_name(name).into_owned() }</span></button> }
    };
    html! {
        <figure class="flame path-strip" style="--rows:1">
            <figcaption>{ "Along the axis of time" }</figcaption>
            <div>{ for path.steps.iter().map(part) }</div>
            <p class="lanes-axis"><span title={unit.exact(from)}>{ unit.place(from) }</span><span title={unit.exact(last.end_ns)}>{ unit.place(last.end_ns) }</span></p>
        </figure>
    }
}
