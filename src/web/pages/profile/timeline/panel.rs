//! The timeline with its tools, the details of the selected slice, and the table twin.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};
use yew::prelude::*;

use super::annotations::AnnotationsPanel;
use super::area::AreaPanel;
use super::canvas::use_canvas;
use super::changes::Changes;
use super::legend::timeline_legend;
use super::minimap::MinimapStrip;
use super::parts::{SlicesTable, TimelineHelp, TimelineTools, hover_tip, timeline_tools};
use super::tracks::TracksPanel;
use crate::components::{SelectedSlice, on, place_of, slice_details_panel, slice_flow_panel};
use crate::context::use_app;
use crate::pages::profile::dock::{Dock, DockTab, use_dock_size};
use crate::pages::profile::queries::ask_flows;
use crate::platform::page;
use crate::state::{OpenRun, ProfileAction, ProfileState, StateHandle};
use crate::timeline::{Change, Controller, Hover};
use ns_page::profile::Flows;
use ns_view::palette::Theme;
use ns_view::timeline::{FlowArrow, SliceDetails, SliceRef, TrackId, Viewport, describe_slice};

/// Id of the canvas, which takes the focus when the finder leads to a track.
const CANVAS: &str = "timeline-canvas";

#[derive(Properties, PartialEq)]
pub struct TimelinePanelProps {
    /// The run that is shown.
    pub run: OpenRun,
    /// The state of the page.
    pub state: StateHandle<ProfileState>,
}

#[component]
pub fn TimelinePanel(props: &TimelinePanelProps) -> Html {
    let Some(app) = use_app() else { return Html::default() };
    let canvas = use_node_ref();
    let scroller = use_node_ref();
    let hover = use_state_eq(|| None::<Hover>);
    let is_help_open = use_state_eq(|| false);
    // Counts the changes that the accessible table depends on: new slices, and a view that has come to rest.
    let version = use_state_eq(|| 0_u32);

    let changes = Changes {
        app: app.clone(),
        state: props.state.clone(),
        hover: hover.clone(),
        help: is_help_open.clone(),
        version: version.clone(),
        scroller: scroller.clone(),
    };
    let controller = use_controller(&props.run, changes);
    use_state_of_page(&controller, &props.state, app.theme, &scroller);
    use_canvas(&controller, &canvas, &scroller);
    use_keys(&controller);

    let docked = (use_tab(&props.state), use_dock_size());
    let outline = &props.run.info.outline;
    let said = props.state.details.as_ref().map(|d| describe_slice(d, outline)).unwrap_or_default();
    let on_select =
        on(props.state.clone(), |state, slice: SliceRef| state.dispatch(ProfileAction::Select(Some(slice))));
    let on_flows = {
        let (state, app, controller) = (props.state.clone(), app.clone(), controller.clone());
        Callback::from(move |()| match state.flows {
            Some(_) => state.dispatch(ProfileAction::NoFlows),
            None => ask_flows(&app, &state, controller.visible_slices().1.interval()),
        })
    };
    let on_close_help = on(is_help_open.clone(), |help, ()| {
        help.set(false);
        page::focus(CANVAS);
    });
    let tools = TimelineTools {
        controller: (*controller).clone(),
        state: props.state.clone(),
        help: is_help_open.clone(),
        version: *version,
        flows: props.state.flows.is_some(),
        on_flows,
    };
    let height = controller.content_height();
    let (tile, view): (_, Viewport) = controller.visible_slices();
    let sizes = format!("--dock:{:.0}px;--content:{height}px", *docked.1);
    html! {
        <div class="timeline" style={sizes}>
          <div class="timeline-main">
            { timeline_tools(&tools) }
            if *is_help_open { <TimelineHelp on_close={on_close_help} /> }
            <MinimapStrip run={props.run.clone()} controller={(*controller).clone()} {view} />
            <div class="timeline-frame">
                <div class="timeline-scroll" ref={scroller}>
                    <div class="timeline-content" style={format!("height:{height}px")}>
                        <canvas
                            ref={canvas} id={CANVAS} tabindex="0" role="application" aria-label="Timeline"
                            aria-roledescription="timeline" aria-describedby="timeline-how timeline-said"
                        ></canvas>
                    </div>
                </div>
                { hover_tip(hover.as_ref(), &outline.unit) }
            </div>
            { timeline_legend(&props.run.info.colours, props.run.is_neuron() || !props.run.engine_tracks().is_empty()) }
            <p id="timeline-how" class="visually-hidden">{ "W and S zoom, A and D pan, Enter selects the first slice in view, arrow keys move the selection, F fits, slash searches, question mark lists all keys. The table Slices in view below has the same slices." }</p>
            <p id="timeline-said" class="visually-hidden" aria-live="polite">{ said }</p>
          </div>
          { dock(props, &controller, &on_select, &docked) }
          <div class="timeline-more">
            <TracksPanel state={props.state.clone()} outline={props.run.info.outline.clone()} />
            <SlicesTable {tile} {view} version={*version} info={props.run.info.clone()} on_select={on_select.clone()} />
          </div>
        </div>
    }
}

