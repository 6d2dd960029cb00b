//! The summary tool as a whole.

use yew::prelude::*;

use super::findings::findings;
use super::tables;
use crate::components::{AnyChart, Fold, LanesChart, LocalTable, PlotChart, on};
use ns_insight::{Insights, LIMITS_TITLE, SliceRange};
use ns_page::Shared;
use ns_session::{bounds_table, limits_table, lost_time_table};
use ns_view::plot::{Lanes, RooflinePlot};
use ns_view::table::Table;

#[derive(Properties, PartialEq)]
pub struct SummaryViewProps {
    pub insights: Shared<Insights>,
    /// A slice of a finding was chosen.
    pub on_slice: Callback<SliceRange>,
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
pub fn SummaryView(props: &SummaryViewProps) -> Html {
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
