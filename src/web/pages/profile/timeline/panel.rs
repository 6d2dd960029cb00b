//! The timeline with its tools, the details of the selected slice, and the table twin.

use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};
use yew::prelude::*;

use super::annotations::AnnotationsPanel;
use super::area::AreaPanel;
use super::canvas::use_canvas;
use super::legend::TimelineLegend;
use super::minimap::MinimapStrip;
use super::parts::{HoverTip, SlicesTable, TimelineHelp, TimelineTools};
use super::tracks::TracksPanel;
use crate::page::notices::{NoticeAction, Tone};
use crate::page::profile::Flows;
use crate::view::timeline::{Arrangement, FlowArrow, SliceDetails, SliceRef, TrackId, Viewport, describe_slice};
use crate::web::components::{SliceDetailsPanel, place_of};
use crate::web::context::use_app;
use crate::web::pages::profile::dock::Dock;
use crate::web::pages::profile::queries::{ask_flows, step};
use crate::web::platform::page;
use crate::web::state::{OpenRun, ProfileAction, ProfileState};
use crate::web::timeline::{Change, Controller, Hover};

/// The canvas; it takes the focus when a track is gone to.
const CANVAS: &str = "timeline-canvas";

/// Properties of [`TimelinePanel`].
#[derive(Properties, PartialEq)]
pub struct TimelinePanelProps {
    /// The run that is shown.
    pub run: OpenRun,
    /// The state of the page.
    pub state: UseReducerHandle<ProfileState>,
}