/// The controller that drives the canvas: one for each run.
#[hook]
fn use_controller(run: &OpenRun, changes: Changes) -> Rc<Controller> {
    // The controller outlives renders, so its callback must see the newest state.
    let latest: Rc<RefCell<Option<Callback<Change>>>> = use_mut_ref(|| None);
    let controller = use_memo(run.id, |_| {
        let latest = Rc::clone(&latest);
        let on_change = Callback::from(move |change| {
            let callback = latest.borrow().clone();
            if let Some(callback) = callback {
                callback.emit(change);
            }
        });
        Controller::new(run.engine.clone(), run.info.clone(), changes.state.link.span, on_change)
    });
    *latest.borrow_mut() = Some(Callback::from(move |change| changes.take(change)));
    controller
}

/// The tabs of the dock, in their order.
const SLICE: usize = 0;
const AREA: usize = 1;
const MARKS: usize = 3;

/// The open tab: that of what was chosen last, until the user opens another one.
#[hook]
fn use_tab(state: &StateHandle<ProfileState>) -> UseStateHandle<usize> {
    let open = use_state_eq(|| SLICE);
    let link = &state.link;
    use_effect_with(link.selected, {
        let open = open.setter();
        move |selected| selected.iter().for_each(|_| open.set(SLICE))
    });
    use_effect_with(link.area.clone(), {
        let open = open.setter();
        move |area| area.iter().for_each(|_| open.set(AREA))
    });
    // A mark that is removed leaves the others in sight.
    use_effect_with(link.annotations.len(), {
        let open = open.setter();
        move |marks| {
            if *marks > 0 {
                open.set(MARKS);
            }
        }
    });
    open
}

/// What is known of the selection, below the timeline: the slice, the area, its flow arrows, the marks.
fn dock(
    props: &TimelinePanelProps,
    controller: &Controller,
    on_select: &Callback<SliceRef>,
    (open, size): &(UseStateHandle<usize>, UseStateHandle<f64>),
) -> Html {
    let outline = &props.run.info.outline;
    let details = props.state.details.clone();
    let place = details.as_ref().map(|d| place_of(outline, d)).unwrap_or_default();
    let unit = outline.unit.clone();
    let selected = SelectedSlice { details, unit: unit.clone(), place, on_select: on_select.clone() };
    let tab = |title: &str, content: Html| DockTab { title: title.to_owned().into(), content };
    let area = match &props.state.link.area {
        Some(area) => {
            html! { <AreaPanel run={props.run.clone()} state={props.state.clone()} area={area.clone()} on_select={on_select.clone()} /> }
        }
        None => {
            html! { <p class="empty">{ "No area selected. Drag along the ruler, Shift+drag over some tracks, or press R." }</p> }
        }
    };
    let marks = props.state.link.annotations.len();
    let mut tabs =
        vec![tab("Slice", slice_details_panel(&selected)), tab("Area", area), tab("Flow", slice_flow_panel(&selected))];
    if marks > 0 {
        tabs.push(tab(
            &format!("Marks ({marks})"),
            html! { <AnnotationsPanel {unit} state={props.state.clone()} controller={controller.clone()} /> },
        ));
    }
    let tab = if **open == MARKS && marks == 0 { SLICE } else { **open };
    let on_open = on(open.setter(), |open, tab| open.set(tab));
    html! { <Dock label="Details" {tabs} open={tab} {on_open} size={size.clone()} /> }
}

