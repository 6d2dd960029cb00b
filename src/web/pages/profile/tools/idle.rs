//! When devices, or threads where no devices are known, did nothing: the longest gaps, and what was waited on.

use yew::prelude::*;

use super::{ToolProps, span_of, unit_of, waiting};
use crate::base::units::{format_count, format_ns};
use crate::base::{Interval, TraceNs};
use crate::session::{Listed, Listing, SpanOf};
use crate::view::plot::Bars;
use crate::view::table::{Cell, Table};
use crate::web::components::{BarChart, LocalTable};
use crate::web::context::Shared;
use crate::web::pages::profile::operators::range_switch;
use crate::web::pages::profile::queries::use_listing;
use crate::web::state::profile::ProfileAction;

/// Gaps that are listed.
const MOST_GAPS: u32 = 500;

/// The tool.
#[component]
pub fn IdleTool(props: &ToolProps) -> Html {
    let state = &props.state;
    let page = use_state_eq(|| 0_u32);
    let of = span_of(state, MOST_GAPS);
    // Another span has other gaps: from the first again.
    use_effect_with(of.range, {
        let page = page.setter();
        move |_| page.set(0)
    });
    let of = SpanOf { skip: *page * MOST_GAPS, ..of };
    let content = match use_listing(&props.run, Some(Listing::Idle(of))) {
        None => waiting(None),
        Some(Err(message)) => waiting(Some(&message)),
        Some(Ok(listed)) if listed.total == 0 => {
            html! { <p class="empty">{ "Nothing was idle here: no gap between two slices of work." }</p> }
        }
        Some(Ok(listed)) => {
            let on_row = {
                let (state, listed) = (state.clone(), listed.clone());
                Callback::from(move |row: usize| {
                    if let Some(span) = gap(&listed.table, row) {
                        let until = listed.slices.get(row).and_then(Option::as_ref).map(|l| l.slice);
                        state.dispatch(ProfileAction::ShowSpan(span, until));
                    }
                })
            };
            html! { <>
                <p role="status">{ in_words(&listed, *page * MOST_GAPS) }</p>
                if listed.total > u64::from(MOST_GAPS) { { pages(&page, listed.total) } }
                { waited_on(&listed.table) }
                <LocalTable name="Idle gaps" file="idle-gaps" cuts_texts={true} table={Shared::new(listed.table.clone())} {on_row} />
            </> }
        }
    };
    html! {
        <>
            { range_switch(state) }
            <section class="panel" aria-label="Idle gaps">
                <p class="note">{ "A row leads to the gap on the timeline. \u{201c}Started by\u{201d} is what launched the slice that ended the gap: launched in the gap means that the device waited for the launch, before it that the device had other reasons." }</p>
                { content }
            </section>
        </>
    }
}

fn column(table: &Table, id: &str) -> Option<usize> {
    table.columns.iter().position(|c| c.id == id)
}

/// The span of a row.
#[allow(clippy::cast_possible_truncation)] // whole nanoseconds below 2^53
fn gap(table: &Table, row: usize) -> Option<Interval<TraceNs>> {
    let number = |id: &str| table.rows.get(row)?.get(column(table, id)?)?.number();
    let start = number("start_ns")? as i64;
    Some(Interval::new(TraceNs(start), TraceNs(start.saturating_add(number("duration_ns")? as i64))))
}

/// To the gaps before and after those that are listed.
fn pages(page: &UseStateHandle<u32>, total: u64) -> Html {
    let to = |to: u32| {
        let page = page.clone();
        Callback::from(move |_: MouseEvent| page.set(to))
    };
    let (at, is_last) = (**page, u64::from(**page + 1) * u64::from(MOST_GAPS) >= total);
    html! {
        <div class="buttons">
            <button type="button" disabled={at == 0} onclick={to(at.saturating_sub(1))}>{ "Longer gaps" }</button>
            <button type="button" disabled={is_last} onclick={to(at + 1)}>{ "Shorter gaps" }</button>
        </div>
    }
}

fn in_words(listed: &Listed, skip: u32) -> String {
    let (shown, total) = (listed.table.rows.len() as u64, listed.total);
    let at = column(&listed.table, "duration_ns");
    let sum: f64 = listed.table.rows.iter().filter_map(|r| r[at?].number()).sum();
    if shown < total {
        format!(
            "Gaps {} to {} of {}, the longest first: {} in all of these.",
            format_count(u64::from(skip) + 1),
            format_count(u64::from(skip) + shown),
            format_count(total),
            format_ns(sum)
        )
    } else {
        format!("{} gaps, the longest first: {} in all.", format_count(total), format_ns(sum))
    }
}

/// Time of the listed gaps by what the host did meanwhile, where that is known.
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
    by_name.sort_by(|a, b| b.1.total_cmp(&a.1));
    by_name.truncate(5);
    if by_name.is_empty() {
        return Html::default();
    }
    let (unit, scale) = unit_of(by_name.first().map_or(0.0, |(_, ns)| *ns));
    let plot = Bars::new(by_name.into_iter().map(|(name, ns)| (name, String::new(), ns / scale)));
    html! { <BarChart title="What other threads did meanwhile" {unit} {plot} /> }
}
