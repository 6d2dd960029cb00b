//! The summary tool as a whole.

use yew::prelude::*;

use super::findings::findings;
use super::tables;
use crate::components::{AnyChart, Fold, LanesChart, LocalTable, PlotChart, on};
use crate::context::use_app;
use crate::pages::profile::queries::{go_to_range, use_analysis};
use crate::pages::profile::tools::{ToolProps, waiting};
use ns_insight::{Insights, LIMITS_TITLE, SliceRange};
use ns_page::Shared;
use ns_session::{Answer, Question, bounds_table, limits_table, lost_time_table};
use ns_view::plot::{Lanes, RooflinePlot};
use ns_view::table::Table;

/// The analysis of a simulated execution, once it is there.
#[component]
pub fn SummaryTool(props: &ToolProps) -> Html {
    let app = use_app();
    let answer = use_analysis(&props.run, Some(Question::Summary));
    let insights = use_memo(answer.clone().and_then(Result::ok), |answer| match answer.as_deref() {
        Some(Answer::Summary(Some(insights))) => Some(Shared::new((**insights).clone())),
        _ => None,
    });
    if let Some(insights) = (*insights).clone() {
        let on_slice = on((app, props.state.clone()), |(app, state), range| {
            if let Some(app) = app {
                go_to_range(app, state, range);
            }
        });
        return html! { <SummaryView {insights} {on_slice} /> };
    }
    if matches!(answer, Some(Ok(_))) {
        return html! {
            <section class="panel empty-state" aria-label="No metrics">
                <h3>{ "No metrics in this file" }</h3>
                <p>{ "Metrics, bounds and the roofline need details of each instruction and DMA, which this file does not have. Operators and timeline show what it does have; a profile simulated here has all of it." }</p>
            </section>
        };
    }
    html! { <section class="panel" aria-label="Metrics">{ waiting(answer.and_then(Result::err).as_ref()) }</section> }
}

#[derive(Properties, PartialEq)]
struct SummaryViewProps {
    insights: Shared<Insights>,
    /// A slice of a finding was chosen.
    on_slice: Callback<SliceRange>,
}

/// The parts of the page made from an insight; made once for each profile.
struct Parts {
    metrics: Shared<Table>,
    limits: Option<Shared<Table>>,
    bounds: Shared<Table>,
    lost: Shared<Table>,
    points: Shared<Table>,
    roofline: RooflinePlot,
    lanes: Lanes,
}

impl Parts {
    fn of(insights: &Insights) -> Self {
        let (r, u) = (&insights.roofline, &insights.utilisation);
        let points = r.points.iter().map(|p| (p.name.clone(), p.intensity_flops_per_byte, p.flops_per_s));
        let rows = u.rows.iter().map(|row| (row.name.clone(), row.busy_percent.clone()));
        Self {
            metrics: Shared::new(tables::metrics(&insights.summary)),
            limits: limits_table(insights).map(Shared::new),
            bounds: Shared::new(bounds_table(&insights.bounds)),
            lost: Shared::new(lost_time_table(&insights.bounds)),
            points: Shared::new(tables::roofline(&r.points)),
            roofline: RooflinePlot::new(r.peak_flops_per_s, r.peak_bytes_per_s, points),
            lanes: Lanes::new(u.start_ns, u.end_ns, rows),
        }
    }
}

#[component]
fn SummaryView(props: &SummaryViewProps) -> Html {
    let insights = &props.insights;
    let parts = use_memo(insights.clone(), |insights| Parts::of(insights));
    let unplaced = &parts.roofline.without_bytes;
    let points = on(
        parts.points.clone(),
        |table, ()| html! { <LocalTable name="Roofline" file="roofline" table={table.clone()} searchable={false} /> },
    );
    html! {
        <>
            <section class="panel" aria-labelledby="findings-title">
                <h3 id="findings-title">{ "Findings" }</h3>
                { findings(&insights.findings, &props.on_slice) }
            </section>
            if let Some(limits) = &parts.limits {
                <section class="panel" aria-labelledby="limits-title">
                    <h3 id="limits-title">{ LIMITS_TITLE }</h3>
                    <LocalTable name="Limits" file="limits" table={limits.clone()} searchable={false} />
                </section>
            }
            <section class="panel plots" aria-label="Roofline and utilisation">
                <div class="plot-with-table">
                    <PlotChart title="Roofline" plot={AnyChart::from(parts.roofline.clone())} />
                    if !unplaced.is_empty() { <p class="note">{ format!("{} modules moved no bytes themselves and have no place on the plot.", unplaced.len()) }</p> }
                    <Fold summary="The points as a table" draw={points} />
                </div>
                <LanesChart title="Utilisation of each engine over the device window" plot={parts.lanes.clone()} />
            </section>
            <section class="panel" aria-labelledby="bounds-title">
                <h3 id="bounds-title">{ "Performance bounds" }</h3>
                <p class="note">{ &insights.bounds.caveat }</p>
                <LocalTable name="Bounds" file="bounds" table={parts.bounds.clone()} searchable={false} />
                <LocalTable name="Lost time" file="lost-time" table={parts.lost.clone()} searchable={false} />
            </section>
            <section class="panel" aria-labelledby="metrics-title">
                <h3 id="metrics-title">{ "Metrics" }</h3>
                <LocalTable name="Metrics" file="metrics" table={parts.metrics.clone()} />
            </section>
        </>
    }
}
