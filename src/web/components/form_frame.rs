//! The frame of a page with a form: a bar that says what is shown, and the form as a drawer below it.

use yew::prelude::*;

use super::{on, progress_bar};
use crate::platform::page;
use ns_page::RunState;

#[derive(Properties, PartialEq)]
pub struct FormFrameProps {
    /// Id of the drawer.
    pub id: AttrValue,
    /// Name of the form, for screen readers.
    pub name: AttrValue,
    /// What the form says, in a line.
    pub short: AttrValue,
    /// Whether the drawer is open at first, and stays open when the form runs.
    #[prop_or_default]
    pub is_open: bool,
    /// Whether a field is wrong, or a file asks for something: the drawer opens, and Run leaves it open.
    #[prop_or_default]
    pub is_wrong: bool,
    /// Whether the form differs from what the results are of.
    #[prop_or_default]
    pub is_stale: bool,
    /// Whether Run can be pressed; without it, the form has no Run, because each change is followed at once.
    #[prop_or_default]
    pub can_run: Option<bool>,
    #[prop_or_default]
    pub on_run: Callback<()>,
    /// Buttons beside Run.
    #[prop_or_default]
    pub beside_run: Html,
    /// The run, whose progress the bar shows: nothing below it moves when a run starts or ends.
    #[prop_or(RunState::Idle)]
    pub run: RunState,
    /// Menus at the end of the bar.
    #[prop_or_default]
    pub menus: Html,
    /// Makes the fields.
    pub fields: Callback<(), Html>,
}

/// The bar and the drawer, as one form: Enter in a field runs it, which folds the drawer.
#[component]
pub fn FormFrame(props: &FormFrameProps) -> Html {
    let is_open = use_state_eq(|| props.is_open || props.is_wrong);
    // It opens for a mistake or a question, and stays open while that is mended or answered.
    use_effect_with(props.is_wrong, {
        let is_open = is_open.setter();
        move |is_wrong| {
            if *is_wrong {
                is_open.set(true);
            }
        }
    });
    // A page shows its result without the fields, which are many.
    let has_fields = use_mut_ref(|| false);
    *has_fields.borrow_mut() |= *is_open;
    let edit_id = format!("{}-edit", props.id);
    let onsubmit = {
        let (is_open, on_run, can_run) = (is_open.setter(), props.on_run.clone(), props.can_run == Some(true));
        let stays_open = props.is_wrong || props.is_open;
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            if can_run {
                on_run.emit(());
                is_open.set(stays_open);
            }
        })
    };
    let toggle = on(is_open.clone(), |is_open, _: MouseEvent| is_open.set(!**is_open));
    let onkeydown = on((is_open.clone(), edit_id.clone()), |(is_open, edit_id), event: KeyboardEvent| {
        if **is_open && event.key() == "Escape" {
            is_open.set(false);
            page::focus(edit_id);
        }
    });
    html! {
        <form class="panel form-frame" {onsubmit} {onkeydown} novalidate={true} aria-label={props.name.clone()}>
            <div class="form-bar">
                <p class="what" title={props.short.clone()}>{ &props.short }</p>
                <button key="edit" id={edit_id} class="edit" type="button" aria-expanded={is_open.to_string()} aria-controls={props.id.clone()} onclick={toggle}>
                    { "Edit" }<span aria-hidden="true">{ if *is_open { "\u{25b4}" } else { "\u{25be}" } }</span>
                </button>
                if let Some(can_run) = props.can_run { <button key="run" type="submit" class="primary" disabled={!can_run}>{ "Run" }</button> }
                { props.beside_run.clone() }
                <div class="run-slot">if props.run.is_running() { { progress_bar(&props.run) } }</div>
                <p class="stale" role="status">{ if props.is_stale { "The form has changed" } else { "" } }</p>
                <span class="gap"></span>
                { props.menus.clone() }
            </div>
            <div id={props.id.clone()} class="form-drawer" hidden={!*is_open}>if *has_fields.borrow() { { props.fields.emit(()) } }</div>
        </form>
    }
}
