//! The selected area in numbers: what ran in it, by name.

use yew::prelude::*;

use crate::session::{GroupsOf, Listing};
use crate::view::text::exact_ns;
use crate::view::timeline::{Area, SliceRef};
use crate::web::components::LocalTable;
use crate::web::context::Shared;
use crate::web::pages::profile::queries::{Answer, use_listing};
use crate::web::pages::profile::tools::waiting;
use crate::web::state::profile::{OpenRun, ProfileAction, ProfileState};

/// Properties of [`AreaPanel`].
#[derive(Properties, PartialEq)]
pub struct AreaPanelProps {
    /// The run.
    pub run: OpenRun,
    /// The state of the page.
    pub state: UseReducerHandle<ProfileState>,
    /// The area.
    pub area: Area,
    /// A slice was chosen.
    pub on_select: Callback<SliceRef>,
}

/// Length, and a table by name.
#[component]
pub fn AreaPanel(props: &AreaPanelProps) -> Html {
    let (area, run) = (&props.area, &props.run);
    let of = GroupsOf { range: Some(area.span), tracks: Some(area.tracks.clone()), ..GroupsOf::default() };
    let answer = use_listing(run, Some(Listing::Groups(of)));
    let act = |action: fn(Area) -> ProfileAction| {
        let (state, area) = (props.state.clone(), area.clone());
        Callback::from(move |_: MouseEvent| state.dispatch(action(area.clone())))
    };
    let title = format!(
        "{} on {} tracks, {} to {}",
        exact_ns(area.span.end.0 - area.span.start.0),
        area.tracks.len(),
        exact_ns(area.span.start.0),
        exact_ns(area.span.end.0)
    );
    html! {
        <section class="panel area" aria-label="Selected area">
            <h3>{ "Selected area" }</h3>
            <p role="status">{ title }</p>
            <div class="buttons">
                <button type="button" onclick={act(|a| ProfileAction::Annotate(a.span, None))}>{ "Mark it" }</button>
                <button type="button" onclick={act(|_| ProfileAction::Area(None))}>{ "Clear" }</button>
            </div>
            { answer_view(answer, &props.on_select) }
        </section>
    }
}

fn answer_view(answer: Option<Answer>, on_select: &Callback<SliceRef>) -> Html {
    match answer {
        None => waiting(None),
        Some(Err(pending)) => waiting(Some(&pending)),
        Some(Ok(listed)) => {
            let table = Shared::new(listed.table.clone());
            let on_row = on_select.reform(move |row: usize| {
                let link = listed.slices.get(row).and_then(Option::as_ref);
                link.map_or(crate::view::timeline::NO_SLICE, |l| l.slice)
            });
            html! { <LocalTable name="Slices of the area by name" file="area" {table} {on_row} /> }
        }
    }
}
