//! The parts around the canvas: tools, help, tooltip, table twin.

use wasm_bindgen::JsCast;
use web_sys::KeyboardEvent;
use yew::prelude::*;

use crate::components::{Fold, on};
use crate::platform::page;
use crate::state::{ProfileAction, ProfileState, StateHandle};
use crate::timeline::{Controller, Hover};
use ns_base::units::format_count;
use ns_page::Shared;
use ns_page::profile::Flows;
use ns_profile::Unit;
use ns_session::ProfileInfo;
use ns_view::timeline::{NO_SLICE, SliceInView, SliceRef, TimelineTile, Viewport, slices_in_view};

/// The most slices that the table twin lists.
const MOST_LINES: usize = 500;

/// What the tools show and change.
pub struct TimelineTools {
    pub controller: Controller,
    /// The state of the page.
    pub state: StateHandle<ProfileState>,
    /// Whether the help is open.
    pub help: UseStateHandle<bool>,
    /// Changes when the view comes to rest.
    pub version: u32,
    /// Whether all flow arrows are shown.
    pub flows: bool,
    /// Called to show all flow arrows, or only those of the selection.
    pub on_flows: Callback<()>,
}

/// Zoom, fit, search, help.
pub fn timeline_tools(props: &TimelineTools) -> Html {
    let press = |f: fn(&Controller)| on(props.controller.clone(), move |controller, _: MouseEvent| f(controller));
    let toggle_help = on(props.help.clone(), |help, _: MouseEvent| help.set(!**help));
    let can_undo = props.controller.can_undo();
    html! {
        <div class="timeline-tools" role="toolbar" aria-label="Zoom and search" data-version={props.version.to_string()}>
            <button type="button" onclick={press(|c| c.zoom(1.0 / 1.5))} title="W">{ "Zoom in" }</button>
            <button type="button" onclick={press(|c| c.zoom(1.5))} title="S">{ "Zoom out" }</button>
            <button type="button" onclick={press(Controller::fit)} title="0">{ "Fit" }</button>
            <button type="button" onclick={press(|c| c.undo(false))} disabled={!can_undo.0} title="Ctrl+Z" aria-label="Undo zoom">{ "\u{21b6}" }</button>
            <button type="button" onclick={press(|c| c.undo(true))} disabled={!can_undo.1} title="Ctrl+Y" aria-label="Redo zoom">{ "\u{21b7}" }</button>
            <label class="radio"><input type="checkbox" checked={props.flows} onchange={props.on_flows.reform(|_: web_sys::Event| ())} />{ "All flows" }</label>
            if let Some(flows) = &props.state.flows { <span class="count" role="status">{ flows_text(flows) }</span> }
            <span class="gap"></span>
            { search(&props.state) }
            <button type="button" onclick={toggle_help} aria-expanded={props.help.to_string()} title="?">{ "Keys" }</button>
        </div>
    }
}

fn flows_text(flows: &Flows) -> String {
    let (drawn, total) = (flows.arrows.len() as u64, flows.total);
    if drawn < total {
        format!("Flow arrows: {} of {}", format_count(drawn), format_count(total))
    } else {
        format!("Flow arrows: {}", format_count(total))
    }
}

fn search(state: &StateHandle<ProfileState>) -> Html {
    let oninput = on(state.clone(), |state, event: InputEvent| {
        state.dispatch(ProfileAction::Search(page::value_of(&event)));
    });
    let go =
        |forward: bool| on(state.clone(), move |state, _: MouseEvent| state.dispatch(ProfileAction::NextHit(forward)));
    let onkeydown = on(state.clone(), |state, event: KeyboardEvent| match event.key().as_str() {
        "Enter" => state.dispatch(ProfileAction::NextHit(!event.shift_key())),
        "Escape" => page::focus("main"),
        _ => {}
    });
    let of_what = state.link.search_by.as_ref().map_or_else(String::new, |kind| format!(" by {}", kind.by.name()));
    let count = match &state.hits {
        Some(hits) if hits.total == 0 => "nothing found".to_owned(),
        Some(hits) => match state.position_of_hit(hits) {
            Some(i) => format!("{} of {}", format_count(i as u64 + 1), format_count(hits.total)),
            None => format!("{} found{of_what}", format_count(hits.total)),
        },
        None => String::new(),
    };
    let has_hits = state.hits.as_ref().is_some_and(|h| !h.hits.is_empty());
    html! { <>
        <label class="search"><span class="visually-hidden">{ "Search slices" }</span>
            <input id="timeline-search" type="search" placeholder="Search slices ( / )" value={state.link.search.clone()} {oninput} {onkeydown} />
        </label>
        <span class="count" role="status">{ count }</span>
        <button type="button" aria-label="Previous hit" disabled={!has_hits} onclick={go(false)}>{ "\u{2190}" }</button>
        <button type="button" aria-label="Next hit" disabled={!has_hits} onclick={go(true)}>{ "\u{2192}" }</button>
    </> }
}

#[derive(Properties, PartialEq)]
pub struct TimelineHelpProps {
    /// Called to close it.
    pub on_close: Callback<()>,
}

