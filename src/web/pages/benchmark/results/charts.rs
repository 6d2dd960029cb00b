//! Charts of one configuration: latencies and throughput over time.

use crate::state::StateHandle;
use yew::prelude::*;

use super::table::profile_link;
use crate::components::{AnyChart, PlotChart, SelectField, on};
use ns_base::units::{format_count, format_figures, format_range};
use ns_page::bench::{BenchAction, BenchState, ResultRow, RowId};
use ns_session::results::{configuration_text, latency_curves, latency_histogram, throughput_over_time};

/// The curves of more configurations than this cannot be told apart; only the chosen one is drawn then.
const MOST_CURVES: usize = 8;

#[derive(Properties, PartialEq)]
pub struct ConfigurationChartsProps {
    /// The state of the page.
    pub state: StateHandle<BenchState>,
}

/// The charts of the chosen configuration, and the choice.
#[component]
pub fn ConfigurationCharts(props: &ConfigurationChartsProps) -> Html {
    let state = &props.state;
    let with_charts: Vec<&ResultRow> = state.rows.iter().filter(|r| r.result.charts.is_some()).collect();
    let chosen = state.selected.and_then(|id| state.rows.iter().find(|r| r.id == id));
    let Some(row) = chosen.or_else(|| with_charts.first().copied()) else { return Html::default() };
    let options = state.rows.iter().map(|r| (value_of(r.id), name_of(r).into())).collect::<Vec<_>>();
    let on_choose = on(state.dispatcher(), |dispatch, value: String| {
        if let Some(id) = id_of(&value) {
            dispatch.dispatch(BenchAction::Select(id));
        }
    });
    html! {
        <section class="panel configuration" aria-labelledby="configuration-title">
            <h3 id="configuration-title" tabindex="-1">{ "One configuration" }</h3>
            <div class="buttons">
                <SelectField id="configuration" label="Configuration" wide={true} value={value_of(row.id)} {options} {on_choose} />
                if let Some(href) = profile_link(state, row.id) { <a class="button" {href}>{ "Profile it" }</a> }
            </div>
            { facts(row) }
            <div class="plots">{ charts(row, &with_charts) }</div>
        </section>
    }
}

fn value_of(id: RowId) -> AttrValue {
    match id {
        RowId::Own(i) => format!("own-{i}").into(),
        RowId::Imported(i) => format!("imported-{i}").into(),
    }
}

fn id_of(value: &str) -> Option<RowId> {
    let (kind, number) = value.split_once('-')?;
    let number = number.parse().ok()?;
    Some(if kind == "own" { RowId::Own(number) } else { RowId::Imported(number) })
}

fn name_of(row: &ResultRow) -> String {
    let r = row.report();
    let origin = if matches!(row.id, RowId::Imported(_)) { " (imported)" } else { "" };
    format!("{} on {}: {}{origin}", r.model_name, r.instance_type, configuration_text(r))
}

/// Notes on the configuration: how sure its figures are, and where they come from.
fn facts(row: &ResultRow) -> Html {
    let r = row.report();
    if let Some(error) = &r.error {
        return html! { <p class="error-box">{ error }</p> };
    }
    let range = |name: &'static str, low: Option<f64>, high: Option<f64>, unit: &'static str| {
        Some(
            html! { <div><dt>{ name }</dt><dd title={format!("{} to {} {unit}", format_figures(low?), format_figures(high?))}>{ format_range(low?, high?, unit) }</dd></div> },
        )
    };
    html! {
        <dl class="facts">
            { for r.latency_samples.map(|n| html! { <div><dt>{ "Latencies" }</dt><dd>{ format_count(n) }</dd></div> }) }
            { for range("Throughput, 95 % interval", r.throughput_ci95_low, r.throughput_ci95_high, "inf/s") }
            { for range("p50, 95 % interval", r.latency_ms_p50_ci95_low, r.latency_ms_p50_ci95_high, "ms") }
            { for range("p99, 95 % interval", r.latency_ms_p99_ci95_low, r.latency_ms_p99_ci95_high, "ms") }
            if !r.source.is_empty() { <div><dt>{ "Figures" }</dt><dd>{ &r.source }{ r.machine.as_ref().map(|m| format!(", {m}")).unwrap_or_default() }</dd></div> }
        </dl>
    }
}

fn charts(row: &ResultRow, all: &[&ResultRow]) -> Html {
    let Some(charts) = &row.result.charts else {
        return html! { <p class="empty">{ "There are no latencies of this configuration to draw." }</p> };
    };
    let drawn: Vec<&ResultRow> = if all.len() <= MOST_CURVES { all.to_vec() } else { vec![row] };
    let curves = drawn.iter().filter_map(|r| Some((configuration_text(r.report()), r.result.charts.as_ref()?)));
    html! { <>
        <PlotChart title="Latency histogram" plot={AnyChart::from(latency_histogram(charts))} note="The last bar holds the slowest 0.1 % too." />
        <PlotChart title={if drawn.len() > 1 { "Cumulative latency of all configurations" } else { "Cumulative latency" }} plot={AnyChart::from(latency_curves(curves))} note="Share of inferences that took at most this long." />
        <PlotChart title="Throughput over time" plot={AnyChart::from(throughput_over_time(charts))} note="Samples that finished in each second; the first and the last second are partial." />
    </> }
}
