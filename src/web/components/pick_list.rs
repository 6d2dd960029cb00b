//! A field that chooses from a list with a fact about each entry; what is typed filters the list.

use web_sys::KeyboardEvent;
use yew::prelude::*;

use super::field::{described_by, note};
use super::on;
use crate::platform::page;
use ns_session::InstanceInfo;
use ns_view::text::contains_ignoring_case;

#[derive(Clone, Debug, PartialEq)]
pub struct PickEntry {
    /// The value that is chosen.
    pub value: AttrValue,
    /// What it is: sizes, a price, a sentence.
    pub facts: AttrValue,
}

impl From<&InstanceInfo> for PickEntry {
    fn from(instance: &InstanceInfo) -> Self {
        Self { value: instance.name.clone().into(), facts: instance.facts().into() }
    }
}

#[derive(Properties, PartialEq)]
pub struct PickListProps {
    /// Id of the input.
    pub id: AttrValue,
    /// Text above it.
    pub label: AttrValue,
    /// The chosen value; several are separated by commas.
    pub value: AttrValue,
    pub entries: Vec<PickEntry>,
    /// Whether several can be chosen.
    #[prop_or_default]
    pub several: bool,
    /// Whether a text that is no entry can be chosen too.
    #[prop_or_default]
    pub is_open_ended: bool,
    /// Whether it takes more room than others.
    #[prop_or_default]
    pub wide: bool,
    /// Help below it.
    #[prop_or_default]
    pub help: AttrValue,
    /// Message if the value is wrong.
    #[prop_or_default]
    pub error: Option<AttrValue>,
    /// Receives the newly chosen value.
    pub on_choose: Callback<String>,
}

/// The open list: what is typed, if anything is, and the marked entry.
#[derive(Clone, Debug, Default, PartialEq)]
struct Open {
    typed: Option<String>,
    at: usize,
}

