//! The form of a study, made from its fields.

use crate::state::StateHandle;
use yew::prelude::*;

use super::actions::Actions;
use crate::components::{CopyMenu, FormInput};
use ns_page::study::{StudyAction, StudyState};
use ns_session::studies::{FieldGroup, FieldKind, FormField, GroupLook};

/// Choices with names longer than this get a wide field.
const LONG_CHOICE: usize = 24;

/// Properties of [`StudyFields`].
#[derive(Properties, PartialEq)]
pub struct StudyFieldsProps {
    /// Actions of its buttons.
    pub actions: Actions,
    /// The state of the form.
    pub state: StateHandle<StudyState>,
}

/// The form.
#[component]
pub fn StudyFields(props: &StudyFieldsProps) -> Html {
    let state = &props.state;
    let (_, wrong) = state.spec();
    let can = state.controls();
    let on = |f: fn(&Actions)| {
        let actions = props.actions.clone();
        Callback::from(move |_: MouseEvent| f(&actions))
    };
    let onsubmit = {
        let actions = props.actions.clone();
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            actions.run();
        })
    };
    let files = state.result.as_ref().map(|result| result.files.as_slice()).unwrap_or_default();
    let save = |i: usize| {
        let actions = props.actions.clone();
        Callback::from(move |_: MouseEvent| actions.save(i))
    };
    let open = |i: usize| {
        let actions = props.actions.clone();
        Callback::from(move |_: MouseEvent| actions.open_trace(i))
    };
    html! {
        <form class="panel" {onsubmit} novalidate={true} aria-label="What to run">
            { for state.kind.form().groups.iter().map(|g| group(state, g, &wrong)) }
            <div class="buttons">
                <button type="submit" class="primary" disabled={!can.run}>{ "Run" }</button>
                <button type="button" disabled={!can.stop} onclick={on(Actions::cancel)}>{ "Cancel" }</button>
                <span class="gap"></span>
                <CopyMenu hash={state.hash()} link_gives="Whoever opens it gets this result." />
                { for files.iter().enumerate().filter(|(_, file)| file.is_trace()).map(|(i, _)| html! {
                    <button type="button" onclick={open(i)}>{ "Open as timeline" }</button>
                }) }
                { for files.iter().enumerate().map(|(i, file)| html! {
                    <button type="button" onclick={save(i)}>{ format!("Download {}", file.label) }</button>
                }) }
            </div>
        </form>
    }
}

type Wrong = [(&'static str, String)];

fn group(state: &StateHandle<StudyState>, group: &'static FieldGroup, wrong: &Wrong) -> Html {
    let is_flags = group.fields.iter().all(|field| field.kind == FieldKind::Flag);
    let class = if is_flags { "fields flags" } else { "fields" };
    let fields = html! { <div {class}>{ for group.fields.iter().map(|f| field(state, f, wrong)) }</div> };
    match group.look {
        GroupLook::Folded => {
            // A field with an error is never hidden.
            let is_open = group.fields.iter().any(|f| wrong.iter().any(|(key, _)| *key == f.key));
            html! { <details class="advanced" open={is_open}><summary>{ group.title }</summary>{ fields }</details> }
        }
        GroupLook::Open if group.title.is_empty() => fields,
        GroupLook::Open => html! { <fieldset class="group"><legend>{ group.title }</legend>{ fields }</fieldset> },
    }
}

fn field(state: &StateHandle<StudyState>, field: &'static FormField, wrong: &Wrong) -> Html {
    let id = format!("{}-{}", state.kind.form().path, field.key);
    let value = state.text(field.key).to_owned();
    let error = wrong.iter().find(|(key, _)| *key == field.key).map(|(_, message)| AttrValue::from(message.clone()));
    let on_edit = {
        let dispatch = state.dispatcher();
        Callback::from(move |text: String| dispatch.dispatch(StudyAction::Edit(field.key, text)))
    };
    let wide =
        matches!(field.kind, FieldKind::Choice(choices) if choices.iter().any(|(_, name)| name.len() > LONG_CHOICE));
    html! { <FormInput {id} {field} {value} {error} {wide} {on_edit} /> }
}