/// The timeline.
#[component]
pub fn TimelinePanel(props: &TimelinePanelProps) -> Html {
    let Some(app) = use_app() else { return Html::default() };
    let canvas = use_node_ref();
    let scroller = use_node_ref();
    let hover = use_state_eq(|| None::<Hover>);
    let is_help_open = use_state_eq(|| false);
    // Counts what the table twin depends on: new slices, a view at rest.
    let version = use_state_eq(|| 0_u32);

    // The controller outlives renders; what it calls must see the newest state.
    let latest: Rc<std::cell::RefCell<Option<Callback<Change>>>> = use_mut_ref(|| None);
    let controller = use_memo(props.run.id, |_| {
        let latest = Rc::clone(&latest);
        let on_change = Callback::from(move |change| {
            let callback = latest.borrow().clone();
            if let Some(callback) = callback {
                callback.emit(change);
            }
        });
        let run = &props.run;
        Controller::new(run.engine.clone(), run.info.clone(), props.state.link.span, on_change)
    });
    let on_change = {
        let (state, app, hover, help, version, scroller) =
            (props.state.clone(), app.clone(), hover.clone(), is_help_open.clone(), version.clone(), scroller.clone());
        Callback::from(move |change: Change| match change {
            Change::View(span, view) => {
                state.dispatch(ProfileAction::Span(span));
                version.set(*version + 1);
                if state.flows.is_some() {
                    ask_flows(&app, &state, view.interval());
                }
            }
            Change::ToggleFold(track) => arrange(&state, Some(track), |a, t| a.toggle_fold(t)),
            Change::Pin => arrange(&state, selected_track(&state), |a, t| a.toggle_pin(t)),
            Change::Shift(down) => {
                if let (Some(track), Some(run)) = (selected_track(&state), state.shown_run()) {
                    let mut next = state.link.arrangement.clone();
                    next.shift(&run.info.outline, track, down);
                    state.dispatch(ProfileAction::Arrange(next));
                }
            }
            Change::Move(track, to) => {
                if let Some(run) = state.shown_run() {
                    let mut next = state.link.arrangement.clone();
                    next.move_to(&run.info.outline, track, to);
                    state.dispatch(ProfileAction::Arrange(next));
                }
            }
            Change::Hide => arrange(&state, selected_track(&state), |a, t| a.toggle_hidden(t)),
            Change::Flow(forth) => {
                let to = state
                    .details
                    .as_ref()
                    .and_then(|d| if forth { d.successors.first() } else { d.predecessors.first() });
                if let Some(to) = to {
                    state.dispatch(ProfileAction::Select(Some(to.slice)));
                }
            }
            Change::Annotate(span, is_of_slice) => {
                let title =
                    state.details.as_ref().filter(|_| is_of_slice).map(|d| d.link.title.replace([';', '~'], " "));
                state.dispatch(ProfileAction::Annotate(span, title));
            }
            Change::Area(area) => state.dispatch(ProfileAction::Area(area)),
            Change::Select(slice) => state.dispatch(ProfileAction::Select(slice)),
            Change::Step(to) => step(&app, &state, to),
            Change::ToggleSection(section) => state.dispatch(ProfileAction::ToggleSection(section)),
            Change::Scroll(by) => {
                if let Some(element) = scroller.cast::<HtmlElement>() {
                    element.set_scroll_top(element.scroll_top() + libm::round(by) as i32);
                }
            }
            Change::Tile(_) => version.set(*version + 1),
            Change::Hover(next) => hover.set(next),
            Change::Key('?') => help.set(!*help),
            Change::Key(_) => {
                hover.set(None);
                page::focus("timeline-search");
            }
            Change::Failed(message) => app.notices.dispatch(NoticeAction::Say(Tone::Bad, message)),
        })
    };
    *latest.borrow_mut() = Some(on_change);

    let link = &props.state.link;
    // Not an effect: the height of this render is that of this arrangement.
    let _ = use_memo((controller.clone(), link.arrangement.clone()), |(c, a)| c.set_arrangement(a));
    let (marks, chosen, flows) = (link.annotations.clone(), props.state.details.clone(), props.state.flows.clone());
    use_effect_with((controller.clone(), marks, chosen, flows), |(c, marks, details, flows)| {
        c.set_overlay(marks, arrows_of(details.as_deref(), flows.as_deref()));
    });
    use_effect_with((controller.clone(), props.state.area.clone()), |(c, area)| c.set_area(area.as_ref()));
    let look = (controller.clone(), link.search.clone(), link.search_by.clone(), app.theme);
    use_effect_with(look, |(c, search, by, theme)| c.set_look(search, by.as_ref(), *theme));
    use_effect_with((controller.clone(), link.selected), |(c, slice)| c.set_selected(slice.map(SliceRef)));
    use_effect_with((controller.clone(), props.state.details.clone(), scroller.clone()), |(c, details, scroller)| {
        if let Some(details) = details {
            c.reveal(&details.link);
            if let (Some(to), Some(element)) =
                (c.scroll_to(details.link.track, details.link.row), scroller.cast::<HtmlElement>())
            {
                element.set_scroll_top(libm::round(to) as i32);
            }
        }
    });
    use_effect_with((controller.clone(), props.state.track, scroller.clone()), {
        let state = props.state.clone();
        move |(c, track, scroller)| {
            let (Some(track), Some(element)) = (track, scroller.cast::<HtmlElement>()) else { return };
            if let Some(to) = c.scroll_to(*track, 0) {
                element.set_scroll_top(libm::round(to) as i32);
            }
            page::focus(CANVAS);
            state.dispatch(ProfileAction::TrackShown);
        }
    });
    // Back and Forward move the view; what the view itself said last is where it is.
    use_effect_with((controller.clone(), link.span), |(c, span)| c.visit(*span));
    use_effect_with(controller.clone(), |c| {
        let c = c.clone();
        move || c.leave()
    });
    use_canvas(&controller, &canvas, &scroller);
    use_keys(&controller);

    let details = props.state.details.clone();
    let outline = &props.run.info.outline;
    let said = details.as_ref().map(|d| describe_slice(d, outline)).unwrap_or_default();
    let place = details.as_ref().map(|d| place_of(outline, d)).unwrap_or_default();
    let on_select = {
        let state = props.state.clone();
        Callback::from(move |slice: SliceRef| state.dispatch(ProfileAction::Select(Some(slice))))
    };
    let on_flows = {
        let (state, app, controller) = (props.state.clone(), app.clone(), controller.clone());
        Callback::from(move |()| match state.flows {
            Some(_) => state.dispatch(ProfileAction::Flows(None)),
            None => ask_flows(&app, &state, controller.shown().1.interval()),
        })
    };
    let height = controller.content_height();
    let (tile, view): (_, Viewport) = controller.shown();
    html! {
        <div class="timeline">
          <div class="timeline-main">
            <TimelineTools
                controller={(*controller).clone()} state={props.state.clone()} help={is_help_open.clone()}
                version={*version} flows={props.state.flows.is_some()} {on_flows}
            />
            if *is_help_open { <TimelineHelp /> }
            <MinimapStrip run={props.run.clone()} controller={(*controller).clone()} {view} />
            <div class="timeline-frame">
                <div class="timeline-scroll" ref={scroller} style={format!("--content:{height}px")}>
                    <div class="timeline-content" style={format!("height:{height}px")}>
                        <canvas
                            ref={canvas} id={CANVAS} tabindex="0" role="application" aria-label="Timeline"
                            aria-roledescription="timeline" aria-describedby="timeline-how timeline-said"
                        ></canvas>
                    </div>
                </div>
                <HoverTip hover={(*hover).clone()} unit={outline.unit.clone()} />
            </div>
            <TimelineLegend colours={props.run.info.colours.clone()} />
            <p id="timeline-how" class="visually-hidden">{ "W and S zoom, A and D pan, Enter selects the first slice in view, arrow keys move the selection, F fits, slash searches, question mark lists all keys. The table Slices in view below has the same slices." }</p>
            <p id="timeline-said" class="visually-hidden" aria-live="polite">{ said }</p>
            <TracksPanel state={props.state.clone()} outline={props.run.info.outline.clone()} />
            <SlicesTable {tile} {view} version={*version} info={props.run.info.clone()} on_select={on_select.clone()} />
          </div>
          <Dock label="Details">
            if let Some(area) = &props.state.area {
                <AreaPanel run={props.run.clone()} state={props.state.clone()} area={area.clone()} on_select={on_select.clone()} />
            }
            <AnnotationsPanel unit={outline.unit.clone()} state={props.state.clone()} controller={(*controller).clone()} />
            <SliceDetailsPanel {details} {place} unit={outline.unit.clone()} {on_select} />
          </Dock>
        </div>
    }
}

