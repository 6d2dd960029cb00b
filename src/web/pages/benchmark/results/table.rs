//! The table of results: filtered, sorted, its columns chosen.

use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::columns::ColumnChooser;
use crate::session::results::{Filter, ReportCells, report_table, shown_columns};
use crate::view::table::Sort;
use crate::web::components::DataTable;
use crate::web::context::Shared;
use crate::web::platform::download;
use crate::web::state::bench::{BenchAction, BenchState, RowId};

/// Properties of [`ResultsTable`].
#[derive(Properties, PartialEq)]
pub struct ResultsTableProps {
    /// The state of the page.
    pub state: UseReducerHandle<BenchState>,
}

/// The table.
#[component]
pub fn ResultsTable(props: &ResultsTableProps) -> Html {
    let state = &props.state;
    let (filter, wrong) = Filter::parse(&state.filter);
    let shown = use_memo((state.rows.clone(), filter, state.columns.clone()), |(rows, filter, columns)| {
        let kept: Vec<_> = rows.iter().filter(|r| filter.accepts(&r.cells)).collect();
        let cells: Vec<&ReportCells> = kept.iter().map(|r| &*r.cells).collect();
        let chosen: Vec<&str> = columns.iter().map(AttrValue::as_str).collect();
        let keys = shown_columns(&chosen, &cells);
        let ids: Vec<RowId> = kept.iter().map(|r| r.id).collect();
        (Shared::new(report_table(&cells, &keys)), ids)
    });
    let dispatch = state.dispatcher();
    let on_sort = {
        let dispatch = dispatch.clone();
        Callback::from(move |sort: Sort| dispatch.dispatch(BenchAction::Sort(sort)))
    };
    let on_columns = {
        let dispatch = dispatch.clone();
        Callback::from(move |columns| dispatch.dispatch(BenchAction::Columns(columns)))
    };
    let on_row = {
        let (dispatch, shown) = (dispatch.clone(), shown.clone());
        Callback::from(move |row: usize| {
            if let Some(id) = shown.1.get(row) {
                dispatch.dispatch(BenchAction::Select(*id));
                crate::web::platform::page::focus("configuration-title");
            }
        })
    };
    let oninput = Callback::from(move |event: InputEvent| {
        if let Some(input) = event.target().and_then(|t| t.dyn_into::<HtmlInputElement>().ok()) {
            dispatch.dispatch(BenchAction::Filter(input.value().into()));
        }
    });
    let save = {
        let shown = shown.clone();
        // A browser that refuses a download says so itself.
        Callback::from(move |_: MouseEvent| {
            drop(download::save("benchmark-table.csv", "text/csv", shown.0.to_csv().as_bytes()))
        })
    };
    let (all, left) = (state.rows.len(), shown.1.len());
    let is_wrong = !wrong.is_empty();
    html! {
        <div class="panel results-table">
            <div class="table-filter">
                <label class="search">
                    <span class="visually-hidden">{ "Filter Benchmark results" }</span>
                    <input type="search" placeholder="Filter: n_models=4 latency_ms_p99<5 nn" value={state.filter.clone()} {oninput}
                        aria-invalid={is_wrong.then_some("true")} aria-describedby="filter-note" />
                </label>
                <p id="filter-note" class={if is_wrong { "error" } else { "help" }} role="status">
                    { wrong.first().map_or_else(|| if left < all { format!("{left} of {all} rows match.") } else { String::new() }, ToString::to_string) }
                </p>
                <ColumnChooser shown={state.columns.clone()} on_choose={on_columns} />
                <button type="button" onclick={save}>{ "Table as CSV" }</button>
            </div>
            <DataTable name="Benchmark results" table={shown.0.clone()} sort={state.sort.clone()} {on_sort} {on_row} />
        </div>
    }
}
