//! The best throughput, the lowest latency, the lowest price, each with its configuration, and the sentence that weighs
//! them.

use yew::prelude::*;

use crate::bench::{Report, verdict};
use crate::session::results::configuration_text;
use crate::view::text::three_decimals;
use crate::web::state::bench::ResultRow;

/// Figures and sentence.
pub fn tiles(rows: &[ResultRow]) -> Html {
    let best = |value: fn(&Report) -> Option<f64>, largest: bool| {
        let scored = rows.iter().map(ResultRow::report).filter(|r| r.is_finished());
        let scored = scored.filter_map(|r| value(r).map(|v| (v, r)));
        // Of equals the first, as in the sentence.
        scored.reduce(|a, b| if (b.0 > a.0) == largest && b.0 != a.0 { b } else { a })
    };
    let tile = |title: &'static str, best: Option<(f64, &Report)>, unit: &'static str| {
        best.map(|(v, r)| {
            html! {
                <div class="tile">
                    <dt>{ title }</dt>
                    <dd><strong>{ three_decimals(v) }</strong>{ " " }{ unit }<span class="sub">{ configuration_text(r) }</span></dd>
                </div>
            }
        })
    };
    let failed = rows.iter().filter(|r| r.report().error.is_some()).count();
    let reports: Vec<Report> = rows.iter().map(|r| r.report().clone()).collect();
    html! { <>
        if let Some(sentence) = verdict(&reports) { <p class="verdict">{ sentence }</p> }
        <dl class="tiles">
            { for tile("Best throughput", best(|r| r.throughput_avg, true), "inf/s") }
            { for tile("Lowest p99 latency", best(|r| r.latency_ms_p99, false), "ms") }
            { for tile("Lowest cost", best(|r| r.cost_per_1m_inf, false), "US$ per million") }
            if failed > 0 {
                <div class="tile bad"><dt>{ "Failed" }</dt><dd><strong>{ failed }</strong>{ " of " }{ rows.len() }
                    <span class="sub">{ "the reason is in the Status column" }</span></dd></div>
            }
        </dl>
    </> }
}
