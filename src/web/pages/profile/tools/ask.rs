//! The Ask tool: a query, its answer as a table and as bars.

use yew::prelude::*;

use super::paged_table::PagedTable;
use super::{ToolProps, level_select};
use crate::components::{SelectField, bar_chart, on};
use crate::platform::page;
use crate::state::ProfileAction;
use ns_base::units::unit_of_ns;
use ns_page::Shared;
use ns_page::profile::completions;
use ns_session::{LinkedTable, Listing, QueryOf};
use ns_view::plot::Bars;
use ns_view::table::{Cell, ColumnKind};

/// Example queries.
const EXAMPLES: [&str; 4] = [
    "group by name select name, sum(self), count order by sum(self) desc limit 10",
    "where dur > 1ms order by dur desc",
    "group by thread select thread, sum(self), count, p99(dur) order by sum(self) desc",
    "where depth = 0 group by category order by sum(dur) desc",
];
/// The number of first rows that are shown as bars.
const MOST_BARS: usize = 20;

/// Rows of an answer on a page.
const MOST_ROWS: u32 = 2_000;

#[component]
pub fn AskTool(props: &ToolProps) -> Html {
    let asked = props.state.link.ask.clone();
    let draft = use_state(|| asked.clone());
    let oninput = on(draft.clone(), |draft, event: InputEvent| draft.set(page::value_of(&event)));
    let onsubmit = on((draft.clone(), props.state.clone()), |(draft, state), event: SubmitEvent| {
        event.prevent_default();
        state.dispatch(ProfileAction::Ask((**draft).clone()));
    });
    let above = Callback::from(|listed: Shared<LinkedTable>| html! { <AnswerBars {listed} /> });
    let example = |text: &'static str| {
        let onclick = on((draft.clone(), props.state.clone()), move |(draft, state), _: MouseEvent| {
            draft.set(text.to_owned());
            state.dispatch(ProfileAction::Ask(text.to_owned()));
        });
        html! { <li><button type="button" class="link" {onclick}><code>{ text }</code></button></li> }
    };
    let word = |(word, text): (String, String)| {
        let onclick = on(draft.clone(), move |draft, _: MouseEvent| {
            draft.set(text.clone());
            page::focus("ask-query");
        });
        html! { <li key={word.clone()}><button type="button" {onclick}><code>{ word }</code></button></li> }
    };
    // Before the first question, an example shows what an answer is.
    let is_example = asked.trim().is_empty();
    let text = if is_example { EXAMPLES[0].to_owned() } else { asked };
    html! {
        <>
            <form class="panel ask" {onsubmit} aria-label="Ask the profile">
                <label for="ask-query">{ "Query" }</label>
                <div class="ask-line">
                    <input id="ask-query" type="text" autocomplete="off" spellcheck="false" value={(*draft).clone()} {oninput} placeholder={EXAMPLES[0]} />
                    <button type="submit" class="primary">{ "Ask" }</button>
                </div>
                <ul class="completions" aria-label="Words that can follow">{ for completions(&draft).into_iter().map(word) }</ul>
                { level_select(&props.run, &props.state) }
                <p class="help">{ "where COLUMN = != < > ~ VALUE and \u{2026} group by COLUMN select COLUMN, count, sum(dur) order by sum(dur) desc limit N. Columns: name, category, operator, module, process, device, core, thread, start, end, dur, self, depth, args.KEY; ~ is \u{201c}contains\u{201d}, texts stand in quotes, times may have a unit (10us)." }</p>
                <ul class="chain">{ for EXAMPLES.map(example) }</ul>
            </form>
            <div class="panel">
                if is_example { <p class="note">{ "An example: " }<code>{ &text }</code></p> }
                    <PagedTable
                        name={if is_example { "Example" } else { "Answer" }} file="answer" noun="rows" what={Listing::Query(QueryOf { text, level: props.state.level() })} page_rows={MOST_ROWS}
                        run={props.run.clone()} state={props.state.clone()} {above}
                    />
            </div>
        </>
    }
}

#[derive(Properties, PartialEq)]
struct AnswerBarsProps {
    listed: Shared<LinkedTable>,
}

/// One number of each of the first rows as bars; the user chooses which number. Empty if no row has a name and a number.
#[component]
fn AnswerBars(props: &AnswerBarsProps) -> Html {
    let chosen = use_state_eq(|| None::<String>);
    let columns = &props.listed.table.columns;
    let text = columns.iter().position(|c| matches!(c.kind, ColumnKind::Text | ColumnKind::Name));
    let numeric: Vec<usize> = (0..columns.len()).filter(|i| columns[*i].is_numeric()).collect();
    let (Some(text), Some(first)) = (text, numeric.first()) else { return Html::default() };
    let value = numeric.iter().find(|i| Some(&columns[**i].id) == chosen.as_ref()).unwrap_or(first);
    let rows = props.listed.table.rows.iter().take(MOST_BARS);
    let values = rows.filter_map(|row| match &row[text] {
        Cell::Text(_) => Some((row[text].text(columns[text].kind), String::new(), row[*value].number()?)),
        _ => None,
    });
    let values: Vec<_> = values.collect();
    let most = values.iter().map(|(.., v)| libm::fabs(*v)).fold(0.0, f64::max);
    let title = &columns[*value].title;
    // Times get a suitable unit; the unit of any other column is not known.
    let (title, (unit, scale)) = match title.strip_suffix(" (ns)") {
        Some(name) => (name.to_owned(), unit_of_ns(most)),
        None => (title.clone(), ("", 1.0)),
    };
    let plot = Bars::new(values.into_iter().map(|(name, more, v)| (name, more, v / scale)));
    let options = numeric.iter().map(|i| (columns[*i].id.clone().into(), columns[*i].title.clone().into()));
    let options: Vec<(AttrValue, AttrValue)> = options.collect();
    let on_choose = Callback::from(move |id: String| chosen.set(Some(id)));
    html! {
        <div class="answer-plot">
            <SelectField id="ask-plot" label="Plot" value={columns[*value].id.clone()} {options} {on_choose} />
            { bar_chart(&title, unit, &plot, None) }
        </div>
    }
}
