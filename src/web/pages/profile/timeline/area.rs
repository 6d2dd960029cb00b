//! The selected area in numbers: time by name.

use ns_base::convert::{f64_to_i64, f64_to_u64};
use ns_base::units::format_plural;
use yew::prelude::*;

use crate::components::LocalTable;
use crate::pages::profile::queries::{Answer, use_export, use_listing, use_save_all};
use crate::pages::profile::tools::{column, waiting};
use crate::state::{OpenRun, ProfileAction, ProfileState, StateHandle};
use ns_page::Shared;
use ns_profile::Unit;
use ns_session::{ExportKind, GroupsOf, LinkedTable, Listing, Rows};
use ns_view::timeline::{Area, SliceRef};

/// The most names that are listed.
const MOST_GROUPS: u32 = 10_000;

#[derive(Properties, PartialEq)]
pub struct AreaPanelProps {
    pub run: OpenRun,
    /// The state of the page.
    pub state: StateHandle<ProfileState>,
    pub area: Area,
    /// Receives a chosen slice.
    pub on_select: Callback<SliceRef>,
}

/// Length, and a table by name.
#[component]
pub fn AreaPanel(props: &AreaPanelProps) -> Html {
    let (area, run) = (&props.area, &props.run);
    let of = GroupsOf { range: Some(area.span), tracks: Some(area.tracks.clone()), ..GroupsOf::default() };
    let what = Listing::Groups(of);
    let answer = use_listing(run, Some(what.clone()), Rows { skip: 0, limit: MOST_GROUPS });
    let save_all = use_save_all(run, &what, &AttrValue::from("area"));
    let act = |action: fn(Area) -> ProfileAction| {
        let (state, area) = (props.state.clone(), area.clone());
        Callback::from(move |_: MouseEvent| state.dispatch(action(area.clone())))
    };
    let export = use_export(run, ExportKind::Area(area.span, area.tracks.clone()));
    let (tracks, unit) = (area.tracks.len(), &run.info.outline.unit);
    let title = format!(
        "{} on {}, {} to {}",
        unit.text(area.span.end.0 - area.span.start.0),
        format_plural(tracks, "track"),
        unit.place(area.span.start.0),
        unit.place(area.span.end.0)
    );
    let counted = answer.as_ref().and_then(|answer| answer.as_ref().ok()).map(|listed| counted_text(listed, unit));
    html! {
        <section class="panel area" aria-label="Selected area">
            <div class="buttons">
                <h3>{ "Selected area" }</h3>
                <p role="status">{ title }{ for counted }</p>
                <span class="gap"></span>
                <button type="button" onclick={act(|a| ProfileAction::Annotate(a.span, None))}>{ "Mark it" }</button>
                <button type="button" onclick={export.reform(|_: MouseEvent| ())}>{ "Export as trace" }</button>
                <button type="button" onclick={act(|_| ProfileAction::Area(None))}>{ "Clear" }</button>
            </div>
            { answer_view(answer, &props.on_select, save_all) }
        </section>
    }
}

/// The slices inside, in numbers.
fn counted_text(listed: &LinkedTable, unit: &Unit) -> String {
    let sum = |id: &str| -> f64 {
        let Some(at) = column(&listed.table, id) else { return 0.0 };
        listed.table.rows.iter().filter_map(|row| row.get(at)?.number()).sum()
    };
    let (slices, names) = (format_plural(f64_to_u64(sum("count")), "slice"), format_plural(listed.total, "name"));
    format!(": {slices} of {names}, {} of self time", unit.text(f64_to_i64(sum("self_ns"))))
}

fn answer_view(answer: Option<Answer>, on_select: &Callback<SliceRef>, save_all: Callback<()>) -> Html {
    match answer {
        None => waiting(None),
        Some(Err(pending)) => waiting(Some(&pending)),
        Some(Ok(listed)) => {
            let table = Shared::new(listed.table.clone());
            let save_all = (listed.total > u64::from(MOST_GROUPS)).then_some((listed.total, save_all));
            let on_row = on_select.reform(move |row: usize| {
                let link = listed.slices.get(row).and_then(Option::as_ref);
                link.map_or(ns_view::timeline::NO_SLICE, |l| l.slice)
            });
            html! { <LocalTable name="Slices of the area by name" file="area" {table} {on_row} {save_all} /> }
        }
    }
}
