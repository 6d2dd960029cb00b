//! What the profile page asks its workers while a person looks around.

use gloo_timers::callback::Timeout;
use yew::prelude::*;

use crate::base::{Interval, TraceNs};
use crate::insight::SliceRange;
use crate::session::{Event, Listed, Listing, OperatorKind, Request};
use crate::view::timeline::{Neighbour, SliceRef};
use crate::web::context::{AppContext, Shared};
use crate::web::state::notices::{NoticeAction, Tone};
use crate::web::state::profile::{Flows, OpenRun, ProfileAction, ProfileState};

/// A search is asked for so long after the last key.
const SEARCH_DELAY_MS: u32 = 120;
/// So many hits are listed; all are counted.
const MOST_HITS: u32 = 10_000;
/// More arrows on one screen are a grey cloud.
const MOST_ARROWS: u32 = 400;

/// Asks for an operator table of the span that is counted unless it is there.
#[hook]
pub fn use_operators(
    app: &AppContext,
    state: &UseReducerHandle<ProfileState>,
    run: Option<&OpenRun>,
    kind: Option<OperatorKind>,
) {
    let range = state.counted_span(kind);
    let is_known =
        |(run, kind): &(&OpenRun, OperatorKind)| run.operators.get(kind).is_some_and(|(counted, _)| *counted == range);
    let wanted = run.zip(kind).filter(|asked| !is_known(asked));
    let key = wanted.as_ref().map(|(run, kind)| (run.id, *kind, range));
    let asked = wanted.map(|(run, kind)| (run.engine.clone(), run.info.profile, run.id, kind));
    let (dispatch, notices) = (state.dispatcher(), app.notices.clone());
    use_effect_with(key, move |_| {
        let Some((engine, profile, id, kind)) = asked else { return };
        let on_event = Callback::from(move |event: Event| match event {
            Event::Operators { table, .. } => dispatch.dispatch(ProfileAction::Operators(id, range, table)),
            Event::Failed { message, .. } => notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
            _ => {}
        });
        engine.send(|job| Request::Operators { job, profile, kind, range }, None, on_event);
    });
}

/// Asks for the details of the selected slice unless they are there.
#[hook]
pub fn use_details(app: &AppContext, state: &UseReducerHandle<ProfileState>, run: Option<&OpenRun>) {
    let known = state.details.as_ref().map(|d| d.link.slice);
    let wanted = state.link.selected.map(SliceRef).filter(|s| known != Some(*s));
    let asked = run.map(|r| (r.id, r.engine.clone(), r.info.profile)).zip(wanted);
    let key = asked.as_ref().map(|((id, ..), slice)| (*id, *slice));
    let (dispatch, notices) = (state.dispatcher(), app.notices.clone());
    use_effect_with(key, move |_| {
        let Some(((_, engine, profile), slice)) = asked else { return };
        let on_event = details_answer(dispatch, notices);
        engine.send(|job| Request::Details { job, profile, slice }, None, on_event);
    });
}

/// Goes to the slice beside the selected one.
pub fn step(app: &AppContext, state: &UseReducerHandle<ProfileState>, to: Neighbour) {
    let Some((run, from)) = state.shown_run().zip(state.link.selected.map(SliceRef)) else { return };
    let profile = run.info.profile;
    let dispatch = state.dispatcher();
    let notices = app.notices.clone();
    let on_event = Callback::from(move |event: Event| match event {
        // At the end of a row the selection stays.
        Event::Details { details: None, .. } => {}
        other => details_answer(dispatch.clone(), notices.clone()).emit(other),
    });
    run.engine.send(|job| Request::Step { job, profile, from, to }, None, on_event);
}

fn details_answer(
    dispatch: UseReducerDispatcher<ProfileState>,
    notices: UseReducerDispatcher<crate::web::state::notices::Notices>,
) -> Callback<Event> {
    Callback::from(move |event: Event| match event {
        Event::Details { details: Some(details), .. } => {
            dispatch.dispatch(ProfileAction::Details(Some(Shared::new(*details))));
        }
        Event::Details { details: None, .. } => {
            let text = "The selected slice is not in this profile; the selection is cleared.".to_owned();
            notices.dispatch(NoticeAction::Say(Tone::Info, text));
            dispatch.dispatch(ProfileAction::Select(None));
        }
        Event::Failed { message, .. } => notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
        _ => {}
    })
}

