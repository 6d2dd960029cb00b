//! Results of a benchmark: the figures that matter most, a plot, the table.

use yew::prelude::*;

use crate::bench::Report;
use crate::view::plot::{Bars, Scatter};
use crate::view::table::{Cell, Column, ColumnKind, Sort, Table};
use crate::view::text::three_decimals;
use crate::web::components::{BarChart, DataTable, ScatterPlot};
use crate::web::context::Shared;
use crate::web::state::bench::{BenchAction, BenchState};

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
    let table = use_memo(state.reports.clone(), |reports| Shared::new(table_of(reports.iter().map(|(_, r)| &**r))));
    if state.reports.is_empty() {
        if state.run.is_running() {
            return Html::default();
        }
        return html! {
            <section class="panel empty-state" aria-label="How to begin">
                <h2>{ "No results yet" }</h2>
                <p>{ "Press Run: the form is set to the four configurations NeuronPerf runs by default. Each becomes a row with its throughput, its latency and its price." }</p>
                <p>{ "Have a trace or a profile already? Drop the file anywhere on this page." }</p>
            </section>
        };
    }
    let dispatch = state.dispatcher();
    let on_sort = {
        let dispatch = dispatch.clone();
        Callback::from(move |sort: Sort| dispatch.dispatch(BenchAction::Sort(sort)))
    };
    let on_search = Callback::from(move |text: String| dispatch.dispatch(BenchAction::Search(text.into())));
    html! {
        <section class="results" aria-labelledby="results-title">
            <h2 id="results-title">{ "Results" }</h2>
            { tiles(state) }
            <div class="panel">
                <DataTable
                    name="Benchmark results" table={(*table).clone()} sort={state.sort.clone()} {on_sort}
                    search={state.search.clone()} {on_search}
                />
            </div>
            <div class="panel plots">{ plot(state) }</div>
        </section>
    }
}

fn number(report: &Report, value: fn(&Report) -> Option<f64>) -> Cell {
    Cell::from(value(report))
}

/// The reports as a table; columns are named by NeuronPerf's keys.
fn table_of<'a>(reports: impl Iterator<Item = &'a Report>) -> Table {
    let columns = [
        ("model_name", "Model", ColumnKind::Text),
        ("n_models", "Models", ColumnKind::Count),
        ("workers_per_model", "Workers/model", ColumnKind::Count),
        ("pipeline_size", "Pipeline", ColumnKind::Count),
        ("batch_size", "Batch", ColumnKind::Count),
        ("throughput_avg", "Throughput avg (inf/s)", ColumnKind::Number),
        ("throughput_peak", "Peak (inf/s)", ColumnKind::Number),
        ("latency_ms_p50", "p50 (ms)", ColumnKind::Number),
        ("latency_ms_p90", "p90 (ms)", ColumnKind::Number),
        ("latency_ms_p99", "p99 (ms)", ColumnKind::Number),
        ("latency_ms_p100", "Max (ms)", ColumnKind::Number),
        ("cost_per_1m_inf", "US$ per 1M", ColumnKind::Number),
        ("status", "Status", ColumnKind::Text),
    ];
    let row = |r: &Report| {
        let count = |n: u32| Cell::Count(u64::from(n));
        vec![
            Cell::Text(r.model_name.clone()),
            count(r.n_models),
            count(r.workers_per_model),
            count(r.pipeline_size),
            count(r.batch_size),
            number(r, |r| r.throughput_avg),
            number(r, |r| r.throughput_peak),
            number(r, |r| r.latency_ms_p50),
            number(r, |r| r.latency_ms_p90),
            number(r, |r| r.latency_ms_p99),
            number(r, |r| r.latency_ms_p100),
            number(r, |r| r.cost_per_1m_inf),
            Cell::Text(r.error.as_ref().map_or_else(|| r.status.clone(), |e| format!("{}: {e}", r.status))),
        ]
    };
    Table {
        columns: columns.map(|(id, title, kind)| Column::new(id, title, kind)).into(),
        rows: reports.map(row).collect(),
    }
}

fn configuration(r: &Report) -> String {
    let plural = |n: u32, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
    format!("{}, {} each, batch {}", plural(r.n_models, "model"), plural(r.workers_per_model, "worker"), r.batch_size)
}

fn series(r: &Report) -> String {
    format!("{} worker{} per model", r.workers_per_model, if r.workers_per_model == 1 { "" } else { "s" })
}

/// The best throughput, the lowest latency, the lowest price, each with its configuration.
fn tiles(state: &BenchState) -> Html {
    let best = |value: fn(&Report) -> Option<f64>, largest: bool| {
        let scored = state.reports.iter().filter_map(|(_, r)| value(r).map(|v| (v, &**r)));
        if largest { scored.max_by(|a, b| a.0.total_cmp(&b.0)) } else { scored.min_by(|a, b| a.0.total_cmp(&b.0)) }
    };
    let tile = |title: &'static str, best: Option<(f64, &Report)>, unit: &'static str| {
        best.map(|(v, r)| {
            html! {
                <div class="tile">
                    <dt>{ title }</dt>
                    <dd><strong>{ three_decimals(v) }</strong>{ " " }{ unit }<span class="sub">{ configuration(r) }</span></dd>
                </div>
            }
        })
    };
    let failed = state.reports.iter().filter(|(_, r)| r.error.is_some()).count();
    html! {
        <dl class="tiles">
            { for tile("Best throughput", best(|r| r.throughput_avg, true), "inf/s") }
            { for tile("Lowest p99 latency", best(|r| r.latency_ms_p99, false), "ms") }
            { for tile("Lowest cost", best(|r| r.cost_per_1m_inf, false), "US$ per million") }
            if failed > 0 {
                <div class="tile bad"><dt>{ "Failed" }</dt><dd><strong>{ failed }</strong>{ " of " }{ state.reports.len() }
                    <span class="sub">{ "the reason is in the Status column" }</span></dd></div>
            }
        </dl>
    }
}

fn plot(state: &BenchState) -> Html {
    let points = state
        .reports
        .iter()
        .filter_map(|(_, r)| Some((series(r), r.latency_ms_p50?, r.throughput_avg?, configuration(r))));
    let plot = Scatter::new("Latency p50 (ms)", "Throughput avg (inf/s)", points);
    if plot.points.is_empty() {
        return html! { <p class="empty">{ "No configuration finished, so there is nothing to plot." }</p> };
    }
    // More bars than this are not compared by eye; the table sorts them.
    let bars =
        state.reports.iter().take(24).filter_map(|(_, r)| Some((configuration(r), series(r), r.throughput_avg?)));
    html! { <>
        <ScatterPlot title="Throughput over latency" {plot} />
        <BarChart title="Throughput by configuration" unit="inf/s" plot={Bars::new(bars)} />
    </> }
}
