//! The rail: the tools in groups; a tool that is not available says what it needs. A sheet on small screens.

use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent};
use yew::prelude::*;

use crate::components::on;
use crate::context::use_app;
use crate::state::{OpenRun, ProfileAction, ProfileState, StateHandle};
use ns_page::notices::{NoticeAction, Tone};
use ns_page::profile::{ToolGroup, tool_name, tools_of};
use ns_session::share::Tool;

#[derive(Properties, PartialEq)]
pub struct RailProps {
    /// The run that is shown.
    pub run: OpenRun,
    /// The tool that is shown.
    pub tool: Tool,
    /// The state of the page.
    pub state: StateHandle<ProfileState>,
}

#[component]
pub fn Rail(props: &RailProps) -> Html {
    let notices = use_app().map(|app| app.notices);
    let is_open = use_state_eq(|| false);
    let list = use_node_ref();
    let toggle = on(is_open.clone(), |is_open, _: MouseEvent| is_open.set(!**is_open));
    let onkeydown =
        on((list.clone(), is_open.clone()), |(list, is_open), event: KeyboardEvent| walk(list, is_open, &event));
    let item = |(tool, lack): (Tool, Option<&'static str>)| {
        let (state, notices, is_open) = (props.state.clone(), notices.clone(), is_open.clone());
        let onclick = Callback::from(move |_: MouseEvent| match (lack, &notices) {
            (Some(lack), Some(notices)) => notices.dispatch(NoticeAction::Say(Tone::Info, lack.to_owned())),
            _ => {
                is_open.set(false);
                state.dispatch(ProfileAction::Tool(tool));
            }
        });
        let is_shown = tool == props.tool;
        html! {
            <li><button
                type="button" data-tool={tool.name()} {onclick} title={lack} aria-disabled={lack.map(|_| "true")}
                aria-current={is_shown.then_some("true")}
            >{ icon(tool) }<span>{ tool_name(tool, &props.run) }</span></button></li>
        }
    };
    let group = |(name, tools): ToolGroup| {
        html! {
            <>
                if !name.is_empty() { <p class="rail-group" aria-hidden="true">{ name }</p> }
                <ul aria-label={if name.is_empty() { "First" } else { name }}>{ for tools.into_iter().map(item) }</ul>
            </>
        }
    };
    html! {
        <div class={classes!("rail", is_open.then_some("is-open"))} {onkeydown}>
            <button type="button" class="rail-toggle" aria-expanded={is_open.to_string()} aria-controls="rail-tools" onclick={toggle.clone()}>
                { icon(props.tool) }<span>{ tool_name(props.tool, &props.run) }</span><span aria-hidden="true">{ "\u{25be}" }</span>
            </button>
            <nav id="rail-tools" aria-label="Tools" ref={list}>{ for tools_of(&props.run).into_iter().map(group) }</nav>
        </div>
    }
}

/// The picture of a tool: strokes in a square of 20, in the colour of the text beside it. It is decoration next to the name.
fn icon(tool: Tool) -> Html {
    html! { <svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d={strokes(tool)} /></svg> }
}

const fn strokes(tool: Tool) -> &'static str {
    match tool {
        Tool::Overview => "M3 3h6v8h-6zM11 3h6v4h-6zM11 9h6v8h-6zM3 13h6v4h-6z",
        Tool::Summary => "M4 3h9l3 3v11h-12zM7 9h6M7 12h6M7 15h4",
        Tool::OperatorFramework => "M10 3a7 7 0 1 0 7 7h-7zM12 2a6 6 0 0 1 6 6h-6z",
        Tool::OperatorHlo => "M7 4l-5 6 5 6M13 4l5 6-5 6M11.5 4l-3 12",
        Tool::OperatorEngine => "M5 5h10v10h-10zM8 8h4v4h-4zM7 2v3M13 2v3M7 15v3M13 15v3M2 7h3M2 13h3M15 7h3M15 13h3",
        Tool::OperatorTimeline | Tool::Trace => "M2 5h8M5 10h10M9 15h9M2 3v14",
        Tool::Statistics => "M3 17v-6M8 17v-12M13 17v-9M18 17v-3",
        Tool::FlameGraph => "M3 16h14M3 12h10M3 8h6M3 4h3",
        Tool::Modules => "M7 3h6v4h-6zM2 13h6v4h-6zM12 13h6v4h-6zM10 7v3M5 13v-3h10v3",
        Tool::CriticalPath => "M3 5h5v5h5v5h4M14.5 12.5l2.5 2.5-2.5 2.5",
        Tool::IdleGaps => "M5 3h10M5 17h10M6 3c0 5 8 9 8 14M14 3c0 5-8 9-8 14",
        Tool::Counters => "M2 15l4-6 4 3 4-8 4 5",
        Tool::Compare => "M10 2v16M3 6h4v8h-4zM13 4h4v10h-4z",
        Tool::Ask => "M9 3a6 6 0 1 0 0.01 0M13.5 13.5l4 4",
    }
}

/// Arrow keys go from tool to tool, Escape closes the sheet.
fn walk(list: &NodeRef, is_open: &UseStateHandle<bool>, event: &KeyboardEvent) {
    if event.key() == "Escape" {
        return is_open.set(false);
    }
    let Some(list) = list.cast::<HtmlElement>() else { return };
    let Ok(all) = list.query_selector_all("[data-tool]") else { return };
    let buttons: Vec<HtmlElement> = (0..all.length()).filter_map(|i| all.item(i)?.dyn_into().ok()).collect();
    let focused = event.target().and_then(|t| t.dyn_into::<HtmlElement>().ok());
    let Some(at) = buttons.iter().position(|b| Some(b) == focused.as_ref()) else { return };
    let to = match event.key().as_str() {
        "ArrowDown" => (at + 1) % buttons.len(),
        "ArrowUp" => (at + buttons.len() - 1) % buttons.len(),
        "Home" => 0,
        "End" => buttons.len() - 1,
        _ => return,
    };
    event.prevent_default();
    let _ = buttons[to].focus();
}
