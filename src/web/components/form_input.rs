//! The input of a field that a form describes as data.

use std::rc::Rc;
use wasm_bindgen::JsCast;

use web_sys::HtmlInputElement;
use yew::prelude::*;

use super::{CheckField, LineMark, SelectField, SourceField, TextField};
use ns_session::studies::{FieldKind, FormField};

#[derive(Properties, PartialEq)]
pub struct FormInputProps {
    pub id: String,
    pub field: &'static FormField,
    pub value: String,
    /// Placeholder, if it is not the field's own.
    #[prop_or_default]
    pub placeholder: Option<&'static str>,
    /// What stands beside the lines of a source text.
    #[prop_or_default]
    pub marks: Rc<[LineMark]>,
    /// Whether a choice takes more room than other fields.
    #[prop_or_default]
    pub wide: bool,
    /// Message if the text is wrong.
    #[prop_or_default]
    pub error: Option<AttrValue>,
    /// Receives the edited text.
    pub on_edit: Callback<String>,
}

#[component]
pub fn FormInput(props: &FormInputProps) -> Html {
    let FormInputProps { id, field, value, placeholder, wide, error, on_edit, .. } = props;
    let (label, help, placeholder) = (field.label, field.help, placeholder.unwrap_or(field.placeholder));
    let (id, value, error, on_edit, wide) = (id.clone(), value.clone(), error.clone(), on_edit.clone(), *wide);
    match field.kind {
        FieldKind::Choice(choices) => html! {
            <SelectField {id} {label} {help} {value} {error} {wide} options={pairs(choices)} on_choose={on_edit} />
        },
        FieldKind::Several(choices) => html! {
            <CheckField {id} {label} {help} {value} {error} options={pairs(choices)} on_choose={on_edit} />
        },
        FieldKind::Flag => flag(id, field, value == "true", on_edit),
        FieldKind::Source => {
            html! { <SourceField {id} {label} {help} {value} {error} {on_edit} marks={props.marks.clone()} /> }
        }
        FieldKind::Line
        | FieldKind::Numbers
        | FieldKind::Decimal
        | FieldKind::Whole
        | FieldKind::Model
        | FieldKind::Instance
        | FieldKind::Named(_) => html! {
            <TextField {id} {label} {help} {placeholder} {value} {error} {on_edit} input_mode={keyboard(field.kind)} />
        },
    }
}

/// The keyboard that a phone shows.
const fn keyboard(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Decimal => "decimal",
        FieldKind::Whole => "numeric",
        _ => "text",
    }
}

/// Choices as a select or boxes take them.
pub fn pairs(choices: &[(&'static str, &'static str)]) -> Vec<(AttrValue, AttrValue)> {
    choices.iter().map(|(value, name)| ((*value).into(), (*name).into())).collect()
}

fn flag(id: String, field: &'static FormField, checked: bool, on_edit: Callback<String>) -> Html {
    let onchange = Callback::from(move |event: Event| {
        if let Some(input) = event.target().and_then(|t| t.dyn_into::<HtmlInputElement>().ok()) {
            on_edit.emit(input.checked().to_string());
        }
    });
    let note = format!("{id}-note");
    html! {
        <div class="field flag">
            <label class="check" for={id.clone()}>
                <input {id} type="checkbox" {checked} {onchange} aria-describedby={note.clone()} /><span>{ field.label }</span>
            </label>
            <p class="help" id={note}>{ field.help }</p>
        </div>
    }
}