/// Keeps the timeline up to date with the state of the page.
#[hook]
fn use_state_of_page(controller: &Rc<Controller>, state: &StateHandle<ProfileState>, theme: Theme, scroller: &NodeRef) {
    let link = &state.link;
    // Not in an effect: the height in this render depends on this arrangement.
    let _ = use_memo((controller.clone(), link.arrangement.clone()), |(c, a)| c.set_arrangement(a));
    let (marks, chosen, flows) = (link.annotations.clone(), state.details.clone(), state.flows.clone());
    use_effect_with((controller.clone(), marks, chosen, flows), |(c, marks, details, flows)| {
        c.set_overlay(marks, arrows_of(details.as_deref(), flows.as_deref()));
    });
    use_effect_with((controller.clone(), state.link.area.clone()), |(c, area)| c.set_area(area.as_ref()));
    let look = (controller.clone(), link.search.clone(), link.search_by.clone(), theme);
    use_effect_with(look, |(c, search, by, theme)| c.set_look(search, by.as_ref(), *theme));
    use_effect_with((controller.clone(), link.selected), |(c, slice)| c.set_selected(slice.map(SliceRef)));
    use_effect_with((controller.clone(), state.details.clone(), scroller.clone()), |(c, details, scroller)| {
        if let Some(details) = details {
            c.reveal(&details.link);
            if let Some(element) = scroller.cast::<HtmlElement>() {
                let row = (details.link.track, details.link.row);
                if let Some(to) = c.scroll_to(row.0, row.1) {
                    page::scroll_to(&element, libm::round(to));
                }
                uncover(c, &element, row);
            }
        }
    });
    use_effect_with((controller.clone(), state.track, scroller.clone()), {
        let state = state.clone();
        move |(c, track, scroller)| {
            let (Some(track), Some(element)) = (track, scroller.cast::<HtmlElement>()) else { return };
            if let Some(to) = c.scroll_to(*track, 0) {
                page::scroll_to(&element, libm::round(to));
            }
            page::focus(CANVAS);
            state.dispatch(ProfileAction::TrackShown);
        }
    });
    // Back and Forward move the view. A span that the view itself reported last is where it already is.
    use_effect_with((controller.clone(), link.span), |(c, span)| c.visit(*span));
    use_effect_with(controller.clone(), |c| {
        let c = c.clone();
        move || c.leave()
    });
}

/// Scrolls the page if the dock, a sheet over the foot of a small window, covers a row of the timeline.
fn uncover(controller: &Controller, scroller: &HtmlElement, (track, row): (TrackId, u16)) {
    let frame = scroller.closest(".timeline").ok().flatten();
    let dock = frame.and_then(|frame| frame.query_selector(".dock").ok().flatten());
    let (Some(dock), Some(bottom)) = (dock, controller.bottom_of(track, row)) else { return };
    let covered = scroller.get_bounding_client_rect().top() + bottom - dock.get_bounding_client_rect().top();
    if covered > 0.0 {
        page::scroll_window_by(covered);
    }
}

/// The arrows of the selected slice, above all other arrows if those are shown.
fn arrows_of(details: Option<&SliceDetails>, flows: Option<&Flows>) -> Vec<FlowArrow> {
    let all = flows.map(|f| f.arrows.as_slice()).unwrap_or_default();
    let all = all.iter().map(|(from, to)| FlowArrow { from: from.clone(), to: to.clone(), is_strong: false });
    let Some(d) = details else { return all.collect() };
    let before = d.predecessors.iter().map(|p| FlowArrow { from: p.clone(), to: d.link.clone(), is_strong: true });
    let after = d.successors.iter().map(|s| FlowArrow { from: d.link.clone(), to: s.clone(), is_strong: true });
    all.chain(before).chain(after).collect()
}

/// Sends keys to the timeline while the timeline, or nothing, has the focus.
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
