//! Idle times of devices (or of threads, if no devices are known): the longest gaps, and what they waited for.

use yew::prelude::*;

use super::paged_table::{PagedTable, column};
use super::range_of;
use crate::components::bar_chart;
use crate::pages::profile::operators::range_switch;
use crate::state::{OpenRun, ProfileState, StateHandle};
use ns_base::Order;
use ns_base::units::unit_of_ns;
use ns_page::Shared;
use ns_session::{LinkedTable, Listing};
use ns_view::plot::Bars;
use ns_view::table::{Cell, Table};

pub fn idle_tool(run: &OpenRun, state: &StateHandle<ProfileState>) -> Html {
    let above = Callback::from(|listed: Shared<LinkedTable>| waited_on(&listed.table));
    html! {
        <>
            { range_switch(state, Html::default()) }
            <section class="panel" aria-label="Idle gaps">
                <p class="note">{ "A row leads to the gap on the timeline. \u{201c}Started by\u{201d} is what launched the slice that ended the gap. A launch during the gap means that the device waited for it; with a launch before the gap, the device waited for something else." }</p>
                <PagedTable key={run.id}
                    name="Idle gaps" file="idle-gaps" noun="gaps" what={Listing::Idle(range_of(state))}
                    run={run.clone()} state={state.clone()} longest_first={true} above={Some(above)}
                    empty="Nothing was idle here: no gap between two slices of work."
                />
            </section>
        </>
    }
}

/// Time of the listed gaps by the host's activity in them, if that is known.
fn waited_on(table: &Table) -> Html {
    let (Some(name), Some(ns)) = (column(table, "meanwhile"), column(table, "meanwhile_ns")) else {
        return Html::default();
    };
    let mut by_name: Vec<(String, f64)> = Vec::new();
    for row in &table.rows {
        let (Cell::Text(what), Some(time)) = (&row[name], row[ns].number()) else { continue };
        match by_name.iter_mut().find(|(known, _)| known == what) {
            Some((_, sum)) => *sum += time,
            None => by_name.push((what.clone(), time)),
        }
    }
    by_name.order_by(|a, b| b.1.total_cmp(&a.1));
    by_name.truncate(5);
    if by_name.is_empty() {
        return Html::default();
    }
    let (unit, scale) = unit_of_ns(by_name.first().map_or(0.0, |(_, ns)| *ns));
    let plot = Bars::new(by_name.into_iter().map(|(name, ns)| (name, String::new(), ns / scale)));
    html! { { bar_chart("What other threads did meanwhile", unit, &plot, None) } }
}
