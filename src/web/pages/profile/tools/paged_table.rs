//! A table whose rows lead to the timeline: one page at a time, and the whole table as a file.

use yew::prelude::*;

use super::waiting;
use crate::components::{LocalTable, on};
use crate::pages::profile::queries::{use_listing, use_save_all};
use crate::state::{OpenRun, ProfileAction, ProfileState, StateHandle};
use ns_base::convert::f64_to_i64;
use ns_base::units::{capital, format_count};
use ns_base::{Interval, TraceNs};
use ns_page::Shared;
use ns_session::{LinkedTable, Listing, Rows};
use ns_view::table::{Cell, Table};

#[derive(Properties, PartialEq)]
pub struct PagedTableProps {
    pub name: AttrValue,
    /// Name of the file it is saved as, without the extension.
    pub file: AttrValue,
    /// Noun for its rows, in the plural: gaps.
    pub noun: AttrValue,
    pub what: Listing,
    pub run: OpenRun,
    /// The state of the page.
    pub state: StateHandle<ProfileState>,
    #[prop_or(500)]
    pub page_rows: u32,
    /// Whether rows come with the longest first.
    #[prop_or_default]
    pub longest_first: bool,
    /// Text for a table without rows.
    #[prop_or_default]
    pub empty: AttrValue,
    /// Makes the part above the rows of a page.
    #[prop_or_default]
    pub above: Option<Callback<Shared<LinkedTable>, Html>>,
}

#[component]
pub fn PagedTable(props: &PagedTableProps) -> Html {
    let turned = use_state(|| (props.what.clone(), 0_u32));
    // A new question begins at its first page.
    let page = if turned.0 == props.what { turned.1 } else { 0 };
    let rows = Rows { skip: page.saturating_mul(props.page_rows), limit: props.page_rows };
    let answer = use_listing(&props.run, Some(props.what.clone()), rows);
    let save_all = use_save_all(&props.run, &props.what, &props.file);
    let listed = match answer {
        None => return waiting(None),
        Some(Err(message)) => return waiting(Some(&message)),
        Some(Ok(listed)) if listed.total == 0 && !props.empty.is_empty() => {
            return html! { <p class="empty">{ &props.empty }</p> };
        }
        Some(Ok(listed)) => listed,
    };
    let is_part = (listed.table.rows.len() as u64) < listed.total;
    let turn = on(props.what.clone(), move |what, to: u32| turned.set((what.clone(), to)));
    let on_row = on((listed.clone(), props.state.clone()), |(listed, state), row: usize| {
        to_timeline(listed, row).into_iter().for_each(|a| state.dispatch(a))
    });
    html! { <>
        <p role="status">{ summary(&listed, props) }</p>
        if is_part { { turns(&listed, page, props, &turn) } }
        { for props.above.as_ref().map(|above| above.emit(listed.clone())) }
        <LocalTable
            name={props.name.clone()} file={props.file.clone()} cuts_texts={true} keeps_csv={true} {on_row}
            table={Shared::new(listed.table.clone())} save_all={is_part.then_some((listed.total, save_all))}
        />
    </> }
}

/// Actions that show the span of a row if it has one, else its slice.
fn to_timeline(listed: &LinkedTable, row: usize) -> Option<ProfileAction> {
    let link = listed.slices.get(row).and_then(Option::as_ref);
    match span(&listed.table, row) {
        Some(span) => Some(ProfileAction::ShowSpan(span, link.map(|l| l.slice))),
        None => link.map(|l| ProfileAction::Jump(l.clone())),
    }
}

fn span(table: &Table, row: usize) -> Option<Interval<TraceNs>> {
    let number = |id: &str| table.rows.get(row)?.get(column(table, id)?)?.number();
    let start = f64_to_i64(number("start_ns")?);
    Some(Interval::new(TraceNs(start), TraceNs(start.saturating_add(f64_to_i64(number("duration_ns")?)))))
}

/// Position of a column.
pub(in crate::pages::profile) fn column(table: &Table, id: &str) -> Option<usize> {
    table.columns.iter().position(|c| c.id == id)
}

fn summary(listed: &LinkedTable, props: &PagedTableProps) -> String {
    let (rows, total) = (listed.table.rows.len() as u64, listed.total);
    let order = if props.longest_first { ", the longest first" } else { "" };
    let time = column(&listed.table, "duration_ns").map_or_else(String::new, |at| {
        let sum: f64 = listed.table.rows.iter().filter_map(|r| r.get(at).and_then(Cell::number)).sum();
        format!(
            ": {} in all{}",
            props.run.info.outline.unit.text(f64_to_i64(sum)),
            if rows < total { " of these" } else { "" }
        )
    });
    if rows < total {
        let (from, to) = (format_count(listed.skip + 1), format_count(listed.skip + rows));
        return format!("{} {from} to {to} of {}{order}{time}.", capital(&props.noun), format_count(total));
    }
    let noun = if total == 1 { props.noun.strip_suffix('s').unwrap_or(&props.noun) } else { &props.noun };
    format!("{} {noun}{}{time}.", format_count(total), if total > 1 { order } else { "" })
}

/// Buttons that lead to the previous and the next page.
fn turns(listed: &LinkedTable, page: u32, props: &PagedTableProps, turn: &Callback<u32>) -> Html {
    let is_last = listed.skip + listed.table.rows.len() as u64 >= listed.total;
    let (back, on) = if props.longest_first { ("Longer", "Shorter") } else { ("Previous", "Next") };
    let button = |what: &str, to: u32, disabled: bool| {
        let onclick = turn.reform(move |_: MouseEvent| to);
        html! { <button type="button" {disabled} {onclick}>{ format!("{what} {}", props.noun) }</button> }
    };
    html! {
        <div class="buttons">
            { button(back, page.saturating_sub(1), page == 0) }
            { button(on, page.saturating_add(1), is_last) }
        </div>
    }
}
