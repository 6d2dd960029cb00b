//! All tracks as a list: pin, hide, fold, move.

use yew::prelude::*;

use crate::components::{Fold, on};
use crate::platform::page;
use crate::state::{ProfileAction, ProfileState, StateHandle};
use ns_view::text::contains_ignoring_case;
use ns_view::timeline::{Arrangement, Outline, Section, Track, TrackKind};

/// The most tracks that are listed at once; the search finds the others.
const MOST_LISTED: usize = 120;

#[derive(Clone, Properties, PartialEq)]
pub struct TracksPanelProps {
    /// The state of the page.
    pub state: StateHandle<ProfileState>,
    pub outline: Outline,
}

/// The list, folded at first.
#[component]
pub fn TracksPanel(props: &TracksPanelProps) -> Html {
    let hidden = props.state.link.arrangement.hidden.len();
    let summary = if hidden > 0 { format!("Tracks ({hidden} hidden)") } else { "Tracks".to_owned() };
    let TracksPanelProps { state, outline } = props.clone();
    let draw = Callback::from(move |()| html! { <TrackList state={state.clone()} outline={outline.clone()} /> });
    html! { <Fold class="panel tracks" {summary} {draw} /> }
}

#[component]
fn TrackList(props: &TracksPanelProps) -> Html {
    let search = use_state_eq(String::new);
    let oninput = on(search.clone(), |search, event: InputEvent| search.set(page::value_of(&event)));
    let arranged = &props.state.link.arrangement;
    let reset = arrange(&props.state, |a| *a = Arrangement::default());
    let found = || {
        let all = props.outline.sections.iter().flat_map(|s| s.tracks.iter().map(move |t| (s, t)));
        all.filter(|(s, t)| contains_ignoring_case(&s.name_of(t), search.trim()))
    };
    let total = found().count();
    html! {
        <>
            <div class="table-tools">
                <label class="search"><span class="visually-hidden">{ "Search tracks" }</span><input type="search" placeholder="Search tracks" value={(*search).clone()} {oninput} /></label>
                <p class="count" role="status">{ if total > MOST_LISTED { format!("{MOST_LISTED} of {total} tracks") } else { format!("{total} tracks") } }</p>
                <button type="button" onclick={reset} disabled={arranged.is_default()}>{ "Reset" }</button>
            </div>
            <ul class="track-list">{ for found().take(MOST_LISTED).map(|(s, t)| item(&props.state, s, t)) }</ul>
        </>
    }
}

fn arrange(state: &StateHandle<ProfileState>, change: impl Fn(&mut Arrangement) + 'static) -> Callback<MouseEvent> {
    on(state.clone(), move |state, _: MouseEvent| {
        let mut next = state.link.arrangement.clone();
        change(&mut next);
        state.dispatch(ProfileAction::Arrange(next));
    })
}

fn item(state: &StateHandle<ProfileState>, section: &Section, track: &Track) -> Html {
    let (id, arranged) = (track.id, &state.link.arrangement);
    let name = section.name_of(track);
    let toggle = |what: &'static str, on: bool, change: fn(&mut Arrangement, ns_view::timeline::TrackId)| {
        let onclick = arrange(state, move |a| change(a, id));
        html! { <button type="button" {onclick} aria-pressed={on.to_string()} aria-label={format!("{what} {name}")}>{ what }</button> }
    };
    let shift = |sign: &'static str, what: &'static str, down: bool| {
        let outline = state.current_run().map(|r| r.info.clone());
        let onclick = arrange(state, move |a| {
            if let Some(info) = &outline {
                a.shift(&info.outline, id, down);
            }
        });
        html! { <button type="button" {onclick} aria-label={format!("{what} {name}")}>{ sign }</button> }
    };
    let has_rows = matches!(track.kind, TrackKind::Slices { rows } if rows > 1);
    html! {
        <li class={arranged.hidden.contains(&id).then_some("is-hidden")}>
            <span class="name">{ &name }</span>
            { toggle("Pin", arranged.pinned.contains(&id), Arrangement::toggle_pin) }
            { toggle("Hide", arranged.hidden.contains(&id), Arrangement::toggle_hidden) }
            if has_rows { { toggle("Fold", arranged.folded.contains(&id), Arrangement::toggle_fold) } }
            { shift("\u{2191}", "Move up", false) }
            { shift("\u{2193}", "Move down", true) }
        </li>
    }
}
