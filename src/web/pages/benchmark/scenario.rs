//! Results of an MLPerf scenario: the verdict of each configuration with its reasons.

use crate::components::on;
use crate::state::StateHandle;
use yew::prelude::*;

use crate::platform::download;
use ns_bench::mlperf::{MlperfResult, mlperf_to_json};
use ns_page::bench::{BenchState, ScenarioRow};
use ns_view::text::three_decimals;

#[derive(Properties, PartialEq)]
pub struct ScenarioResultsProps {
    /// The state of the page.
    pub state: StateHandle<BenchState>,
}

/// The results; empty before the first result.
#[component]
pub fn ScenarioResults(props: &ScenarioResultsProps) -> Html {
    let rows = props.state.scenario.clone();
    if rows.is_empty() {
        return Html::default();
    }
    let save = on(rows.clone(), |rows, _: MouseEvent| {
        let results: Vec<MlperfResult> = rows.iter().filter_map(|r| r.result.as_ref().ok()).cloned().collect();
        // A browser that refuses a download says so itself.
        if let Ok(text) = mlperf_to_json(&results) {
            drop(download::save("mlperf.results.json", "application/json", text.as_bytes()));
        }
    });
    let valid = rows.iter().filter(|r| r.result.as_ref().is_ok_and(|r| r.verdict.is_valid())).count();
    html! {
        <section class="results" aria-labelledby="scenario-title">
            <h2 id="scenario-title">{ "MLPerf scenario" }</h2>
            <p class="verdict">{ format!("{valid} of {} valid.", rows.len()) }{ " " }<button type="button" onclick={save}>{ "Download MLPerf JSON" }</button></p>
            <ul class="scenarios">{ for rows.iter().map(card) }</ul>
        </section>
    }
}

fn card(row: &ScenarioRow) -> Html {
    let r = match &row.result {
        Ok(result) => result,
        Err(message) => {
            return html! { <li class="panel scenario"><h3>{ &row.label }</h3><p class="error-box">{ message }</p></li> };
        }
    };
    let v = &r.verdict;
    let check = |name: &'static str, kept: bool| {
        html! { <li class={if kept { "is-kept" } else { "is-missed" }}>{ if kept { "\u{2713} " } else { "\u{2717} " } }{ name }</li> }
    };
    let names = ["mean", "p50", "p90", "p95", "p97", "p99", "p99.9"];
    let latencies = std::iter::once(r.latency_ms_mean).chain(r.latency_ms);
    let late = r.over_latency.map(|n| format!(", {n} over the bound")).unwrap_or_default();
    let asked = r.target_qps.map(|q| format!(", asked for {} queries/s", three_decimals(q))).unwrap_or_default();
    html! {
        <li class="panel scenario">
            <h3>{ &row.label }</h3>
            <p>{ "Result is " }<strong class={if v.is_valid() { "is-valid" } else { "is-invalid" }}>{ &r.result }</strong></p>
            <p class="figure"><strong>{ r.before_value() }{ three_decimals(r.value) }</strong>{ " " }{ &r.metric }</p>
            if let Some(note) = r.note_of_times() { <p class="note">{ note }</p> }
            <ul class="limits" aria-label="Limits">
                { check("performance constraints", v.performance_constraints) }
                { check("min duration", v.min_duration) }
                { check("min queries", v.min_queries) }
                { check("early stopping", v.early_stopping) }
            </ul>
            if !v.recommendations.is_empty() {
                <ul class="notes" aria-label="What to do">{ for v.recommendations.iter().map(|line| html! { <li>{ line }</li> }) }</ul>
            }
            <p class="help">{ format!("{}, {} queries in {} s{asked}{late}", r.scenario.name(), r.queries, r.duration_s) }</p>
            <dl class="facts" aria-label="Latency, milliseconds">{ for names.into_iter().zip(latencies).map(|(name, ms)| html! { <div><dt>{ name }</dt><dd>{ format!("{} ms", three_decimals(ms)) }</dd></div> }) }</dl>
        </li>
    }
}
