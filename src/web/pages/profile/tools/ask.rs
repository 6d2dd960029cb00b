//! The Ask tool: a query, its answer as a table and as bars.

use yew::prelude::*;

use super::listed::ListedTable;
use super::{ToolProps, waiting};
use crate::session::{Listed, Listing};
use crate::view::plot::Bars;
use crate::view::table::{Cell, ColumnKind};
use crate::web::components::BarChart;
use crate::web::pages::profile::queries::use_listing;
use crate::web::platform::page;
use crate::web::state::profile::ProfileAction;

/// Queries to begin with.
const EXAMPLES: [&str; 4] = [
    "group by name order by sum(self) limit 10",
    "where dur > 1ms order by dur desc",
    "group by thread show count, sum(self), p99(dur)",
    "where depth = 0 group by category",
];
/// Bars show the first rows.
const MOST_BARS: usize = 20;

/// The tool.
#[component]
pub fn AskTool(props: &ToolProps) -> Html {
    let asked = props.state.link.ask.clone();
    let draft = use_state(|| asked.clone());
    let answer = use_listing(&props.run, (!asked.trim().is_empty()).then(|| Listing::Query(asked.clone())));
    let oninput = {
        let draft = draft.clone();
        Callback::from(move |event: InputEvent| draft.set(page::value_of(&event)))
    };
    let onsubmit = {
        let (draft, state) = (draft.clone(), props.state.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            state.dispatch(ProfileAction::Ask((*draft).clone()));
        })
    };
    let example = |text: &'static str| {
        let (draft, state) = (draft.clone(), props.state.clone());
        let onclick = Callback::from(move |_: MouseEvent| {
            draft.set(text.to_owned());
            state.dispatch(ProfileAction::Ask(text.to_owned()));
        });
        html! { <li><button type="button" class="link" {onclick}><code>{ text }</code></button></li> }
    };
    html! {
        <>
            <form class="panel ask" {onsubmit} aria-label="Ask the profile">
                <label for="ask-query">{ "Query" }</label>
                <div class="ask-line">
                    <input id="ask-query" type="text" autocomplete="off" spellcheck="false" value={(*draft).clone()} {oninput} placeholder={EXAMPLES[0]} />
                    <button type="submit" class="primary">{ "Ask" }</button>
                </div>
                <p class="help">{ "where FIELD = < > contains VALUE and \u{2026} group by FIELD show count, sum(dur) order by \u{2026} limit N. Fields: name, category, process, thread, module, start, end, dur, self, depth, arg.KEY." }</p>
                <ul class="chain">{ for EXAMPLES.map(example) }</ul>
            </form>
            if !asked.trim().is_empty() {
                <div class="panel">{ match answer {
                    None => waiting(None),
                    Some(Err(message)) => waiting(Some(&message)),
                    Some(Ok(listed)) => html! { <>
                        { bars(&listed) }
                        <ListedTable name="Answer" file="answer" listed={listed} state={props.state.clone()} />
                    </> },
                } }</div>
            }
        </>
    }
}

/// The first number of each group; nothing where rows are slices.
fn bars(listed: &Listed) -> Html {
    let columns = &listed.table.columns;
    let text = columns.iter().position(|c| c.kind == ColumnKind::Text);
    let value = columns.iter().position(|c| c.id.contains('(') || c.id == "count");
    let (Some(text), Some(value)) = (text, value) else { return Html::default() };
    let rows = listed.table.rows.iter().take(MOST_BARS);
    let values = rows.filter_map(|row| match &row[text] {
        Cell::Text(name) => Some((name.clone(), String::new(), row[value].number()?)),
        _ => None,
    });
    let plot = Bars::new(values);
    html! { <BarChart title={columns[value].title.clone()} unit="" {plot} /> }
}
