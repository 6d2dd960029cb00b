//! The best throughput, the lowest latency, the lowest price of the rows that are shown, each with its configuration, and the
//! sentence that weighs them.

use yew::prelude::*;

use crate::base::units::format_number;
use crate::bench::{Report, verdict};
use crate::page::bench::ResultRow;
use crate::session::results::{are_of_several_models, row_text};

/// Figures and sentence; `admits` says which rows are within the limits that were asked for.
pub fn tiles(rows: &[ResultRow], admits: impl Fn(&Report) -> bool) -> Html {
    let scored: Vec<&Report> = rows.iter().map(ResultRow::report).filter(|r| r.is_finished() && admits(r)).collect();
    let several = are_of_several_models(&scored);
    let best = |value: fn(&Report) -> Option<f64>, largest: bool| {
        let scored = scored.iter().filter_map(|r| value(r).map(|v| (v, *r)));
        // Of equals the first, as in the sentence.
        scored.reduce(|a, b| if (b.0 > a.0) == largest && b.0 != a.0 { b } else { a })
    };
    let tile = |title: &'static str, best: Option<(f64, &Report)>, unit: &'static str| {
        best.map(|(v, r)| {
            html! {
                <div class="tile">
                    <dt>{ title }</dt>
                    <dd><strong title={v.to_string()}>{ format_number(v) }</strong>{ " " }{ unit }<span class="sub">{ row_text(r, several) }</span></dd>
                </div>
            }
        })
    };
    let failed = rows.iter().filter(|r| r.report().error.is_some()).count();
    let reports: Vec<Report> =
        rows.iter().map(ResultRow::report).filter(|r| !r.is_finished() || admits(r)).cloned().collect();
    html! { <>
        <dl class="tiles">
            { for tile("Best throughput", best(|r| r.throughput_avg, true), "inf/s") }
            { for tile("Lowest p99 latency", best(|r| r.latency_ms_p99, false), "ms") }
            { for tile("Lowest cost", best(|r| r.cost_per_1m_inf, false), "US$ per million") }
            if failed > 0 {
                <div class="tile bad"><dt>{ "Failed" }</dt><dd><strong>{ failed }</strong>{ " of " }{ rows.len() }
                    <span class="sub">{ "the reason is in the Status column" }</span></dd></div>
            }
        </dl>
        if let Some(sentence) = verdict(&reports) { <p class="verdict">{ sentence }</p> }
    </> }
}
