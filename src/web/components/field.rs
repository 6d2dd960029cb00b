//! Labelled form fields with help and an error that belongs to them.

use wasm_bindgen::JsCast;
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use super::on;
use crate::platform::page::value_of;

/// The fields of a form with wrong values: key and message.
pub type FieldErrors = [(&'static str, String)];

/// The message about the field with a key.
pub fn error_of(wrong: &FieldErrors, key: &str) -> Option<AttrValue> {
    wrong.iter().find(|(wrong, _)| *wrong == key).map(|(_, message)| message.clone().into())
}

/// A label, a control, its help or its error. `id` is that of the control; a wide one takes more room than others.
pub fn labelled(
    id: &AttrValue,
    label: &AttrValue,
    help: &AttrValue,
    error: Option<&AttrValue>,
    wide: bool,
    control: Html,
) -> Html {
    html! {
        <div class={classes!("field", error.is_some().then_some("is-wrong"), wide.then_some("is-wide"))}>
            <label for={id.clone()}>{ label }</label>
            { control }
            { note(id, help, error) }
        </div>
    }
}

/// The note below a field: the message if its value is wrong, else its help.
pub(super) fn note(id: &AttrValue, help: &AttrValue, error: Option<&AttrValue>) -> Html {
    let note_id = note_id(id);
    match error {
        Some(error) => html! { <p class="error" id={note_id} role="alert">{ error }</p> },
        None if help.is_empty() => Html::default(),
        None => html! { <p class="help" id={note_id}>{ help }</p> },
    }
}

fn note_id(id: &AttrValue) -> String {
    format!("{id}-note")
}

/// The id of a field's note, for the control that it describes; `None` if there is no note.
pub(super) fn described_by(id: &AttrValue, help: &AttrValue, error: Option<&AttrValue>) -> Option<String> {
    (error.is_some() || !help.is_empty()).then(|| note_id(id))
}

#[derive(Properties, PartialEq)]
pub struct TextFieldProps {
    /// Id of the input.
    pub id: AttrValue,
    /// Text above it.
    pub label: AttrValue,
    pub value: AttrValue,
    /// Help below it.
    #[prop_or_default]
    pub help: AttrValue,
    /// Text shown while it is empty.
    #[prop_or_default]
    pub placeholder: AttrValue,
    /// The kind of keyboard that phones show.
    #[prop_or(AttrValue::Static("text"))]
    pub input_mode: AttrValue,
    /// Message if the value is wrong.
    #[prop_or_default]
    pub error: Option<AttrValue>,
    /// Receives the edited text.
    pub on_edit: Callback<String>,
}

/// A line of text.
#[component]
pub fn TextField(props: &TextFieldProps) -> Html {
    let oninput = props.on_edit.reform(|event: InputEvent| value_of(&event));
    let error = props.error.as_ref();
    let control = html! {
        <input
            id={props.id.clone()} type="text" autocomplete="off" spellcheck="false"
            inputmode={props.input_mode.clone()} value={props.value.clone()}
            placeholder={props.placeholder.clone()} {oninput}
            aria-invalid={error.is_some().then_some("true")} aria-describedby={described_by(&props.id, &props.help, error)}
        />
    };
    labelled(&props.id, &props.label, &props.help, error, false, control)
}

#[derive(Properties, PartialEq)]
pub struct SelectFieldProps {
    pub id: AttrValue,
    /// Text above it.
    pub label: AttrValue,
    pub value: AttrValue,
    /// The values with their labels.
    pub options: Vec<(AttrValue, AttrValue)>,
    /// Help below it.
    #[prop_or_default]
    pub help: AttrValue,
    /// Message if the value is wrong.
    #[prop_or_default]
    pub error: Option<AttrValue>,
    #[prop_or_default]
    pub disabled: bool,
    /// Whether it takes more room than others.
    #[prop_or_default]
    pub wide: bool,
    /// Receives the newly chosen value.
    pub on_choose: Callback<String>,
}

/// A choice of one value. A value that is not among the options is shown as it is, so that it is not changed silently.
#[component]
pub fn SelectField(props: &SelectFieldProps) -> Html {
    let onchange = on(props.on_choose.clone(), |on_choose, event: web_sys::Event| {
        if let Some(select) = event.target().and_then(|t| t.dyn_into::<HtmlSelectElement>().ok()) {
            on_choose.emit(select.value());
        }
    });
    let is_known = props.options.iter().any(|(value, _)| *value == props.value);
    // Once the user has chosen an option, it no longer follows its attribute.
    let select = use_node_ref();
    use_effect_with((props.value.clone(), props.options.clone()), {
        let select = select.clone();
        move |(value, _)| {
            if let Some(select) = select.cast::<HtmlSelectElement>() {
                select.set_value(value);
            }
        }
    });
    let error = props.error.as_ref();
    let control = html! {
        <select
            ref={select} id={props.id.clone()} {onchange} disabled={props.disabled}
            aria-invalid={error.is_some().then_some("true")} aria-describedby={described_by(&props.id, &props.help, error)}
        >
            if !is_known {
                <option value={props.value.clone()} selected={true}>{ &props.value }</option>
            }
            { for props.options.iter().map(|(value, name)| html! {
                <option value={value.clone()} selected={*value == props.value}>{ name }</option>
            }) }
        </select>
    };
    labelled(&props.id, &props.label, &props.help, error, props.wide, control)
}