#[component]
pub fn PickList(props: &PickListProps) -> Html {
    let open = use_state_eq(|| None::<Open>);
    let id = &props.id;
    let list_id = format!("{id}-list");
    let typed = open.as_ref().and_then(|open| open.typed.clone());
    let matches: Vec<&PickEntry> = entries_for(&props.entries, typed.as_deref(), props.several);
    let at = open.as_ref().map_or(0, |open| open.at).min(matches.len().saturating_sub(1));
    let choose = {
        let (open, on_choose, value, several) =
            (open.clone(), props.on_choose.clone(), props.value.clone(), props.several);
        Callback::from(move |chosen: AttrValue| {
            on_choose.emit(if several { toggled(&value, &chosen) } else { chosen.to_string() });
            // A list of several stays open for the next one.
            open.set(several.then_some(Open { typed: None, at }));
        })
    };
    let oninput = {
        let (open, on_choose, entries, several) =
            (open.clone(), props.on_choose.clone(), props.entries.clone(), props.several);
        Callback::from(move |event: InputEvent| {
            let text = page::value_of(&event);
            // Names that are typed in full are chosen.
            if is_complete(&entries, &text, several) {
                on_choose.emit(text);
                open.set(None);
            } else {
                open.set(Some(Open { typed: Some(text), at: 0 }));
            }
        })
    };
    let show = on(open.clone(), |open, _: MouseEvent| {
        if open.is_none() {
            open.set(Some(Open::default()));
        }
    });
    let keep = {
        let (typed, on_choose) = (typed.clone().filter(|_| props.is_open_ended), props.on_choose.clone());
        Callback::from(move |()| typed.clone().into_iter().for_each(|typed| on_choose.emit(typed)))
    };
    let close = {
        let (open, keep) = (open.clone(), keep.clone());
        Callback::from(move |_: FocusEvent| {
            keep.emit(());
            open.set(None);
        })
    };
    let onkeydown = {
        let (open, choose, list_id) = (open.clone(), choose.clone(), list_id.clone());
        let values: Vec<AttrValue> = matches.iter().map(|entry| entry.value.clone()).collect();
        Callback::from(move |event: KeyboardEvent| {
            let count = values.len().max(1);
            let go = |at: usize| {
                let typed = open.as_ref().and_then(|open| open.typed.clone());
                open.set(Some(Open { typed, at }));
                if let Some(option) = page::element(&format!("{list_id}-{at}")) {
                    option.scroll_into_view_with_bool(false);
                }
            };
            match (event.key().as_str(), open.is_some()) {
                ("ArrowDown" | "ArrowUp", false) => go(0),
                ("ArrowDown", true) => go((at + 1) % count),
                ("ArrowUp", true) => go((at + count - 1) % count),
                ("Enter", true) => match values.get(at) {
                    Some(value) => choose.emit(value.clone()),
                    None => {
                        keep.emit(());
                        open.set(None);
                    }
                },
                ("Escape", true) => open.set(None),
                _ => return,
            }
            event.prevent_default();
            event.stop_propagation();
        })
    };
    let option = |(i, entry): (usize, &&PickEntry)| {
        let (choose, value) = (choose.clone(), entry.value.clone());
        // The input keeps the focus.
        let onmousedown = Callback::from(|event: MouseEvent| event.prevent_default());
        let onclick = Callback::from(move |_: MouseEvent| choose.emit(value.clone()));
        let is_chosen = parts(&props.value, props.several).any(|part| *part == *entry.value);
        html! {
            <li key={entry.value.to_string()} id={format!("{list_id}-{i}")} role="option" class={(i == at).then_some("is-marked")}
                aria-selected={is_chosen.to_string()} {onmousedown} {onclick}>
                <span class="name">{ &entry.value }</span><span class="facts">{ &entry.facts }</span>
            </li>
        }
    };
    let is_open = open.is_some();
    // What was typed and not chosen is gone when the list closes.
    let input = use_node_ref();
    use_effect_with((props.value.clone(), typed.clone()), {
        let input = input.clone();
        move |(value, typed)| {
            if let Some(input) = input.cast::<web_sys::HtmlInputElement>().filter(|_| typed.is_none()) {
                input.set_value(value);
            }
        }
    });
    html! {
        <div class={classes!("field", "pick", props.error.is_some().then_some("is-wrong"), props.wide.then_some("is-wide"))}>
            <label for={id.clone()}>{ &props.label }</label>
            <input ref={input} id={id.clone()} type="text" role="combobox" autocomplete="off" spellcheck="false" aria-autocomplete="list"
                aria-expanded={is_open.to_string()} aria-controls={list_id.clone()} value={typed.map_or_else(|| props.value.clone(), Into::into)}
                title={props.value.clone()} aria-activedescendant={(is_open && !matches.is_empty()).then(|| format!("{list_id}-{at}"))}
                aria-invalid={props.error.is_some().then_some("true")} aria-describedby={described_by(id, &props.help, props.error.as_ref())}
                {oninput} {onkeydown} onclick={show} onblur={close} />
            <ul id={list_id.clone()} role="listbox" aria-label="Choices" aria-multiselectable={props.several.then_some("true")}
                hidden={!is_open || matches.is_empty()}>
                if is_open { { for matches.iter().enumerate().map(option) } }
            </ul>
            { note(id, &props.help, props.error.as_ref()) }
        </div>
    }
}

/// The chosen values.
fn parts(value: &str, several: bool) -> impl Iterator<Item = &str> {
    value.split(move |c| several && c == ',').map(str::trim).filter(|part| !part.is_empty())
}

/// Entries whose name or facts contain what is typed; all of them before anything is typed. Of several values the last one is being typed.
fn entries_for<'a>(entries: &'a [PickEntry], typed: Option<&str>, several: bool) -> Vec<&'a PickEntry> {
    let typed = typed.unwrap_or_default();
    let part = if several { typed.rsplit(',').next().unwrap_or_default() } else { typed };
    let is_found = |words: &str, entry: &PickEntry| {
        words
            .split_whitespace()
            .all(|w| contains_ignoring_case(&entry.value, w) || contains_ignoring_case(&entry.facts, w))
    };
    entries.iter().filter(|entry| is_found(part, entry)).collect()
}

/// Whether every value that is typed is an entry.
fn is_complete(entries: &[PickEntry], typed: &str, several: bool) -> bool {
    let is_entry = |part: &str| entries.iter().any(|entry| *entry.value == *part);
    parts(typed, several).next().is_some() && parts(typed, several).all(is_entry)
}

/// The list with a value added or removed; the last value stays.
fn toggled(value: &str, chosen: &str) -> String {
    let has = parts(value, true).any(|part| part == chosen);
    let mut next: Vec<&str> = parts(value, true).filter(|part| *part != chosen).collect();
    if !has || next.is_empty() {
        next.push(chosen);
    }
    next.join(",")
}