/// The arrows of the selected slice, over all others where those are wanted.
fn arrows_of(details: Option<&SliceDetails>, flows: Option<&Flows>) -> Vec<FlowArrow> {
    let all = flows.map(|f| f.arrows.as_slice()).unwrap_or_default();
    let all = all.iter().map(|(from, to)| FlowArrow { from: from.clone(), to: to.clone(), is_strong: false });
    let Some(d) = details else { return all.collect() };
    let before = d.predecessors.iter().map(|p| FlowArrow { from: p.clone(), to: d.link.clone(), is_strong: true });
    let after = d.successors.iter().map(|s| FlowArrow { from: d.link.clone(), to: s.clone(), is_strong: true });
    all.chain(before).chain(after).collect()
}

fn selected_track(state: &ProfileState) -> Option<TrackId> {
    state.details.as_ref().map(|d| d.link.track)
}

fn arrange(state: &UseReducerHandle<ProfileState>, track: Option<TrackId>, change: fn(&mut Arrangement, TrackId)) {
    if let Some(track) = track {
        let mut next = state.link.arrangement.clone();
        change(&mut next, track);
        state.dispatch(ProfileAction::Arrange(next));
    }
}

/// Keys reach the timeline while it, or nothing, has the focus.
#[hook]
fn use_keys(controller: &Rc<Controller>) {
    use_effect_with(controller.clone(), |controller| {
        let controller = (**controller).clone();
        let options = EventListenerOptions::enable_prevent_default();
        let listener = web_sys::window().map(|window| {
            EventListener::new_with_options(&window, "keydown", options, move |event| {
                let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
                if is_for_timeline(event) && controller.key(event) {
                    event.prevent_default();
                }
            })
        });
        move || drop(listener)
    });
}

fn is_for_timeline(event: &KeyboardEvent) -> bool {
    let Some(target) = event.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok()) else { return false };
    matches!(target.tag_name().as_str(), "CANVAS" | "BODY" | "MAIN" | "HTML")
}
