//! The start page's list of the items that this browser keeps: entries can be opened, named, pinned and removed.

use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::components::on;
use crate::platform::{date, page, private_files, url};
use crate::shelf::{change, remove, touch, use_shelf};
use ns_base::convert::u64_to_f64;
use ns_base::units::format_bytes;
use ns_session::shelf::{ShelfItem, comparison_of};

/// Id of the element that takes the focus when the focused one is gone.
const TITLE: &str = "shelf-title";
/// Id of the field that edits a name.
const NAME_FIELD: &str = "shelf-name";

/// The list; empty if nothing is kept.
#[component]
pub fn KeptHere() -> Html {
    let items = use_shelf();
    let renaming = use_state_eq(|| None::<String>);
    let base = use_state_eq(|| None::<ShelfItem>);
    let room = use_state_eq(|| None::<(u64, u64)>);
    use_effect_with(items.clone(), {
        let room = room.setter();
        move |_| spawn_local(async move { room.set(private_files::usage().await) })
    });
    if items.is_empty() {
        return Html::default();
    }
    let has_partner = |item: &ShelfItem| items.iter().any(|o| o.id() != item.id() && comparison_of(item, o).is_some());
    let row = |item: &ShelfItem| {
        let is_renamed = renaming.as_ref() == Some(&item.id());
        html! {
            <li key={item.id()} class={classes!(item.is_pinned.then_some("is-pinned"))}>
                if is_renamed { { name_form(item, &renaming) } } else { { link(item) } }
                { buttons(item, is_renamed, &renaming, has_partner(item).then_some(&base)) }
            </li>
        }
    };
    let said = room.map(|(used, quota)| {
        format!(
            "The browser gives this page {}; {} are used. ",
            format_bytes(u64_to_f64(quota)),
            format_bytes(u64_to_f64(used))
        )
    });
    html! {
        <section class="panel shelf" aria-labelledby={TITLE}>
            <h2 id={TITLE} tabindex="-1">{ "Kept here" }</h2>
            <p role="status" class="comparing">{ base.as_ref().map(|b| format!("{} is the base. Choose what to compare with it.", b.name)) }</p>
            <ul>{ for items.iter().map(row) }</ul>
            <p class="help">{ for said }{ "This list is kept in this browser only. Entries opened longest ago are removed first; pinned entries stay." }</p>
        </section>
    }
}

/// The link to an entry, and its description.
fn link(item: &ShelfItem) -> Html {
    let size =
        if item.kind.has_bytes() { format!(", {}", format_bytes(u64_to_f64(item.bytes))) } else { String::new() };
    // Of several files with one name, a link opens the one that was opened last.
    let onclick = on(item.clone(), |item, _: MouseEvent| {
        touch(item);
    });
    html! {
        <div class="kept-thing">
            <a href={item.link.clone()} {onclick}>{ &item.name }</a>
            <span class="sub">{ format!("{}{size}, {}", item.kind.title(), date::moment(item.when_ms)) }</span>
        </div>
    }
}

fn name_form(item: &ShelfItem, renaming: &UseStateHandle<Option<String>>) -> Html {
    let onsubmit = on((item.clone(), renaming.clone()), |(item, renaming), event: SubmitEvent| {
        event.prevent_default();
        let field = page::element(NAME_FIELD).and_then(|e| e.dyn_into::<HtmlInputElement>().ok());
        let name = field.map(|f| f.value().trim().to_owned()).unwrap_or_default();
        if !name.is_empty() {
            change(&ShelfItem { name, ..item.clone() });
        }
        renaming.set(None);
        page::focus(TITLE);
    });
    let onkeydown = on(renaming.clone(), |renaming, event: KeyboardEvent| {
        if event.key() == "Escape" {
            renaming.set(None);
            page::focus(TITLE);
        }
    });
    html! {
        <form class="kept-thing" {onsubmit} {onkeydown}>
            <input id={NAME_FIELD} aria-label={format!("Name of {}", item.name)} value={item.name.clone()} maxlength="120" />
            <button type="submit">{ "Save" }</button>
        </form>
    }
}

/// Chooses the base of a comparison, or the entry that is compared with it.
fn compare_button(item: &ShelfItem, base: &UseStateHandle<Option<ShelfItem>>) -> Html {
    let is_base = base.as_ref().is_some_and(|base| base.id() == item.id());
    let link = base.as_ref().filter(|_| !is_base).and_then(|base| comparison_of(item, base));
    let name = if link.is_some() { "Compare with it" } else { "Compare" };
    let label = format!("{name}: {}", item.name);
    let onclick = on((base.clone(), item.clone()), move |(base, item), _: MouseEvent| match &link {
        Some(link) => {
            // Of several files with one name, a link opens the one that was opened last.
            base.as_ref().into_iter().for_each(touch);
            touch(item);
            url::go(link);
        }
        None => base.set((!is_base).then(|| item.clone())),
    });
    html! { <button type="button" class="plain" {onclick} aria-pressed={is_base.to_string()} aria-label={label}>{ name }</button> }
}

fn buttons(
    item: &ShelfItem,
    is_renamed: bool,
    renaming: &UseStateHandle<Option<String>>,
    base: Option<&UseStateHandle<Option<ShelfItem>>>,
) -> Html {
    let on_pin = on(item.clone(), |item, _: MouseEvent| {
        change(&ShelfItem { is_pinned: !item.is_pinned, ..item.clone() });
        if !item.is_pinned {
            spawn_local(async {
                // A refusal has no effect that the user could see.
                let _ = private_files::persist().await;
            });
        }
    });
    let on_rename = on((renaming.clone(), item.id()), move |(renaming, id), _: MouseEvent| {
        renaming.set((!is_renamed).then(|| id.clone()));
        gloo_timers::callback::Timeout::new(0, || page::focus(NAME_FIELD)).forget();
    });
    let on_remove = on(item.clone(), |item, _: MouseEvent| {
        remove(item);
        page::focus(TITLE);
    });
    html! {
        <div class="buttons">
            { for base.map(|base| compare_button(item, base)) }
            <button type="button" class="plain" onclick={on_pin} aria-pressed={item.is_pinned.to_string()} aria-label={format!("Pin {}", item.name)}>{ "Pin" }</button>
            <button type="button" class="plain" onclick={on_rename} aria-label={format!("Rename {}", item.name)}>{ "Rename" }</button>
            if !item.is_pinned {
                <button type="button" class="plain" onclick={on_remove} aria-label={format!("Remove {}", item.name)}>{ "Remove" }</button>
            }
        </div>
    }
}
