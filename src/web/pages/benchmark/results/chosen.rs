//! The row that a mark of a plot chose, beside the plots: its figures, its profile, and the way to its charts.

use yew::prelude::*;

use super::table::profile_link;
use crate::platform::page;
use crate::state::StateHandle;
use ns_bench::Report;
use ns_page::bench::{BenchState, ResultRow};
use ns_session::results::RowNames;

#[derive(Properties, PartialEq)]
pub struct ChosenRowProps {
    /// The state of the page.
    pub state: StateHandle<BenchState>,
}

/// The chosen row, while there is one. It keeps to the foot of the window while its plots are higher than that.
#[component]
pub fn ChosenRow(props: &ChosenRowProps) -> Html {
    let state = &props.state;
    let Some(row) = state.selected.and_then(|id| state.rows.iter().find(|r| r.id == id)) else {
        return Html::default();
    };
    let reports: Vec<&Report> = state.rows.iter().map(ResultRow::report).collect();
    html! {
        <div class="chosen-row" role="status">
            <p>{ "Chosen: " }<strong>{ RowNames::of(&reports).with_figures(row.report()) }</strong></p>
            if let Some(href) = profile_link(state, row.id) { <a class="button" {href}>{ "Profile it" }</a> }
            <button type="button" onclick={|_: MouseEvent| page::focus("configuration-title")}>{ "Its latencies" }</button>
        </div>
    }
}
