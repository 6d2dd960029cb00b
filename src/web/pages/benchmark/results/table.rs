//! The table of results: filtered, sorted, its columns chosen.

use crate::state::StateHandle;
use std::rc::Rc;

use yew::prelude::*;

use super::columns::ColumnChooser;
use crate::components::{DataTable, RowAction, on};
use crate::platform::{download, page};
use ns_bench::Report;
use ns_page::Shared;
use ns_page::bench::{BenchAction, BenchState, ResultRow, RowId};
use ns_session::results::{
    Filter, ReportCells, fronts, narrow_columns, report_table, take_alike, visible_columns, with_pareto,
};
use ns_session::share::{Link, ProfileLink};
use ns_session::{ProfileSpec, TraceSpec};
use ns_view::table::{Sort, Table};

#[derive(Properties, PartialEq)]
pub struct ResultsTableProps {
    /// The state of the page.
    pub state: StateHandle<BenchState>,
    /// The rows that the filter leaves.
    pub rows: Rc<[ResultRow]>,
    /// The row that is best within the limits.
    pub best: Option<RowId>,
}

#[component]
pub fn ResultsTable(props: &ResultsTableProps) -> Html {
    let state = &props.state;
    let (_, wrong) = Filter::parse(&state.filter);
    let look = (state.rows.clone(), state.filter.clone(), state.columns.clone(), page::is_narrow());
    let drawn = use_memo(look, |(_, _, columns, is_narrow)| {
        let kept = &props.rows;
        let cells: Vec<&ReportCells> = kept.iter().map(|r| &*r.cells).collect();
        let mut keys = visible_columns(columns, &cells);
        let alike = take_alike(&mut keys, columns, &cells);
        let keys = if *is_narrow { narrow_columns(&keys, &cells) } else { keys };
        let ids: Vec<RowId> = kept.iter().map(|r| r.id).collect();
        let reports: Vec<&Report> = kept.iter().map(ResultRow::report).collect();
        (Shared::new(with_pareto(report_table(&cells, &keys), &fronts(&reports))), ids, alike)
    });
    let dispatch = state.dispatcher();
    let on_sort = on(dispatch.clone(), |dispatch, sort: Sort| dispatch.dispatch(BenchAction::Sort(sort)));
    let on_columns = on(dispatch.clone(), |dispatch, columns| dispatch.dispatch(BenchAction::Columns(columns)));
    let on_row = on((dispatch.clone(), drawn.clone()), |(dispatch, drawn), row: usize| {
        if let Some(id) = drawn.1.get(row) {
            dispatch.dispatch(BenchAction::Select(*id));
            page::focus("configuration-title");
        }
    });
    let oninput = on(dispatch, |dispatch, event: InputEvent| {
        dispatch.dispatch(BenchAction::Filter(page::value_of(&event).into()));
    });
    let (all, left) = (state.rows.len(), drawn.1.len());
    let is_wrong = !wrong.is_empty();
    let awaited = state.awaited_rows();
    let room = (awaited > 0).then(|| format!("--rows:{awaited}"));
    html! {
        <div class={classes!("panel", "results-table", (awaited > 0).then_some("is-awaited"))} style={room}>
            <div class="table-filter">
                <label class="search">
                    <span class="visually-hidden">{ "Filter Benchmark results" }</span>
                    <input type="search" placeholder="Filter: models=4 p99<5 nn" value={state.filter.clone()} {oninput}
                        aria-invalid={is_wrong.then_some("true")} aria-describedby="filter-note" />
                </label>
                <p id="filter-note" class={if is_wrong { "error" } else { "help" }} role="status">
                    { wrong.first().map_or_else(|| if left < all { format!("{left} of {all} rows match.") } else { String::new() }, ToString::to_string) }
                </p>
                <ColumnChooser columns={state.columns.clone()} on_choose={on_columns} />
                <button type="button" onclick={saver(&drawn.0)}>{ "Table as CSV" }</button>
            </div>
            { alike(&drawn.2) }
            <DataTable name="Benchmark results" table={drawn.0.clone()} sort={state.sort.clone()} {on_sort} {on_row}
                marked={state.selected.or(props.best).and_then(|marked| drawn.1.iter().position(|id| *id == marked))} row_action={profile_action(state, &drawn.1)} />
        </div>
    }
}

/// What all rows have alike.
fn alike(facts: &[(&'static str, String)]) -> Html {
    let fact = |(title, text): &(&'static str, String)| html! { <div><dt>{ *title }</dt><dd>{ text }</dd></div> };
    if facts.is_empty() {
        Html::default()
    } else {
        html! { <dl class="facts alike">{ for facts.iter().map(fact) }</dl> }
    }
}

/// Saves the table with its current columns and rows.
fn saver(table: &Shared<Table>) -> Callback<MouseEvent> {
    let table = table.clone();
    // A browser that refuses a download says so itself.
    Callback::from(move |_: MouseEvent| {
        drop(download::save("benchmark-table.csv", "text/csv", table.to_csv().as_bytes()))
    })
}

/// The link to the profile of a row that ran on this page. An imported row does not say enough of its model to profile it.
pub fn profile_link(state: &BenchState, row: RowId) -> Option<AttrValue> {
    let RowId::Own(row) = row else { return None };
    let planned = &state.sweep.as_ref()?.sweep().rows().get(row as usize)?.planned;
    let spec: ProfileSpec = TraceSpec::from(planned.configuration.clone()).spec;
    Some(Link::Profile(Box::new(ProfileLink { spec, ..ProfileLink::default() })).print().into())
}

/// The links to the profiles of rows.
fn profile_action(state: &BenchState, ids: &[RowId]) -> Option<RowAction> {
    let links: Rc<[Option<AttrValue>]> = ids.iter().map(|id| profile_link(state, *id)).collect();
    links.iter().any(Option::is_some).then_some(RowAction { title: "Profile", label: "Profile this", links })
}
