//! The tree: one line for each visible module and operator, with keys to move through it.

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::actions::InspectActions;
use crate::components::on;
use crate::platform::page;
use ns_base::convert::usize_to_f64;
use ns_page::Shared;
use ns_session::{InspectField, InspectResult, TreeRow};
use ns_view::table::visible_range;

/// Height of a line, in pixels; the style sheet has the same value.
const ROW_PX: f64 = 26.0;
/// Height of the part of the list for which lines are made.
const WINDOW_PX: f64 = 900.0;

#[derive(Properties, PartialEq)]
pub struct TreeProps {
    /// Actions of a choice.
    pub actions: InspectActions,
    pub result: Shared<InspectResult>,
}

#[component]
pub fn Tree(props: &TreeProps) -> Html {
    let rows = &props.result.tree;
    let selected = props.actions.state.spec.get(InspectField::Selected).to_owned();
    let at = rows.iter().position(|r| r.id == selected);
    let scroller = use_node_ref();
    let scroll_top = use_state_eq(|| 0.0_f64);
    let onscroll = on(scroll_top.clone(), |scroll_top, event: web_sys::Event| {
        if let Some(element) = event.target().and_then(|t| t.dyn_into::<HtmlElement>().ok()) {
            scroll_top.set(libm::floor(f64::from(element.scroll_top()) / (4.0 * ROW_PX)) * 4.0 * ROW_PX);
        }
    });
    use_effect_with((at, props.result.clone()), {
        let scroller = scroller.clone();
        move |(at, _)| {
            if let (Some(at), Some(element)) = (*at, scroller.cast::<HtmlElement>()) {
                keep_in_sight(&element, usize_to_f64(at) * ROW_PX);
            }
        }
    });
    let onkeydown =
        on((props.actions.clone(), props.result.clone()), move |(actions, result), event: KeyboardEvent| {
            if key(actions, &result.tree, at, &event.key()) {
                event.prevent_default();
            }
        });
    let range = visible_range(*scroll_top, WINDOW_PX, ROW_PX, rows.len(), 12);
    let space = |lines: usize| format!("height:{}px", usize_to_f64(lines) * ROW_PX);
    let active = at.map(|at| format!("tree-{}", rows[at].node));
    html! {
        <div class="model-tree" ref={scroller} {onscroll} {onkeydown} role="tree" tabindex="0" aria-label="Modules and operators" aria-activedescendant={active}>
            <div role="none" style={space(range.start)}></div>
            { for rows[range.clone()].iter().map(|r| row(&props.actions, r, r.id == selected)) }
            <div role="none" style={space(rows.len() - range.end)}></div>
        </div>
    }
}

fn keep_in_sight(element: &HtmlElement, top: f64) {
    let (from, height) = (f64::from(element.scroll_top()), f64::from(element.client_height()));
    if top < from {
        page::scroll_to(element, top);
    } else if top + ROW_PX > from + height {
        page::scroll_to(element, top + ROW_PX - height);
    }
}

fn row(actions: &InspectActions, row: &TreeRow, is_selected: bool) -> Html {
    let choose = on((actions.clone(), row.id.clone()), |(actions, id), _: MouseEvent| {
        actions.choose(InspectField::Selected, id.clone())
    });
    let opens = row.is_open.is_some();
    let toggle = on((actions.clone(), row.id.clone()), move |(actions, id), event: MouseEvent| {
        event.stop_propagation();
        if opens {
            actions.toggle(id);
        }
    });
    let sign = match row.is_open {
        Some(true) => "\u{25be}",
        Some(false) => "\u{25b8}",
        None => "",
    };
    let class = classes!("tree-row", is_selected.then_some("is-selected"), row.is_found.then_some("is-found"));
    html! {
        <div
            key={row.node} id={format!("tree-{}", row.node)} {class} role="treeitem" aria-level={(row.depth + 1).to_string()}
            aria-expanded={row.is_open.map(|o| o.to_string())} aria-selected={is_selected.to_string()}
            aria-posinset={row.place.0.to_string()} aria-setsize={row.place.1.to_string()}
            style={format!("--depth:{};--share:{:.2}%", row.depth.min(16), row.share * 100.0)} onclick={choose} ondblclick={toggle.clone()} title={row.id.clone()}
        >
            <span class="sign" aria-hidden="true" onclick={toggle}>{ sign }</span>
            <span class="name">{ &row.title }</span>
            // The picture says how many operators a module has: names need the room.
            if row.is_open.is_none() { <span class="what">{ &row.note }</span> }
            <span class="time">{ &row.time }</span>
        </div>
    }
}

/// Applies a key; returns whether the key has an effect.
fn key(actions: &InspectActions, rows: &[TreeRow], at: Option<usize>, key: &str) -> bool {
    let go = |to: usize| {
        if let Some(row) = rows.get(to.min(rows.len().saturating_sub(1))) {
            actions.choose(InspectField::Selected, row.id.clone());
        }
    };
    let Some(now) = at else {
        let first = matches!(key, "ArrowDown" | "ArrowUp" | "ArrowRight" | "Home" | "End");
        if first {
            go(if key == "End" { usize::MAX } else { 0 });
        }
        return first;
    };
    let row = &rows[now];
    match (key, row.is_open) {
        ("ArrowDown", _) => go(now + 1),
        ("ArrowUp", _) => go(now.saturating_sub(1)),
        ("Home", _) => go(0),
        ("End", _) => go(usize::MAX),
        ("ArrowRight", Some(true)) => go(now + 1),
        ("ArrowRight", Some(false)) | ("ArrowLeft", Some(true)) | ("Enter" | " ", Some(_)) => actions.toggle(&row.id),
        ("ArrowLeft", _) => {
            if let Some(parent) = rows[..now].iter().rposition(|r| r.depth < row.depth) {
                go(parent);
            }
        }
        _ => return false,
    }
    true
}