/// The list of all keys, as a dialog above the timeline.
#[component]
pub fn TimelineHelp(props: &TimelineHelpProps) -> Html {
    let dialog = use_node_ref();
    use_effect_with(dialog.clone(), |dialog| {
        if let Some(dialog) = dialog.cast::<web_sys::HtmlElement>() {
            let _ = dialog.focus();
        }
    });
    let onkeydown = on((props.on_close.clone(), dialog.clone()), |(on_close, dialog), event: KeyboardEvent| {
        match event.key().as_str() {
            "Escape" | "?" => on_close.emit(()),
            // Only its button takes the focus here.
            "Tab" => {
                let dialog = dialog.cast::<web_sys::HtmlElement>();
                let button = dialog.and_then(|d| d.query_selector("button").ok().flatten());
                let _ = button.and_then(|b| b.dyn_into::<web_sys::HtmlElement>().ok()).map(|b| b.focus());
            }
            _ => return,
        }
        event.stop_propagation();
        event.prevent_default();
    });
    let onclick = props.on_close.reform(|_: MouseEvent| ());
    let keys = [
        ("W / S", "zoom in, zoom out (finer with Shift)"),
        ("A / D, \u{2190} / \u{2192}", "pan left, pan right"),
        (
            "Wheel",
            "zoom, or scroll if the timeline is taller than its window; Ctrl+wheel always zooms, Shift+wheel pans",
        ),
        ("Drag", "pan; along the ruler, or with Shift, it selects an area and counts it; Ctrl+drag zooms to the span"),
        ("Two fingers", "pinch to zoom"),
        ("Click, Enter", "select a slice; Enter selects the first one in view"),
        ("\u{2190} \u{2192} \u{2191} \u{2193}", "with a selection: select the slice beside, above, below"),
        (", / .", "previous, next slice on the row"),
        ("F, double click", "fit the area or the selection; pressed again, or without a selection, fit everything"),
        ("R", "select an area: the span of the selected slice, or of the screen"),
        ("M", "add a range over the area or the selected slice, or a mark under the pointer"),
        ("[ / ]", "follow the flow arrows of the selected slice back or forth"),
        ("P / H", "pin or hide the track of the selected slice"),
        ("Alt+\u{2191} \u{2193}, drag a name", "move the track of the selected slice, or the dragged track"),
        ("Ctrl+Z, Ctrl+Y", "undo and redo zooming and panning"),
        ("0", "fit everything"),
        ("/", "search; Enter and Shift+Enter go to the next and the previous hit"),
        ("Esc", "clear the area, then the selection"),
        ("?", "this list"),
    ];
    html! {
        <div class="veil">
            <section ref={dialog} class="panel help-keys" role="dialog" aria-modal="true" aria-label="Keys" tabindex="-1" {onkeydown}>
                <div class="dialog-head"><h3>{ "Keys" }</h3><button type="button" {onclick}>{ "Close" }</button></div>
                <dl>{ for keys.iter().map(|(k, what)| html! { <div><dt><kbd>{ *k }</kbd></dt><dd>{ *what }</dd></div> }) }</dl>
            </section>
        </div>
    }
}

/// What is under the pointer; its duration counts `unit`.
pub fn hover_tip(hover: Option<&Hover>, unit: &Unit) -> Html {
    let Some(hover) = hover else { return Html::default() };
    let title = if hover.count > 1 {
        format!("{} slices, longest {}", format_count(u64::from(hover.count)), hover.title)
    } else {
        hover.title.clone()
    };
    html! {
        <div class="tip" aria-hidden="true" style={format!("--x:{:.0}px;--y:{:.0}px", hover.x, hover.y)}>
            <strong>{ title }</strong>
            if let Some(value) = &hover.value { <span>{ value }</span> }
            <span>{ unit.text(i64::try_from(hover.duration_ns).unwrap_or(i64::MAX)) }</span>
        </div>
    }
}

#[derive(Clone, Properties, PartialEq)]
pub struct SlicesTableProps {
    /// Slices around the screen.
    pub tile: Option<Shared<TimelineTile>>,
    /// The span on the screen.
    pub view: Viewport,
    /// Changes when the view comes to rest.
    pub version: u32,
    pub info: Shared<ProfileInfo>,
    /// Receives a chosen slice.
    pub on_select: Callback<SliceRef>,
}

/// The table twin of the canvas. A frame does not spend time on it while it is folded.
#[component]
pub fn SlicesTable(props: &SlicesTableProps) -> Html {
    let draw = on(props.clone(), |props, ()| slices_table(props));
    html! { <Fold class="panel twin" summary="Slices in view as a table" {draw} /> }
}

fn slices_table(props: &SlicesTableProps) -> Html {
    let listed = props.tile.as_ref().map(|tile| slices_in_view(&props.info.outline, tile, &props.view, MOST_LINES));
    let (lines, total) = listed.unwrap_or_default();
    let unit = &props.info.outline.unit;
    let row = |line: SliceInView| {
        let slice = line.slice;
        let duration = i64::try_from(line.duration_ns).unwrap_or(i64::MAX);
        let onclick = props.on_select.reform(move |_: MouseEvent| slice);
        html! { <tr>
            <th scope="row">
                if slice == NO_SLICE { { line.title } }
                else { <button type="button" class="link" {onclick}>{ line.title }</button> }
            </th>
            <td>{ line.place }</td>
            <td class="number" title={unit.exact(line.start_ns)}>{ unit.place(line.start_ns) }</td>
            <td class="number" title={unit.exact(duration)}>{ unit.text(duration) }</td>
        </tr> }
    };
    html! {
        <>
            <p class="count" role="status">{
                if total > lines.len() { format!("The first {} of {} slices; zoom in for the rest.", lines.len(), format_count(total as u64)) }
                else { format!("{} slices", lines.len()) }
            }</p>
            <div class="table-scroll is-long" tabindex="0" role="region" aria-label="Slices in view, scrollable">
                <table>
                    <caption>{ "Slices in view" }</caption>
                    <thead><tr><th scope="col">{ "Name" }</th><th scope="col">{ "Track" }</th>
                        <th scope="col" class="number">{ "Start" }</th><th scope="col" class="number">{ "Duration" }</th></tr></thead>
                    <tbody>{ for lines.into_iter().map(row) }</tbody>
                </table>
            </div>
        </>
    }
}