/// Searches the profile a moment after the last key.
#[hook]
pub fn use_search(app: &AppContext, state: &UseReducerHandle<ProfileState>, run: Option<&OpenRun>) {
    let text = state.link.search.clone();
    let run_id = run.map(|r| r.id);
    let asked = run.map(|r| (r.engine.clone(), r.info.profile));
    let (dispatch, notices) = (state.dispatcher(), app.notices.clone());
    use_effect_with((run_id, text), move |(_, text)| {
        let text = text.clone();
        let timer = asked.filter(|_| !text.trim().is_empty()).map(|(engine, profile)| {
            Timeout::new(SEARCH_DELAY_MS, move || {
                let on_event = Callback::from(move |event: Event| match event {
                    Event::Search { hits, .. } => dispatch.dispatch(ProfileAction::Hits(hits)),
                    Event::Failed { message, .. } => notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
                    _ => {}
                });
                engine.send(|job| Request::Search { job, profile, text, limit: MOST_HITS }, None, on_event);
            })
        });
        move || drop(timer)
    });
}

/// Asks for the analysis of a run unless it is there.
#[hook]
pub fn use_summary(app: &AppContext, state: &UseReducerHandle<ProfileState>, run: Option<&OpenRun>) {
    let asked = run.filter(|r| r.insights.is_none()).map(|r| (r.id, r.engine.clone(), r.info.profile));
    let key = asked.as_ref().map(|(id, ..)| *id);
    let (dispatch, notices) = (state.dispatcher(), app.notices.clone());
    use_effect_with(key, move |_| {
        let Some((id, engine, profile)) = asked else { return };
        let on_event = Callback::from(move |event: Event| match event {
            Event::Summary { insights, .. } => dispatch.dispatch(ProfileAction::Insights(id, insights)),
            Event::Failed { message, .. } => notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
            _ => {}
        });
        engine.send(|job| Request::Summary { job, profile }, None, on_event);
    });
}

/// Shows a slice that a finding names on the timeline.
pub fn go_to_range(app: &AppContext, state: &UseReducerHandle<ProfileState>, range: SliceRange) {
    let Some(run) = state.shown_run() else { return };
    let profile = run.info.profile;
    let (dispatch, notices) = (state.dispatcher(), app.notices.clone());
    let on_event = Callback::from(move |event: Event| match event {
        Event::Details { details: Some(details), .. } => dispatch.dispatch(ProfileAction::GoTo(Shared::new(*details))),
        Event::Details { details: None, .. } => {
            let text = "This timeline has no slice with that row and time.".to_owned();
            notices.dispatch(NoticeAction::Say(Tone::Info, text));
        }
        Event::Failed { message, .. } => notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
        _ => {}
    });
    run.engine.send(|job| Request::Locate { job, profile, range }, None, on_event);
}

/// An answer, or why there is none.
pub type Answer = Result<Shared<Listed>, String>;

/// The answer to a question about a run; asked again whenever the question changes.
#[hook]
pub fn use_listing(run: &OpenRun, what: Option<Listing>) -> Option<Answer> {
    let answer = use_state(|| None::<(u32, Listing, Answer)>);
    use_effect_with((run.id, what.clone()), {
        let (answer, engine, profile) = (answer.setter(), run.engine.clone(), run.info.profile);
        move |(id, what): &(u32, Option<Listing>)| {
            if let Some(what) = what.clone() {
                let (id, asked) = (*id, what.clone());
                let on_event = Callback::from(move |event: Event| match event {
                    Event::Listed { listed, .. } => answer.set(Some((id, asked.clone(), Ok(Shared::new(*listed))))),
                    Event::Failed { message, .. } => answer.set(Some((id, asked.clone(), Err(message)))),
                    _ => {}
                });
                engine.send(|job| Request::List { job, profile, what }, None, on_event);
            }
        }
    });
    let (id, asked, answer) = (*answer).clone()?;
    (id == run.id && Some(asked) == what).then_some(answer)
}

/// Asks for all flow arrows around a span.
pub fn ask_flows(app: &AppContext, state: &UseReducerHandle<ProfileState>, span: Interval<TraceNs>) {
    let Some(run) = state.shown_run() else { return };
    let profile = run.info.profile;
    let (dispatch, notices) = (state.dispatcher(), app.notices.clone());
    let on_event = Callback::from(move |event: Event| match event {
        Event::Flows { arrows, total, .. } => dispatch.dispatch(ProfileAction::Flows(Some(Flows { arrows, total }))),
        Event::Failed { message, .. } => notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
        _ => {}
    });
    run.engine.send(|job| Request::Flows { job, profile, span, limit: MOST_ARROWS }, None, on_event);
}
