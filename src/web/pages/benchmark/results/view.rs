//! The results, or how to get some.

use yew::prelude::*;

use super::charts::ConfigurationCharts;
use super::table::ResultsTable;
use super::tiles::tiles;
use crate::bench::Report;
use crate::session::results::{scaling, throughput_by_configuration, throughput_latency};
use crate::web::components::{BarChart, LineChart, ScatterPlot};
use crate::web::state::bench::{BenchAction, BenchState, ResultRow, RowId};

/// Properties of [`BenchResults`].
#[derive(Properties, PartialEq)]
pub struct BenchResultsProps {
    /// The state of the page.
    pub state: UseReducerHandle<BenchState>,
}

/// The results, or how to get some.
#[component]
pub fn BenchResults(props: &BenchResultsProps) -> Html {
    let state = &props.state;
    let comparison = use_memo(state.rows.clone(), |rows| comparison(rows));
    let figures = use_memo(state.rows.clone(), |rows| tiles(rows));
    if state.rows.is_empty() {
        if state.run.is_running() || !state.scenario.is_empty() {
            return Html::default();
        }
        return html! {
            <section class="panel empty-state" aria-label="How to begin">
                <h2>{ "No results yet" }</h2>
                <p>{ "Press Run: the form is set to the four configurations NeuronPerf runs by default. Each becomes a row with its throughput, its latency and its price." }</p>
                <p>{ "Have results of NeuronPerf (CSV, JSON), a trace or a profile already? Drop the file anywhere on this page." }</p>
            </section>
        };
    }
    html! {
        <section class="results" aria-labelledby="results-title">
            <h2 id="results-title">{ "Results" }</h2>
            { imported(state) }
            { (*figures).clone() }
            <ResultsTable state={state.clone()} />
            { (*comparison).clone() }
            <ConfigurationCharts state={state.clone()} />
        </section>
    }
}

/// Says which rows are not of this page.
fn imported(state: &UseReducerHandle<BenchState>) -> Html {
    let rows = state.rows.iter().filter(|r| matches!(r.id, RowId::Imported(_)));
    let mut files: Vec<String> = rows.clone().filter_map(|r| r.report().machine.clone()).collect();
    files.dedup();
    let count = rows.count();
    if count == 0 {
        return Html::default();
    }
    let dispatch = state.dispatcher();
    let onclick = Callback::from(move |_: MouseEvent| dispatch.dispatch(BenchAction::DropImported));
    html! {
        <p class="panel imported">
            { format!("{count} {} imported from {}. ", if count == 1 { "row was" } else { "rows were" }, files.join(", ")) }
            <button type="button" {onclick}>{ "Remove imported rows" }</button>
        </p>
    }
}

fn comparison(rows: &[ResultRow]) -> Html {
    let reports = || rows.iter().map(ResultRow::report).filter(|r: &&Report| r.is_finished());
    let plot = throughput_latency(reports());
    if plot.points.is_empty() {
        return html! { <div class="panel plots"><p class="empty">{ "No configuration finished, so there is nothing to plot." }</p></div> };
    }
    html! {
        <div class="panel plots">
            <ScatterPlot title="Throughput over latency" {plot} />
            { for scaling(reports()).map(|plot| html! { <LineChart title="Scaling with the number of models" {plot} note="The dashed line has as many times the throughput as there are times the models." /> }) }
            <BarChart title="Throughput by configuration" unit="inf/s" plot={throughput_by_configuration(reports())} />
        </div>
    }
}
